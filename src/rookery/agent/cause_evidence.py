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

__all__ = ["Deaths", "read_processes"]

_NOTE = re.compile(r"(?m)^# (\d+\.\d+) (\d+) (\w+)(.*)$")
_HEAD = re.compile(r" rank (\w+) local_rank \w+ parent (\d+)")
LOOK_S = 0.2


def read_processes(folder: str, gone: Optional[Mapping[int, float]] = None) -> list[Process]:
    """Every Python process that the recorder of one rank knows of, from its errors folder."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    pids = {int(name.split(".", 1)[0]) for name in names if name.split(".", 1)[0].isdigit()}
    return [_process(folder, pid, (gone or {}).get(pid)) for pid in sorted(pids)]


def _process(folder: str, pid: int, gone: Optional[float]) -> Process:
    record = read_json(os.path.join(folder, f"{pid}.json"))
    path = os.path.join(folder, f"{pid}.stack")
    stack = tail(path)
    rank = exit_code = None
    parent = 0
    exit_time, left, forked = 0.0, False, False
    for when, who, word, rest in _NOTE.findall(tail(os.path.join(folder, f"{pid}.dump"))):
        if int(who) != pid:
            continue
        if word in ("started", "forked"):
            found = _HEAD.search(rest)
            rank = int(found.group(1)) if found and found.group(1).isdigit() else None
            parent = int(found.group(2)) if found else 0
            forked = word == "forked"
        elif word == "exit":
            exit_code, exit_time = int(rest), float(when)
        elif word == "end":
            left = True
    if record and isinstance(record.get("rank"), int):
        rank = record["rank"]  # set after its start, by a script that gives ranks itself
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
                self.gone.setdefault(self._open[fd], time.time())
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
