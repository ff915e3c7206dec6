"""The engine over a running Ray cluster: a placement group per gang, an actor per agent, all through a bridge process."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

from rookery.engine.engines.base import Capacity, Death, Engine, NodeAnswer, NodeInfo, Place
from rookery.engine.engines.ray.admission import Machine, Need
from rookery.engine.engines.ray.machines import Machines
from rookery.engine.engines.ray.notes import Agent, Gang, Notes, new_gang
from rookery.engine.engines.ray.supervisor import Supervisor
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import RayOptions, read_options

__all__ = ["RayEngine"]

ANSWER_S = 280.0  # so long `nodes` waits for a bridge that has not given up; it may need an environment first
HEAD_SLACK_S = 5.0  # after raylets have given their head up, which they began to miss before we did
UNKNOWN_S = 120.0  # agents of an earlier keeper that nobody asks for are ended then
Key = tuple[str, int, int]


class RayEngine(Engine):
    """See Engine for the promises. Answers come from a mirror of the cluster that the bridge keeps up to date (once a second,
    ends of agents at once); nothing here waits for Ray, except `run_on_node` and the first `nodes`.

    Args:
        boot: makes the program that starts the agents of a gang.
        state_folder: private; notes of what is placed, and the bridge's log.
    """

    name = "ray"

    def __init__(self, name: str, spec: ClusterSpec, boot: Callable[[Sequence[Place]], str], state_folder: str) -> None:
        options = read_options("ray", spec.options)
        assert isinstance(options, RayOptions)
        self._target, self._spec, self._boot, self._options = name, spec, boot, options
        self._notes = Notes(state_folder)
        self._prefix = self._notes.prefix()
        self._supervisor = Supervisor(name, options, self._notes, state_folder, self._word, self._away)
        self._lock = threading.RLock()
        self._gangs: dict[str, Gang] = {gang.key: gang for gang in self._notes.load()}
        self._machines = Machines(options)
        self._is_connected = False
        self._counted = threading.Event()
        self._when_counted: list[Callable[[], None]] = []
        self._answers: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)
        self._on_death: Callable[[Death], None] = lambda death: None
        self._deaths: queue.SimpleQueue[Optional[Death]] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._unknown_until = time.monotonic() + UNKNOWN_S
        self._threads = [
            threading.Thread(target=self._tell, name=f"rookery-ray-{name}-tell", daemon=True),
            threading.Thread(target=self._tick, name=f"rookery-ray-{name}-tick", daemon=True),
        ]

    def start(self, on_death: Callable[[Death], None]) -> None:
        self._on_death = on_death
        self._unknown_until = time.monotonic() + UNKNOWN_S
        self._supervisor.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        if self._stopped.is_set():
            return
        self._stopped.set()
        self._deaths.put(None)
        self._supervisor.stop()
        for thread in self._threads:
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(10)

    # -- what there is ---------------------------------------------------------------------------------------

    def capacity(self) -> Optional[Capacity]:
        """Of the largest node."""
        with self._lock:
            alive = self._machines.alive()
        if not self._counted.is_set():
            return None
        cpus, gpus = max((m.cpus for m in alive), default=0), max((m.gpus for m in alive), default=0)
        return Capacity(tuple(range(cpus)), tuple(range(gpus)))

    def when_counted(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if not self._counted.is_set():
                self._when_counted.append(callback)
                return
        callback()

    def check(self, node_count: int, spec: ClusterSpec) -> None:
        if spec.max_nodes and node_count > spec.max_nodes:  # 0: whatever the cluster has
            raise ComputeError(f"{node_count} nodes were requested, but at most {spec.max_nodes} fit (max_nodes).")
        with self._lock:
            if not self._counted.is_set():
                return  # nobody knows yet; `place` looks again
            words = self._machines.missing(self._machines.need(node_count, spec), node_count)
        if words:
            raise ComputeError(words)

    def nodes(self) -> list[NodeInfo]:
        self._wait_for_bridge()
        with self._lock:
            if not self._is_connected or not self._counted.is_set():
                raise ComputeError(self._away_words())
            used = {a.node_id for g in self._gangs.values() for a in g.agents if not a.is_ended}
            return [_info(m, m.id in used) for m in self._machines.that_count()]

    def num_addable(self) -> int:
        with self._lock:
            return self._machines.num_addable(self._spec)

    def run_on_node(self, program: str, timeout_s: float) -> NodeAnswer:
        answer = self._run_program(program, timeout_s)
        if answer.get("lost"):  # the bridge was: its next one can ask again
            answer = self._run_program(program, timeout_s)
        if "error" in answer:
            raise ComputeError(f"On node {answer.get('node', '?')}: {answer['error']}")
        return NodeAnswer(answer["node"], answer["exit_code"], answer["output"])

    def _run_program(self, program: str, timeout_s: float) -> dict[str, Any]:
        self._wait_for_bridge()
        number, answers = next(self._numbers), queue.SimpleQueue[dict[str, Any]]()
        with self._lock:
            if not self._is_connected or not self._counted.is_set():
                raise ComputeError(self._away_words())
            self._answers[number] = answers
        order = {"do": "run", "id": number, "python": self._spec.reach.python, "program": program}
        try:
            if not self._supervisor.send({**order, "timeout_s": timeout_s}):
                return {"lost": True, "error": self._away_words()}
            return answers.get(timeout=timeout_s + 30.0)
        except queue.Empty:
            raise ComputeError(f"Ray did not run a program on a node within {timeout_s + 30:g} s.") from None
        finally:
            with self._lock:
                self._answers.pop(number, None)

    def _wait_for_bridge(self) -> None:
        """Until the cluster has been counted through a bridge that is connected, or there is no sense in waiting."""
        until = time.monotonic() + ANSWER_S
        while time.monotonic() < until and not self._supervisor.has_given_up and not self._stopped.wait(0.05):
            if self._is_connected and self._counted.is_set():
                return

    # -- agents ----------------------------------------------------------------------------------------------

    def place(self, gang: Sequence[Place]) -> None:
        places = list(gang)
        with self._lock:
            need, on_node = self._machines.need(len(places), self._spec), ""
            if places[0].on:  # it only ships what lies there, beside whatever else runs
                need, on_node = Need(0.0), self._machines.id_of(places[0].on)
            elif self._counted.is_set():
                words = self._machines.missing(need, len(places))
                if words:
                    raise ComputeError(words)
        program = self._boot(places)
        with self._lock:
            for place in places:
                self._forget(place)
            made = new_gang(places, self._prefix, need)
            made.program, made.on_node = program, on_node
            self._gangs[made.key] = made
            self._notes.keep(made)
            self._ask(made)

    def adopt(self, places: Iterable[Place]) -> set[Place]:
        found = set()
        with self._lock:
            for place in places:
                agent = self._agent(place)
                if agent is not None:
                    agent.is_known, agent.place = True, place
                    found.add(place)
        return found

    def is_alive(self, place: Place) -> bool:
        with self._lock:
            return self._agent(place) is not None

    def kill(self, place: Place) -> None:
        with self._lock:
            gang, agent = self._find(place)
            if gang is None or agent is None:
                return
            if gang.state == "held":
                for one in [a for a in gang.agents if not a.is_ended]:
                    self._ended(
                        gang, one, Death(one.place, reason="It was withdrawn before Ray was asked for a place.")
                    )
                return
            agent.to_kill = True  # said again to a bridge that comes after this one
            if self._is_connected:
                self._supervisor.send({"do": "kill", "agent": agent.name})

    def sweep(self, place: Place) -> list[int]:
        """Nothing is left for us: the guard on the node has ended whatever the agent left."""
        return []

    def waiting(self, place: Place) -> str:
        with self._lock:
            gang, agent = self._find(place)
            if gang is None or agent is None or gang.state == "started":
                return ""
            if not self._is_connected:
                return self._away_words()
            if gang.why == "CREATED" or gang.on_node:
                return "Ray starts its worker processes"
            return self._machines.waiting(gang.need, len(gang.agents))

    def machine(self, place: Place) -> str:
        with self._lock:
            agent = self._agent(place)
            return agent.node_name if agent else ""

    # -- orders for the bridge (all with the lock) -----------------------------------------------------------

    def _ask(self, gang: Gang) -> None:
        if not self._is_connected:
            return
        order = {
            "do": "place",
            "gang": gang.key,
            "group": gang.group,
            "strategy": self._options.strategy.upper(),
            "need": {"cpus": gang.need.cpus, "gpus": gang.need.gpus, "resources": gang.need.resources},
            "on_node": gang.on_node,
            "agents": [{"name": a.name, "node": a.place.node} for a in gang.agents],
            "key": f"{gang.agents[0].place.run_id}/{gang.agents[0].place.attempt}",
            "python": self._spec.reach.python,
            "program": gang.program,
        }
        if self._supervisor.send(order):
            gang.state = "asked"
            self._notes.keep(gang)

    def _away_words(self) -> str:
        problem = self._supervisor.problem
        return problem or f"the Ray cluster at {self._options.address} is being asked for its nodes"

    # -- what the bridge says (in the supervisor's thread) ---------------------------------------------------

    def _word(self, word: dict[str, Any]) -> None:
        with self._lock:
            getattr(self, "_on_" + word["say"])(word)

    def _away(self) -> None:
        with self._lock:
            self._is_connected = False
            for answers in self._answers.values():
                answers.put({"lost": True, "error": f"the bridge to the cluster was lost: {self._away_words()}"})

    def _on_connected(self, word: dict[str, Any]) -> None:
        """Clean up what nobody knows, find what was started, ask for what waits."""
        self._is_connected = True
        keep = [name for g in self._gangs.values() for name in (g.group, *(a.name for a in g.agents))]
        self._supervisor.send({"do": "clean", "keep": keep})
        known = [g for g in self._gangs.values() if g.state != "held"]
        find = [
            {
                "gang": g.key,
                "group": g.group,
                "agents": [
                    {"name": a.name, "node": a.place.node, "node_id": a.node_id} for a in g.agents if not a.is_ended
                ],
            }
            for g in known
        ]
        self._supervisor.send({"do": "find", "gangs": find})
        for gang in list(self._gangs.values()):
            if gang.state == "held":
                self._place_again(gang)
            for agent in [a for a in gang.agents if a.to_kill and not a.is_ended]:
                self._supervisor.send({"do": "kill", "agent": agent.name})

    def _on_nodes(self, word: dict[str, Any]) -> None:
        self._machines.take(word)
        if not self._counted.is_set():
            self._counted.set()
            callbacks, self._when_counted = self._when_counted, []
            for callback in callbacks:
                callback()

    def _on_group(self, word: dict[str, Any]) -> None:
        gang = self._gangs.get(word["gang"])
        if gang is not None:
            gang.why = word["state"]

    def _on_started(self, word: dict[str, Any]) -> None:
        """Ray has chosen machines: now it is known which agent is which node of the run."""
        gang = self._gangs.get(word["gang"])
        if gang is None:
            return
        places = {a.place.node: a.place for a in gang.agents}
        told = {one["name"]: one for one in word["agents"]}
        for agent in gang.agents:
            one = told[agent.name]
            agent.place = places[one["node"]]
            agent.node_id, agent.node_name = one["node_id"], one["node_name"]
        gang.state, gang.program = "started", ""
        self._notes.keep(gang)
        for agent in [a for a in gang.agents if a.to_kill]:
            self._supervisor.send({"do": "kill", "agent": agent.name})

    def _on_ended(self, word: dict[str, Any]) -> None:
        gang, agent = self._named(word["agent"])
        if gang is None or agent is None:
            return
        place, code, signal = agent.place, word.get("exit_code"), word.get("signal")
        on = f" on {agent.node_name}" if agent.node_name else ""
        if word.get("reason"):
            death = Death(place, code, signal, _sentence(word["reason"]))
        elif word.get("tail") and not signal:
            told = f"The agent of node {place.node}{on} ended with exit code {code}. It said: {word['tail'][-1500:]}"
            death = Death(place, code, signal, told)
        else:
            death = Death(place, code, signal)
        self._ended(gang, agent, death)

    def _on_unstarted(self, word: dict[str, Any]) -> None:
        gang = self._gangs.get(word["gang"])
        if gang is not None:
            self._place_again(gang)

    def _on_answer(self, word: dict[str, Any]) -> None:
        answers = self._answers.get(word["id"])
        if answers is not None:
            answers.put(word)

    def _place_again(self, gang: Gang) -> None:
        """One that never got as far as to run: asked for under new names, with a new program where ours is gone."""
        del self._gangs[gang.key]
        self._notes.drop(gang)
        places = [a.place for a in gang.agents if not a.is_ended]
        if any(a.to_kill for a in gang.agents):
            for agent in gang.agents:
                self._deaths.put(Death(agent.place, reason="It was withdrawn before it was started."))
            return
        made = new_gang(places, self._prefix, gang.need)
        made.on_node, made.program = gang.on_node, gang.program
        for old, new in zip(gang.agents, made.agents):
            new.is_known = old.is_known
        try:
            made.program = made.program or self._boot(places)
        except Exception as error:
            for place in places:
                self._deaths.put(Death(place, reason=f"It could not be asked for again: {error}."))
            return
        self._gangs[made.key] = made
        self._notes.keep(made)
        self._ask(made)

    # -- ends ------------------------------------------------------------------------------------------------

    def _ended(self, gang: Gang, agent: Agent, death: Death) -> None:
        if agent.is_ended:
            return
        agent.is_ended = True
        if all(a.is_ended for a in gang.agents):
            self._gangs.pop(gang.key, None)
            self._notes.drop(gang)
        else:
            self._notes.keep(gang)
        if agent.is_known:
            self._deaths.put(death)

    def _forget(self, place: Place) -> None:
        """What was noted of an earlier agent of this place, which its keeper has given up."""
        gang, agent = self._find(place)
        if gang is not None and agent is not None:
            self._supervisor.send({"do": "kill", "agent": agent.name})
            agent.is_known = False
            self._ended(gang, agent, Death(place))

    def _tell(self) -> None:
        while True:
            death = self._deaths.get()
            if death is None or self._stopped.is_set():
                return
            self._on_death(death)

    def _tick(self) -> None:
        while not self._stopped.wait(1.0):
            with self._lock:
                self._give_up_if_head_is_gone()
                if self._is_connected and time.monotonic() > self._unknown_until:
                    self._end_unknown()

    def _give_up_if_head_is_gone(self) -> None:
        """Without their head raylets end, and our actors and agents with them."""
        since = self._supervisor.away_since
        if since is None or time.monotonic() - since < self._machines.patience_s + HEAD_SLACK_S:
            return
        away_s = time.monotonic() - since
        for gang in [g for g in self._gangs.values() if g.state == "started"]:
            for agent in [a for a in gang.agents if not a.is_ended]:
                on = agent.node_name or "its node"
                words = (
                    f"The Ray cluster at {self._options.address} has not answered for {away_s:.0f} s: its head is gone, and "
                    f"with it what ran on {on}. ({self._away_words()})"
                )
                self._ended(gang, agent, Death(agent.place, reason=words))

    def _end_unknown(self) -> None:
        for gang in list(self._gangs.values()):
            for agent in [a for a in gang.agents if not a.is_known and not a.is_ended]:
                self._supervisor.send({"do": "kill", "agent": agent.name})

    # -- finding ---------------------------------------------------------------------------------------------

    def _find(self, place: Place) -> tuple[Optional[Gang], Optional[Agent]]:
        key = _key(place)
        for gang in self._gangs.values():
            for agent in gang.agents:
                if not agent.is_ended and _key(agent.place) == key:
                    return gang, agent
        return None, None

    def _agent(self, place: Place) -> Optional[Agent]:
        return self._find(place)[1]

    def _named(self, name: str) -> tuple[Optional[Gang], Optional[Agent]]:
        for gang in self._gangs.values():
            for agent in gang.agents:
                if agent.name == name and not agent.is_ended:
                    return gang, agent
        return None, None


def _key(place: Place) -> Key:
    return place.run_id, place.attempt, place.node


def _info(machine: Machine, is_used: bool) -> NodeInfo:
    free_cpus, free_gpus = int(machine.free.get("CPU", 0)), int(machine.free.get("GPU", 0))
    busy = is_used or free_cpus < machine.cpus or free_gpus < machine.gpus
    state = ("running" if busy else "idle") if machine.alive else "down"
    return NodeInfo(
        machine.name,
        machine.address,
        state,
        machine.cpus,
        machine.gpus,
        machine.memory,
        free_cpus if machine.alive else 0,
        free_gpus if machine.alive else 0,
        machine.kind if machine.alive else _sentence(machine.death or "dead"),
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ")")) else text + "."
