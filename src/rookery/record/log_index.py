"""Lines of logs by number: where they begin, what stands in them, which tell of errors; a million of them without reading all.

An index keeps how many lines lie before every piece of 64 KiB. Logs only grow, so it grows with them: what is new is read once, and
a line is found by a bisection and one piece. Kept in memory for the logs that were looked at last.
"""

from __future__ import annotations

import os
import re
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.errors import ArtifactNotFoundError
from rookery.record.logs import Logs
from rookery.spec.logs import canonical_log_name
from rookery.spec.names import check_artifact_name
from rookery.spec.paths import WorkspacePaths

__all__ = ["LogLines"]

PIECE = 64 * 1024
KEPT = 64
MAX_LINE = 4000  # characters of a line that are shown
MAX_ANSWER = 1024 * 1024
MAX_SEARCHED = 64 * 1024 * 1024
MAX_MARKS = 500
MARKED = 16 * 1024 * 1024  # bytes at the end of a log that are looked through for errors
AROUND = 400  # characters of a line that a match or a mark shows

_MARK = re.compile(
    rb"(?P<traceback>Traceback \(most recent call last\))"
    rb"|(?P<error>\b(?:ERROR|FATAL|CRITICAL|Fatal|Segmentation fault|core dumped)\b|\b[A-Za-z_.]{0,80}(?:Error|Exception)\b: |\berror: )"
    rb"|(?P<warning>\b(?:WARNING|WARN|[A-Za-z]{0,60}Warning)\b(?=[:\] ]))"
)
# One of these is in every line that is marked; looking for them is ten times as quick as looking for the pattern.
_SIGNS = (
    b"Traceback (", b"ERROR", b"FATAL", b"CRITICAL", b"Fatal", b"fault", b"dumped", b"Error", b"Exception", b"error: ", b"WARN",
    b"Warning",
)  # fmt: skip


@dataclass
class _Index:
    done: int = 0  # bytes that are counted
    before: list[int] = field(default_factory=lambda: [0])  # newlines before each piece
    ends_open: bool = False  # the last counted byte is not a newline
    marks: list[dict[str, Any]] = field(default_factory=list)
    marks_done: int = 0
    marks_from: int = 0
    marks_dropped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def newlines(self) -> int:
        return self.before[-1]

    @property
    def lines(self) -> int:
        return self.newlines + self.ends_open


class LogLines:
    """Promises: never more than a piece of a log in memory per step; answers are bounded; what the database says is there."""

    def __init__(self, logs: Logs, paths: WorkspacePaths) -> None:
        self._logs = logs
        self._paths = paths
        self._indexes: OrderedDict[tuple[str, str], _Index] = OrderedDict()
        self._lock = threading.Lock()

    def index(self, run_id: str, name: str) -> dict[str, Any]:
        """How long it is, and where errors are."""
        with self._open(run_id, name) as log:
            log.find_marks()
            marks = log.index.marks[-MAX_MARKS:]
            return {
                "name": log.name,
                "size": log.size,
                "lines": log.index.lines,
                "marks": marks,
                "marks_from": log.line_at(log.index.marks_from),
                "more": log.index.marks_dropped or len(log.index.marks) > MAX_MARKS,
            }

    def read(self, run_id: str, name: str, start: int = 0, limit: int = 500) -> dict[str, Any]:
        """Lines [start, start + limit); a negative start counts from the end."""
        with self._open(run_id, name) as log:
            total = log.index.lines
            first = min(max(0, total + start if start < 0 else start), total)
            offset = log.offset_of(first)
            lines, cut, end = log.lines_from(offset, min(limit, total - first))
            return {
                "start": first,
                "lines": lines,
                "total": total,
                "size": log.size,
                "offset": offset,
                "end": end,
                "cut": [first + number for number in cut],
            }

    def search(
        self, run_id: str, name: str, text: str, case: bool = False, after: int = 0, limit: int = 200
    ) -> dict[str, Any]:
        """Where a text stands, from byte `after` on; `next` says where to go on."""
        wanted = text.encode("utf-8", "surrogatepass")
        with self._open(run_id, name) as log:
            matches, following = log.find(wanted if case else wanted.lower(), case, after, limit)
            return {"matches": matches, "next": following, "size": log.size}

    def _open(self, run_id: str, name: str) -> _Log:
        name = canonical_log_name(check_artifact_name(name))
        size = self._logs.find(run_id, name)
        if size is None:
            self._logs.read(run_id, name)  # raises, and says which there are
            raise ArtifactNotFoundError(f"Run '{run_id}' has no log '{name}'.")
        with self._lock:
            index = self._indexes.setdefault((run_id, name), _Index())
            self._indexes.move_to_end((run_id, name))
            while len(self._indexes) > KEPT:
                self._indexes.popitem(last=False)
        return _Log(name, self._paths.log(run_id, name), size, index)


class _Log:
    """A log that is open, with its index up to the size that is stored."""

    def __init__(self, name: str, path: str, size: int, index: _Index) -> None:
        self.name, self._path, self.size, self.index = name, path, size, index
        self._fd = -1

    def __enter__(self) -> _Log:
        if self.size:
            self._fd = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW)
        self.index.lock.acquire()
        try:
            self._count()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.index.lock.release()
        if self._fd >= 0:
            os.close(self._fd)

    def _count(self) -> None:
        index = self.index
        if self.size < index.done:  # looked at by somebody who knows more already; the file has it all
            self.size = index.done
        while index.done < self.size:
            within = index.done % PIECE
            data = self._at(index.done, min(PIECE - within, self.size - index.done))
            if not data:
                break
            count = data.count(b"\n")
            if within == 0 and index.done:
                index.before.append(index.before[-1])
            index.before[-1] += count
            index.done += len(data)
            index.ends_open = not data.endswith(b"\n")

    def _at(self, offset: int, length: int) -> bytes:
        return os.pread(self._fd, length, offset) if self._fd >= 0 and length > 0 else b""

    def offset_of(self, line: int) -> int:
        """Where a line begins; the end for one beyond the last."""
        if line <= 0:
            return 0
        if line > self.index.newlines:
            return self.size
        # `before[i]` counts the newlines up to the end of piece i: the line begins after newline number `line`.
        piece = bisect_right(self.index.before, line - 1)
        left = line - (self.index.before[piece - 1] if piece else 0)
        data, place = self._at(piece * PIECE, min(PIECE, self.size - piece * PIECE)), -1
        for _ in range(left):
            place = data.index(b"\n", place + 1)
        return piece * PIECE + place + 1

    def line_at(self, offset: int) -> int:
        """The number of the line that a byte is in."""
        piece = offset // PIECE
        before = self.index.before[piece - 1] if piece else 0
        return before + self._at(piece * PIECE, offset - piece * PIECE).count(b"\n")

    def lines_from(self, offset: int, count: int) -> tuple[list[str], list[int], int]:
        """(texts without their newlines, numbers of those that were cut, the byte after the last), as many as fit."""
        lines: list[str] = []
        cut: list[int] = []
        taken = 0
        while len(lines) < count and offset < self.size and taken < MAX_ANSWER:
            text, is_cut, following = self._line(offset)
            if is_cut:
                cut.append(len(lines))
            lines.append(text)
            taken += len(text) + 1
            offset = following
        return lines, cut, offset

    def _line(self, offset: int) -> tuple[str, bool, int]:
        data = self._at(offset, min(PIECE, self.size - offset))
        end = data.find(b"\n")
        if end >= 0:
            following = offset + end + 1
        else:
            following = self.offset_of(self.line_at(offset) + 1)
            end = len(data)
        text = data[:end].decode("utf-8", "replace")
        if text.endswith("\r"):
            text = text[:-1]
        is_cut = len(text) > MAX_LINE or following - offset - 1 > end
        return (
            self._last_written(text, offset, following) if is_cut and "\r" in text else text[:MAX_LINE],
            is_cut,
            following,
        )

    def _last_written(self, text: str, offset: int, following: int) -> str:
        """Of a progress bar, which is written over again and again in one long line: its last state, not its first ones."""
        tail = self._at(max(offset, following - 4 * MAX_LINE), min(4 * MAX_LINE, following - offset))
        states = [state for state in tail.decode("utf-8", "replace").rstrip("\r\n").split("\r")[1:] if state]
        return (states[-1] if states else text)[:MAX_LINE]

    def _pieces(self, start: int, end: int, overlap: int) -> Iterator[tuple[int, bytes]]:
        """(offset, bytes), each with `overlap` bytes of the one before it."""
        while start < end:
            data = self._at(start, min(PIECE + overlap, end - start))
            if not data:
                return
            yield start, data
            start += PIECE

    def find(self, wanted: bytes, case: bool, after: int, limit: int) -> tuple[list[dict[str, Any]], Optional[int]]:
        matches: list[dict[str, Any]] = []
        end = min(self.size, after + MAX_SEARCHED)
        for offset, data in self._pieces(after, end, len(wanted) - 1):
            looked = data if case else data.lower()  # of letters a to z; it keeps the length
            place = looked.find(wanted)
            while place >= 0:
                if len(matches) == limit:
                    return matches, offset + place
                matches.append(self._match(offset + place, len(wanted)))
                place = looked.find(wanted, place + len(wanted))
        return matches, end if end < self.size else None

    def _match(self, offset: int, length: int) -> dict[str, Any]:
        line = self.line_at(offset)
        begin = self.offset_of(line)
        head = self._at(begin, min(offset - begin, PIECE)).decode("utf-8", "replace")
        match = self._at(offset, length).decode("utf-8", "replace")
        before = head[-100:] if offset - begin <= PIECE else ""
        tail = self._at(offset, min(4 * AROUND, self.size - offset)).decode("utf-8", "replace").split("\n", 1)[0]
        text = (before + tail)[:AROUND].rstrip("\r")
        # A line longer than a piece: the column is as far as it is known, the text begins at the match.
        return {
            "line": line, "offset": offset, "column": len(head), "length": len(match), "text": text, "at": len(before),
        }  # fmt: skip

    def find_marks(self) -> None:
        """Looks through what is new, up to the end of the last whole line."""
        index = self.index
        if self.size - index.marks_done > MARKED:
            index.marks.clear()
            index.marks_done = index.marks_from = self.offset_of(self.line_at(self.size - MARKED) + 1)
        end = self.size if not index.ends_open else self.offset_of(index.newlines)
        start = index.marks_done
        line = self.line_at(start)
        last_line = index.marks[-1]["line"] if index.marks else -1
        while start < end:
            data = self._at(start, min(PIECE, end - start))
            cut = data.rfind(b"\n") + 1
            if cut == 0:  # one line longer than a piece
                cut = len(data)
            data = data[:cut]
            counted = 0
            has_signs = any(sign in data for sign in _SIGNS)
            for found in _MARK.finditer(data) if has_signs else ():
                line += data.count(b"\n", counted, found.start())
                counted = found.start()
                if line == last_line:
                    continue
                last_line = line
                begin = data.rfind(b"\n", 0, found.start()) + 1
                stop = data.find(b"\n", found.start())
                text = data[begin : stop if stop >= 0 else len(data)].decode("utf-8", "replace")
                index.marks.append(
                    {"line": line, "offset": start + begin, "kind": str(found.lastgroup), "text": text.strip()[:AROUND]}
                )
            line += data.count(b"\n", counted)
            start += cut
            if len(index.marks) > 4 * MAX_MARKS:
                del index.marks[:-MAX_MARKS]
                index.marks_from, index.marks_dropped = index.marks[0]["offset"], True
        index.marks_done = end if end > index.marks_done else index.marks_done
