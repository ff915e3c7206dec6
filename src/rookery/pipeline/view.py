"""A pipeline's run as people see it: the graph, and every step with its run, its reason and what it made."""

from __future__ import annotations

from typing import Any

from rookery.errors import NotFoundError
from rookery.pipeline.catalog import Catalog
from rookery.pipeline.plan import Phase
from rookery.pipeline.validate import output_types
from rookery.record import Record
from rookery.spec.pipeline import NodeKind, in_order, node_map, step_name
from rookery.spec.run import RunKind
from rookery.spec.status import RunStatus

__all__ = ["show_run"]

# Of a step that has no run (yet); with one it is what that run says.
_STATUS = {
    Phase.WAITING: RunStatus.NOT_STARTED,
    Phase.HELD: RunStatus.QUEUED,
    Phase.RUNNING: RunStatus.STARTING,
    Phase.COMPLETED: RunStatus.COMPLETED,
    Phase.FAILED: RunStatus.FAILED,
    Phase.CANCELED: RunStatus.CANCELED,
    Phase.SKIPPED: RunStatus.NOT_STARTED,
}


def show_run(record: Record, run_id: str) -> dict[str, Any]:
    """`{"run_id", "graph", "parameters", "status", "steps": {node: …}, …}`; steps in the order of the graph."""
    run = record.runs.get(run_id)
    if run["kind"] != RunKind.PIPELINE:
        raise NotFoundError(f"Run '{run_id}' is no pipeline. GET /runs/{run_id} shows it.")
    plan = run["spec"]["plan"]
    graph = plan["graph"]
    rows, runs = record.pipeline_steps.of_run(run_id), {each["id"]: each for each in record.runs.children(run_id)}
    nodes, cards = node_map(graph), Catalog(record).cards()
    ordered = [key for key in in_order(graph) if nodes[key].get("kind") in NodeKind.STEPS]
    steps = {key: _step(key, nodes[key], rows.get(key), runs, output_types(nodes[key], cards) or {}) for key in ordered}
    return {
        "run_id": run_id,
        "experiment": run["experiment"],
        "display_name": run["display_name"],
        "status": run["status"],
        "reason": run["reason"],
        "error": run["error"],
        "graph": graph,
        "parameters": plan.get("parameters") or {},
        "regenerate": bool(plan.get("regenerate")),
        "continue_on_failure": bool(plan.get("continue_on_failure")),
        "draft_id": plan.get("draft_id"),
        "created": run["created_utc"],
        "started": run["started_utc"],
        "ended": run["ended_utc"],
        "steps": steps,
    }


def _step(
    key: str, node: dict[str, Any], row: Any, runs: dict[str, Any], types: dict[str, list[str]]
) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": step_name(key, node),
        "run_id": None,
        "status": RunStatus.NOT_STARTED.value,
        "phase": Phase.WAITING,
        "reason": "",
        "reused_from": None,
        "reuse": "",
        "started": None,
        "ended": None,
        "cause": None,
        "tries": 0,
        "key": "",
        "outputs": {},
    }
    if row is None:
        return shown
    run = runs.get(row["run_id"])
    status = run["status"] if run else _STATUS[row["phase"]].value
    shown.update(
        run_id=row["run_id"] if run else None,
        status=status,
        phase=row["phase"],
        reason=(run["reason"] if run and not RunStatus(status).is_terminal else "") or row["reason"],
        reused_from=row["reused_from"],
        reuse=row["reuse"],
        tries=row["tries"],
        key=row["key"],
    )
    if run:
        shown.update(started=run["started_utc"], ended=run["ended_utc"], cause=run["error"])
    elif row["phase"] == Phase.FAILED:
        shown["cause"] = {"kind": "UserError", "summary": row["reason"], "attempt": 1}
    for port, made in (row["outputs"] or {}).items():
        shown["outputs"][port] = {**made, "types": types.get(port) or []}
    return shown
