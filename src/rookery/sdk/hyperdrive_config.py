"""HyperDriveConfig: what is tuned, for which metric, how it is sampled and when children are stopped."""

from __future__ import annotations

import enum
import json
import warnings
from typing import Any, Optional

from rookery.errors import RunConfigError, TuneConfigError, TuneUnsupportedError, UserError
from rookery.sdk.estimators import MMLBaseEstimator
from rookery.sdk.policy import EarlyTerminationPolicy, NoTerminationPolicy
from rookery.sdk.sampling import HyperParameterSampling
from rookery.sdk.script_run_config import ScriptRunConfig
from rookery.spec.status import RunStatus
from rookery.spec.tune import MAX_DURATION_MINUTES, MAX_PARENT_RUNS, TunePlan, check_tune_plan

__all__ = [
    "MAX_DURATION_MINUTES",
    "MAX_PARENT_RUNS",
    "RECOMMENDED_MAX_CONCURRENT_RUNS_BAYESIAN",
    "RECOMMENDED_MIN_RUNS_PER_PARAMETER_BAYESIAN",
    "RESUME_FROM_TOTAL_RUNS",
    "TERMINAL_STATES",
    "HyperDriveConfig",
    "HyperDriveRunConfig",
    "PrimaryMetricGoal",
]

RECOMMENDED_MIN_RUNS_PER_PARAMETER_BAYESIAN = 20
RECOMMENDED_MAX_CONCURRENT_RUNS_BAYESIAN = 20
RESUME_FROM_TOTAL_RUNS = 1000
TERMINAL_STATES = [RunStatus.CANCELED.value, RunStatus.COMPLETED.value, RunStatus.FAILED.value]


class PrimaryMetricGoal(enum.Enum):
    """Whether the metric is to be as large or as small as possible."""

    MAXIMIZE = "MAXIMIZE"
    MINIMIZE = "MINIMIZE"

    @staticmethod
    def from_str(goal: str) -> PrimaryMetricGoal:
        try:
            return PrimaryMetricGoal[str(goal).strip().upper()]
        except KeyError:
            raise TuneConfigError(f"Goal {goal!r:.40} does not exist. Known: MAXIMIZE, MINIMIZE.") from None


class HyperDriveConfig:
    """What `Experiment.submit` takes for a tuning. Exactly one of `run_config` (a ScriptRunConfig), `estimator` and `pipeline`.

    Of a pipeline what is sampled are its PipelineParameters, by their names; every child is a run of it.
    """

    def __init__(
        self,
        hyperparameter_sampling: HyperParameterSampling,
        primary_metric_name: str,
        primary_metric_goal: PrimaryMetricGoal,
        max_total_runs: int,
        max_concurrent_runs: Optional[int] = None,
        max_duration_minutes: float = MAX_DURATION_MINUTES,
        policy: Optional[EarlyTerminationPolicy] = None,
        estimator: Any = None,
        run_config: Any = None,
        resume_from: Any = None,
        resume_child_runs: Any = None,
        pipeline: Any = None,
        debug_flag: Any = None,
        custom_run_id: Optional[str] = None,
    ) -> None:
        _check_what(estimator, run_config, pipeline)
        if not isinstance(hyperparameter_sampling, HyperParameterSampling):
            raise TuneConfigError(
                f"hyperparameter_sampling is {type(hyperparameter_sampling).__name__}. Give RandomParameterSampling, "
                "GridParameterSampling or BayesianParameterSampling."
            )
        if policy is not None and not isinstance(policy, EarlyTerminationPolicy):
            raise TuneConfigError(f"policy is {type(policy).__name__}. Give a BanditPolicy, or another one.")
        if not isinstance(primary_metric_goal, PrimaryMetricGoal):
            primary_metric_goal = PrimaryMetricGoal.from_str(primary_metric_goal)
        if isinstance(max_duration_minutes, (int, float)) and max_duration_minutes > MAX_DURATION_MINUTES:
            warnings.warn(
                f"max_duration_minutes={max_duration_minutes} is more than {MAX_DURATION_MINUTES}, which is used.",
                UserWarning,
                stacklevel=2,
            )
            max_duration_minutes = MAX_DURATION_MINUTES
        self._sampling, self._policy = hyperparameter_sampling, policy or NoTerminationPolicy()
        self._metric, self._goal = primary_metric_name, primary_metric_goal
        self._max_total_runs, self._max_concurrent_runs = max_total_runs, max_concurrent_runs
        self._max_duration_minutes = max_duration_minutes
        self._estimator, self._run_config, self._pipeline = estimator, run_config, pipeline
        self._resume_from, self._resume_child_runs = _listed(resume_from), _listed(resume_child_runs)
        self._custom_run_id = custom_run_id
        self.plan()  # what contradicts itself is said here, not at submit
        if self._sampling._kind == "bayesian":
            self._advise_bayesian()

    @property
    def estimator(self) -> Any:
        return self._estimator

    @property
    def run_config(self) -> Any:
        return self._run_config if self._estimator is None else self._estimator.run_config

    @property
    def pipeline(self) -> Any:
        return self._pipeline

    @property
    def source_directory(self) -> Optional[str]:
        """None of a pipeline: its steps have folders of their own."""
        return None if self._pipeline is not None else str(self.script_run_config().source_directory)

    def script_run_config(self) -> ScriptRunConfig:
        """What each child runs. Ours, not v1's.

        Raises:
            TuneUnsupportedError: it is a pipeline.
        """
        if self._pipeline is not None:
            raise TuneUnsupportedError(
                "This HyperDriveConfig tunes a pipeline, which has no script of its own. Submit it to an experiment; as a step of "
                "another pipeline give run_config=ScriptRunConfig(…)."
            )
        if self._estimator is not None:
            made: ScriptRunConfig = self._estimator.to_script_run_config()
            return made
        return self._run_config

    def plan(self) -> TunePlan:
        """What the keeper is asked for. Ours, not v1's.

        Raises:
            TuneConfigError: it contradicts itself.
        """
        properties = self._sampling._properties
        try:
            return check_tune_plan(
                TunePlan(
                    metric=str(self._metric or ""),
                    goal=self._goal.value.lower(),
                    space=json.loads(json.dumps(self._sampling.parameter_space)),
                    max_total_runs=_whole("max_total_runs", self._max_total_runs),
                    max_concurrent_runs=None
                    if self._max_concurrent_runs is None
                    else _whole("max_concurrent_runs", self._max_concurrent_runs),
                    max_duration_minutes=_number("max_duration_minutes", self._max_duration_minutes),
                    sampler=self._sampling._kind,
                    rule=str(properties.get("rule", "random")),
                    seed=None if properties.get("seed") is None else _whole("seed", properties["seed"]),
                    policy=self._policy._kind,
                    policy_options=dict(self._policy._properties),
                    resume_from=tuple(_run_id(run) for run in self._resume_from),
                    resume_children=tuple(_run_id(run) for run in self._resume_child_runs),
                    pipeline=None if self._pipeline is None else {"graph": self._pipeline._graph, "parameters": {}},
                )
            )
        except TypeError as error:
            raise TuneConfigError(f"The parameter space cannot be written as JSON: {error}.") from None
        except (UserError, RunConfigError) as error:
            raise TuneConfigError(error.message) from None

    def _advise_bayesian(self) -> None:
        wanted = RECOMMENDED_MIN_RUNS_PER_PARAMETER_BAYESIAN * len(self._sampling.parameter_space)
        if self._max_total_runs < wanted:
            warnings.warn(
                f"For best results with Bayesian sampling we recommend a maximum number of runs of at least {wanted}: "
                f"{RECOMMENDED_MIN_RUNS_PER_PARAMETER_BAYESIAN} for each of {len(self._sampling.parameter_space)} parameters.",
                UserWarning,
                stacklevel=3,
            )
        if self.plan().concurrency > RECOMMENDED_MAX_CONCURRENT_RUNS_BAYESIAN:
            warnings.warn(
                f"Bayesian sampling learns from runs that have ended: at most {RECOMMENDED_MAX_CONCURRENT_RUNS_BAYESIAN} "
                "at a time are recommended.",
                UserWarning,
                stacklevel=3,
            )


class HyperDriveRunConfig(HyperDriveConfig):
    """v1's older form, for estimators only: the estimator comes first."""

    def __init__(
        self,
        estimator: Any,
        hyperparameter_sampling: HyperParameterSampling,
        primary_metric_name: str,
        primary_metric_goal: PrimaryMetricGoal,
        max_total_runs: int,
        max_concurrent_runs: Optional[int] = None,
        max_duration_minutes: float = MAX_DURATION_MINUTES,
        policy: Optional[EarlyTerminationPolicy] = None,
    ) -> None:
        warnings.warn(
            "'HyperDriveRunConfig' is deprecated. Please use 'HyperDriveConfig'.", DeprecationWarning, stacklevel=2
        )
        super().__init__(
            hyperparameter_sampling, primary_metric_name, primary_metric_goal, max_total_runs, max_concurrent_runs,
            max_duration_minutes, policy, estimator=estimator,
        )  # fmt: skip


def _check_what(estimator: Any, run_config: Any, pipeline: Any) -> None:
    given = [name for name, value in (("estimator", estimator), ("run_config", run_config), ("pipeline", pipeline)) if value is not None]  # fmt: skip
    if len(given) != 1:
        raise TuneConfigError(
            f"Give exactly one of run_config, estimator and pipeline; {' and '.join(given) or 'none'} was given."
        )
    if pipeline is not None:
        from rookery.sdk.pipeline import Pipeline  # whoever gives one has loaded it

        if not isinstance(pipeline, Pipeline):
            raise TuneConfigError(f"pipeline is {type(pipeline).__name__}. Give a Pipeline(workspace, steps).")
    if estimator is not None and not isinstance(estimator, MMLBaseEstimator):
        raise TuneConfigError(f"estimator is {type(estimator).__name__}. Give an Estimator, or run_config.")
    if run_config is not None and not isinstance(run_config, ScriptRunConfig):
        raise TuneConfigError(f"run_config is {type(run_config).__name__}. Give a ScriptRunConfig.")


def _listed(runs: Any) -> list[Any]:
    if runs is None:
        return []
    return list(runs) if isinstance(runs, (list, tuple)) else [runs]


def _run_id(run: Any) -> str:
    run_id = getattr(run, "id", run)
    if not isinstance(run_id, str):
        raise TuneConfigError(f"{type(run).__name__} is no run to go on from. Give a run, or its id.")
    return run_id


def _whole(what: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TuneConfigError(f"{what}={value!r:.40} must be a whole number.")
    return value


def _number(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TuneConfigError(f"{what}={value!r:.40} must be a number.")
    return float(value)
