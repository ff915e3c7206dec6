"""What an SshEngine has placed where: on disk before it is done, so that a keeper that comes after finds it again."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Optional

from rookery.engine.engines.base import Place
from rookery.spec.plain import from_plain, to_plain

__all__ = ["ASKED", "ENDED", "STARTED", "Placement", "Placements"]

ASKED = "asked"  # to be started; whether it was, the machine knows
STARTED = "started"
ENDED = "ended"

KEPT_S = 14 * 86400.0  # how long an ended one is remembered: what its run left lies on that machine
KEPT = 1000  # and so many at most


@dataclass(frozen=True)
class Placement:
    """One agent, started once. A place has several one after the other: the agent, then finishers."""

    key: str
    run_id: str
    attempt: int
    node: int
    machine: str
    slot: int = 0
    phase: str = ASKED
    kill: bool = False  # somebody wanted it dead: it is, or will be when its machine answers again
    time: float = 0.0

    @property
    def place_id(self) -> tuple[str, int, int]:
        return (self.run_id, self.attempt, self.node)


class Placements:
    """Thread-safe. Every change is on disk when the call returns."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "placements.json")
        self._lock = threading.Lock()
        self._by_place: dict[tuple[str, int, int], Placement] = {}
        self._condemned: dict[str, Placement] = {}  # by key: given up while their machine was away
        self._load()

    def get(self, place: Place) -> Optional[Placement]:
        """The latest placement of a place."""
        with self._lock:
            return self._by_place.get((place.run_id, place.attempt, place.node))

    def by_key(self, key: str) -> Optional[Placement]:
        with self._lock:
            return next((p for p in self._by_place.values() if p.key == key), None)

    def live(self, machine: str = "") -> list[Placement]:
        """Those that are asked for or started (on a machine)."""
        with self._lock:
            return [p for p in self._by_place.values() if p.phase != ENDED and machine in ("", p.machine)]

    def condemned(self, machine: str) -> list[Placement]:
        with self._lock:
            return [p for p in self._condemned.values() if p.machine == machine]

    def ask(self, places: Iterable[tuple[Place, str, int]]) -> list[Placement]:
        """Note that agents are to be started: place, machine, slot."""
        with self._lock:
            made = []
            for place, machine, slot in places:
                name = hashlib.sha256(f"{place.run_id}/{place.attempt}/{place.node}".encode()).hexdigest()[:24]
                key = f"{name}-{secrets.token_hex(6)}"
                one = Placement(key, place.run_id, place.attempt, place.node, machine, slot, time=time.time())
                self._by_place[one.place_id] = one
                made.append(one)
            self._forget()
            self._save()
            return made

    def change(self, key: str, **changes: Any) -> Optional[Placement]:
        """The changed placement; None when it has ended already, or nobody knows it."""
        with self._lock:
            for place_id, one in self._by_place.items():
                if one.key == key and one.phase != ENDED:
                    self._by_place[place_id] = replace(one, time=time.time(), **changes)
                    self._save()
                    return self._by_place[place_id]
            return None

    def condemn(self, key: str) -> Optional[Placement]:
        """It counts as ended; should it still live it is killed when its machine is back."""
        ended = self.change(key, phase=ENDED)
        if ended is not None:
            with self._lock:
                self._condemned[key] = ended
                self._save()
        return ended

    def pardon(self, key: str) -> None:
        """It is known to be dead."""
        with self._lock:
            if self._condemned.pop(key, None):
                self._save()

    def _load(self) -> None:
        try:
            with open(self._path, encoding="utf-8") as f:
                data = json.load(f)
        except FileNotFoundError:
            return
        for one in (from_plain(Placement, row) for row in data["placements"]):
            self._by_place[one.place_id] = one
        self._condemned = {row["key"]: from_plain(Placement, row) for row in data["condemned"]}

    def _forget(self) -> None:
        """What ended long ago."""
        ended = sorted((p for p in self._by_place.values() if p.phase == ENDED), key=lambda p: -p.time)
        for i, one in enumerate(ended):
            if i >= KEPT or time.time() - one.time > KEPT_S:
                del self._by_place[one.place_id]

    def _save(self) -> None:
        data = {
            "placements": [to_plain(p) for p in self._by_place.values()],
            "condemned": [to_plain(p) for p in self._condemned.values()],
        }
        with open(self._path + ".new", "w", encoding="utf-8") as f:
            json.dump(data, f)
            f.flush()
            os.fsync(f.fileno())
        os.replace(self._path + ".new", self._path)
