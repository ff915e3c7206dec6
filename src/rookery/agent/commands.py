"""Listening for commands: a long poll that is asked again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rookery.agent.keeper import Gone, Keeper
from rookery.errors import ConflictError, RookeryError

__all__ = ["Listener"]


class Listener:
    """Calls `on_command` for each command, once, in order; `on_over` when the attempt is over."""

    def __init__(
        self, keeper: Keeper, on_command: Callable[[dict[str, Any]], None], on_over: Callable[[str], None]
    ) -> None:
        self._keeper, self._on_command, self._on_over = keeper, on_command, on_over
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="commands", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Commands that come later are ignored; the thread ends with its poll, or with the process."""
        self._stopped.set()

    def _run(self) -> None:
        last = 0
        try:
            while not self._stopped.is_set():
                answer = self._keeper.call("GET", "commands", {"after": last})
                for command in answer["commands"]:
                    if self._stopped.is_set():
                        return
                    last = max(last, int(command["n"]))
                    self._on_command(command)
        except Gone:
            pass
        except ConflictError as error:
            self._on_over(str(error))
        except RookeryError as error:
            # Refused for good (the run is deleted, the token no longer valid): the heartbeat hears it too.
            self._on_over(str(error))
