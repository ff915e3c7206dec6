"""What can never be tuned is refused at submit, in words that say what could."""

from __future__ import annotations

from typing import Any

from rookery.environments.specification.curated import check_unedited
from rookery.errors import RunConfigError
from rookery.spec.distributions import check_space, value_at
from rookery.spec.plain import from_plain
from rookery.spec.run import RunKind, RunSpec, check_run_spec
from rookery.spec.status import RunStatus
from rookery.spec.tune import MAX_TOTAL_RUNS, TunePlan, read_tune_plan
from rookery.tune.children import child_spec

__all__ = ["check_tuning"]


def check_tuning(record: Any, controller: Any, spec: RunSpec) -> None:
    """Whether its plan can be followed, and whether a child like those that it makes could run at all.

    Raises:
        UserError, RunConfigError, ComputeError, ComputeNotFoundError: it cannot.
        RunNotFoundError: one that it is to go on from does not exist.
    """
    plan = read_tune_plan(spec.plan)
    example = {name: value_at(distribution, 0.5) for name, distribution in check_space(plan.space).items()}
    child = check_run_spec(child_spec(spec, 0, example))
    if child.kind == RunKind.SCRIPT:
        check_unedited(child.environment)
    controller.check(child)
    total = plan.max_total_runs + sum(_check_earlier(record, plan, run_id) for run_id in plan.resume_from)
    if total > MAX_TOTAL_RUNS:
        raise RunConfigError(
            f"max_total_runs={plan.max_total_runs} and the children of resume_from are {total} runs; {MAX_TOTAL_RUNS} are "
            "allowed. Ask for fewer, or leave one of resume_from away."
        )
    for run_id in plan.resume_children:
        run = record.runs.get(run_id)
        if not run["parent_id"] or record.runs.kind(run["parent_id"]) != RunKind.TUNE:
            raise RunConfigError(f"resume_child_runs: run '{run_id}' is no child of a tuning.")
        _must_be_over("resume_child_runs", run)


def _check_earlier(record: Any, plan: TunePlan, run_id: str) -> int:
    """How many children it has."""
    run = record.runs.get(run_id)
    if run["kind"] != RunKind.TUNE:
        raise RunConfigError(f"resume_from: run '{run_id}' is no tuning.")
    _must_be_over("resume_from", run)
    earlier = from_plain(TunePlan, run["spec"]["plan"])
    if (earlier.metric, earlier.goal) != (plan.metric, plan.goal):
        raise RunConfigError(
            f"resume_from: run '{run_id}' was to {earlier.goal} '{earlier.metric}', this one is to {plan.goal} "
            f"'{plan.metric}'. Only tunings for the same metric and goal can be gone on with."
        )
    return len(record.trials.of(run_id))


def _must_be_over(what: str, run: dict[str, Any]) -> None:
    if not RunStatus(run["status"]).is_terminal:
        raise RunConfigError(f"{what}: run '{run['id']}' is {run['status']}. Only what has ended can be gone on with.")
