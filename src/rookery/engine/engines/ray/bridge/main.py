"""The bridge: one process per Ray target, between the keeper (JSON lines on its standard streams) and the cluster.

In:  {"do": "connect", "address", "namespace", "prefix"}, then place, find, kill, clean, run.
Out: {"say": "connected"|"failed"|"nodes"|"group"|"started"|"ended"|"unstarted"|"answer"|"beat", …}.
It leaves when its standard input ends: with the keeper.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import time
from typing import Any, Optional

from .connecting import ConnectError, connect

LOOK_S = 1.0
BEAT_S = 1.0
LEAVE_S = 5.0
_STEP_S = 0.2
_NOTHING = object()


def main() -> None:
    """Run until the keeper closes our standard input, or the cluster is lost (exit code 3)."""
    out = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # whatever Ray prints goes to the log
    orders = queue.Queue[Optional[dict[str, Any]]]()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    first = orders.get()
    if first is None:
        return
    say = _Voice(out)

    def give_up(error: ConnectError) -> None:
        say("failed", kind=error.kind, words=error.words, ray=error.ray, python=error.python)
        os._exit(2)

    try:
        joined = connect(first["address"], first["namespace"], give_up)
    except ConnectError as error:
        give_up(error)
        return
    say("connected", **joined)
    try:
        Bridge(first["namespace"], first["prefix"], say, joined["mode"] == "driver").run(orders)
    except BaseException as error:
        import traceback

        traceback.print_exc()
        say("failed", kind="lost", words=f"The connection to the cluster was lost: {_line(error)}", ray="", python="")
        os._exit(3)


class _Voice:
    def __init__(self, out: Any) -> None:
        self._out, self._lock = out, threading.Lock()

    def __call__(self, what: str, **data: Any) -> None:
        with self._lock, contextlib.suppress(OSError):  # the keeper is gone: what was begun is finished all the same
            self._out.write(json.dumps({"say": what, **data}) + "\n")


def _listen(orders: queue.Queue[Optional[dict[str, Any]]]) -> None:
    for line in sys.stdin:
        orders.put(json.loads(line))
    # The keeper is gone. What was begun is finished (an ended agent gives its reservation back), unless Ray hangs.
    orders.put(None)
    time.sleep(LEAVE_S)
    os._exit(0)


class Bridge:
    """One thread, one loop: orders, answers of actors, and every second a look at the cluster."""

    def __init__(self, namespace: str, prefix: str, say: _Voice, is_driver: bool) -> None:
        import ray

        from . import looker, node_actor, scaler
        from .gangs import Gangs

        self._ray, self._say, self._namespace, self._prefix = ray, say, namespace, prefix
        for module in (looker, scaler, node_actor):  # the cluster does not have them
            ray.cloudpickle.register_pickle_by_value(module)
        self._run_program = ray.remote(node_actor.run_program)
        self._looker_class, self._looker = looker.Looker, None
        # A driver on the head can look for itself; only there the autoscaler is seen.
        self._here = looker.Looker() if is_driver and looker.is_on_head() else None
        self._nodes: dict[str, dict[str, Any]] = {}
        self._said: Any = None
        self._groups_said: dict[str, Any] = {}
        self._running: dict[Any, dict[str, Any]] = {}
        self._gangs = Gangs(namespace, say, self._nodes.get, self._look)

    def run(self, orders: queue.Queue[Optional[dict[str, Any]]]) -> None:
        """Until the keeper is gone. No good-bye to Ray: detached actors stay, the rest goes with our connection."""
        looked = beaten = 0.0
        while True:
            now = time.monotonic()
            if now - looked >= LOOK_S:
                looked = now
                self._look()
                self._gangs.look()
            if now - beaten >= BEAT_S:
                beaten = now
                self._say("beat")
            waits_for_answers = not self._gangs.is_empty or bool(self._running)
            wait_s = 0.0 if waits_for_answers else LOOK_S
            while (order := _next(orders, wait_s)) is not _NOTHING:
                if order is None:
                    os._exit(0)
                self._obey(order)
                wait_s = 0.0
            self._hear()

    def _obey(self, order: dict[str, Any]) -> None:
        do = order["do"]
        if do == "place":
            try:
                self._gangs.place(order)
            except (ValueError, TypeError) as error:
                for one in order["agents"]:
                    self._say("ended", agent=one["name"], reason=f"Ray refused it: {_line(error)}")
        elif do == "find":
            states = self._ask_looker("groups") if order["gangs"] else {}
            for one in order["gangs"]:
                self._gangs.find(one["gang"], one["group"], states.get(one["group"], ""), one["agents"])
        elif do == "kill":
            self._gangs.kill(order["agent"])
        elif do == "clean":
            actors = [n for n in self._ask_looker("actors", self._namespace) if n.startswith(self._prefix)]
            groups = [n for n in self._ask_looker("groups") if n.startswith(self._prefix)]
            self._gangs.clean(set(order["keep"]), actors, groups)
        elif do == "run":
            self._start_program(order)

    def _hear(self) -> None:
        refs = self._gangs.refs()
        if not refs and not self._running:
            return
        ready, _ = self._ray.wait([*refs, *self._running], num_returns=1, timeout=_STEP_S)
        if ready and len(refs) + len(self._running) > 1:
            ready, _ = self._ray.wait([*refs, *self._running], num_returns=len(refs) + len(self._running), timeout=0)
        for ref in ready:
            if ref in refs:
                self._gangs.answered(*refs[ref], ref)
            else:
                self._program_ended(ref)

    # -- programs on nodes -----------------------------------------------------------------------------------

    def _start_program(self, order: dict[str, Any]) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        alive = [(i, n) for i, n in self._nodes.items() if n["alive"]]
        chosen = [i for i, n in alive if not n["head"]] or [i for i, n in alive]
        if not chosen:
            self._say("answer", id=order["id"], error="The cluster has no node.")
            return
        strategy = NodeAffinitySchedulingStrategy(chosen[0], soft=True)
        ref = self._run_program.options(num_cpus=0, max_retries=0, scheduling_strategy=strategy).remote(
            order["python"], order["program"], order["timeout_s"]
        )
        self._running[ref] = {"id": order["id"], "node": self._nodes[chosen[0]]["name"]}

    def _program_ended(self, ref: Any) -> None:
        one = self._running.pop(ref)
        try:
            self._say("answer", **one, **self._ray.get(ref))
        except Exception as error:
            self._say("answer", **one, error=f"Ray could not run it: {_line(error)}")

    # -- looking ---------------------------------------------------------------------------------------------

    def _look(self) -> None:
        ids = self._gangs.group_ids
        seen = self._ask_looker("look", list(ids.values()))
        names = [n["host"] for n in seen["nodes"] if n["alive"]]
        for node in seen["nodes"]:
            unique = names.count(node["host"]) == 1 if node["alive"] else node["host"] not in names
            node["name"] = node["host"] if unique else f"{node['host']}@{node['address']}"
            if not node["alive"] and node["id"] in self._nodes:
                node["name"] = self._nodes[node["id"]]["name"]  # as it was called when it lived
            if not node["scaled_as"] and node["id"] in self._nodes:  # the autoscaler forgets a node before Ray does
                node["scaled_as"] = self._nodes[node["id"]]["scaled_as"]
            node["cpus"], node["gpus"] = int(node["resources"].get("CPU", 0)), int(node["resources"].get("GPU", 0))
            self._nodes[node["id"]] = node
        said = {"nodes": list(self._nodes.values()), "scaler": seen["scaler"], "patience_s": seen["patience_s"]}
        if said != self._said:
            self._said = json.loads(json.dumps(said))
            self._say("nodes", **said)
        for key, group in ids.items():
            state = seen["groups"].get(group)
            if state and self._groups_said.get(key) != state:
                self._groups_said[key] = state
                self._say("group", gang=key, **state)
        self._groups_said = {k: v for k, v in self._groups_said.items() if k in ids}

    def _ask_looker(self, what: str, *arguments: Any) -> Any:
        if self._here is not None:
            return getattr(self._here, what)(*arguments)
        for attempt in range(3):
            if self._looker is None:
                options = {"num_cpus": 0, "resources": {"node:__internal_head__": 0.0001}}
                self._looker = self._ray.remote(self._looker_class).options(**options).remote()
            try:
                return self._ray.get(getattr(self._looker, what).remote(*arguments), timeout=15)
            except self._ray.exceptions.RayActorError:
                self._looker = None
                if attempt == 2:
                    raise
        raise AssertionError


def _next(orders: queue.Queue[Optional[dict[str, Any]]], timeout_s: float) -> Any:
    """An order, None when the keeper is gone, or _NOTHING."""
    with contextlib.suppress(queue.Empty):
        return orders.get(timeout=timeout_s) if timeout_s else orders.get_nowait()
    return _NOTHING


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:400] or type(error).__name__
