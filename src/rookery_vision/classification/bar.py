"""How far an epoch is: a bar that is redrawn, on a terminal; nothing where the output is kept in a log."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any, Optional

__all__ = ["Bar"]

EVERY_S = 0.25  # redrawing asks the device for the loss, and that makes it wait
WIDTH = 24


class Bar:
    """`is_shown` only where somebody looks."""

    def __init__(self, stream: Optional[Any] = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self.is_shown = bool(getattr(self._stream, "isatty", lambda: False)())
        self._drawn = 0
        self._last = 0.0

    def is_due(self) -> bool:
        return self.is_shown and time.monotonic() - self._last >= EVERY_S

    def draw(self, title: str, done: int, total: int, spent_s: float, more: str) -> None:
        """spent_s: what the `done` parts took; what is left is reckoned from it."""
        if not self.is_shown:
            return
        self._last = time.monotonic()
        filled = WIDTH * done // max(1, total)
        left = _clock(spent_s / max(1, done) * (total - done))
        text = f"{title} [{'█' * filled}{'·' * (WIDTH - filled)}] {done}/{total}, {left} left, {more}"
        text = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + text + " " * max(0, self._drawn - len(text)))
        self._stream.flush()
        self._drawn = len(text)

    def clear(self) -> None:
        """Before a line is printed."""
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._drawn = 0


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
