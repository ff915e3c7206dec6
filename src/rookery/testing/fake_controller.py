"""A controller that places nothing: runs move on when agents (or tests) say so. It behaves towards record and
server as the real one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Optional

from rookery.errors import ComputeError, ConflictError
from rookery.record import Record
from rookery.record.clock import utc_now
from rookery.spec.compute import LOCAL, ClusterSpec, check_cluster_spec
from rookery.spec.plain import from_plain, to_plain
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus

__all__ = ["FakeController"]

_STATES = ("idle", "leaving", "preempted", "preparing", "running", "unusable")


class FakeController:
    """Every call that returns has stored its consequence."""

    def __init__(self, record: Record, paths: Any = None) -> None:
        self.record = record
        self.outcomes: dict[str, dict[str, Any]] = {}
        self.rendezvous: dict[tuple[str, int], dict[str, Any]] = {}
        self._commands: dict[tuple[str, int, int], list[dict[str, Any]]] = defaultdict(list)

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def driver(self, kind: str) -> Any:
        """Nobody drives here: what a driver alone can do is refused, or does nothing."""
        return _NoDriver()

    def check(self, spec: RunSpec) -> None:
        if spec.kind == RunKind.PIPELINE:
            from rookery.pipeline.knowing import check_graph

            check_graph(self.record, self, (spec.plan or {}).get("graph"), (spec.plan or {}).get("parameters"))
        if spec.compute == LOCAL:
            return
        target = self.record.compute.get(spec.compute)
        if spec.node_count > target["spec"]["max_nodes"]:
            raise ComputeError(
                f"node_count={spec.node_count} is more than max_nodes={target['spec']['max_nodes']} "
                f"of '{spec.compute}'."
            )

    def submitted(self, run_id: str) -> None:
        self.record.runs.advance(run_id, status=RunStatus.QUEUED, reason="waiting for an agent", state={"attempt": 1})

    def cancel(self, run_id: str) -> None:
        run = self.record.runs.get(run_id)
        if run["started_utc"] is None or run["kind"] == "child":
            self.record.runs.advance(run_id, status=RunStatus.CANCELED)
            return
        self.record.runs.advance(run_id, status=RunStatus.CANCEL_REQUESTED, reason="asked to stop")
        waiting = self._commands[(run_id, run["attempt"], 0)]
        waiting.append({"n": len(waiting) + 1, "command": "cancel", "grace_s": 10.0})
        self.record.bell.ring(f"commands/{run_id}/{run['attempt']}/0")

    def report_status(self, run_id: str, status: str, error: Optional[dict[str, Any]]) -> None:
        self.record.runs.advance(run_id, status=RunStatus(status), error=error)

    def agent_hello(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> dict[str, Any]:
        return {"cancel": self._current(run_id, attempt)["status"] == RunStatus.CANCEL_REQUESTED}

    def agent_running(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> None:
        self._current(run_id, attempt)
        self.record.runs.advance(run_id, status=RunStatus.RUNNING)

    def agent_open_rendezvous(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> None:
        self._current(run_id, attempt)
        self.rendezvous[(run_id, attempt)] = {"address": body["address"], "port": body["port"]}
        self.record.bell.ring(f"rendezvous/{run_id}/{attempt}")

    def agent_rendezvous(self, run_id: str, attempt: int, node: int) -> dict[str, Any]:
        is_stopping = self._current(run_id, attempt)["status"] == RunStatus.CANCEL_REQUESTED
        return {**self.rendezvous.get((run_id, attempt), {"address": None, "port": None}), "cancel": is_stopping}

    def agent_beat(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> dict[str, Any]:
        return {"cancel": self._current(run_id, attempt)["status"] == RunStatus.CANCEL_REQUESTED}

    def agent_outcome(self, run_id: str, attempt: int, node: int, outcome: dict[str, Any]) -> None:
        self._current(run_id, attempt)
        self.outcomes[run_id] = outcome
        self.record.runs.advance(
            run_id, status=RunStatus.FINALIZING, reason="collecting outputs", state={"outcome": outcome}
        )

    def agent_finished(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> None:
        self._current(run_id, attempt)
        outcome = (self.record.runs.state(run_id) or {}).get("outcome", {})
        status = {"completed": RunStatus.COMPLETED, "canceled": RunStatus.CANCELED}.get(
            outcome.get("result"), RunStatus.FAILED
        )
        self.record.runs.advance(run_id, status=status, error=outcome.get("cause"), warnings=body.get("warnings") or [])

    def agent_job(self, run_id: str, attempt: int, node: int) -> str:
        self._current(run_id, attempt)
        try:
            with open(self.record.paths.attempt(run_id, attempt).node(node).job, encoding="utf-8") as f:
                return f.read()
        except OSError as error:
            raise ConflictError(f"Attempt {attempt}, node {node} of run '{run_id}' has no job.") from error

    def manifests(self, run_id: str) -> dict[str, Any]:
        raise ConflictError(
            f"Run '{run_id}' is {self.record.runs.get(run_id)['status']}: nothing can be started for it."
        )

    def commands(self, run_id: str, attempt: int, node: int, after: int) -> list[dict[str, Any]]:
        self._current(run_id, attempt)
        return [command for command in self._commands[(run_id, attempt, node)] if command["n"] > after]

    def create_compute(
        self, name: str, spec: ClusterSpec, *, listener: Any = None, check: bool = True
    ) -> dict[str, Any]:
        if any(target["name"] == name for target in self.record.compute.list()):
            raise ConflictError(f"Compute '{name}' exists already.")
        self.record.compute.put(name, to_plain(spec))
        return self.compute(name)

    def compute(self, name: str) -> dict[str, Any]:
        if name == LOCAL:
            return _compute({"name": LOCAL, "spec": {}, "created_utc": utc_now(), "modified_utc": utc_now()}, "local")
        return _compute(self.record.compute.get(name), "cluster")

    def computes(self) -> list[dict[str, Any]]:
        return [self.compute(LOCAL), *(self.compute(target["name"]) for target in self.record.compute.list())]

    def update_compute(self, name: str, changes: dict[str, Any]) -> dict[str, Any]:
        spec = {**self.record.compute.get(name)["spec"], **changes}
        check_cluster_spec(from_plain(ClusterSpec, spec))
        self.record.compute.put(name, spec)
        return self.compute(name)

    def delete_compute(self, name: str) -> None:
        if name == LOCAL:
            raise ComputeError("The target 'local' is always there.")
        if any(run["compute"] == name for run, _ in self.record.runs.live()):
            raise ConflictError(f"Compute '{name}' has runs.")
        self.record.compute.delete(name)

    def preempt(
        self, name: str, node: Optional[str] = None, *, grace_s: Any = None, away_s: Any = None, force: bool = False
    ) -> dict[str, Any]:
        self.compute(name)
        raise ComputeError(f"Compute '{name}' has no node that could be preempted.")

    def check_compute(self, name: str, listener: Any = None) -> list[dict[str, Any]]:
        self.compute(name)
        return [{"check": "engine", "ok": True, "words": "It answers.", "advice": ""}]

    def nodes(self, name: str) -> list[dict[str, Any]]:
        if name != LOCAL:
            self.record.compute.get(name)
        return []

    def counts(self) -> dict[str, int]:
        statuses = [run["status"] for run, _ in self.record.runs.live()]
        queued = statuses.count(RunStatus.QUEUED.value)
        return {"live_runs": len(statuses), "queued_runs": queued, "running_runs": len(statuses) - queued}

    def has_work(self) -> bool:
        return False  # a keeper that has this one and is killed stays dead

    def _current(self, run_id: str, attempt: int) -> dict[str, Any]:
        run = self.record.runs.get(run_id)
        if run["attempt"] != attempt or RunStatus(run["status"]).is_terminal:
            raise ConflictError(f"Attempt {attempt} of run '{run_id}' is over.", details={"status": run["status"]})
        return run


def _compute(target: dict[str, Any], kind: str) -> dict[str, Any]:
    return {
        **target, "kind": kind, "provisioning_state": "Succeeded", "allocation_state": "Steady", "current_nodes": 0,
        "target_nodes": 0, "max_nodes": target["spec"].get("max_nodes", 1), "problem": "", "node_states": dict.fromkeys(_STATES, 0), "warnings": [], "queued_runs": 0, "running_runs": 0,
    }  # fmt: skip


class _NoDriver:
    def real(self) -> _NoDriver:
        return self

    def retry(self, run_id: str, node: str) -> None:
        raise ConflictError(f"Step '{node}' of run '{run_id}' did not fail.")

    def schedules_changed(self) -> None:
        pass
