"""What a Ray engine must find again after a restart of the keeper: one small file per gang in its folder. No secrets."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from dataclasses import asdict, dataclass
from typing import Optional

from rookery.engine.engines.base import Place
from rookery.engine.engines.ray.admission import Need

__all__ = ["Agent", "Gang", "Notes", "new_gang"]


@dataclass
class Agent:
    """One agent of a gang. `name` is its actor's in Ray."""

    place: Place
    name: str
    node_id: str = ""  # Ray's; empty until it has been started
    node_name: str = ""
    is_known: bool = True  # placed or adopted by this keeper; False: found in a note, and nobody has asked for it yet
    is_ended: bool = False
    to_kill: bool = False  # its end by force has been asked for


@dataclass
class Gang:
    """What was asked for together. `state`: held (Ray has not been told) | asked | started."""

    key: str
    group: str
    agents: list[Agent]
    need: Need
    on_node: str = ""  # Ray's id of the one node where it may run
    state: str = "held"
    program: str = ""  # the boot program, until it is started; never written down
    why: str = ""  # the state of its placement group, as Ray calls it


def new_gang(places: list[Place], prefix: str, need: Need) -> Gang:
    """Names in Ray are used once, so that what is being ended never stands in the way of what comes after it."""
    first = places[0]
    key = f"{_plain(first.run_id)}/{first.attempt}/{first.node}/{secrets.token_hex(4)}"
    agents = [Agent(place, f"{prefix}{key}/{index}") for index, place in enumerate(places)]
    return Gang(key, prefix + key, agents, need)


class Notes:
    """The folder of one target's engine."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(folder, "gangs")
        self._scope_file = os.path.join(folder, "scope")
        self._versions_file = os.path.join(folder, "versions.json")
        os.makedirs(self._folder, mode=0o700, exist_ok=True)

    def prefix(self) -> str:
        """What all our names in the cluster begin with; nobody else's do."""
        try:
            with open(self._scope_file, encoding="utf-8") as f:
                scope = f.read().strip()
        except OSError:
            scope = secrets.token_hex(6)
            _write(self._scope_file, scope)
        return f"rookery-{scope}/"

    def versions(self) -> dict[str, str]:
        """The cluster's versions of Ray and Python, where it has told them."""
        try:
            with open(self._versions_file, encoding="utf-8") as f:
                return {str(k): str(v) for k, v in json.load(f).items()}
        except (OSError, ValueError):
            return {}

    def keep_versions(self, ray: str, python: str) -> None:
        _write(self._versions_file, json.dumps({"ray": ray, "python": python}))

    def keep(self, gang: Gang) -> None:
        agents = [
            {"place": asdict(a.place), "name": a.name, "node_id": a.node_id, "node_name": a.node_name}
            for a in gang.agents
            if not a.is_ended
        ]
        data = {"key": gang.key, "group": gang.group, "agents": agents, "need": asdict(gang.need), "state": gang.state}
        _write(self._path(gang), json.dumps({**data, "on_node": gang.on_node}))

    def drop(self, gang: Gang) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(gang))

    def load(self) -> list[Gang]:
        gangs = [self._read(os.path.join(self._folder, name)) for name in sorted(os.listdir(self._folder))]
        return [gang for gang in gangs if gang is not None]

    def _read(self, path: str) -> Optional[Gang]:
        try:
            with open(path, encoding="utf-8") as f:
                data = json.load(f)
            agents = [
                Agent(Place(**a["place"]), a["name"], a["node_id"], a["node_name"], is_known=False)
                for a in data["agents"]
            ]
            return Gang(data["key"], data["group"], agents, Need(**data["need"]), data["on_node"], data["state"])
        except (OSError, ValueError, KeyError, TypeError):
            return None  # half written: what it was about is cleaned up as a leftover

    def _path(self, gang: Gang) -> str:
        return os.path.join(self._folder, gang.key.replace("/", "~") + ".json")


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)[:100]


def _write(path: str, text: str) -> None:
    new = f"{path}.new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(new, path)
