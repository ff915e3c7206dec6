"""The run of a step that was reused: it has no process, is over at once, and points to the one that did the work."""

from __future__ import annotations

from typing import Any

from rookery.pipeline.steps import REUSED_TYPE
from rookery.record import Record
from rookery.spec.run import RunKind, RunSpec

__all__ = ["keep_reused"]


def keep_reused(record: Record, parent: dict[str, Any], node: str, change: dict[str, Any], name: str) -> None:
    """Stores the step's row and makes its run, together."""
    original = record.runs.get(change["reused_from"])
    spec = RunSpec(
        run_id=change["run_id"],
        experiment=parent["experiment"],
        kind=RunKind.CHILD,
        parent_id=parent["id"],
        display_name=name,
        snapshot_id=original["snapshot_id"],
        compute=original["compute"],
        properties={
            "rookery.run_type": REUSED_TYPE,
            "azureml.pipelinerunid": parent["id"],
            "azureml.nodeid": node,
            "azureml.isreused": "true",
            "azureml.reusedrunid": change["reused_from"],
            "azureml.reusedpipelinerunid": str(original["parent_id"] or ""),
        },
    )
    record.pipeline_steps.reuse(parent["id"], node, change, spec, parent["submitted_by"], change["reuse"])
