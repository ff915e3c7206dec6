"""What a tuning is asked to do: the plan of a run of kind `tune`. The rest of that run's RunSpec says what each child runs, unless
the plan itself names a pipeline."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.errors import RunConfigError, UserError
from rookery.spec.distributions import CHOICE, check_space, value_at
from rookery.spec.names import check_run_id
from rookery.spec.pipeline import parameter_values
from rookery.spec.plain import from_plain

__all__ = [
    "GOALS",
    "MAX_DURATION_MINUTES",
    "POLICIES",
    "SAMPLERS",
    "TunePlan",
    "check_tune_plan",
    "child_run_id",
    "pipeline_parameter_name",
    "read_tune_plan",
]

SAMPLERS = ("random", "grid", "bayesian")
RULES = ("random", "sobol")
GOALS = ("maximize", "minimize")
# policy → its options and their defaults; None must be given, or need not be
POLICIES: dict[str, dict[str, Any]] = {
    "none": {},
    "bandit": {"slack_factor": None, "slack_amount": None, "evaluation_interval": 1, "delay_evaluation": 0},
    "median": {"evaluation_interval": 1, "delay_evaluation": 0},
    "truncation": {"truncation_percentage": None, "evaluation_interval": 1, "delay_evaluation": 0},
    "asha": {"reduction_factor": 3, "min_intervals": 1},
}
BAYESIAN = (
    "choice",
    "uniform",
    "quniform",
)  # what v1 allows; the others have no bounds, or are theirs in another scale
MAX_TOTAL_RUNS = 1000
MAX_CONCURRENT_RUNS = 100
MAX_DURATION_MINUTES = 10080
MAX_PARENT_RUNS = 5
MAX_SOBOL = 21


@dataclass(frozen=True)
class TunePlan:
    """
    seed: the same one gives the same sequence of values. None: one that follows from the run's id.
    rule: of random sampling; sobol spreads the values evenly over the space.
    resume_from: earlier tunings whose children count for policies, for Bayesian sampling and for the best run.
    resume_children: earlier children that are run again first, with their values and with `--resume-from` their outputs.
    pipeline: what each child runs where that is a pipeline: `{"graph", "parameters", "regenerate", "continue_on_failure"}`. The sampled
        values are parameters of the graph then.
    """

    metric: str
    goal: str
    space: dict[str, Any]
    max_total_runs: int
    max_concurrent_runs: Optional[int] = None
    max_duration_minutes: float = MAX_DURATION_MINUTES
    sampler: str = "random"
    rule: str = "random"
    seed: Optional[int] = None
    policy: str = "none"
    policy_options: dict[str, Any] = field(default_factory=dict)
    resume_from: tuple[str, ...] = ()
    resume_children: tuple[str, ...] = ()
    pipeline: Optional[dict[str, Any]] = None

    @property
    def concurrency(self) -> int:
        return self.max_concurrent_runs or min(self.max_total_runs, MAX_CONCURRENT_RUNS)


def read_tune_plan(data: Any) -> TunePlan:
    """The plan of a RunSpec, checked.

    Raises:
        UserError, RunConfigError: it is none; says what is wrong with it.
    """
    return check_tune_plan(from_plain(TunePlan, data))


def child_run_id(parent: str, number: int) -> str:
    """What the children of a tuning are called."""
    return f"{parent}_{number}"


def pipeline_parameter_name(name: str) -> str:
    """The parameter of a pipeline that a name of the space means: dashes are for scripts."""
    return name.lstrip("-")


def check_tune_plan(plan: TunePlan) -> TunePlan:
    """The same plan, or RunConfigError or UserError that says what contradicts what."""
    if not plan.metric or len(plan.metric) > 1024:
        raise RunConfigError("primary_metric_name is empty. Name the metric that the script logs, such as 'accuracy'.")
    _one_of("primary_metric_goal", plan.goal, GOALS)
    _one_of("sampler", plan.sampler, SAMPLERS)
    _one_of("rule", plan.rule, RULES)
    space = check_space(plan.space)
    if plan.sampler == "grid":
        _only("Grid sampling", space, (CHOICE,))
    if plan.sampler == "bayesian":
        _only("Bayesian sampling", space, BAYESIAN)
        if plan.policy != "none":
            raise RunConfigError(
                "Bayesian sampling learns from how runs end, so it goes with no early termination. Leave the policy away, "
                "or sample at random."
            )
    if plan.rule == "sobol" and plan.sampler == "random" and len(space) > MAX_SOBOL:
        raise RunConfigError(
            f"A Sobol sequence has {MAX_SOBOL} parameters at most; {len(space)} were given. Leave rule away."
        )
    _between("max_total_runs", plan.max_total_runs, 1, MAX_TOTAL_RUNS)
    if plan.max_concurrent_runs is not None:
        _between("max_concurrent_runs", plan.max_concurrent_runs, 1, MAX_CONCURRENT_RUNS)
    if not 0 < plan.max_duration_minutes <= MAX_DURATION_MINUTES:
        raise RunConfigError(
            f"max_duration_minutes={plan.max_duration_minutes} must be above 0 and at most {MAX_DURATION_MINUTES}."
        )
    _check_policy(plan)
    _check_earlier(plan)
    if plan.pipeline is not None:
        _check_pipeline(plan.pipeline, plan, space)
    return plan


def _check_policy(plan: TunePlan) -> None:
    _one_of("policy", plan.policy, tuple(POLICIES))
    known, given = POLICIES[plan.policy], plan.policy_options
    for name in given:
        if name not in known:
            raise RunConfigError(
                f"The policy {plan.policy} has no option {name!r:.40}. Known: {', '.join(known) or 'none at all'}."
            )
    options = {**known, **given}
    for name, least in (
        ("evaluation_interval", 1),
        ("delay_evaluation", 0),
        ("min_intervals", 1),
        ("reduction_factor", 2),
    ):
        value = options.get(name, least)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise RunConfigError(f"{name}={value!r:.40} must be a whole number, {least} or more.")
    if plan.policy == "bandit":
        factor, amount = options["slack_factor"], options["slack_amount"]
        if (factor is None) == (amount is None):
            raise RunConfigError("BanditPolicy takes either slack_factor or slack_amount, not both and not neither.")
        slack = amount if factor is None else factor
        if isinstance(slack, bool) or not isinstance(slack, (int, float)) or not 0 <= slack < math.inf:
            raise RunConfigError(f"slack_factor and slack_amount are numbers, 0 or more; {slack!r:.40} was given.")
    if plan.policy == "truncation":
        percentage = options["truncation_percentage"]
        if isinstance(percentage, bool) or not isinstance(percentage, int) or not 1 <= percentage <= 99:
            raise RunConfigError(f"truncation_percentage={percentage!r:.40} must be a whole number from 1 to 99.")


def _check_earlier(plan: TunePlan) -> None:
    if len(plan.resume_from) > MAX_PARENT_RUNS:
        raise RunConfigError(f"resume_from has {len(plan.resume_from)} runs; {MAX_PARENT_RUNS} are allowed.")
    for what, ids in (("resume_from", plan.resume_from), ("resume_child_runs", plan.resume_children)):
        for run_id in ids:
            check_run_id(run_id)
        if len(set(ids)) < len(ids):
            raise RunConfigError(f"{what} names a run twice. Give each once.")
    if len(plan.resume_children) > plan.max_total_runs:
        raise RunConfigError(
            f"resume_child_runs has {len(plan.resume_children)} runs, more than max_total_runs={plan.max_total_runs}."
        )


def _check_pipeline(pipeline: dict[str, Any], plan: TunePlan, space: dict[str, Any]) -> None:
    """Whether what is sampled are parameters of the pipeline, every option of a choice included."""
    graph = pipeline.get("graph")
    if not isinstance(graph, dict) or not isinstance(pipeline.get("parameters") or {}, dict):
        raise RunConfigError(
            "`pipeline` of a tuning is an object: {graph, parameters, regenerate, continue_on_failure}."
        )
    if plan.resume_children:
        raise RunConfigError(
            "resume_child_runs is for scripts, which are given a folder by --resume-from; a pipeline has no such place. "
            "Leave it away: steps that were done before are reused."
        )
    for name, (kind, arguments) in space.items():
        for option in arguments[0] if kind == CHOICE else (value_at((kind, arguments), 0.377),):
            parameter_values(graph, {pipeline_parameter_name(name): option})


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise RunConfigError(f"{what}={given!r:.60} does not exist. Known: {', '.join(known)}.")


def _only(what: str, space: dict[str, Any], known: tuple[str, ...]) -> None:
    other = next(((name, kind) for name, (kind, _) in space.items() if kind not in known), None)
    if other:
        raise UserError(f"{what} takes {', '.join(known)} only; parameter '{other[0]}' is {other[1]}.")


def _between(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise RunConfigError(f"{what}={value} must be from {least} to {most}.")
