"""Owned machines over OpenSSH: one, or several without any cluster manager.

One `ssh` per machine runs the hand (hand.py), which starts agents and tells how they end. A lost connection is not a
death: agents carry on, and what happened meanwhile is told when the machine answers again.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.engine.engines.base import Capacity, Death, Engine, NodeAnswer, NodeInfo, Place
from rookery.engine.engines.ssh.line import Line
from rookery.engine.engines.ssh.machines import make_machines
from rookery.engine.engines.ssh.placements import ASKED, ENDED, STARTED, Placement, Placements
from rookery.engine.engines.ssh.room import Room
from rookery.engine.engines.ssh.words import Refusal
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import SshOptions, read_options
from rookery.spec.job import NODE_HOME
from rookery.spec.paths import WorkspacePaths

__all__ = ["SshEngine"]

log = logging.getLogger(__name__)
ASK_S = 15.0  # a machine that is connected answers within this time
CONNECT_S = 30.0  # an attempt to connect has ended by then
ADOPT_S = 12.0  # a new keeper waits this long for machines before it takes their agents to be alive
LOOK_S = 1.0


@dataclass
class _Gang:
    """Agents that start together, when all of their machines are connected."""

    boot: str
    placements: list[Placement]
    is_sent: bool = False
    sent_on: dict[str, int] = field(default_factory=dict)  # by key: the connection on which its start was sent
    started: set[str] = field(default_factory=set)

    def has(self, key: str) -> bool:
        return any(p.key == key for p in self.placements)


class SshEngine(Engine):
    """See Engine for the promises. Nodes are `slots` per machine; a gang is spread over the machines."""

    name = "ssh"

    def __init__(self, name: str, spec: ClusterSpec, boot: Callable[[Sequence[Place]], str], state_folder: str) -> None:
        options = read_options("ssh", spec.options)
        assert isinstance(options, SshOptions)
        os.makedirs(state_folder, mode=0o700, exist_ok=True)
        self._name, self._spec, self._options, self._boot = name, spec, options, boot
        self._placements = Placements(state_folder)
        self._lock = threading.RLock()
        self._lines: dict[str, Line] = {}
        for machine in make_machines(options, spec.reach, state_folder):
            self._lines[machine.name] = Line(
                machine,
                lambda facts, at=machine.name: self._hello(at),  # type: ignore[misc]
                lambda event, at=machine.name: self._ended(event["key"], event, at),  # type: ignore[misc]
                lambda refusal, at=machine.name: self._no_connection(at, refusal),  # type: ignore[misc]
            )
        self._room = Room(spec, options.slots, list(self._lines))
        self._gangs: list[_Gang] = []
        self._places: dict[str, Place] = {}  # by key: what the controller calls it
        self._sweeps: dict[str, list[Place]] = {}  # by machine: to be done when it is back
        self._counted: list[Callable[[], None]] = []
        self._news: queue.SimpleQueue[Optional[Callable[[], None]]] = queue.SimpleQueue()
        self._on_death: Callable[[Death], None] = lambda death: None
        self._stopped = threading.Event()
        self._teller = threading.Thread(target=self._tell, name=f"rookery-ssh-{name}", daemon=True)
        self._looker = threading.Thread(target=self._look, name=f"rookery-ssh-look-{name}", daemon=True)

    # -- what the controller calls

    def start(self, on_death: Callable[[Death], None]) -> None:
        self._on_death = on_death
        for line in self._lines.values():
            line.start()
        self._teller.start()
        self._looker.start()

    def stop(self) -> None:
        self._stopped.set()
        for line in self._lines.values():
            line.stop()
        self._news.put(None)
        for thread in (self._teller, self._looker):
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join()

    def capacity(self) -> Optional[Capacity]:
        facts = [line.facts for line in self._lines.values() if line.facts]
        if not facts:
            return None
        return Capacity(tuple(range(max(f["cpus"] for f in facts))), tuple(range(max(f["gpus"] for f in facts))))

    def when_counted(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if self.capacity() is None:
                self._counted.append(callback)
                return
        callback()

    def check(self, node_count: int, spec: ClusterSpec) -> None:
        self._room.check(node_count, spec, {name: line.facts for name, line in self._lines.items()})

    def place(self, gang: Sequence[Place]) -> None:
        try:
            boot = self._boot(gang)
        except ComputeError:
            raise
        except Exception as error:
            raise ComputeError(f"The agents' program could not be made: {error}") from error
        with self._lock:
            before = {p: old.machine for p in gang if (old := self._placements.get(p))}
            away = [name for name, line in self._lines.items() if not line.is_up]
            chosen = self._room.choose(gang, before, self._placements.live(), away)
            placements = self._placements.ask(chosen)
            self._places.update(zip((p.key for p in placements), gang))
            self._gangs.append(_Gang(boot, placements))
            for name in {p.machine for p in placements}:
                self._lines[name].try_now()
        self._news.put(self._start_gangs)

    def adopt(self, places: Iterable[Place]) -> set[Place]:
        places = list(places)
        found = {place: one for place in places if (one := self._placements.get(place)) and one.phase != ENDED}
        until = time.monotonic() + ADOPT_S
        for name in {one.machine for one in found.values() if one.machine in self._lines}:
            self._lines[name].wait_tried(max(0.0, until - time.monotonic()))
        return {p for p, one in found.items() if self._is_there(p, one, max(1.0, until - time.monotonic()))}

    def is_alive(self, place: Place) -> bool:
        one = self._placements.get(place)
        return one is not None and one.phase != ENDED

    def kill(self, place: Place) -> None:
        one = self._placements.get(place)
        if one is None or one.phase == ENDED:
            return
        with self._lock:
            waiting = next((g for g in self._gangs if not g.is_sent and g.has(one.key)), None)
            if waiting is not None:
                waiting.placements = [p for p in waiting.placements if p.key != one.key]
                if not waiting.placements:
                    self._gangs.remove(waiting)
        if waiting is not None:
            self._over(one.key, reason=f"The agent of node {one.node} was stopped before it was started.")
            return
        self._placements.change(one.key, kill=True)
        if one.machine in self._lines:
            self._lines[one.machine].send("kill", lambda data: None, key=one.key)

    def sweep(self, place: Place) -> list[int]:
        one = self._placements.get(place)
        line = self._lines.get(one.machine) if one else None
        if one is None or line is None:
            return []
        try:
            return list(line.ask("sweep", ASK_S, **self._sweep_words(place))["killed"])
        except ComputeError:
            with self._lock:  # its machine is away: when it is back
                self._sweeps.setdefault(one.machine, []).append(place)
            return []

    def waiting(self, place: Place) -> str:
        one = self._placements.get(place)
        if one is None or one.phase == ENDED:
            return ""
        gang = self._gang_of(one.key)
        names = dict.fromkeys([one.machine, *(p.machine for p in gang.placements)] if gang else [one.machine])
        lines = [self._lines[name] for name in names if name in self._lines]
        return " ".join(_describe(line) for line in lines if not line.is_up)

    def machine(self, place: Place) -> str:
        one = self._placements.get(place)
        return one.machine if one and one.phase != ASKED else ""

    def nodes(self) -> list[NodeInfo]:
        until = time.monotonic() + CONNECT_S
        waiting = [threading.Thread(target=line.wait_tried, args=(CONNECT_S, True)) for line in self._lines.values()]
        for thread in waiting:  # together: those that are away all take as long as one
            thread.start()
        for thread in waiting:
            thread.join(max(0.0, until - time.monotonic()))
        return [self._node(name, line) for name, line in self._lines.items()]

    def run_on_node(self, program: str, timeout_s: float) -> NodeAnswer:
        problems = []
        for name, line in self._lines.items():
            if not line.wait_tried(CONNECT_S, anew=True):
                problems.append(_describe(line))
                continue
            words = {"program": program, "python": line.machine.python, "limit_s": timeout_s}
            answer = line.ask("run", timeout_s + ASK_S, **words)
            return NodeAnswer(name, answer["exit_code"], answer["output"])
        raise ComputeError(" ".join(problems))

    # -- starting

    def _start_gangs(self) -> None:
        with self._lock:
            ready = [
                g for g in self._gangs if not g.is_sent and all(self._lines[p.machine].is_up for p in g.placements)
            ]
            for gang in ready:
                gang.is_sent = True
        for gang in ready:
            for one in gang.placements:
                self._send_start(gang, one)

    def _send_start(self, gang: _Gang, one: Placement) -> None:
        line = self._lines[one.machine]
        gang.sent_on[one.key] = line.connection
        details = {
            "key": one.key,
            "note": {"run": one.run_id, "attempt": one.attempt, "node": one.node},
            "boot": gang.boot,
            "python": line.machine.python,
            "variables": self._room.variables(one, line.facts or {}),
        }

        def answered(data: dict[str, Any]) -> None:
            if data.get("lost"):
                return  # asked again, in _synced, when the machine is back
            if data.get("error"):
                self._fail(gang, one, f"{one.machine} could not start the agent: {data['error']}.")
            else:
                self._came(one.key, data, one.machine)

        line.send("start", answered, **details)

    def _came(self, key: str, data: dict[str, Any], machine: str) -> None:
        """What a machine says about an agent that was asked for."""
        if data["state"] != "alive":
            self._ended(key, data, machine)
            return
        one = self._placements.by_key(key)
        if one is not None and one.phase == ASKED:
            one = self._placements.change(key, phase=STARTED)
        with self._lock:
            gang = self._gang_of(key)
            if gang is not None:
                gang.started.add(key)
                if len(gang.started) == len(gang.placements):
                    self._gangs.remove(gang)
        if one is not None and one.kill:
            self._lines[machine].send("kill", lambda data: None, key=key)

    def _fail(self, gang: _Gang, failed: Placement, words: str) -> None:
        """One agent cannot be started: none of its gang shall run."""
        with self._lock:
            if gang in self._gangs:
                self._gangs.remove(gang)
        others = f"It was not started, because node {failed.node} could not be: {words}"
        for one in gang.placements:
            self._lines[one.machine].send("kill", lambda data: None, key=one.key)
            self._over(one.key, reason=words if one.key == failed.key else others)

    def _gang_of(self, key: str) -> Optional[_Gang]:
        """The gang of an agent, for as long as not all of it are started."""
        with self._lock:
            return next((g for g in self._gangs if g.has(key)), None)

    # -- news from machines, in their lines' threads

    def _hello(self, machine: str) -> None:
        with self._lock:
            counted, self._counted = self._counted, []
            sweeps = self._sweeps.pop(machine, [])
        for callback in counted:
            self._news.put(callback)
        line = self._lines[machine]
        for place in sweeps:
            line.send("sweep", lambda data: None, **self._sweep_words(place))
        for one in self._placements.condemned(machine):
            line.send("kill", lambda data, key=one.key: self._killed(key, data), key=one.key)  # type: ignore[misc]
            line.send("sweep", lambda data: None, **self._sweep_words(Place(*one.place_id, root="")))
        keys = [p.key for p in self._placements.live(machine)]
        if keys:
            line.send("sync", lambda data: self._synced(machine, data), keys=keys)
        else:
            self._news.put(self._start_gangs)

    def _killed(self, key: str, data: dict[str, Any]) -> None:
        if not data.get("lost"):
            self._placements.pardon(key)

    def _synced(self, machine: str, data: dict[str, Any]) -> None:
        for key, found in data.get("states", {}).items():
            one = self._placements.by_key(key)
            if one is None:
                continue
            if found["state"] != "absent":
                self._came(key, found, machine)
            elif one.phase == STARTED:
                self._over(key, reason=f"The agent of node {one.node} is gone: {machine} knows nothing of it any more.")
            else:
                self._again(one)
        self._news.put(self._start_gangs)

    def _again(self, one: Placement) -> None:
        """It was asked for and not started: the connection, or the keeper, ended before it was."""
        gang = self._gang_of(one.key)
        if gang is None:
            self._over(one.key, reason=f"The agent of node {one.node} was not started: the keeper ended before it was.")
        elif gang.is_sent and gang.sent_on.get(one.key) != self._lines[one.machine].connection:
            self._send_start(gang, one)

    def _ended(self, key: str, found: dict[str, Any], machine: str) -> None:
        one = self._placements.by_key(key)
        if one is None:
            return
        end = found.get("end") or {}
        if end.get("error"):
            self._over(key, reason=f"The agent of node {one.node} could not be started on {machine}: {end['error']}.")
        elif found["state"] == "ended":
            code, name = end.get("exit_code"), end.get("signal")
            how = f"was killed by {name}" if name else f"ended with exit code {code}"
            last = (found.get("tail") or "").splitlines()[-1:]
            said = f" It said last: {last[0]}" if last and code else ""
            self._over(key, code, name, f"The agent of node {one.node} on {machine} {how}.{said}")
        elif found.get("why") == "restarted":
            self._over(key, reason=f"The agent of node {one.node} is gone: {machine} was restarted.")
        else:
            self._over(key, reason=f"The agent of node {one.node} on {machine} is gone; nobody saw how it ended.")

    def _no_connection(self, machine: str, refusal: Refusal) -> None:
        if not refusal.is_final:
            return
        with self._lock:
            gangs = [g for g in self._gangs if not g.is_sent and any(p.machine == machine for p in g.placements)]
        for gang in gangs:
            self._fail(gang, next(p for p in gang.placements if p.machine == machine), refusal.words)

    def _over(self, key: str, code: Optional[int] = None, signal: Optional[str] = None, reason: str = "") -> None:
        """An agent has ended; told once."""
        if self._placements.change(key, phase=ENDED) is not None:
            self._tell_death(key, code, signal, reason)

    def _tell_death(self, key: str, code: Optional[int], signal: Optional[str], reason: str) -> None:
        with self._lock:
            place = self._places.pop(key, None)
        if place is not None:
            self._news.put(lambda: self._on_death(Death(place, code, signal, reason)))

    # -- threads of the engine

    def _tell(self) -> None:
        while (news := self._news.get()) is not None and not self._stopped.is_set():
            try:
                news()
            except Exception:
                log.exception("Compute target %s: a callback failed", self._name)

    def _look(self) -> None:
        """Gives up machines that have been away for too long."""
        limit = self._options.lost_after_s
        while not self._stopped.wait(LOOK_S):
            for name, line in self._lines.items():
                away_s = 0.0 if line.lost_at is None else time.monotonic() - line.lost_at
                if limit and away_s > limit:
                    for one in self._placements.live(name):
                        place = self._places.get(one.key)
                        # What is new has the whole time; what must run there (to ship what lies there) has had it.
                        if time.time() - one.time > limit or one.phase != ASKED or (place and place.on):
                            self._give_up(one, line, away_s)

    def _give_up(self, one: Placement, line: Line, away_s: float) -> None:
        gang = self._gang_of(one.key)
        words = (
            f"Node {one.node} is lost: {one.machine} has not answered for {away_s:.0f} s (option lost_after_s="
            f"{self._options.lost_after_s}). {line.trouble.words if line.trouble else ''}"
        ).rstrip()
        if gang is not None and not gang.is_sent:
            self._fail(gang, one, words)
        elif self._placements.condemn(one.key) is not None:
            self._tell_death(one.key, None, None, words)

    # -- asking

    def _is_there(self, place: Place, one: Placement, timeout_s: float) -> bool:
        """Whether an agent lives. Where its machine does not say it counts as alive: its end is told when it does."""
        line = self._lines.get(one.machine)
        if line is None:
            self._placements.change(one.key, phase=ENDED)
            return False
        try:
            found = line.ask("sync", timeout_s, keys=[one.key])["states"][one.key]
        except ComputeError:
            found = {"state": "alive"}
        if found["state"] != "alive":
            self._placements.change(one.key, phase=ENDED)
            return False
        with self._lock:
            self._places[one.key] = place
        self._came(one.key, found, one.machine)
        # One that ended in this very moment is told once: as a death, if that was after we knew its place.
        now = self._placements.get(place)
        with self._lock:
            return (now is not None and now.phase != ENDED) or self._places.pop(one.key, None) is None

    def _node(self, name: str, line: Line) -> NodeInfo:
        address = line.machine.host
        try:
            facts = line.ask("facts", ASK_S)["facts"]
        except ComputeError as error:
            old = line.facts or {}
            return NodeInfo(name, address, "down", old.get("cpus", 0), old.get("gpus", 0), detail=error.message)
        here = self._placements.live(name)
        cpus, gpus = self._room.share(facts)
        return NodeInfo(
            name,
            facts["address"] or address,
            "running" if here else "idle",
            facts["cpus"],
            facts["gpus"],
            facts["memory_bytes"],
            max(0, facts["cpus"] - len(here) * cpus),
            max(0, facts["gpus"] - len(here) * gpus),
            f"{facts['hostname']}, Python {facts['python']}, load {facts['load']:.1f}",
        )

    def _sweep_words(self, place: Place) -> dict[str, Any]:
        """Ranks are recorded in the node's folder: this very one where files are shared, else one below the node's home."""
        there = WorkspacePaths(NODE_HOME).attempt(place.run_id, place.attempt).node(place.node).root
        root = place.root if self._spec.reach.shared_files else there
        return {"run": place.run_id, "attempt": place.attempt, "node": place.node, "root": root}


def _describe(line: Line) -> str:
    if line.trouble is None:
        return f"A connection to {line.machine.name} is being made."
    away_s = 0.0 if line.lost_at is None else time.monotonic() - line.lost_at
    since = time.strftime(
        "%H:%M:%S UTC", time.gmtime(time.time() - away_s)
    )  # not "for 3 s": it would be news every second
    return f"{line.machine.name} has not answered since {since}: {line.trouble.words}"
