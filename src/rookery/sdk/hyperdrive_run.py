"""HyperDriveRun: a tuning, its children by their primary metric, and how one is submitted."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import TuneUnsupportedError
from rookery.sdk.run import Run
from rookery.sdk.run_types import RUN_TYPES, make_run
from rookery.sdk.tune_text import POLICIES, SAMPLERS
from rookery.spec.plain import to_plain
from rookery.spec.run import RunKind
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
        """child → its metrics, as its own `get_metrics` gives them."""
        return {
            t["run_id"]: self._metrics_of(t["run_id"], name, populate)
            for t in self.get_tuning()["trials"]
            if t["status"] != "NotStarted"
        }

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
    made = make_submission(experiment, config.script_run_config(), tags, run_id=run_id, **kwargs)
    spec = replace(made.spec, kind=RunKind.TUNE, plan=to_plain(plan))
    data = made.send(spec)
    return HyperDriveRun(experiment, data["id"], config, _data=data)


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
