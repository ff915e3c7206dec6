"""From a ScriptRunConfig to a RunSpec: checked on this side, before anything is uploaded."""

from __future__ import annotations

import difflib
import enum
import numbers
import os
from collections.abc import Iterator
from typing import Any, Optional

from rookery.errors import RunConfigError, SubmitError, UnsupportedError, UserError
from rookery.sdk.distributed import plan_launch
from rookery.sdk.environment import Environment
from rookery.sdk.environment_spec import check_variables, environment_spec
from rookery.sdk.retrying import retry_fields
from rookery.sdk.run_config_data import Data, OutputData
from rookery.sdk.run_configuration import RunConfiguration, compute_name
from rookery.sdk.script_run_config import ScriptRunConfig
from rookery.sdk.secret import Secret, secret_values
from rookery.sdk.submission_data import is_data, placeholder_of, plan_data
from rookery.spec.data import DataInput, DataOutput
from rookery.spec.run import RunKind, RunSpec, check_run_spec

__all__ = ["build_run_spec", "check_submission", "submitted_secrets"]

_SCAN_LIMIT = 5000  # files looked at for a suggestion; a typo in a small project is the case to help with
_SKIPPED_FOLDERS = {".git", "__pycache__", "node_modules", ".venv", "venv"}


def check_submission(config: Any) -> None:
    """Whether this can be submitted at all.

    Raises:
        UserError: `config` is no ScriptRunConfig, or an argument is of a kind that no script can be given.
        SubmitError: the source folder or the script in it does not exist.
        UnsupportedError: it asks for something that is not available yet.
    """
    if not isinstance(config, ScriptRunConfig):
        raise UserError(f"{type(config).__name__} cannot be submitted. Give a ScriptRunConfig.")
    folder = config.source_directory
    if not os.path.isdir(folder):
        what = "is a file" if os.path.exists(folder) else "does not exist"
        raise SubmitError(
            f"source_directory '{folder}' {what} (looked from {os.getcwd()}). Give the folder that holds the script."
        )
    if bool(config.script) == bool(config.command):
        raise UserError(
            "Give either a script (with arguments) or a command; "
            + ("both were given." if config.script else "neither was given.")
        )
    if config.script:
        _script_path(folder, config.script)
        _texts(config.arguments, "arguments")
    else:
        _command_text(config.command)
    _refuse_unavailable(config.run_config)
    plan_data(config)
    plan_launch(config.run_config, is_command=bool(config.command))


def build_run_spec(
    config: ScriptRunConfig,
    *,
    run_id: str,
    experiment: str,
    parent_id: Optional[str] = None,
    snapshot_id: Optional[str] = None,
    tags: Optional[dict[str, Any]] = None,
    properties: Optional[dict[str, Any]] = None,
    data: tuple[tuple[DataInput, ...], tuple[DataOutput, ...]] = ((), ()),
) -> RunSpec:
    """The run as data, complete: names resolved, arguments as strings, the environment as a specification.

    Args:
        data: inputs and outputs, as `DataPlan.save` gives them.
    """
    run_config = config.run_config
    is_command = bool(config.command)
    launch = plan_launch(run_config, is_command)
    compute = compute_name(run_config.target)
    environment = environment_spec(run_config.environment, run_config.docker)
    variables, secrets = _variables(run_config)
    history = run_config.history
    spec = RunSpec(
        run_id=run_id,
        experiment=experiment,
        kind=RunKind.SCRIPT,
        parent_id=parent_id,
        snapshot_id=snapshot_id,
        script=None if is_command else _script_path(config.source_directory, str(config.script)),
        arguments=() if is_command else tuple(_texts(config.arguments, "arguments")),
        command=_command_text(config.command) if is_command else None,
        compute=compute,
        node_count=launch.node_count,
        processes_per_node=launch.processes_per_node,
        launcher=launch.launcher,
        launcher_options=launch.options,
        environment=environment,
        variables=variables,
        secrets=tuple(secrets),
        max_duration_s=_duration(run_config.max_run_duration_seconds),
        collect_outputs=bool(history.output_collection),
        watch_folders=tuple(str(f) for f in history.directories_to_watch or ()),
        target=compute,
        tags={str(k): None if v is None else str(v) for k, v in (tags or {}).items()},
        properties={str(k): str(v) for k, v in (properties or {}).items()},
        inputs=data[0],
        outputs=data[1],
        **retry_fields(run_config, launch.options),
    )
    return check_run_spec(spec)


def submitted_secrets(config: ScriptRunConfig) -> dict[str, str]:
    """The values of the run's secret variables, as far as they are known here. They travel beside the RunSpec."""
    merged = _merged_variables(config.run_config)
    return secret_values(merged)


def _variables(run_config: RunConfiguration) -> tuple[dict[str, str], list[str]]:
    """(every variable of the run, secrets masked; the names of those)."""
    merged = _merged_variables(run_config)
    return check_variables(merged, "environment_variables"), [n for n, v in merged.items() if isinstance(v, Secret)]


def _merged_variables(run_config: RunConfiguration) -> dict[str, Any]:
    """The run's own count more than the environment's."""
    own, software = run_config.environment_variables, run_config.environment.environment_variables
    for variables, what in ((own, "environment_variables"), (software, "environment.environment_variables")):
        check_variables(variables, what)
    return {k: v for k, v in {**(software or {}), **(own or {})}.items() if v is not None}


def _script_path(folder: str, script: str) -> str:
    """The script relative to the folder, with '/'; SubmitError names scripts of a similar name."""
    root = os.path.abspath(folder)
    full = os.path.abspath(os.path.join(root, script))
    relative = os.path.relpath(full, root)
    if relative == os.pardir or relative.startswith(os.pardir + os.sep):
        raise SubmitError(
            f"Script '{script}' is outside source_directory '{folder}'. Only what is inside is sent; give a "
            "path relative to that folder."
        )
    if os.path.isfile(full):
        return relative.replace(os.sep, "/")
    raise SubmitError(f"Script '{script}' does not exist in source_directory '{root}'. {_suggestion(root, relative)}")


def _suggestion(root: str, wanted: str) -> str:
    names = list(_scripts(root))
    base = os.path.basename(wanted)
    same_name = [n for n in names if os.path.basename(n).lower() == base.lower()]
    near = difflib.get_close_matches(wanted, names, n=3) + difflib.get_close_matches(base, names, n=3)
    found = list(dict.fromkeys(same_name + near))[:3]
    if found:
        return f"Did you mean {' or '.join(repr(n) for n in found)}?"
    return f"It holds: {', '.join(sorted(names)[:10])}." if names else "It holds no Python file."


def _scripts(root: str) -> Iterator[str]:
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED_FOLDERS)
        for name in sorted(files):
            seen += 1
            if seen > _SCAN_LIMIT:
                return
            if name.endswith((".py", ".sh", ".R")):
                yield os.path.relpath(os.path.join(folder, name), root)


def _command_text(command: Any) -> str:
    if isinstance(command, str):
        return command
    if not isinstance(command, (list, tuple)):
        raise UserError(f"command is {type(command).__name__}. Give a string, or a list that is joined with spaces.")
    # In a shell's words a path may hold spaces; the variable that stands for data is quoted.
    quoted = [f'"{placeholder_of(value)}"' if is_data(value) else value for value in command]
    return " ".join(_texts(quoted, "command"))


def _texts(values: Any, what: str) -> list[str]:
    if isinstance(values, str) or not isinstance(values, (list, tuple)):
        raise UserError(f"{what} is {values!r}. Give a list, such as ['--epochs', 5].")
    return [_text(value, f"{what}[{i}]") for i, value in enumerate(values)]


def _text(value: Any, where: str) -> str:
    if isinstance(value, enum.Enum) and not isinstance(value, str):
        value = value.value
    if isinstance(value, str):
        return str(value.value) if isinstance(value, enum.Enum) else value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if is_data(value):
        return placeholder_of(value)
    is_numpy_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
    if isinstance(value, numbers.Number) or is_numpy_scalar:
        return str(value)
    if isinstance(value, (Data, OutputData)):
        raise UserError(
            f"{where} is a runconfig.{type(value).__name__}, which cannot be an argument. Put it in "
            "run_config.data or run_config.output_data."
        )
    if hasattr(value, "as_named_input"):
        raise UserError(
            f"{where} is a {type(value).__name__}. Say how the script shall get it: "
            "dataset.as_named_input('name').as_mount() or .as_download()."
        )
    raise UserError(f"{where} is {value!r} ({type(value).__name__}). Allowed: text, numbers, True and False, paths.")


def _refuse_unavailable(run_config: RunConfiguration) -> None:
    for name in ("datacaches", "services"):
        if getattr(run_config, name):
            raise UnsupportedError(
                f"run_config.{name} is not available in Rookery yet. Leave it empty, and pass paths in `arguments`."
            )
    target = compute_name(run_config.target)
    if target.lower() in ("amlcompute", "containerinstance"):
        raise UnsupportedError(
            f"target='{target}' (compute made for one run) is not available in Rookery. Create a cluster "
            "with ComputeTarget.create, or use 'local'."
        )
    if not isinstance(run_config.environment, Environment):
        raise UserError(f"run_config.environment is {type(run_config.environment).__name__}. Give an Environment.")


def _duration(seconds: Any) -> Optional[int]:
    if seconds is None:
        return None
    try:
        return int(seconds)
    except (TypeError, ValueError):
        raise RunConfigError(
            f"max_run_duration_seconds={seconds!r} is not allowed. Give a whole number of seconds, or None "
            "for no limit."
        ) from None
