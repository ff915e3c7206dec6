"""A graph becomes a run: checked, its parameters filled in, created as every other run is."""

from __future__ import annotations

from typing import Any, Optional

from rookery.engine.creating import create_run
from rookery.errors import UserError
from rookery.record import Record
from rookery.spec.names import check_experiment_name, check_run_id, new_guid
from rookery.spec.run import RunKind, RunSpec

__all__ = ["PIPELINE_TYPE", "submit_pipeline"]

PIPELINE_TYPE = "azureml.PipelineRun"


def submit_pipeline(
    record: Record,
    controller: Any,
    graph: Any,
    experiment: str,
    submitted_by: str,
    *,
    run_id: Optional[str] = None,
    parent_id: Optional[str] = None,
    display_name: str = "",
    description: str = "",
    tags: Optional[dict[str, Any]] = None,
    properties: Optional[dict[str, Any]] = None,
    parameters: Optional[dict[str, Any]] = None,
    regenerate: bool = False,
    continue_on_failure: bool = False,
    draft_id: Optional[str] = None,
    origin: Optional[dict[str, str]] = None,
) -> dict[str, Any]:
    """The Run. The same `run_id` with the same graph again is the same run.

    Args:
        origin: what it comes from, such as `{"azureml.pipelineid": id}`: kept as properties.

    Raises:
        UserError: the graph has problems; all of them are in `details`.
    """
    if not isinstance(parameters or {}, dict):
        raise UserError(f"parameters is {type(parameters).__name__}. Give an object: {{name: value}}.")
    plan = {
        "graph": graph,
        "parameters": parameters or {},
        "regenerate": bool(regenerate),
        "continue_on_failure": bool(continue_on_failure),
        "draft_id": draft_id,
    }
    spec = RunSpec(
        run_id=check_run_id(run_id) if run_id else new_guid(),
        experiment=check_experiment_name(experiment),
        kind=RunKind.PIPELINE,
        parent_id=parent_id,
        display_name=display_name or (str(graph.get("name") or "") if isinstance(graph, dict) else ""),
        description=description or (str(graph.get("description") or "") if isinstance(graph, dict) else ""),
        tags={str(k): None if v is None else str(v) for k, v in (tags or {}).items()},
        properties={
            "rookery.run_type": PIPELINE_TYPE,
            **{str(k): str(v) for k, v in {**(properties or {}), **(origin or {})}.items()},
        },
        plan=plan,
    )
    run, _is_new = create_run(record, controller, spec, submitted_by)
    if draft_id:
        record.drafts.note_run(draft_id, run["id"])
    return run
