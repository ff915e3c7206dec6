"""One compute target: its nodes, and the runs that wait for them. Fair, first come first served, a gang at a
time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

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


@dataclass(frozen=True)
class Request:
    """A run that wants `count` nodes together. `nested`: a parent that holds a node of this target waits for
    it. From `flexible_at` on (monotonic clock) `min_count` are enough for it."""

    run_id: str
    count: int
    nested: bool = False
    min_count: int = 0
    flexible_at: Optional[float] = None

    def least(self, now: float) -> int:
        """How many nodes it takes at this time, if there are not all."""
        if self.min_count and self.flexible_at is not None and now >= self.flexible_at:
            return min(self.min_count, self.count)
        return self.count


@dataclass(frozen=True)
class Wish:
    """A request that can be met now: with how many nodes, and how many of them must be brought up for it."""

    request: Request
    new_nodes: int
    count: int


class Target:
    """Nodes and queue of one target. Pure bookkeeping: time comes in, nothing is started. Not thread-safe."""

    def __init__(self, name: str, spec: ClusterSpec, now: float, now_utc: str) -> None:
        self.name = name
        self.spec = spec
        self.nodes: dict[str, Node] = {}
        self.waiting: list[Request] = []
        self._next_node = 0
        self.keep_minimum(now, now_utc)

    @property
    def is_local(self) -> bool:
        return self.name == LOCAL

    @property
    def running_runs(self) -> list[str]:
        """Runs that hold nodes, in the order of their nodes, each once."""
        return list(dict.fromkeys(n.run_id for n in self.nodes.values() if n.run_id))

    def idle(self) -> list[Node]:
        return [n for n in self.nodes.values() if n.run_id is None and n.state == "idle"]

    def ask(self, request: Request) -> None:
        if all(r.run_id != request.run_id for r in self.waiting):
            self.waiting.append(request)

    def leave(self, run_id: str) -> None:
        self.waiting = [r for r in self.waiting if r.run_id != run_id]

    def next_wish(self, now: float = 0.0) -> Optional[Wish]:
        """The request whose turn it is, if it can be met now. One that can never be met does not hold up the
        others."""
        for request in self.waiting:
            if request.nested:
                return Wish(request, max(0, request.count - len(self.idle())), request.count)
        for request in self.waiting:
            least = request.least(now)
            if least > self.spec.max_nodes:
                continue
            idle = len(self.idle())
            room = self.spec.max_nodes - sum(not n.extra for n in self.nodes.values())
            if least <= idle + max(0, room):
                count = min(request.count, idle + max(0, room))
                return Wish(request, max(0, count - idle), count)
            return None
        return None

    def take(self, wish: Wish, now: float, now_utc: str) -> list[Node]:
        """Give a wish its nodes and take it off the queue."""
        room = self.spec.max_nodes - len(self.nodes)
        for i in range(wish.new_nodes):
            self._bring_up(now, now_utc, extra=i >= room)
        nodes = self.idle()[: wish.count]
        for node in nodes:
            node.state, node.run_id, node.since, node.since_utc = "running", wish.request.run_id, now, now_utc
        self.leave(wish.request.run_id)
        return nodes

    def retake(self, run_id: str, node_ids: list[str], now: float, now_utc: str) -> list[Node]:
        """After a restart: the nodes that a run has held all the time, by their names."""
        taken = []
        for node_id in node_ids:
            node = self.nodes.get(node_id)
            if node is None or node.run_id not in (None, run_id):
                node = self._bring_up(now, now_utc, node_id=node_id, extra=len(self.nodes) >= self.spec.max_nodes)
            node.state, node.run_id = "running", run_id
            taken.append(node)
        while self.is_local is False and len(self.nodes) > self.spec.max_nodes and self.idle():
            del self.nodes[self.idle()[-1].id]
        return taken

    def give_back(self, run_id: str, now: float, now_utc: str) -> bool:
        """Its nodes are idle again, away where they were preempted, or gone where the target has shrunk meanwhile.
        Whether there were any."""
        mine = [n for n in self.nodes.values() if n.run_id == run_id]
        for node in mine:
            node.state, node.run_id, node.cpus, node.gpus, node.since, node.since_utc = (
                "idle" if node.away_s is None else "preempted",
                None,
                (),
                (),
                now,
                now_utc,
            )
            node.back_at = now + (node.away_s or 0.0)
            if node.extra or len(self.nodes) > self.spec.max_nodes:
                del self.nodes[node.id]
        return bool(mine)

    def preempt(self, node_id: str, away_s: float, now: float, now_utc: str) -> None:
        """Take a node away: at once if nothing runs on it, else as soon as its run has let go of it."""
        node = self.nodes[node_id]
        if node.state == "preempted":
            return
        node.away_s, node.since, node.since_utc = away_s, now, now_utc
        node.state = "leaving" if node.run_id else "preempted"
        node.back_at = now + away_s

    def bring_back(self, now: float, now_utc: str) -> bool:
        """Forget nodes that have been away for long enough: others may come up in their place. Whether any were."""
        due = [n for n in self.nodes.values() if n.state == "preempted" and now >= n.back_at]
        for node in due:
            del self.nodes[node.id]
        self.keep_minimum(now, now_utc)
        return bool(due)

    def next_change(self, now: float) -> Optional[float]:
        """When the clock alone changes what can be given out, or what is up; None: never."""
        times = [n.back_at for n in self.nodes.values() if n.state == "preempted"]
        times += [r.flexible_at for r in self.waiting if r.flexible_at is not None and r.flexible_at > now]
        down = self.next_scale_down()
        return min(times + ([] if down is None else [down]), default=None)

    def resize(self, spec: ClusterSpec, now: float, now_utc: str) -> None:
        self.spec = spec
        for node in self.idle()[::-1]:
            if len(self.nodes) > spec.max_nodes:
                del self.nodes[node.id]
        self.keep_minimum(now, now_utc)

    def keep_minimum(self, now: float, now_utc: str) -> None:
        while len(self.nodes) < self.spec.min_nodes:
            self._bring_up(now, now_utc)

    def scale_down(self, now: float) -> bool:
        """Let go of nodes that have been idle for long enough; whether any went."""
        due = [n for n in self.idle() if now - n.since >= self.spec.idle_seconds_before_scaledown]
        due.sort(key=lambda n: n.since)
        spare = len(self.nodes) - self.spec.min_nodes
        for node in due[: max(0, spare)]:
            del self.nodes[node.id]
        return bool(due[: max(0, spare)])

    def next_scale_down(self) -> Optional[float]:
        """When the next idle node may go; None while there is none to spare."""
        if len(self.nodes) <= self.spec.min_nodes or not self.idle():
            return None
        return min(n.since for n in self.idle()) + self.spec.idle_seconds_before_scaledown

    def reason(self, request: Request, position: int) -> str:
        """What a waiting run waits for, who has it, and how many are before it. `position` counts from 1."""
        wanted = f"{request.count} node{'s' if request.count > 1 else ''}"
        size = self.spec.max_nodes
        if request.count > size:
            return (
                f"waits for {wanted} of '{self.name}', which has {size} maximum nodes: raise it with "
                f"`rookery compute update {self.name} --max-nodes {request.count}`, or cancel the run"
            )
        holders = self.running_runs
        in_use = sum(1 for n in self.nodes.values() if n.run_id)
        by = f" by {_names(holders)}" if holders else ""
        away = sum(1 for n in self.nodes.values() if n.state == "preempted")
        gone = f", {away} preempted" if away else ""
        return (
            f"waits for {wanted} of '{self.name}': {in_use} of {size} in use{by}{gone}; "
            f"position {position} in the queue"
        )

    def _bring_up(self, now: float, now_utc: str, node_id: str = "", extra: bool = False) -> Node:
        while not node_id or node_id in self.nodes:
            node_id = f"{self.name}-{self._next_node}"
            self._next_node += 1
        node = self.nodes[node_id] = Node(node_id, "idle", now, now_utc, extra=extra)
        return node


def _names(runs: list[str]) -> str:
    shown = ", ".join(f"run {r}" for r in runs[:3])
    return shown + (f" and {len(runs) - 3} more" if len(runs) > 3 else "")
