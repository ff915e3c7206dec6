"""Ranks that a launcher of the user's command starts on this node: torchrun, torch.distributed.launch, accelerate launch.

They are the launcher's children. What the recorder puts into each (worker/launched.py) writes its log into a folder of ours, and has the launcher
note how each ended; here both are found and read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Optional

from rookery.agent.cause_evidence import read_processes
from rookery.agent.cause_first import Process
from rookery.agent.proc import all_stats
from rookery.agent.process import RankEnd
from rookery.spec.job import Job
from rookery.spec.launch import launcher_log_name, starts_ranks
from rookery.spec.logs import DRIVER_LOG, driver_log_name
from rookery.spec.paths import NodePaths
from rookery.worker.launched import ONLY

__all__ = ["Children"]

MAX_SCRIPT = 256 * 1024
_WORD = re.compile(r"[^\s'\"();&|<>]+")
_COMMENT = re.compile(r"(?m)^\s*#.*$")


class Children:
    """The ranks below this node's command. There are none where no launcher is named, and then nothing here does anything."""

    def __init__(self, job: Job, paths: NodePaths) -> None:
        self._job = job
        self._node_count = job.launch.node_count if job.launch is not None else 1
        self._own = job.ranks[0] if len(job.ranks) == 1 and job.ranks[0].shell else None
        self._paths = paths.rank(self._own.rank) if self._own is not None else paths.rank(0)
        self._elastic = paths.elastic
        self.is_on = os.path.isdir(self._paths.launched)  # where an agent before us had some

    def prepare(self, work: str) -> bool:
        """Look whether the command names a launcher, itself or in a shell script of the snapshot, and make ready for its ranks."""
        if self._own is not None and (starts_ranks(self._own.shell) or _script_starts_ranks(self._own.shell, work)):
            os.makedirs(self._paths.launched, exist_ok=True)
            self.is_on = True
        return self.is_on

    def variables(self) -> dict[str, str]:
        """What the processes of the command are told."""
        if not self.is_on:
            return {}
        told = {"ROOKERY_LAUNCHED_DIR": self._paths.launched, "ROOKERY_NODE_LOG": self._paths.log}
        if self._own is None or "PET_LOG_DIR" not in self._own.variables:
            told["PET_LOG_DIR"] = self._elastic  # torchrun's --log-dir, where the command does not say another
        return told

    def node_log_name(self, given: str) -> str:
        """The log of the command itself: a launcher's is not one of a rank."""
        return launcher_log_name(self._job.node, self._node_count) if self.is_on and given else given

    # -- logs

    @property
    def folder(self) -> str:
        return self._paths.launched

    def logs(self) -> list[tuple[int, str, str]]:
        """(rank, name, path) of every log that there is, by rank."""
        found = []
        try:
            files = os.listdir(self._paths.launched) if self.is_on else []
        except OSError:
            files = []
        for file in files:
            number = file[: -len(".txt")]
            if file == ONLY:
                found.append((0, DRIVER_LOG, os.path.join(self._paths.launched, file)))
            elif file.endswith(".txt") and number.isdigit():
                name = driver_log_name(int(number), 2)
                found.append((int(number), name, os.path.join(self._paths.launched, file)))
        return sorted(found)

    def log_of(self, rank: Optional[int]) -> Optional[tuple[str, str]]:
        """(name, path) of a rank's log, or of the first one's (None)."""
        return next(((name, path) for number, name, path in self.logs() if rank in (None, number)), None)

    def written_bytes(self) -> int:
        total = 0
        for _rank, _name, path in self.logs():
            try:
                total += os.path.getsize(path)
            except OSError:
                pass
        return total

    # -- processes

    def pids(self) -> list[int]:
        """The ranks that live."""
        if not self.is_on:
            return []
        stats = all_stats()
        mains = (p.pid for p in read_processes(self._paths.errors) if p.main is not None)
        return [pid for pid in mains if pid in stats and stats[pid].state not in "ZX"]

    def ends(self, statuses: Mapping[int, int]) -> list[RankEnd]:
        """How each of them ended, the last one of a number where a launcher had started it anew."""
        if not self.is_on:
            return []
        processes = read_processes(self._paths.errors, statuses=statuses)
        last = {p.main: p for p in sorted(processes, key=lambda p: p.started) if p.main is not None}
        return [_end(rank, last[rank]) for rank in sorted(last)]


def _end(rank: int, process: Process) -> RankEnd:
    if process.signal is not None:
        return RankEnd(rank, process.pid, signal=process.signal)
    code = process.exit_code
    if code is None and process.record is not None:
        code = 1
    return RankEnd(rank, process.pid, exit_code=0 if code is None and process.left else code)


def _script_starts_ranks(command: str, work: str) -> bool:
    """Whether a shell script that the command names does so. Other programs are not read: a docstring may name torchrun."""
    for word in _WORD.findall(command):
        path = os.path.join(work, word)
        try:
            if not os.path.isfile(path) or os.path.getsize(path) > MAX_SCRIPT:
                continue
            with open(path, encoding="utf-8", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        is_shell = word.endswith((".sh", ".bash")) or re.match(r"#!.*\b(?:ba|da|k|z)?sh\b", text) is not None
        if is_shell and starts_ranks(_COMMENT.sub("", text)):
            return True
    return False
