"""The run of a step that was reused: it has no process, is over at once, and points to the one that did the work."""

from __future__ import annotations

from typing import Any

from rookery.errors import ConflictError
from rookery.pipeline.steps import REUSED_TYPE
from rookery.record import Record
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus

__all__ = ["keep_reused"]


def keep_reused(record: Record, parent: dict[str, Any], row: dict[str, Any], name: str) -> None:
    """Makes it as its row says; doing it again changes nothing."""
    found = record.runs.find(row["run_id"])
    if found is None:
        original = record.runs.find(row["reused_from"]) or {}
        spec = RunSpec(
            run_id=row["run_id"],
            experiment=parent["experiment"],
            kind=RunKind.CHILD,
            parent_id=parent["id"],
            display_name=name,
            snapshot_id=original.get("snapshot_id"),
            compute=str(original.get("compute") or "local"),
            properties={
                "rookery.run_type": REUSED_TYPE,
                "azureml.pipelinerunid": parent["id"],
                "azureml.nodeid": row["node"],
                "azureml.isreused": "true",
                "azureml.reusedrunid": row["reused_from"],
                "azureml.reusedpipelinerunid": str(original.get("parent_id") or ""),
            },
        )
        record.runs.create(spec, parent["submitted_by"])
        found = record.runs.get(row["run_id"])
    made = [
        {key: value for key, value in each.items() if key != "run_id"}
        for each in record.run_data.of_run(row["reused_from"], "out")
    ]
    record.run_data.put(row["run_id"], [{**each, "is_single": int(each["is_single"])} for each in made])
    if not RunStatus(found["status"]).is_terminal:
        try:
            record.runs.advance(row["run_id"], status=RunStatus.COMPLETED, reason=row["reuse"], answer=False)
        except ConflictError:
            pass  # it ended with its parent
