"""A run against another, and again: what differs in the source, and the same run once more."""

from __future__ import annotations

from typing import Annotated, Any, Optional

from fastapi import APIRouter, Query

from rookery.engine.creating import create_run
from rookery.errors import ConflictError, NotFoundError
from rookery.server.answers import JsonAnswer, answer
from rookery.server.auth import Asking
from rookery.server.reproduction import look_again
from rookery.server.schemas_views import ReproduceAsked
from rookery.server.services import Served, Services
from rookery.server.snapshot_diff import diff_snapshots
from rookery.server.strict_json import strict_answer
from rookery.spec.plain import to_plain

__all__ = ["router", "run_again"]

router = APIRouter(tags=["reproduce"])


@router.get("/runs/{run_id}/diff/{other}")
def diff_sources(
    run_id: str,
    other: str,
    services: Served,
    context: Annotated[int, Query(ge=0, le=100)] = 3,
    path: str = "",
) -> JsonAnswer:
    """What changed in the source folder from `other` to this run."""
    new, old = services.record.runs.get(run_id), services.record.runs.get(other)
    for run in (old, new):
        if not run["snapshot_id"]:
            raise NotFoundError(f"Run '{run['id']}' has no snapshot: it was not submitted with a source folder.")
    found = diff_snapshots(
        services.record.snapshots.entries(old["snapshot_id"]),
        services.record.snapshots.entries(new["snapshot_id"]),
        services.record.content.open,
        context,
        path,
    )
    sides = {
        name: {"run": run["id"], "snapshot": run["snapshot_id"]} for name, run in (("old", old), ("new", new))
    }  # fmt: skip
    return strict_answer({**sides, **found})


@router.get("/runs/{run_id}/reproduce")
def check_reproduce(run_id: str, services: Served) -> JsonAnswer:
    """What running it again now would come to; starts nothing."""
    found = look_again(services, services.record.runs.get(run_id))
    return strict_answer(
        {
            "possible": found.spec is not None,
            "why_not": found.why_not,
            "same": found.same,
            "differences": found.differences,
            "spec": None if found.spec is None else to_plain(found.spec),
        }
    )


@router.post("/runs/{run_id}/reproduce", status_code=201)
def reproduce_run(run_id: str, given: ReproduceAsked, services: Served, asking: Asking) -> JsonAnswer:
    """The same snapshot, environment, arguments and variables, as a new run."""
    made = run_again(
        services,
        services.record.runs.get(run_id),
        str(asking),
        compute=given.compute,
        arguments=given.arguments,
        display_name=given.display_name,
        tags=given.tags,
    )
    return answer(made, 201)


def run_again(
    services: Services,
    run: dict[str, Any],
    asking: str,
    *,
    compute: Optional[str] = None,
    arguments: Optional[list[str]] = None,
    display_name: Optional[str] = None,
    tags: Optional[dict[str, Any]] = None,
) -> dict[str, Any]:
    """Submits it; the new Run.

    Raises:
        ConflictError: it cannot be run again; the message says why.
    """
    from dataclasses import replace

    found = look_again(services, run, compute=compute, arguments=arguments)
    if found.spec is None:
        raise ConflictError(
            f"Run '{run['id']}' cannot be run again. {' '.join(found.why_not)}", details={"why_not": found.why_not}
        )
    spec = found.spec
    if display_name is not None:
        spec = replace(spec, display_name=display_name)
    if tags:
        spec = replace(spec, tags={**spec.tags, **tags})
    values = services.record.secrets.of_run(run["id"]) if spec.secrets else {}
    secret_values = {name: values[name] for name in spec.secrets}
    return create_run(services.record, services.controller, spec, asking, secret_values)[0]
