"""ScriptRun: a run that was submitted, and how one is."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import SubmitError, UserError
from rookery.sdk.filters import texts
from rookery.sdk.run import Run
from rookery.sdk.run_types import RUN_TYPES
from rookery.sdk.snapshots import snapshot_folder, warn
from rookery.spec.names import check_run_id, new_run_id
from rookery.spec.plain import to_plain
from rookery.spec.run import RunKind, RunSpec

if TYPE_CHECKING:
    from rookery.sdk.experiment import Experiment

__all__ = ["ScriptRun", "Submission", "make_submission", "submit_config", "warn_of_unknown"]

# What samples pass along with every kind of configuration; it means nothing for a script.
_OTHERS_OPTIONS = (
    "show_output",
    "pipeline_parameters",
    "regenerate_outputs",
    "continue_on_step_failure",
    "pipeline_version",
    "wait_post_processing",
    "auth",
)


class ScriptRun(Run):
    """A script (or command) that executes on a compute target."""

    RUN_TYPE = RUN_TYPES[RunKind.SCRIPT]

    def __init__(
        self,
        experiment: Experiment,
        run_id: str,
        directory: Optional[str] = None,
        _run_config: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(experiment, run_id, **kwargs)
        self._directory = directory
        self._run_config_object = _run_config


def submit_config(experiment: Experiment, config: Any, tags: Optional[dict[str, Any]] = None, **kwargs: Any) -> Any:
    """Check, take the snapshot, create the run. Prints nothing but warnings, on stderr."""
    tuning = sys.modules.get("rookery.sdk.hyperdrive_config")  # whoever has such a configuration has imported it
    if tuning is not None and isinstance(config, tuning.HyperDriveConfig):
        from rookery.sdk.hyperdrive_run import submit_tuning

        return submit_tuning(experiment, config, tags, **kwargs)
    if type(config).__module__.startswith(("rookery.sdk.pipeline", "rookery.sdk.published")):
        from rookery.sdk.pipeline import submit_any

        return submit_any(experiment, config, tags, **kwargs)
    made = make_submission(experiment, config, tags, **kwargs)
    data = made.send(made.spec)
    run_config = made.config.run_config
    return ScriptRun(experiment, data["id"], directory=made.folder, _run_config=run_config, _data=data)


@dataclasses.dataclass(frozen=True)
class Submission:
    """A run that is ready to be created: its source is at the keeper."""

    client: Any
    config: Any
    folder: str
    spec: RunSpec

    def send(self, spec: RunSpec) -> dict[str, Any]:
        """Create it, as it is or with changes; the keeper's JSON of it."""
        from rookery.sdk.submission import submitted_secrets

        body = to_plain(spec)
        secret_values = submitted_secrets(self.config)
        if secret_values:
            body["secret_values"] = secret_values
        data: dict[str, Any] = self.client.request("POST", "/runs", body=body)
        return data


def make_submission(
    experiment: Experiment,
    config: Any,
    tags: Optional[dict[str, Any]] = None,
    *,
    parent_id: Optional[str] = None,
    run_id: Optional[str] = None,
    display_name: Optional[str] = None,
    properties: Optional[dict[str, Any]] = None,
    **kwargs: Any,
) -> Submission:
    """Everything that comes before a run is created: checks, the snapshot, the RunSpec."""
    from rookery.sdk.estimators import MMLBaseEstimator
    from rookery.sdk.script_run_config import ScriptRunConfig
    from rookery.sdk.submission import build_run_spec, check_submission
    from rookery.sdk.submission_data import plan_data
    from rookery.submit import git_properties_in_background

    if isinstance(config, MMLBaseEstimator):
        config = config.to_script_run_config()
    if not isinstance(config, ScriptRunConfig):
        raise UserError(
            f"{type(config).__name__} cannot be submitted. Give a ScriptRunConfig(source_directory, script), a "
            "HyperDriveConfig, or one of the deprecated estimators."
        )
    warn_of_unknown(kwargs)
    check_submission(config)
    folder = config.source_directory or "."
    git = git_properties_in_background(folder)
    client = experiment.workspace.client
    snapshot = snapshot_folder(client, folder)
    all_properties = {"ContentSnapshotId": snapshot.id, **git(), **(texts(properties) or {})}
    spec = build_run_spec(
        config,
        run_id=check_run_id(run_id) if run_id else new_run_id(experiment.name),
        experiment=experiment.name,
        parent_id=parent_id,
        snapshot_id=snapshot.id,
        tags=texts(tags) or {},
        properties=all_properties,
        data=plan_data(config).save(client),
    )
    if spec.script and not snapshot.holds(spec.script):
        raise SubmitError(
            f"Script '{spec.script}' is in '{folder}', but the ignore rules leave it out of the snapshot. "
            "Change .amlignore (or .gitignore where there is none); `rookery run --dry-run` lists what is taken."
        )
    if display_name:
        spec = dataclasses.replace(spec, display_name=display_name)
    return Submission(client, config, folder, spec)


def warn_of_unknown(options: dict[str, Any]) -> None:
    """Of what `submit` was given and nobody knows; what means something for other configurations is none of it."""
    for name in options:
        if name not in _OTHERS_OPTIONS:
            warn(f"submit() does not know {name!r} and leaves it aside. Known: tags, run_id, display_name, properties.")
