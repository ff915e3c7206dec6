"""Machines that exist only in memory: agents start, talk to a controller, end and die on them as on real ones.

A `FakeCluster` outlives the engines over it, as machines outlive keepers.
"""

from __future__ import annotations

import heapq
import itertools
import json
import logging
import random
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.engine.engines.base import NodeInfo, Place
from rookery.errors import ConflictError, RookeryError

__all__ = ["FakeAgent", "FakeCluster", "Life", "Machine", "random_lives"]

log = logging.getLogger(__name__)
BEAT_S = 0.5
Key = tuple[str, int, int]


@dataclass(frozen=True)
class Life:
    """What becomes of an agent: how long its ranks run, how they end, or when it dies without a word."""

    duration_s: float = 0.0
    result: str = "completed"
    dies_after_s: Optional[float] = None


@dataclass
class Machine:
    name: str
    cpus: int
    gpus: int = 0
    used: int = 0
    is_up: bool = True


@dataclass
class FakeAgent:
    place: Place
    machine: str
    pid: int
    cpus: int = 1
    job: dict[str, Any] = field(default_factory=dict)
    is_alive: bool = True
    child: int = 0  # pid of a rank that outlives it until it is swept; 0: none


def random_lives(seed: int, duration_s: float, death_rate: float) -> Callable[[Place], Life]:
    """Lives of about that duration, of which a part ends in death."""
    numbers = random.Random(seed)

    def life(_place: Place) -> Life:
        length = duration_s * numbers.uniform(0.5, 1.5)
        return Life(length, dies_after_s=length / 2 if numbers.random() < death_rate else None)

    return life


class FakeCluster:
    """The machines, what runs on them and what waits for them.

    Args:
        life_of: what becomes of each agent; None: it is a stand-in of the exam, does what its job.json says and waits.
    """

    def __init__(
        self, num_nodes: int, cpus: int = 2, gpus: int = 0, life_of: Optional[Callable[[Place], Life]] = None
    ) -> None:
        self.machines = {f"fake-{i:04d}": Machine(f"fake-{i:04d}", cpus, gpus) for i in range(num_nodes)}
        self.life_of = life_of
        self.controller: Any = None  # whom the agents talk to; may be exchanged for the next one
        self.beat_s = BEAT_S
        self.placed = 0
        self.is_away = False  # the cluster's head does not answer
        self.agents: dict[Key, FakeAgent] = {}
        self.waiting: OrderedDict[Key, tuple[list[Place], int]] = OrderedDict()  # gangs, by their first place
        self._watchers: list[Callable[[Place, Optional[int], Optional[str], str], None]] = []
        self._pids = itertools.count(1_000_000)
        self._lock = threading.RLock()
        self._due: list[tuple[float, int, Callable[[], Any]]] = []
        self._numbers = itertools.count()
        self._wake = threading.Condition()
        self._closed = False
        self._clock = threading.Thread(target=self._run, name="fake-cluster", daemon=True)
        self._clock.start()

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._clock.join()

    def watch(self, tell: Callable[[Place, Optional[int], Optional[str], str], None]) -> Callable[[], None]:
        """Be told of every agent that ends: place, exit code, signal, reason. Returns what ends it."""
        self._watchers.append(tell)
        return lambda: self._watchers.remove(tell)

    def census(self) -> list[NodeInfo]:
        with self._lock:
            return [
                NodeInfo(
                    m.name,
                    "10.0.0.1",
                    ("running" if m.used else "idle") if m.is_up else "down",
                    m.cpus,
                    m.gpus,
                    2**30,
                    m.cpus - m.used if m.is_up else 0,
                    m.gpus,
                    "" if m.is_up else "not responding",
                )
                for m in self.machines.values()
            ]

    # -- what an engine asks for -----------------------------------------------------------------------------

    def submit(self, gang: Sequence[Place], cpus: int) -> None:
        with self._lock:
            self.waiting[_key(gang[0])] = (list(gang), cpus)
            self._give_out()

    def find(self, place: Place) -> Optional[FakeAgent]:
        return self.agents.get(_key(place))

    def waits(self, place: Place) -> bool:
        with self._lock:
            return any(place in gang for gang, _ in self.waiting.values())

    def end(
        self, place: Place, exit_code: Optional[int] = None, signal: Optional[str] = None, reason: str = ""
    ) -> None:
        """An agent ends, or is taken out of the queue together with its gang."""
        with self._lock:
            agent = self.agents.get(_key(place))
            ended = []
            if agent is not None and agent.is_alive:
                machine = self.machines[agent.machine]
                machine.used -= agent.cpus
                agent.is_alive = False  # last: tests look at it without the lock
                ended = [place]
            for key, (gang, _) in list(self.waiting.items()):
                if place in gang:
                    del self.waiting[key]
                    ended = gang
            self._give_out()
        for one in ended:
            for tell in list(self._watchers):
                tell(one, exit_code, signal, reason)

    def sweep(self, place: Place) -> list[int]:
        agent = self.agents.get(_key(place))
        if agent is None or agent.is_alive or not agent.child:
            return []
        child, agent.child = agent.child, 0
        return [child]

    # -- what happens to machines ----------------------------------------------------------------------------

    def kill_node(self, name: str) -> None:
        with self._lock:
            self.machines[name].is_up = False
            dead = [a for a in self.agents.values() if a.is_alive and a.machine == name]
            for agent in dead:
                agent.child = 0
        for agent in dead:
            self.end(agent.place, reason=f"Machine {name} is down: not responding.")

    def revive_node(self, name: str) -> None:
        with self._lock:
            self.machines[name].is_up = True
            self._give_out()

    # -- inside ----------------------------------------------------------------------------------------------

    def _give_out(self) -> None:
        """First come, first served; the nodes of a gang on machines of their own, the emptiest first."""
        while self.waiting:
            key, (gang, cpus) = next(iter(self.waiting.items()))
            free = [m for m in self.machines.values() if m.is_up and m.cpus - m.used >= max(1, cpus)]
            if len(free) < len(gang):
                return
            del self.waiting[key]
            for place, machine in zip(gang, heapq.nsmallest(len(gang), free, key=lambda m: m.used)):
                machine.used += max(1, cpus)
                self._start(place, machine, max(1, cpus))

    def _start(self, place: Place, machine: Machine, cpus: int) -> None:
        agent = FakeAgent(place, machine.name, next(self._pids), cpus)
        self.agents[_key(place)] = agent
        self.placed += 1
        if self.life_of is None:
            with open(place.paths.job, encoding="utf-8") as f:
                agent.job = json.load(f)
            agent.child = next(self._pids) if agent.job.get("child") else 0
            if "exit" in agent.job:
                self.after(0.0, lambda: self.end(place, exit_code=agent.job["exit"]))
            return
        life = self.life_of(place)
        self.after(0.0, lambda: self._say_hello(agent, life))

    def _say_hello(self, agent: FakeAgent, life: Life) -> None:
        told = self._say(agent, "agent_hello", {"machine": agent.machine})
        if told is None:
            return
        if told["cancel"]:
            self._finish(agent, "canceled")
            return
        if self._say(agent, "agent_running", {"ranks": []}) is None:
            return
        if life.dies_after_s is not None:
            self.after(life.dies_after_s, lambda: self.end(agent.place, signal="SIGKILL"))
        else:
            self.after(life.duration_s, lambda: self._finish(agent, life.result))
        self.after(self.beat_s, lambda: self._beat(agent))

    def _beat(self, agent: FakeAgent) -> None:
        told = self._say(agent, "agent_beat", {}) if agent.is_alive else None
        if told is None:
            return
        if told["cancel"]:
            self._finish(agent, "canceled")
        else:
            self.after(self.beat_s, lambda: self._beat(agent))

    def _finish(self, agent: FakeAgent, result: str) -> None:
        if self._say(agent, "agent_outcome", {"result": result}) is not None:
            self._say(agent, "agent_finished", {"warnings": []})
            self.end(agent.place, exit_code=0)

    def _say(self, agent: FakeAgent, verb: str, body: dict[str, Any]) -> Optional[dict[str, Any]]:
        """None: it is dead, or its attempt is over and it leaves."""
        if not agent.is_alive or self.controller is None:
            return None
        place = agent.place
        try:
            answer = getattr(self.controller, verb)(place.run_id, place.attempt, place.node, body)
        except ConflictError:
            self.end(place, exit_code=3)
            return None
        except RookeryError as error:  # the keeper is leaving: the next one hears it
            log.info("Agent of %s: %s", place.run_id, error.message)
            self.after(0.05, lambda: self._say(agent, verb, body))
            return None
        return answer or {"cancel": False}

    def after(self, delay_s: float, job: Callable[[], Any]) -> None:
        with self._wake:
            heapq.heappush(self._due, (time.monotonic() + delay_s, next(self._numbers), job))
            self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._closed and (not self._due or self._due[0][0] > time.monotonic()):
                    self._wake.wait(None if not self._due else max(0.0, self._due[0][0] - time.monotonic()))
                if self._closed:
                    return
                job = heapq.heappop(self._due)[2]
            try:
                job()
            except Exception:
                log.exception("A fake agent stumbled")


def _key(place: Place) -> Key:
    return place.run_id, place.attempt, place.node
