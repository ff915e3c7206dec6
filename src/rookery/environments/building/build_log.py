"""What a build says: to the callback of who asked, to a file for those who wait, and beside the environment
for later.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

__all__ = ["BuildLog", "LogFollower"]


class BuildLog:
    """Bytes in, lines kept. Thread-safe; a callback that fails does not fail the build."""

    def __init__(self, path: str, callback: Callable[[bytes], None]) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self._lock = threading.Lock()
        self._callback = callback
        self._files = [open(path, "wb", buffering=0)]  # noqa: SIM115  closed by close()
        self._said = bytearray()

    def __call__(self, data: bytes) -> None:
        with self._lock:
            self._said += data
            for file in self._files:
                file.write(data)
        try:
            self._callback(data)
        except Exception:  # the record of one run may be gone while nineteen others wait for this build
            pass

    def say(self, text: str) -> None:
        self(text.encode("utf-8", "replace") + b"\n")

    def also_to(self, path: str) -> None:
        """Write to another file as well, from the beginning."""
        with self._lock:
            file = open(path, "wb", buffering=0)  # noqa: SIM115
            file.write(bytes(self._said))
            self._files.append(file)

    def close(self) -> None:
        with self._lock:
            for file in self._files:
                file.close()
            self._files = []


class LogFollower:
    """Hands on what another process writes into a build's log."""

    def __init__(self, path: str, callback: Callable[[bytes], None]) -> None:
        self._path = path
        self._callback = callback
        self._offset = 0
        self._said_waiting = False

    def __call__(self) -> None:
        if not self._said_waiting:
            self._said_waiting = True
            self._callback(b"Another run is building this environment already; waiting for it. Its log:\n")
        self._hand_on()

    def finish(self) -> None:
        """The rest, once the builder is done. Nothing if there was nobody to wait for."""
        if self._said_waiting:
            self._hand_on()

    def _hand_on(self) -> None:
        try:
            with open(self._path, "rb") as f:
                if os.fstat(f.fileno()).st_size < self._offset:
                    self._offset = 0  # a new builder began anew
                f.seek(self._offset)
                data = f.read()
        except OSError:
            return
        self._offset += len(data)
        if data:
            self._callback(data)
