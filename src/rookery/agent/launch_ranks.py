"""Ranks that are somebody else's children: mpirun's daemons start them, their wrappers tell us about them through a pipe."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from typing import Any

from rookery.agent.process import RankEnd

__all__ = ["ForeignRanks"]


class ForeignRanks:
    """What is known of this node's ranks. All on the agent's main thread.

    Promises: every rank has exactly one end once all launchers of the node are gone, whether its wrapper could tell it or not.
    """

    def __init__(self, pipe: str, ranks: Sequence[int]) -> None:
        if os.path.exists(pipe):
            os.unlink(pipe)
        os.mkfifo(pipe, 0o600)
        self.fd = os.open(
            pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
        )  # a writer of our own: no end of file in between
        self.launchers: dict[int, str] = {}  # pid → name
        self._waiting = list(ranks)  # not started yet
        self._alive: dict[int, int] = {}  # rank → pid
        self._text = b""
        self._all = tuple(ranks)
        self._ended_well: set[int] = set()
        self.warning = ""

    @property
    def pids(self) -> list[int]:
        """The ranks that run; else whoever is to start them or to see to their end."""
        return sorted(self._alive.values()) or sorted(self.launchers)

    @property
    def rank_pids(self) -> list[int]:
        """The ranks that run, and nobody else."""
        return sorted(self._alive.values())

    def read(self) -> list[RankEnd]:
        """The ends that wrappers have told since the last time."""
        while True:
            try:
                piece = os.read(self.fd, 65536)
            except BlockingIOError:
                break
            if not piece:
                break
            self._text += piece
        *lines, self._text = self._text.split(b"\n")
        ends = []
        for line in lines:
            end = self._hear(json.loads(line))
            if end is not None:
                ends.append(end)
        return ends

    def launcher_died(self, pid: int, status: int, last_words: str) -> list[RankEnd]:
        """A launcher of this node has ended: with the last of them everything of ours has."""
        name = self.launchers.pop(pid)
        ends = self.read()
        code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if self.launchers:
            return ends
        for rank, rank_pid in sorted(self._alive.items()):
            ends.append(RankEnd(rank, rank_pid, signal=int(signal.SIGKILL)))  # and its wrapper with it
        self._alive.clear()
        words = f"{name} ended with exit code {code} before it was started"
        for rank in self._waiting:
            ends.append(RankEnd(rank, start_error=words + (f": {last_words}" if last_words else "")))
        self._waiting = []
        if code and name == "mpirun" and self._ended_well == set(self._all):
            # Each rank's own end is known, here and on the other nodes: that counts, and what mpirun makes of it is worth a word.
            said = f" It said: {last_words}" if last_words else ""
            self.warning = f"mpirun ended with exit code {code}, though every rank of node 0 ended well.{said}"
        return ends

    def _hear(self, said: dict[str, Any]) -> RankEnd | None:
        rank, pid = int(said["rank"]), int(said.get("pid") or 0)
        if rank in self._waiting:
            self._waiting.remove(rank)
        if said.get("start_error"):
            return RankEnd(rank, start_error=str(said["start_error"]))
        if "exit_code" not in said:
            self._alive[rank] = pid
            return None
        self._alive.pop(rank, None)
        if said["exit_code"] == 0:
            self._ended_well.add(rank)
        return RankEnd(rank, pid, exit_code=said["exit_code"], signal=said["signal"])
