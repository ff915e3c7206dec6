"""ScriptRunConfig: a source folder, what to start in it, and where."""

from __future__ import annotations

import os
import warnings
from typing import Any, Optional

from rookery.errors import RunConfigError, UserError
from rookery.sdk.distributed import apply_distributed_job_config
from rookery.sdk.environment import Environment
from rookery.sdk.run_config_elements import DockerConfiguration
from rookery.sdk.run_configuration import RunConfiguration

__all__ = ["ScriptRunConfig", "get_run_config_from_script_run"]


class ScriptRunConfig:
    """What `Experiment.submit` takes. Either `script` with `arguments`, or a `command`."""

    MAX_DURATION_SECONDS_DEFAULT = 2592000

    def __init__(
        self,
        source_directory: Optional[str],
        script: Optional[str] = None,
        arguments: Optional[list[Any]] = None,
        run_config: Optional[RunConfiguration] = None,
        _telemetry_values: Any = None,
        compute_target: Any = None,
        environment: Optional[Environment] = None,
        distributed_job_config: Any = None,
        resume_from: Any = None,
        max_run_duration_seconds: Optional[int] = MAX_DURATION_SECONDS_DEFAULT,
        command: Any = None,
        docker_runtime_config: Optional[DockerConfiguration] = None,
    ) -> None:
        if command and (script or arguments):
            raise UserError(
                "command was given together with script or arguments. Give either a command, or a script "
                "with its arguments."
            )
        if resume_from is not None and type(resume_from).__name__ != "DataPath":
            raise UserError(
                f"resume_from is {type(resume_from).__name__}. Give a DataPath: DataPath(datastore, 'path')."
            )
        if docker_runtime_config is not None and not isinstance(docker_runtime_config, DockerConfiguration):
            raise RunConfigError(
                f"docker_runtime_config is {type(docker_runtime_config).__name__}. Allowed: DockerConfiguration."
            )
        self.source_directory = os.fspath(source_directory) if source_directory else "."
        given = {
            "compute_target": compute_target,
            "environment": environment,
            "distributed_job_config": distributed_job_config,
            "docker_runtime_config": docker_runtime_config,
            "max_run_duration_seconds": None
            if max_run_duration_seconds == self.MAX_DURATION_SECONDS_DEFAULT
            else max_run_duration_seconds,
        }
        if run_config is None:
            self.run_config = RunConfiguration()
            self.run_config.max_run_duration_seconds = max_run_duration_seconds
            self._apply(given)
        else:
            self.run_config = _checked(run_config)
            ignored = [name for name, value in given.items() if value is not None]
            if ignored:
                warnings.warn(
                    f"run_config was given, so {', '.join(ignored)} of ScriptRunConfig is ignored. Set it "
                    "on run_config.",
                    UserWarning,
                    stacklevel=2,
                )
        takes_command = bool(command) or (not script and not arguments and bool(self.run_config.command))
        self.command: Any = (command or self.run_config.command) if takes_command else None
        self.script: Optional[str] = None if takes_command else (script or self.run_config.script)
        self.arguments: list[Any] = [] if takes_command else (arguments or self.run_config.arguments or [])
        if resume_from is not None:
            if takes_command:
                raise UserError("resume_from goes with a script. Put the path into the command yourself.")
            reference = resume_from.create_data_reference("RESUME_FROM")
            self.arguments = [*self.arguments, "--resume-from", reference]

    def _apply(self, given: dict[str, Any]) -> None:
        run_config = self.run_config
        run_config.target = given["compute_target"]
        if given["environment"] is not None:
            if not isinstance(given["environment"], Environment):
                raise UserError(
                    f"environment is {type(given['environment']).__name__}. Give an Environment, such as "
                    "Environment('my-environment')."
                )
            run_config.environment = given["environment"]
        if given["distributed_job_config"] is not None:
            apply_distributed_job_config(run_config, given["distributed_job_config"])
        docker = run_config.environment.docker
        if given["docker_runtime_config"] is not None:
            run_config.docker = given["docker_runtime_config"]
        elif docker is not None:
            run_config.docker.use_docker = bool(docker.enabled)
            run_config.docker.shared_volumes = docker.shared_volumes
            run_config.docker.arguments = list(docker.arguments or [])
            run_config.docker.shm_size = docker.shm_size or run_config.docker.shm_size

    def __repr__(self) -> str:
        what = f"command={self.command!r}" if self.command else f"script={self.script!r}, arguments={self.arguments!r}"
        target = f"compute_target={self.run_config.target!r}"
        return f"ScriptRunConfig(source_directory={self.source_directory!r}, {what}, {target})"


def get_run_config_from_script_run(script_run_config: ScriptRunConfig) -> RunConfiguration:
    """The complete run configuration: a copy of `run_config` with the script, arguments and command of the
    ScriptRunConfig."""
    run_config = script_run_config.run_config.copy()
    run_config.script = script_run_config.script
    run_config.arguments = list(script_run_config.arguments or [])
    run_config.command = script_run_config.command or ""
    return run_config


def _checked(run_config: Any) -> RunConfiguration:
    if not isinstance(run_config, RunConfiguration):
        raise UserError(f"run_config is {type(run_config).__name__}. Give a RunConfiguration.")
    return run_config
