"""A progress bar for waits that people notice, on a terminal only."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import IO, Any, Optional

__all__ = ["CountedReader", "CountedWriter", "Progress"]

SHOW_ABOVE_BYTES = 50 * 1024 * 1024
_WIDTH = 24


class Progress:
    """`with Progress("Uploading", total) as bar: bar.add(n)`. Silent for small totals and where stderr is no
    terminal."""

    def __init__(self, what: str, total_bytes: int, stream: Any = None) -> None:
        self._what = what
        self._total = total_bytes
        self._stream = stream or sys.stderr
        self.done_bytes = 0
        self._drawn_at = 0.0
        self.is_shown = total_bytes > SHOW_ABOVE_BYTES and bool(getattr(self._stream, "isatty", lambda: False)())

    def add(self, size_bytes: int) -> None:
        self.done_bytes += size_bytes
        now = time.monotonic()
        if self.is_shown and now - self._drawn_at > 0.1:
            self._drawn_at = now
            self._draw()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self.is_shown:
            self._draw()
            self._stream.write("\n")
            self._stream.flush()

    def _draw(self) -> None:
        share = min(1.0, self.done_bytes / self._total) if self._total else 1.0
        bar = "#" * int(share * _WIDTH)
        mb = 1024 * 1024
        size = f"{self.done_bytes / mb:.0f} of {self._total / mb:.0f} MB"
        self._stream.write(f"\r{self._what} [{bar:<{_WIDTH}}] {share:4.0%} {size}")
        self._stream.flush()


class CountedReader:
    """A binary file that tells a bar how far it was read; seekable, so an upload can be sent again."""

    def __init__(self, file: IO[bytes], bar: Progress) -> None:
        self._file, self._bar, self._counted = file, bar, 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._counted = _count(self._bar, self._counted, self._file.tell())
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


class CountedWriter:
    """A binary file that tells a bar how far it was written; a download that begins again is not counted
    twice."""

    def __init__(self, file: IO[bytes], bar: Progress) -> None:
        self._file, self._bar, self._counted = file, bar, 0

    def write(self, data: bytes) -> int:
        written = self._file.write(data)
        self._counted = _count(self._bar, self._counted, self._file.tell())
        return written

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def seekable(self) -> bool:
        return self._file.seekable()

    def tell(self) -> int:
        return self._file.tell()

    def truncate(self) -> int:
        return self._file.truncate()


def _count(bar: Progress, counted: int, position: int) -> int:
    bar.add(max(0, position - counted))
    return max(counted, position)
