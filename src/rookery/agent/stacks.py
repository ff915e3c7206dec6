"""Taking the Python stacks of living ranks: the recorder's signal, sent only to processes that are known to handle it."""

from __future__ import annotations

import os
import re
import time

from rookery.agent.proc import command_line, read_stat
from rookery.worker.recorder import stack_signal

__all__ = ["Dump", "take_stacks"]

PATIENCE_S = 2.0
LOOK_S = 0.02
STILL = 6  # looks at a dump that has not grown: whoever writes it, line by line, may have to wait for a processor in between
_HEAD = re.compile(r"^# \S+ \d+ (started|forked) rank (\w+) local_rank \w+ parent (\d+)", re.MULTILINE)


class Dump:
    """One marked process, and what it dumped now."""

    def __init__(self, folder: str, pid: int) -> None:
        self.pid = pid
        self._path = os.path.join(folder, f"{pid}.dump")
        self._start = _size(self._path)
        head = _HEAD.search(_read(self._path, 0, 4096))
        self.forked = bool(head and head.group(1) == "forked")
        self.rank = int(head.group(2)) if head and head.group(2).isdigit() else None
        self.parent = int(head.group(3)) if head else 0
        self.text = ""
        self._still = 0

    def read(self) -> bool:
        """Whether the whole dump is there: it ends with a line, and has not grown for some looks."""
        text = _read(self._path, self._start, 1 << 20)
        self._still = self._still + 1 if text == self.text else 0
        self.text = text
        return text.endswith("\n") and self._still >= STILL

    def title(self) -> str:
        return f"Process {self.pid}: {' '.join(command_line(self.pid))[:300]}"


def take_stacks(folder: str, wait_s: float = PATIENCE_S) -> list[Dump]:
    """The stacks of all living processes that the recorder of one rank has marked, the rank's own first."""
    dumps = []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    for name in names:
        number, _, kind = name.partition(".")
        if kind == "dump" and number.isdigit() and handles(int(number), stack_signal()):
            dump = Dump(folder, int(number))
            try:
                os.kill(dump.pid, stack_signal())
            except OSError:
                continue
            dumps.append(dump)
    deadline = time.monotonic() + wait_s
    waiting = list(dumps)
    while waiting and time.monotonic() < deadline:
        time.sleep(LOOK_S)
        waiting = [dump for dump in waiting if not dump.read()]
    marked = {dump.pid for dump in dumps}
    return sorted(dumps, key=lambda d: (d.forked, d.parent in marked, d.pid))


def handles(pid: int, number: int) -> bool:
    """Whether the process catches this signal: one that does not would be killed by it (it may have replaced itself)."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            found = re.search(r"^SigCgt:\s*([0-9a-fA-F]+)", f.read(), re.MULTILINE)
    except OSError:
        return False
    stat = read_stat(pid)
    return bool(found and stat and stat.state not in "ZX" and int(found.group(1), 16) >> (number - 1) & 1)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _read(path: str, start: int, length: int) -> str:
    try:
        with open(path, "rb") as f:
            f.seek(start)
            return f.read(length).decode("utf-8", "replace")
    except OSError:
        return ""
