"""What a run is called in `run.type`, and which class stands for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

from rookery.errors import UserError
from rookery.spec.run import RunKind

if TYPE_CHECKING:
    from rookery.sdk.experiment import Experiment
    from rookery.sdk.run import Run

__all__ = ["PROVIDERS", "RUN_TYPES", "kind_of_type", "make_run", "type_of_run"]

# The one place where kinds become v1's type names. A property or tag of a run may name a finer one
# (hyperdrive, pipelines).
RUN_TYPES = {
    RunKind.SCRIPT: "azureml.scriptrun",
    RunKind.INTERACTIVE: "interactive",
    RunKind.CHILD: "child",
    RunKind.TUNE: "hyperdrive",
    RunKind.PIPELINE: "azureml.PipelineRun",
}
TYPE_PROPERTY = "rookery.run_type"
# Types of v1 whose runs other issues bring: asking for them is no mistake, there are just none yet.
OTHER_TYPES = ("azureml.StepRun", "azureml.ReusedStepRun", "automl")
STEP_TYPES = ("azureml.StepRun", "azureml.ReusedStepRun")

# Types that other rooms add with Run.add_type_provider: type → factory(experiment, run JSON, **kwargs).
PROVIDERS: dict[str, Callable[..., Any]] = {}


def type_of_run(data: dict[str, Any]) -> str:
    """v1's type name of a run, given the keeper's JSON for it."""
    named = (data.get("properties") or {}).get(TYPE_PROPERTY)
    return str(named or RUN_TYPES.get(data["kind"], data["kind"]))


def kind_of_type(run_type: Optional[str]) -> dict[str, Any]:
    """The query that filters by v1's type name, or by our own word for the kind."""
    if run_type is None:
        return {}
    for kind, name in RUN_TYPES.items():
        if run_type.lower() in (name.lower(), kind):
            return {"kind": kind}
    known = [*RUN_TYPES.values(), *OTHER_TYPES, *PROVIDERS]
    if run_type in known:
        return {"property": f"{TYPE_PROPERTY}={run_type}"}
    raise UserError(f"Run type {run_type!r} does not exist. Known: {', '.join(known)}.")


def make_run(experiment: Experiment, data: dict[str, Any]) -> Run:
    """The object for a run that the keeper told us about: ScriptRun for script runs, a provider's class, else
    Run."""
    from rookery.sdk.run import Run
    from rookery.sdk.script_run import ScriptRun

    provider = PROVIDERS.get(type_of_run(data))
    if provider is not None:
        return provider(experiment, data)
    if type_of_run(data) in STEP_TYPES or data["kind"] == RunKind.PIPELINE:
        from rookery.sdk.pipeline_run import PipelineRun, StepRun

        made: type[Run] = PipelineRun if data["kind"] == RunKind.PIPELINE else StepRun
        return made(experiment, data["id"], _data=data)
    if data["kind"] == RunKind.TUNE:
        from rookery.sdk.hyperdrive_run import HyperDriveRun

        return HyperDriveRun(experiment, data["id"], _data=data)
    cls = ScriptRun if data["kind"] == RunKind.SCRIPT else Run
    return cls(experiment, data["id"], _data=data)
