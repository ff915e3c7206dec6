"""A run is created: checked, stored, handed to whoever brings it to its end. The one way, for the API and for drivers."""

from __future__ import annotations

from typing import Any, Optional

from rookery.environments.specification.curated import check_unedited
from rookery.spec.plain import to_plain
from rookery.spec.run import RunKind, RunSpec, check_run_spec

__all__ = ["create_run"]


def create_run(
    record: Any, controller: Any, spec: RunSpec, submitted_by: str, secret_values: Optional[dict[str, str]] = None
) -> tuple[dict[str, Any], bool]:
    """(the Run, whether it is new). The same `run_id` with the same spec again is the same run, so a driver that was
    killed between deciding and noting just does it again. A child is a spec with a `parent_id`.

    Not to be called in the controller's thread, nor inside a transaction.

    Args:
        submitted_by: who is shown as its owner; of a child, what its parent's Run says.
        secret_values: of the variables that `spec.secrets` names (`record.secrets.of_run(parent)` for a child).

    Raises:
        RunConfigError, ComputeError, ComputeNotFoundError, UserError: it can never run; nothing is stored.
        RunNotFoundError: the parent does not exist.
        ConflictError: the id is taken by a run with another spec.
    """
    check_run_spec(spec)
    existing = record.runs.find(spec.run_id)
    if existing is not None and existing["spec"] == to_plain(spec):
        return existing, False
    if spec.parent_id is not None:
        record.runs.check_exists(spec.parent_id)
    has_process = spec.kind not in (RunKind.CHILD, RunKind.EXTERNAL)  # else nobody here is to care for it
    if existing is None and has_process:
        if spec.kind == RunKind.SCRIPT:
            check_unedited(spec.environment)
        controller.check(spec)
    run, is_new = record.runs.create(spec, submitted_by, secret_values)
    if is_new and has_process:
        controller.submitted(run["id"])
        run = record.runs.get(run["id"])  # an interactive run is Running by now
    return run, is_new
