"""The gangs that an engine has given to Slurm, and what it must find of them after a restart."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional

from rookery.engine.engines.base import Place
from rookery.engine.engines.slurm.listing import GangName, SlurmJob

__all__ = ["Gang", "Notes", "gang_name"]

FORGET_AFTER_S = 30 * 86400.0


@dataclass
class Gang:
    """One job of Slurm: the agents that are placed together. Guarded by the engine's lock."""

    name: GangName
    places: dict[int, Place]  # by node number; those that somebody has asked for
    job_id: Optional[int] = None  # None: sbatch has not answered yet
    is_awaited: bool = True  # `place` still waits for sbatch's answer, so that a refusal is its to tell
    since: float = 0.0  # monotonic: a listing that began before cannot know the job
    hosts: tuple[str, ...] = ()  # in the order of name.nodes; known once it runs
    hosts_text: str = ""
    seen: Optional[SlurmJob] = None  # the last that Slurm said
    told: set[int] = field(default_factory=set)
    kills: set[int] = field(default_factory=set)
    away: str = ""  # why sbatch gets no answer
    missing: int = 0  # listings in a row without it
    hopeless: int = 0  # listings in a row that say that it can never start
    killed_at: float = 0.0  # monotonic: when something was last done about `kills`
    doomed_at: float = 0.0  # monotonic: since when all of it is asked to end
    signaled: dict[int, float] = field(default_factory=dict)  # node → monotonic: its agent was seen ended by a signal
    noticed: bool = False  # that its time limit is near has been told

    @property
    def open_nodes(self) -> list[int]:
        return [node for node in self.places if node not in self.told]

    def host_of(self, node: int) -> str:
        index = self.name.nodes.index(node)
        return self.hosts[index] if index < len(self.hosts) else ""


class Notes:
    """Files in the engine's private folder. Which jobs there are is Slurm's to say: these only help."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.owner = self._read_owner()
        self._forget_old()

    def write(self, gang: Gang) -> None:
        """The machines of a gang, in the order of its nodes: Slurm forgets those that it takes out of a job."""
        path = self._path(gang.name)
        with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
            json.dump({"job": gang.job_id, "hosts": list(gang.hosts), "nodelist": gang.hosts_text}, f)
        os.replace(path + ".new", path)

    def read(self, gang: Gang) -> None:
        """Fill in what was noted of it."""
        with contextlib.suppress(OSError, ValueError, KeyError), open(self._path(gang.name)) as f:
            data = json.load(f)
            if data["job"] == gang.job_id:
                gang.hosts, gang.hosts_text = tuple(data["hosts"]), data["nodelist"]

    def output(self, gang: GangName) -> str:
        """Where the batch script's own output goes when nodes see this folder."""
        return self._path(gang)[: -len(".json")] + ".out"

    def _path(self, name: GangName) -> str:
        return os.path.join(self.folder, f"{name}.json")

    def _read_owner(self) -> str:
        """Tells this target of this workspace apart from others that use the same Slurm as the same user."""
        path = os.path.join(self.folder, "owner")
        if not os.path.exists(path):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
                f.write(secrets.token_hex(6))
        with open(path) as f:
            return f.read().strip()

    def _forget_old(self) -> None:
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            with contextlib.suppress(OSError):
                if name.endswith((".json", ".out", ".new")) and os.stat(path).st_mtime < time.time() - FORGET_AFTER_S:
                    os.unlink(path)


def gang_name(places: Sequence[Place], owner: str) -> GangName:
    first = places[0]
    return GangName(first.run_id, first.attempt, tuple(p.node for p in places), owner)
