"""One compute target: its nodes, and the runs that wait for them. Fair, first come first served, a gang at a
time."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from typing import Optional

from rookery.engine.line import Line, Request
from rookery.spec.compute import LOCAL, ClusterSpec

__all__ = ["Node", "Request", "Target", "Wish"]


@dataclass
class Node:
    """One node of a target. `since` is in seconds of the monotonic clock, `since_utc` for people."""

    id: str
    state: str  # idle | running | leaving | preempted
    since: float
    since_utc: str
    run_id: Optional[str] = None
    cpus: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()
    away_s: Optional[float] = None  # it is being taken away, and stays away for so long
    back_at: float = 0.0  # of a preempted one: when another may come up in its place
    extra: bool = False  # beyond the target's size: for a run whose parent holds a node and waits for it
    number: int = 0  # in the order in which nodes came up; those that came first are used first
    index: int = 0  # of the run's nodes this is the one with this number


@dataclass(frozen=True)
class Wish:
    """A request that can be met now: with how many nodes, and how many of them must be brought up for it."""

    request: Request
    new_nodes: int
    count: int


class Target:
    """Nodes and queue of one target. Pure bookkeeping: time comes in, nothing is started. Not thread-safe.

    `size` is how many nodes it may have: `max_nodes`, or for a target on other machines that leaves it open what the engine has or can add.
    Nodes of such a target (`is_remote`) are there only while a run holds them: whether a machine is kept is the engine's affair.
    """

    def __init__(self, name: str, spec: ClusterSpec, now: float, now_utc: str) -> None:
        self.name = name
        self.spec = spec
        self.nodes: dict[str, Node] = {}
        self.line = Line(spec.max_nodes)
        self.size = spec.max_nodes
        self._next_node = 0
        self._free_names: list[int] = []  # of a remote target, whose names are used again
        self._idle: list[tuple[int, str]] = []  # a heap; what is no longer idle is dropped when it comes up
        self._states: Counter[str] = Counter()
        self._held: dict[str, list[Node]] = {}  # by run, in the order in which they got them
        self._num_extra = 0
        self._in_use = ""  # words, until something changes
        self.keep_minimum(now, now_utc)

    @property
    def is_local(self) -> bool:
        return self.name == LOCAL

    @property
    def is_remote(self) -> bool:
        return self.spec.engine != "embedded"

    @property
    def waiting(self) -> list[Request]:
        return list(self.line)

    @property
    def running_runs(self) -> list[str]:
        """Runs that hold nodes, each once, the one that has held them longest first."""
        return list(self._held)

    def held_by(self, run_id: str) -> list[Node]:
        return list(self._held.get(run_id, ()))

    def count(self, state: str) -> int:
        return self._states[state]

    def idle(self) -> list[Node]:
        return [n for n in self.nodes.values() if n.state == "idle"] if self._states["idle"] else []

    def ask(self, request: Request) -> None:
        self.line.add(request)

    def leave(self, run_id: str) -> None:
        self.line.remove(run_id)

    def next_wish(self, now: float = 0.0) -> Optional[Wish]:
        """The request whose turn it is, if it can be met now. One that can never be met does not hold up the
        others."""
        request = self.line.first(now)
        if request is None:
            return None
        idle = self._states["idle"]
        if request.nested:
            return Wish(request, max(0, request.count - idle), request.count)
        there = idle + max(0, self.size - (len(self.nodes) - self._num_extra))
        if request.least(now) > there:
            return None
        count = min(request.count, there)
        return Wish(request, max(0, count - idle), count)

    def take(self, wish: Wish, now: float, now_utc: str) -> list[Node]:
        """Give a wish its nodes and take it off the queue."""
        room = self.size - len(self.nodes)
        for i in range(wish.new_nodes):
            self._bring_up(now, now_utc, extra=i >= room)
        nodes = []
        for i in range(wish.count):  # one by one: a name that is used again may be in the heap twice
            nodes.append(self._next_idle())
            self._hand_over(nodes[-1], wish.request.run_id, i, now, now_utc)
        self.leave(wish.request.run_id)
        return nodes

    def retake(self, run_id: str, node_ids: list[str], now: float, now_utc: str) -> list[Node]:
        """After a restart: the nodes that a run has held all the time, by their names."""
        taken = []
        for i, node_id in enumerate(node_ids):
            node = self.nodes.get(node_id)
            if node is None or node.run_id not in (None, run_id):
                node = self._bring_up(now, now_utc, node_id=node_id, extra=len(self.nodes) >= self.size)
            if node.run_id is None:
                self._hand_over(node, run_id, i, node.since, node.since_utc)
            taken.append(node)
        for node in self.idle()[::-1]:
            if not self.is_local and len(self.nodes) > self.size:
                self._drop(node)
        return taken

    def give_back(self, run_id: str, now: float, now_utc: str) -> bool:
        """Its nodes are idle again, away where they were preempted, or gone where the target has shrunk meanwhile.
        Whether there were any."""
        mine = self._held.pop(run_id, [])
        for node in mine:
            self._set_state(node, "idle" if node.away_s is None else "preempted")
            node.run_id, node.cpus, node.gpus, node.since, node.since_utc = None, (), (), now, now_utc
            node.back_at = now + (node.away_s or 0.0)
            if node.extra or len(self.nodes) > self.size or (self.is_remote and node.state == "idle"):
                self._drop(node)
        return bool(mine)

    def preempt(self, node_id: str, away_s: float, now: float, now_utc: str) -> None:
        """Take a node away: at once if nothing runs on it, else as soon as its run has let go of it."""
        node = self.nodes[node_id]
        if node.state == "preempted":
            return
        node.away_s, node.since, node.since_utc = away_s, now, now_utc
        self._set_state(node, "leaving" if node.run_id else "preempted")
        node.back_at = now + away_s

    def bring_back(self, now: float, now_utc: str) -> bool:
        """Forget nodes that have been away for long enough: others may come up in their place. Whether any were."""
        if not self._states["preempted"]:
            return False
        due = [n for n in self.nodes.values() if n.state == "preempted" and now >= n.back_at]
        for node in due:
            self._drop(node)
        self.keep_minimum(now, now_utc)
        return bool(due)

    def next_change(self, now: float) -> Optional[float]:
        """When the clock alone changes what can be given out, or what is up; None: never."""
        times = [n.back_at for n in self.nodes.values() if n.state == "preempted"] if self._states["preempted"] else []
        times += [t for t in (self.line.next_flexible(now), self.next_scale_down()) if t is not None]
        return min(times, default=None)

    def resize(self, spec: ClusterSpec, now: float, now_utc: str) -> None:
        self.spec = spec
        self.set_size(spec.max_nodes or self.size if self.is_remote else spec.max_nodes)
        self.keep_minimum(now, now_utc)

    def set_size(self, size: int) -> None:
        """How many nodes it may have from now on; those in use stay until they are given back."""
        if size == self.size:
            return
        self.size, self._in_use = size, ""
        self.line.resize(size)
        for node in self.idle()[::-1]:
            if len(self.nodes) > size:
                self._drop(node)

    def keep_minimum(self, now: float, now_utc: str) -> None:
        while not self.is_remote and len(self.nodes) < self.spec.min_nodes:
            self._bring_up(now, now_utc)

    def scale_down(self, now: float) -> bool:
        """Let go of nodes that have been idle for long enough; whether any went."""
        spare = len(self.nodes) - self.spec.min_nodes
        if spare <= 0 or not self._states["idle"]:
            return False
        due = [n for n in self.idle() if now - n.since >= self.spec.idle_seconds_before_scaledown]
        due.sort(key=lambda n: n.since)
        for node in due[:spare]:
            self._drop(node)
        return bool(due)

    def next_scale_down(self) -> Optional[float]:
        """When the next idle node may go; None while there is none to spare."""
        if len(self.nodes) <= self.spec.min_nodes or not self._states["idle"]:
            return None
        return min(n.since for n in self.idle()) + self.spec.idle_seconds_before_scaledown

    def reason(self, request: Request, position: int) -> str:
        """What a waiting run waits for, who has it, and how many are before it. `position` counts from 1."""
        wanted = f"{request.count} node{'s' if request.count > 1 else ''}"
        if request.count > self.size:
            return self._never(request, wanted)
        if not self._in_use:
            holders = list(self._held)
            by = f" by {_names(holders)}" if holders else ""
            away = self._states["preempted"]
            in_use = self._states["running"] + self._states["leaving"]
            self._in_use = f"{in_use} of {self.size} in use{by}" + (f", {away} preempted" if away else "")
        return f"waits for {wanted} of '{self.name}': {self._in_use}; position {position} in the queue"

    def _never(self, request: Request, wanted: str) -> str:
        if self.is_remote and not self.spec.max_nodes:
            return (
                f"waits for {wanted} of '{self.name}', whose cluster has room for {self.size} now: it goes on when there "
                "are enough, or cancel the run"
            )
        return (
            f"waits for {wanted} of '{self.name}', which has {self.size} maximum nodes: raise it with "
            f"`rookery compute update {self.name} --max-nodes {request.count}`, or cancel the run"
        )

    # -- nodes -----------------------------------------------------------------------------------------------

    def _bring_up(self, now: float, now_utc: str, node_id: str = "", extra: bool = False) -> Node:
        while not node_id or node_id in self.nodes:
            if self._free_names:
                node_id = f"{self.name}-{heapq.heappop(self._free_names)}"
                continue
            node_id = f"{self.name}-{self._next_node}"
            self._next_node += 1
        node = self.nodes[node_id] = Node(node_id, "", now, now_utc, extra=extra, number=self._next_node)
        self._num_extra += extra
        self._set_state(node, "idle")
        return node

    def _next_idle(self) -> Node:
        """The idle node that came up first."""
        while True:
            node = self.nodes.get(heapq.heappop(self._idle)[1])
            if node is not None and node.state == "idle":
                return node

    def _hand_over(self, node: Node, run_id: str, index: int, now: float, now_utc: str) -> None:
        self._set_state(node, "running")
        node.run_id, node.index, node.since, node.since_utc = run_id, index, now, now_utc
        self._held.setdefault(run_id, []).append(node)

    def _drop(self, node: Node) -> None:
        del self.nodes[node.id]
        self._states[node.state] -= 1
        self._num_extra -= node.extra
        self._in_use = ""
        name, _, number = node.id.rpartition("-")
        if self.is_remote and name == self.name and number.isdigit() and int(number) < self._next_node:
            heapq.heappush(self._free_names, int(number))

    def _set_state(self, node: Node, state: str) -> None:
        if node.state:
            self._states[node.state] -= 1
        self._states[state] += 1
        self._in_use = ""
        node.state = state
        if state == "idle":
            heapq.heappush(self._idle, (node.number, node.id))


def _names(runs: list[str]) -> str:
    shown = ", ".join(f"run {r}" for r in runs[:3])
    return shown + (f" and {len(runs) - 3} more" if len(runs) > 3 else "")
