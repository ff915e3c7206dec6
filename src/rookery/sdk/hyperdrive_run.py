"""HyperDriveRun: a tuning, its children by their primary metric, and how one is submitted."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import TuneUnsupportedError
from rookery.sdk.filters import texts
from rookery.sdk.run import Run
from rookery.sdk.run_types import RUN_TYPES, make_run
from rookery.sdk.tune_text import POLICIES, SAMPLERS
from rookery.spec.names import check_run_id
from rookery.spec.plain import to_plain
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.tune import TunePlan
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.sdk.experiment import Experiment
    from rookery.sdk.hyperdrive_config import HyperDriveConfig

__all__ = ["HyperDriveRun", "submit_tuning"]


class HyperDriveRun(Run):
    """A tuning: it has no process, its children do."""

    RUN_TYPE = RUN_TYPES[RunKind.TUNE]
    HYPER_DRIVE_RUN_USER_AGENT = "sdk_run_hyper_drive"

    def __init__(
        self, experiment: Experiment, run_id: str, hyperdrive_config: Optional[HyperDriveConfig] = None, **kwargs: Any
    ) -> None:
        super().__init__(experiment, run_id, **kwargs)
        self._config = hyperdrive_config

    @property
    def hyperdrive_config(self) -> Optional[HyperDriveConfig]:
        """As it was submitted in this process; None for a run that was opened again (`get_tuning()` has what is known)."""
        return self._config

    def get_tuning(self) -> dict[str, Any]:
        """All that the keeper knows: plan, trials, the best, why some were stopped, importances. Ours, not v1's."""
        told: dict[str, Any] = self._ask(path="/tune")
        return told

    def get_best_run_by_primary_metric(
        self, include_failed: bool = True, include_canceled: bool = True, include_resume_from_runs: bool = True
    ) -> Optional[Run]:
        """The child with the best value of the primary metric, whenever it logged it; None while none has."""
        left_out = {
            status for status, is_in in (("Failed", include_failed), ("Canceled", include_canceled)) if not is_in
        }
        tuning = self.get_tuning()
        trials = list(tuning["trials"])
        if include_resume_from_runs:
            for run_id in tuning["resume_from"]:
                trials += self._client.request("GET", f"/runs/{quote_path(run_id)}/tune")["trials"]
        known = [t for t in trials if _metric(t) is not None and t["status"] not in left_out]
        if not known:
            return None
        best = (max if tuning["goal"] == "maximize" else min)(known, key=lambda t: float(t["best"]))
        return make_run(self.experiment, self._client.request("GET", f"/runs/{quote_path(best['run_id'])}"))

    def get_children_sorted_by_primary_metric(
        self, top: int = 0, reverse: bool = False, discard_no_metric: bool = False
    ) -> list[dict[str, Any]]:
        """`{"run_id", "hyperparameters" (JSON), "best_primary_metric", "status"}` of the children, the best first; those without
        the metric last. `top` 0: all of them."""
        tuning = self.get_tuning()
        is_descending = (tuning["goal"] == "maximize") != reverse
        with_metric = [t for t in tuning["trials"] if _metric(t) is not None]
        ordered = sorted(with_metric, key=lambda t: float(t["best"]), reverse=is_descending)
        if not discard_no_metric:
            ordered += [t for t in tuning["trials"] if _metric(t) is None]
        return [
            {
                "run_id": t["run_id"],
                "hyperparameters": json.dumps(t["parameters"]),
                "best_primary_metric": _metric(t),
                "status": t["status"],
            }
            for t in (ordered[:top] if top else ordered)
        ]

    def get_hyperparameters(self) -> dict[str, str]:
        """child → its values, as JSON."""
        return {t["run_id"]: json.dumps(t["parameters"]) for t in self.get_tuning()["trials"]}

    def get_metrics(
        self,
        name: Optional[str] = None,
        recursive: bool = False,
        run_type: Optional[str] = None,
        populate: bool = False,
    ) -> dict[str, Any]:
        """child → its metrics, as its own `get_metrics` gives them; of a pipeline those of its steps too."""
        begun = [t["run_id"] for t in self.get_tuning()["trials"] if t["status"] != "NotStarted"]
        return {
            run_id: {**self._of_steps(run_id, name), **self._metrics_of(run_id, name, populate)} for run_id in begun
        }

    def _of_steps(self, run_id: str, name: Optional[str]) -> dict[str, Any]:
        """What the steps of a child have logged; nothing where it is a script."""
        if not self._is_of_pipeline():
            return {}
        from rookery.sdk.pipeline_run import PipelineRun

        metrics: dict[str, Any] = {}
        for step in PipelineRun(self.experiment, run_id).get_steps():
            metrics = {**step.get_metrics(name), **metrics}
        return metrics

    def _is_of_pipeline(self) -> bool:
        plan: Any = (self._data or self._refresh())["spec"]["plan"]
        return bool(plan.get("pipeline"))

    def get_tags(self) -> dict[str, Any]:
        """With what v1 keeps there: the configuration, and the values of every child as `_aml_system_<child>`."""
        tags: dict[str, Any] = super().get_tags()
        tuning = self.get_tuning()
        values = {f"_aml_system_{t['run_id']}": json.dumps(t["parameters"]) for t in tuning["trials"]}
        return {**_config_tags(tuning), **values, **tags}

    def get_diagnostics(self) -> list[str]:
        """Its logs, written below `assets/<run id>`; the paths."""
        return self.get_all_logs()

    def fail(self, *args: Any, **kwargs: Any) -> None:
        raise TuneUnsupportedError("A tuning ends by itself, and how follows from its children. Stop it with cancel().")


def submit_tuning(
    experiment: Experiment, config: HyperDriveConfig, tags: Optional[dict[str, Any]] = None, **kwargs: Any
) -> HyperDriveRun:
    """Check, take the snapshot of what children run, create the tuning."""
    from rookery.sdk.script_run import make_submission

    plan = config.plan()
    run_id = kwargs.pop("run_id", None) or config._custom_run_id or f"HD_{uuid.uuid4()}"
    if plan.pipeline is not None:
        data = _submit_pipelines(experiment, plan, check_run_id(run_id), tags, **kwargs)
        return HyperDriveRun(experiment, data["id"], config, _data=data)
    made = make_submission(experiment, config.script_run_config(), tags, run_id=run_id, **kwargs)
    spec = replace(made.spec, kind=RunKind.TUNE, plan=to_plain(plan))
    data = made.send(spec)
    return HyperDriveRun(experiment, data["id"], config, _data=data)


def _submit_pipelines(
    experiment: Experiment,
    plan: TunePlan,
    run_id: str,
    tags: Optional[dict[str, Any]],
    *,
    pipeline_parameters: Optional[dict[str, Any]] = None,
    regenerate_outputs: bool = False,
    continue_on_step_failure: bool = False,
    parent_id: Optional[str] = None,
    display_name: Optional[str] = None,
    properties: Optional[dict[str, Any]] = None,
    **others: Any,
) -> dict[str, Any]:
    """A tuning of a pipeline: the sources of its steps were sent when the Pipeline was made."""
    from rookery.sdk.pipeline_run import plain_parameters
    from rookery.sdk.script_run import warn_of_unknown

    warn_of_unknown(others)
    assert plan.pipeline is not None
    pipeline = {
        "graph": plan.pipeline["graph"],
        "parameters": plain_parameters(experiment.workspace, pipeline_parameters),
        "regenerate": bool(regenerate_outputs),
        "continue_on_failure": bool(continue_on_step_failure),
    }
    spec = RunSpec(
        run_id,
        experiment.name,
        RunKind.TUNE,
        parent_id=parent_id,
        display_name=display_name or "",
        tags=texts(tags) or {},
        properties={str(key): str(value) for key, value in (properties or {}).items()},
        plan=to_plain(replace(plan, pipeline=pipeline)),
    )
    data: dict[str, Any] = experiment.workspace.client.request("POST", "/runs", body=to_plain(spec))
    return data


def _config_tags(tuning: dict[str, Any]) -> dict[str, str]:
    sampler = "random" if tuning["sampler"] == "sobol" else tuning["sampler"]
    policy: dict[str, Any] = {"name": POLICIES[tuning["policy"]].POLICY_NAME}
    if tuning["policy_options"]:
        policy["properties"] = tuning["policy_options"]
    return {
        "generator_config": json.dumps({"name": SAMPLERS[sampler].SAMPLING_NAME, "parameter_space": tuning["space"]}),
        "primary_metric_config": json.dumps({"name": tuning["metric"], "goal": tuning["goal"]}),
        "policy_config": json.dumps(policy),
        "max_total_jobs": str(tuning["max_total_runs"]),
        "max_concurrent_jobs": str(tuning["max_concurrent_runs"]),
        "max_duration_minutes": f"{tuning['max_duration_minutes']:g}",
    }


def _metric(trial: dict[str, Any]) -> Optional[float]:
    value = trial["best"]
    return None if value is None else float(value)
