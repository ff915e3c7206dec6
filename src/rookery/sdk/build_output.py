"""The log of an environment build as it comes and, on a terminal, a bar below it that says how far it is."""

from __future__ import annotations

import codecs
import os
import shutil
import threading
import time
from typing import Any, Optional

from rookery.sdk.build_progress import BuildProgress

__all__ = ["BuildOutput", "write_text"]

WIDTH = 24
TICK_S = 0.5  # the seconds go on while a large download says nothing


class BuildOutput:
    """`take(bytes)` of the log, `aside(text)` for lines of others meanwhile, `close()` at the end.

    Promises: every byte is printed once and in order; the bar is the last line of a terminal, never between lines and gone after
    `close`; off a terminal there is no bar and no escape. Thread-safe.
    """

    def __init__(self, out: Any) -> None:
        self._out = out
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._progress = BuildProgress()
        self._lock = threading.RLock()
        self._began = time.monotonic()
        self._line = ""  # the last one, while it is not whole
        self._is_drawn = False
        self._closed = threading.Event()
        self._ticker: Optional[threading.Thread] = None
        self._has_bar = _is_terminal(out)

    @property
    def at_line_start(self) -> bool:
        return not self._line

    def take(self, data: bytes) -> None:
        self._print(self._decoder.decode(data), of_the_log=True)

    def aside(self, text: str) -> None:
        """Text that is not the log's, printed where the bar is not."""
        self._print(text, of_the_log=False)

    def close(self) -> None:
        """Takes the bar away and ends an open character. Harmless when done twice."""
        self._closed.set()
        with self._lock:
            self._print(self._decoder.decode(b"", True), of_the_log=True)
            self._erase()
        if self._ticker is not None and self._ticker is not threading.current_thread():
            self._ticker.join()

    def _print(self, text: str, of_the_log: bool) -> None:
        with self._lock:
            if text:
                self._erase()
                write_text(self._out, text)
                *whole, self._line = (self._line + text).split("\n")
                for line in whole if of_the_log else ():
                    self._progress.take(line)
            self._draw()

    def _draw(self) -> None:
        if not self._has_bar or self._closed.is_set() or self._line or self._progress.is_done:
            return
        if self._ticker is None:
            self._ticker = threading.Thread(target=self._tick, name="rookery-build-bar", daemon=True)
            self._ticker.start()
        share = self._progress.share
        took = time.monotonic() - self._began
        text = f"[{'#' * int(share * WIDTH):<{WIDTH}}] {share:4.0%} {self._progress.words}, {took:.0f} s"
        room = shutil.get_terminal_size((80, 24)).columns - 1
        write_text(self._out, "\r\x1b[K" + text[:room])
        self._is_drawn = True

    def _erase(self) -> None:
        if self._is_drawn:
            write_text(self._out, "\r\x1b[K")
            self._is_drawn = False

    def _tick(self) -> None:
        while not self._closed.wait(TICK_S):
            with self._lock:
                self._draw()


def write_text(out: Any, text: str) -> None:
    """Print, and show what the terminal cannot as '?' instead of failing."""
    try:
        out.write(text)
    except UnicodeEncodeError:
        encoding = getattr(out, "encoding", None) or "ascii"
        out.write(text.encode(encoding, "replace").decode(encoding))
    out.flush()


def _is_terminal(out: Any) -> bool:
    try:
        return bool(out.isatty()) and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        return False
