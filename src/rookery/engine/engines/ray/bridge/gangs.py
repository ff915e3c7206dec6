"""Gangs of one cluster as the bridge sees them: from a placement group to the end of the last agent."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Optional

import ray
from ray.util import get_placement_group, placement_group, remove_placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

from . import guard
from .node_actor import NodeActor

WATCH_S = 5.0  # how long an actor is asked at a time; its answer is its sign of life
SILENCE_S = 25.0  # and so much longer without an answer means that its node is gone, whatever Ray says yet


@dataclass
class Agent:
    """One agent. `node_id` is Ray's; empty until it is known."""

    name: str
    number: int  # of the node in its run
    actor: Any
    node_id: str = ""
    ref: Any = None  # what was asked of the actor last
    asked: str = ""  # where | start | watch | found
    since: float = 0.0
    answer: dict[str, Any] = field(default_factory=dict)


@dataclass
class Gang:
    """`given` is the place order (None for one that was found); `group` Ray's placement group, if it has one."""

    key: str
    agents: dict[str, Agent]
    given: Optional[dict[str, Any]] = None
    group: Any = None


class Gangs:
    """Places, watches, ends. `say` tells the keeper; everything happens in the bridge's one thread.

    Args:
        node_of: Ray's node id → {"name", "address", "alive", "death"} as last seen, None when unknown.
    """

    def __init__(
        self,
        namespace: str,
        say: Callable[..., None],
        node_of: Callable[[str], Optional[dict[str, Any]]],
        refresh: Callable[[], None],
    ) -> None:
        self._namespace, self._say, self._node_of, self._refresh = namespace, say, node_of, refresh
        self._gangs: dict[str, Gang] = {}
        self._guard_text = _source_of(guard)

    # -- orders ----------------------------------------------------------------------------------------------

    def place(self, given: dict[str, Any]) -> None:
        """Reserve and start. Actors are created with the group, so that they come up as soon as it is there."""
        gang = Gang(given["gang"], {}, given)
        self._gangs[gang.key] = gang
        need = given["need"]
        if not given.get("on_node"):
            bundle = {"CPU": need["cpus"], "GPU": need["gpus"], **need["resources"]}
            bundles = [{k: float(v) for k, v in bundle.items() if v} for _ in given["agents"]]
            gang.group = placement_group(bundles, given["strategy"], name=given["group"], lifetime="detached")
        actor = ray.remote(NodeActor)
        for index, one in enumerate(given["agents"]):
            options = {"num_cpus": need["cpus"], "num_gpus": need["gpus"], "resources": need["resources"] or None}
            if gang.group is not None:
                options["scheduling_strategy"] = PlacementGroupSchedulingStrategy(
                    gang.group, placement_group_bundle_index=index
                )
            else:
                options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(given["on_node"], soft=False)
            made = actor.options(
                name=one["name"],
                namespace=self._namespace,
                lifetime="detached",
                max_restarts=0,
                max_concurrency=8,
                **options,
            ).remote()
            agent = gang.agents[one["name"]] = Agent(one["name"], one["node"], made)
            self._ask(agent, "where", made.where.remote())

    def find(self, key: str, group: str, group_state: str, agents: list[dict[str, Any]]) -> None:
        """Watch what an earlier bridge has started. What is not there any more is told as gone; a gang that was never wholly
        started is taken apart and told as unstarted."""
        gang = self._gangs[key] = Gang(key, {})
        with contextlib.suppress(ValueError):
            gang.group = get_placement_group(group) if group_state else None
        for one in agents:
            try:
                actor = ray.get_actor(one["name"], namespace=self._namespace)
            except ValueError:
                continue
            gang.agents[one["name"]] = Agent(one["name"], one["node"], actor, one.get("node_id", ""))
        was_started = any(one.get("node_id") for one in agents)
        if not was_started and (group_state != "CREATED" or len(gang.agents) < len(agents)):
            self._unstarted(gang)
            return
        for one in agents:
            if one["name"] not in gang.agents:
                self._say("ended", agent=one["name"], reason="Ray has no actor of this name any more")
        for agent in gang.agents.values():
            self._ask(agent, "found", agent.actor.watch.remote(0.0))
        self._close_if_empty(gang)

    def kill(self, name: str) -> None:
        """End an agent by force; a gang that still waits is withdrawn whole."""
        gang, agent = self._agent(name)
        if gang is None or agent is None:
            return
        if gang.given is not None and any(a.asked == "where" for a in gang.agents.values()):
            self._fail(gang, "It was withdrawn before it was started.")
            return
        agent.actor.kill.remote()

    def clean(self, keep: set[str], actors: list[str], groups: list[str]) -> None:
        """End what an earlier keeper has left and nobody knows of."""
        for name in set(actors) - keep:
            with contextlib.suppress(ValueError):
                ray.kill(ray.get_actor(name, namespace=self._namespace))
        for name in set(groups) - keep:
            with contextlib.suppress(ValueError):
                remove_placement_group(get_placement_group(name))

    # -- watching --------------------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        return not self._gangs

    @property
    def group_ids(self) -> dict[str, str]:
        """Placement groups that are being waited for: key → Ray's id."""
        return {
            gang.key: gang.group.id.hex()
            for gang in self._gangs.values()
            if gang.group is not None and any(a.asked == "where" for a in gang.agents.values())
        }

    def refs(self) -> dict[Any, tuple[Gang, Agent]]:
        return {a.ref: (g, a) for g in self._gangs.values() for a in g.agents.values() if a.ref is not None}

    def answered(self, gang: Gang, agent: Agent, ref: Any) -> None:
        """An actor has answered what it was asked."""
        if self._gangs.get(gang.key) is not gang or agent.ref != ref:  # Ray Client makes new objects of the same ids
            return
        agent.ref = None
        try:
            agent.answer = ray.get(ref, timeout=10)
        except Exception as error:
            self._died(gang, agent, error)
            return
        getattr(self, "_after_" + agent.asked)(gang, agent)

    def look(self) -> None:
        """Called every second: nodes that are dead by Ray's table, and those that do not answer."""
        now = time.monotonic()
        for gang, agent in list(self.refs().values()):
            if not agent.node_id or self._gangs.get(gang.key) is not gang:
                continue
            node = self._node_of(agent.node_id)
            if node is not None and not node["alive"]:
                self._lost(gang, agent, _dead_words(node, node["death"]))
            elif agent.asked in ("watch", "found", "start") and now - agent.since > WATCH_S + SILENCE_S:
                name = node["name"] if node else agent.node_id
                self._lost(
                    gang,
                    agent,
                    f"Node {name} has not answered for {now - agent.since:.0f} s (Ray still has it as alive).",
                )

    # -- what follows an answer ------------------------------------------------------------------------------

    def _after_where(self, gang: Gang, agent: Agent) -> None:
        agent.node_id, agent.asked = agent.answer["node_id"], "there"
        if any(a.asked != "there" for a in gang.agents.values()):
            return
        assert gang.given is not None
        if any(self._node_of(a.node_id) is None for a in gang.agents.values()):
            self._refresh()  # a node that has just been added
        self._number(gang)
        for member in gang.agents.values():
            order = {
                "guard": self._guard_text,
                "begin": guard.START,
                "python": gang.given["python"],
                "program": gang.given["program"],
                "variables": self._variables(gang.given, member),
                "key": gang.given["key"],
                "node": member.number,
                "gang": list(gang.agents),
                "namespace": self._namespace,
            }
            self._ask(member, "start", member.actor.start.remote(order))
        gang.given["program"] = ""

    def _number(self, gang: Gang) -> None:
        """Nodes of a run are numbered in the order of their names, so that neighbours stay neighbours."""
        numbers = sorted(agent.number for agent in gang.agents.values())
        by_name = sorted(gang.agents.values(), key=lambda a: _natural((self._node_of(a.node_id) or {}).get("name", "")))
        for number, agent in zip(numbers, by_name):
            agent.number = number

    def _variables(self, given: dict[str, Any], agent: Agent) -> dict[str, str]:
        node = self._node_of(agent.node_id) or {"name": agent.node_id, "address": ""}
        told = {"ROOKERY_NODE": str(agent.number), "ROOKERY_NODE_NAME": node["name"]}
        cpus = given["need"]["cpus"] or node.get("cpus", 0)
        if cpus:
            told["ROOKERY_NODE_CPUS"] = str(max(1, int(cpus)))
        if node["address"]:
            told["ROOKERY_NODE_ADDRESS"] = node["address"]
        if agent.answer["gpus"] or node.get("gpus", 0):
            told["CUDA_VISIBLE_DEVICES"] = ",".join(agent.answer["gpus"])  # none reserved: none to be seen
        return told

    def _after_start(self, gang: Gang, agent: Agent) -> None:
        if "pid" not in agent.answer:
            node = self._node_of(agent.node_id)
            where = node["name"] if node else agent.node_id
            self._fail(
                gang, f"The agent of node {agent.number} could not be started on {where}: {agent.answer['error']}."
            )
            return
        agent.asked = "started"
        if all(a.asked == "started" for a in gang.agents.values()):
            self._say("started", gang=gang.key, agents=[self._where(one) for one in gang.agents.values()])
            for one in gang.agents.values():
                self._ask(one, "watch", one.actor.watch.remote(WATCH_S))

    def _where(self, agent: Agent) -> dict[str, Any]:
        node = self._node_of(agent.node_id) or {"name": agent.node_id}
        return {"name": agent.name, "node": agent.number, "node_id": agent.node_id, "node_name": node["name"]}

    def _after_found(self, gang: Gang, agent: Agent) -> None:
        if agent.answer["state"] == "new":
            self._unstarted(gang)
            return
        self._after_watch(gang, agent)

    def _after_watch(self, gang: Gang, agent: Agent) -> None:
        if agent.answer["state"] != "ended":
            self._ask(agent, "watch", agent.actor.watch.remote(WATCH_S))
            return
        answer = agent.answer
        self._say(
            "ended",
            agent=agent.name,
            exit_code=answer["exit_code"],
            signal=answer["signal"],
            tail=answer.get("tail", ""),
            reason=answer.get("reason", ""),
        )
        self._forget(gang, agent)

    # -- ends ------------------------------------------------------------------------------------------------

    def _died(self, gang: Gang, agent: Agent, error: Exception) -> None:
        """The actor is gone, or will never be there."""
        self._refresh()
        node = self._node_of(agent.node_id)
        detail = _ray_words(error)
        if agent.asked == "where":
            self._fail(gang, f"Ray could not place the agent of node {agent.number}: {detail}")
            return
        if node is not None and not node["alive"]:
            words = _dead_words(node, node["death"] or detail)
        else:
            name = node["name"] if node else agent.node_id
            words = f"Ray's worker that held the agent on node {name} has died: {detail}"
        self._lost(gang, agent, words)

    def _lost(self, gang: Gang, agent: Agent, words: str) -> None:
        if agent.asked == "start":
            self._fail(gang, words)
            return
        self._say("ended", agent=agent.name, reason=words)
        self._forget(gang, agent)

    def _fail(self, gang: Gang, words: str) -> None:
        """All or none: none."""
        for agent in list(gang.agents.values()):
            self._say("ended", agent=agent.name, reason=words)
            self._forget(gang, agent)

    def _unstarted(self, gang: Gang) -> None:
        for agent in list(gang.agents.values()):
            self._forget(gang, agent)
        self._close_if_empty(gang)
        self._say("unstarted", gang=gang.key)

    def _forget(self, gang: Gang, agent: Agent) -> None:
        gang.agents.pop(agent.name, None)
        with contextlib.suppress(Exception):  # it is gone already, or its node is
            ray.kill(agent.actor)
        self._close_if_empty(gang)

    def _close_if_empty(self, gang: Gang) -> None:
        if not gang.agents and self._gangs.pop(gang.key, None) is not None and gang.group is not None:
            with contextlib.suppress(Exception):
                remove_placement_group(gang.group)

    def _ask(self, agent: Agent, what: str, ref: Any) -> None:
        agent.asked, agent.ref, agent.since = what, ref, time.monotonic()

    def _agent(self, name: str) -> tuple[Optional[Gang], Optional[Agent]]:
        for gang in self._gangs.values():
            if name in gang.agents:
                return gang, gang.agents[name]
        return None, None


def _natural(name: str) -> list[Any]:
    """r10 comes after r9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _dead_words(node: dict[str, Any], detail: str) -> str:
    return f"Node {node['name']} is dead: Ray says: {_short(detail)}" if detail else f"Node {node['name']} is dead."


def _ray_words(error: Exception) -> str:
    """Ray's own explanation without its stack."""
    text = str(getattr(error, "error_msg", "") or error)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("\t", "File "))]
    return _short(" ".join(lines))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 400 else text[:400] + " …"


def _source_of(module: Any) -> str:
    with open(module.__file__, encoding="utf-8") as f:
        return f.read()
