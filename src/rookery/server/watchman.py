"""The watchman: a shell that waits beside a keeper and starts another one when this one was killed.

An agent that finds no keeper on its machine starts one. But what waits (in the queue, for an environment, for the next step of a
pipeline or the next child of a tuning, for a schedule's hour) has no agent, and one on another machine cannot start anything here. So, as
long as there is work, the keeper holds the one end of a pipe and a shell reads the other: a line says that the keeper leaves as it should,
the end of the pipe that it is gone.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import threading
from collections.abc import Sequence
from typing import Any, Optional

__all__ = ["Watchman"]

log = logging.getLogger(__name__)
# Not at once: somebody who asks for a keeper starts one sooner, and an agent does so after as long. What fails, on a machine that
# has no memory left for a moment, is tried again.
_SCRIPT = 'read -r line || for pause in 2 5 20 60; do sleep $pause; "$@" && break; done'


class Watchman:
    """From any thread. At most one process at a time.

    Args:
        command: ensures that a keeper runs (`engine.ground.start_command`).
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._is_over = self._has_warned = False
        self._lock = threading.Lock()

    @property
    def pid(self) -> Optional[int]:
        return None if self._process is None else self._process.pid

    def set(self, is_needed: bool) -> None:
        """Have one, or none. One that somebody has ended is replaced."""
        with self._lock:
            is_gone = self._process is not None and self._process.poll() is not None
            if not is_needed or is_gone or self._is_over:
                self._send_away()
            if is_needed and self._process is None and not self._is_over:
                self._start()

    def dismiss(self) -> None:
        """For good: the keeper leaves because it was asked to, or has nothing to do."""
        with self._lock:
            self._is_over = True
            self._send_away()

    def _start(self) -> None:
        quiet: Any = subprocess.DEVNULL
        try:
            # In a session of its own: what ends the keeper's terminal or group must not end this.
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "rookery-watchman", *self._command],
                stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, cwd="/", start_new_session=True, bufsize=0,
            )  # fmt: skip
        except OSError as error:
            if not self._has_warned:  # it is tried again every second
                log.warning("No watchman can be started (%s): a killed keeper comes back only when asked for", error)
            self._has_warned = True

    def _send_away(self) -> None:
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        with contextlib.suppress(OSError):  # it is gone already
            process.stdin.write(b"leave\n")
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
