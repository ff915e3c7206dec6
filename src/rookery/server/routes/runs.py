"""Runs: submit, look, change, stop."""

from __future__ import annotations

import json
from typing import Annotated, Optional

from fastapi import APIRouter, Depends, Query

from rookery.engine.creating import create_run as make_run
from rookery.errors import ConflictError, UserError
from rookery.record import RunFilter
from rookery.record.causes import plain_cause
from rookery.record.secrets import check_values
from rookery.server.answers import JsonAnswer, answer
from rookery.server.auth import Asking, check_parent
from rookery.server.errors import ForbiddenError
from rookery.server.schemas import RunChange, StatusReport
from rookery.server.services import Served
from rookery.server.uploads import Body, parse_object
from rookery.spec.plain import from_plain
from rookery.spec.run import RunKind, RunSpec, check_run_spec
from rookery.spec.status import RunStatus

__all__ = ["router"]

router = APIRouter(tags=["runs"])

REPORTABLE = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.RUNNING, RunStatus.CANCELED)


async def run_filter(
    experiment: Optional[str] = None,
    parent: Optional[str] = None,
    status: Annotated[list[str], Query()] = [],  # noqa: B006
    kind: Optional[str] = None,
    tag: Annotated[list[str], Query()] = [],  # noqa: B006
    property: Annotated[list[str], Query()] = [],  # noqa: B006
    compute: Optional[str] = None,
    include_children: bool = False,
) -> RunFilter:
    return RunFilter(experiment, parent, tuple(status), kind, tuple(tag), tuple(property), compute, include_children)


Filter = Annotated[RunFilter, Depends(run_filter)]


@router.post("/runs", status_code=201)
def create_run(body: Body, services: Served, asking: Asking) -> JsonAnswer:
    """Takes a RunSpec; the same one again returns the run that is there."""
    data = parse_object(body)
    secret_values = check_values(data.pop("secret_values", None))
    spec = check_run_spec(from_plain(RunSpec, data))
    check_parent(services, asking, spec.parent_id)
    run, is_new = make_run(services.record, services.controller, spec, str(asking), secret_values)
    return answer(run, 201 if is_new else 200)


@router.get("/runs")
def list_runs(wanted: Filter, services: Served, limit: int = 100, cursor: Optional[str] = None) -> JsonAnswer:
    """Newest first, a page at a time."""
    runs, following = services.record.runs.page(wanted, limit, cursor)
    return answer({"runs": runs, "cursor": following})


@router.get("/runs/{run_id}")
def get_run(run_id: str, services: Served) -> JsonAnswer:
    return answer(services.record.runs.get(run_id))


@router.patch("/runs/{run_id}")
def change_run(run_id: str, change: RunChange, services: Served) -> JsonAnswer:
    names = {"display_name": change.display_name, "description": change.description}
    changed = services.record.runs.change(
        run_id, names=names, tags=change.tags, remove=change.remove_tags, properties=change.properties
    )
    return answer(changed)


@router.post("/runs/{run_id}/cancel", status_code=202)
def cancel_run(run_id: str, services: Served) -> JsonAnswer:
    """Asks for the run to be stopped; harmless when it is over."""
    run = services.record.runs.get(run_id)
    if not RunStatus(run["status"]).is_terminal:
        services.controller.cancel(run_id)
    return answer(services.record.runs.get(run_id), 202)


@router.post("/runs/{run_id}/manifests")
def make_manifests(run_id: str, services: Served) -> JsonAnswer:
    """What starts the agents of a run that waits for Kubernetes. They hold a token, so they are made anew for every asker."""
    return answer(services.controller.manifests(run_id))


@router.post("/runs/{run_id}/visit")
def visit(run_id: str, services: Served, asking: Asking) -> JsonAnswer:
    """The job of the agent that watches an interactive run on its own machine, with that agent's token: for whoever began it."""
    run = services.record.runs.get(run_id)
    watched = run["spec"].get("watched") or {}
    if run["kind"] != RunKind.INTERACTIVE or not watched.get("visits"):
        raise ConflictError(f"Run '{run_id}' brings no agent of its own: its keeper starts them.")
    if not asking.is_owner and run["submitted_by"] != str(asking):
        raise ForbiddenError(f"Run '{run_id}' was begun by {run['submitted_by']}; its agent is theirs to start.")
    return answer({"job": json.loads(services.controller.agent_job(run_id, run["attempt"], 0))})


@router.post("/runs/{run_id}/status")
def report_status(run_id: str, report: StatusReport, services: Served) -> JsonAnswer:
    """For runs whose process says itself how it is: children and interactive ones."""
    run = services.record.runs.get(run_id)
    if report.status not in [s.value for s in REPORTABLE]:
        raise UserError(
            f"Status {report.status!r:.40} cannot be reported. Known: {', '.join(s.value for s in REPORTABLE)}."
        )
    if run["kind"] in RunKind.DRIVEN:
        raise ConflictError(f"Run '{run_id}' is driven by the keeper; its status follows from its children's.")
    if run["kind"] == RunKind.SCRIPT:
        raise ConflictError(f"Run '{run_id}' was submitted; its status is what its agent sees. To stop it, cancel it.")
    if RunStatus(run["status"]).is_terminal:
        raise ConflictError(f"Run '{run_id}' is {run['status']} already.", details={"status": run["status"]})
    cause = None if report.error is None else plain_cause(report.error)
    services.controller.report_status(run_id, report.status, cause)
    return answer(services.record.runs.get(run_id))


@router.get("/runs/{run_id}/children")
def list_children(run_id: str, wanted: Filter, services: Served, recursive: bool = False) -> JsonAnswer:
    """Oldest first."""
    return answer({"runs": services.record.runs.children(run_id, recursive, wanted)})


@router.post("/runs/{run_id}/records")
def add_records(run_id: str, body: Body, services: Served) -> JsonAnswer:
    """Journal records without a journal, for `run.log` from outside."""
    services.record.journals.apply_loose(run_id, parse_object(body, "records")["records"])
    return answer({})


@router.get("/runs/{run_id}/metrics")
def get_metrics(run_id: str, services: Served, name: Optional[str] = None) -> JsonAnswer:
    return answer({"metrics": services.record.metrics.get(run_id, name)})


@router.get("/runs/{run_id}/samples")
def get_samples(run_id: str, services: Served) -> JsonAnswer:
    return answer({"samples": services.record.samples.get(run_id)})
