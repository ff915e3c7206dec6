"""Gathering what a rank left behind: the recorder's files, the end of its log, when its processes were seen to be gone."""

from __future__ import annotations

import os
import re
import select
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Optional

from rookery.agent.cause_first import Process
from rookery.agent.disk import read_json
from rookery.agent.logs import tail
from rookery.agent.proc import zombie_status

__all__ = ["Deaths", "read_processes"]

_NOTE = re.compile(r"(?m)^# (\d+\.\d+) (\d+) (\w+)(.*)$")
_HEAD = re.compile(r" rank (\w+) local_rank \w+ parent (\d+)")
LOOK_S = 0.2


def read_processes(
    folder: str, gone: Optional[Mapping[int, float]] = None, statuses: Optional[Mapping[int, int]] = None
) -> list[Process]:
    """Every Python process that the recorder of one rank knows of, from its errors folder.

    Args:
        gone: when processes were seen to be dead.
        statuses: how processes ended, as waitpid tells it; what their own parents noted counts before.
    """
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    pids = {int(name.split(".", 1)[0]) for name in names if name.split(".", 1)[0].isdigit()}
    notes = {pid: _NOTE.findall(tail(os.path.join(folder, f"{pid}.dump"))) for pid in pids}
    ends, seen = dict(statuses or {}), dict(gone or {})
    for when, _who, word, rest in (note for found in notes.values() for note in found):
        child, _, status = rest.strip().partition(" ")
        if word == "reaped" and child.isdigit() and status.isdigit():
            ends[int(child)] = int(status)
            seen[int(child)] = min(float(when), seen.get(int(child), float("inf")))
    return [_process(folder, pid, notes[pid], seen.get(pid), ends.get(pid)) for pid in sorted(pids)]


def _process(
    folder: str, pid: int, notes: list[tuple[str, str, str, str]], gone: Optional[float], status: Optional[int]
) -> Process:
    record = read_json(os.path.join(folder, f"{pid}.json"))
    path = os.path.join(folder, f"{pid}.stack")
    stack = tail(path)
    rank = exit_code = main = ended_by = None
    parent = 0
    started, exit_time, left, forked = 0.0, 0.0, False, False
    for when, who, word, rest in notes:
        if int(who) != pid:
            continue
        if word in ("started", "forked"):
            found = _HEAD.search(rest)
            rank = int(found.group(1)) if found and found.group(1).isdigit() else None
            parent = int(found.group(2)) if found else 0
            forked, started = word == "forked", float(when)
        elif word == "main":
            rank = main = int(rest)
        elif word == "exit":
            exit_code, exit_time = int(rest), float(when)
        elif word == "end":
            left = True
    if record and isinstance(record.get("rank"), int):
        rank = record["rank"]  # set after its start, by a script that gives ranks itself
    if status is not None and os.WIFSIGNALED(status):
        ended_by = os.WTERMSIG(status)
    elif status is not None:
        exit_code, exit_time = os.WEXITSTATUS(status), exit_time or gone or 0.0
    return Process(
        pid,
        rank,
        record or None,
        stack,
        _modified(path) if stack.strip() else 0.0,
        exit_code,
        exit_time,
        left,
        forked,
        gone,
        parent,
        main,
        started,
        ended_by,
    )


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


class Deaths:
    """Notes when processes that the recorder marked are gone. Children of a launcher are not ours to wait for, and it may never
    say which of them was first."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = list(folders)
        self._known: set[int] = set()
        self._open: dict[int, int] = {}  # pidfd → pid
        self.gone: dict[int, float] = {}
        self.statuses: dict[int, int] = {}  # of those that were seen before their parent had waited for them
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="deaths", daemon=True)

    def start(self) -> None:
        if hasattr(os, "pidfd_open"):
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        poll = select.poll()
        while not self._stopped.is_set():
            self._find(poll)
            if not self._open:
                self._stopped.wait(LOOK_S)
                continue
            for fd, _event in poll.poll(LOOK_S * 1000):
                pid = self._open[fd]
                self.gone.setdefault(pid, time.time())
                status = zombie_status(pid)
                if status:
                    self.statuses[pid] = status
                poll.unregister(fd)
                os.close(fd)
                del self._open[fd]
        for fd in self._open:
            os.close(fd)

    def _find(self, poll: select.poll) -> None:
        for folder in self._folders:
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            for name in names:
                number, dot, kind = name.partition(".")
                if kind != "dump" or not dot or not number.isdigit() or int(number) in self._known:
                    continue
                pid = int(number)
                self._known.add(pid)
                try:
                    fd = os.pidfd_open(pid)
                except ProcessLookupError:
                    self.gone.setdefault(pid, time.time())
                    continue
                except OSError:
                    continue
                self._open[fd] = pid
                poll.register(fd, select.POLLIN)
