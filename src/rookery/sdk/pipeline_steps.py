"""Steps of a pipeline: what each one starts, what it reads and what it writes."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.pipeline_data import StepOutput
from rookery.sdk.run_configuration import RunConfiguration
from rookery.sdk.script_run_config import ScriptRunConfig

__all__ = ["CommandStep", "EstimatorStep", "MpiStep", "PipelineStep", "PythonScriptStep", "StepSequence"]


class PipelineStep:
    """One step. `run_after` orders it without data."""

    def __init__(
        self,
        name: str,
        inputs: Any = None,
        outputs: Any = None,
        arguments: Any = None,
        fix_port_name_collisions: bool = False,
        resource_inputs: Any = None,
    ) -> None:
        self.name = name
        self.run_after_steps: list[PipelineStep] = []
        self.step_type = type(self).__name__.lstrip("_")
        self._inputs, self._outputs = list(inputs or ()), list(outputs or ())
        self._arguments = list(arguments or ())
        self._regenerate = False
        for output in self.outputs_found():
            output._producer = self

    def run_after(self, step: PipelineStep) -> None:
        """Start only when `step` is over."""
        if not isinstance(step, PipelineStep):
            raise UserError(f"run_after takes a step, not {type(step).__name__}.")
        if step not in self.run_after_steps:
            self.run_after_steps.append(step)

    def outputs_found(self) -> list[Any]:
        """What it writes: named in `outputs`, or an OutputFileDatasetConfig among its arguments. Ours, not v1's."""
        found = []
        for each in self._outputs:
            if not isinstance(each, StepOutput) and not hasattr(each, "to_data_output"):
                raise UserError(
                    f"Step '{self.name}': an output is {type(each).__name__}. Give PipelineData or OutputFileDatasetConfig."
                )
            found.append(each)
        found += [each for each in self._arguments if hasattr(each, "to_data_output") and each not in found]
        return found

    def node(self, build: Any) -> dict[str, Any]:
        """As a node of the graph; `build` is a sdk.pipeline_build.Build. Ours, not v1's."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class StepSequence:
    """Steps that run one after the other; a list among them runs side by side."""

    def __init__(self, steps: Any = None) -> None:
        self._steps = list(steps or ())
        previous: list[PipelineStep] = []
        for each in self._steps:
            current = list(flatten(each))
            for step in current:
                for before in previous:
                    step.run_after(before)
            previous = current or previous

    def __iter__(self) -> Iterator[Any]:
        return iter(self._steps)


def flatten(steps: Any) -> Iterator[PipelineStep]:
    """All steps of nested lists and sequences."""
    if isinstance(steps, PipelineStep):
        yield steps
    elif isinstance(steps, (list, tuple, StepSequence)):
        for each in steps:
            yield from flatten(each)
    else:
        raise UserError(
            f"A pipeline is made of steps, not {type(steps).__name__}. Give steps, lists of them, StepSequence."
        )


class _ScriptStepBase(PipelineStep):
    """What PythonScriptStep and CommandStep share."""

    def __init__(
        self,
        name: str,
        compute_target: Any,
        runconfig: Optional[RunConfiguration],
        runconfig_pipeline_params: Optional[dict[str, Any]],
        inputs: Any,
        outputs: Any,
        arguments: Any,
        params: Optional[dict[str, Any]],
        source_directory: Optional[str],
        allow_reuse: bool,
        version: Optional[str],
        hash_paths: Any = None,
    ) -> None:
        super().__init__(name, inputs, outputs, arguments)
        self._compute_target, self._params = compute_target, dict(params or {})
        self._run_config = copy.deepcopy(runconfig) if runconfig is not None else RunConfiguration()
        self._has_run_config = runconfig is not None
        self._run_config_params = dict(runconfig_pipeline_params or {})
        self._source_directory = source_directory
        self._regenerate, self._version = not allow_reuse, version
        self._hash_paths = [os.fspath(path) for path in hash_paths or ()]

    def _config(self, build: Any) -> ScriptRunConfig:
        raise NotImplementedError

    def node(self, build: Any) -> dict[str, Any]:
        if self._compute_target is not None:
            self._run_config.target = self._compute_target
        node = build.script_node(self, self._config(build))
        run = node["run"]
        if self._compute_target is None and not self._has_run_config:
            run["compute"] = None  # the pipeline's default one
        for name, value in self._params.items():
            run["variables"][f"AML_PARAMETER_{name}"] = build.value(value, self)
        for name, value in self._run_config_params.items():
            run[_RUN_FIELDS.get(name, name)] = build.value(value, self)
        if self._version is not None:
            node["version"] = self._version
        if self._hash_paths:
            node["hash_paths"] = [*self._hash_paths, *([run["script"]] if run.get("script") else [])]
        return node


_RUN_FIELDS = {"NodeCount": "node_count", "node_count": "node_count", "target": "compute", "Target": "compute"}


class PythonScriptStep(_ScriptStepBase):
    """A Python script with its arguments."""

    def __init__(
        self,
        script_name: str,
        name: Optional[str] = None,
        arguments: Optional[list[Any]] = None,
        compute_target: Any = None,
        runconfig: Optional[RunConfiguration] = None,
        runconfig_pipeline_params: Optional[dict[str, Any]] = None,
        inputs: Optional[list[Any]] = None,
        outputs: Optional[list[Any]] = None,
        params: Optional[dict[str, Any]] = None,
        source_directory: Optional[str] = None,
        allow_reuse: bool = True,
        version: Optional[str] = None,
        hash_paths: Optional[list[str]] = None,
    ) -> None:
        if not script_name:
            raise UserError("script_name is empty. Give the script, relative to source_directory.")
        self._script_name = script_name
        super().__init__(
            name or script_name, compute_target, runconfig, runconfig_pipeline_params, inputs, outputs, arguments,
            params, source_directory, allow_reuse, version, hash_paths,
        )  # fmt: skip

    def _config(self, build: Any) -> ScriptRunConfig:
        return ScriptRunConfig(
            self._source_directory or build.source_directory, script=self._script_name, run_config=self._run_config
        )


class CommandStep(_ScriptStepBase):
    """A command line."""

    def __init__(
        self,
        command: Any = None,
        name: Optional[str] = None,
        compute_target: Any = None,
        runconfig: Any = None,
        runconfig_pipeline_params: Optional[dict[str, Any]] = None,
        inputs: Optional[list[Any]] = None,
        outputs: Optional[list[Any]] = None,
        params: Optional[dict[str, Any]] = None,
        source_directory: Optional[str] = None,
        allow_reuse: bool = True,
        version: Optional[str] = None,
    ) -> None:
        if isinstance(runconfig, ScriptRunConfig):
            command, source_directory = command or runconfig.command, source_directory or runconfig.source_directory
            runconfig = runconfig.run_config
        if not command:
            raise UserError("command is empty. Give a string, or a list that is joined with spaces.")
        words = [command] if isinstance(command, str) else list(command)
        first = str(words[0]).split()[0] if words and str(words[0]).split() else "command"
        super().__init__(
            name or os.path.basename(first), compute_target, runconfig, runconfig_pipeline_params, inputs, outputs,
            words, params, source_directory, allow_reuse, version,
        )  # fmt: skip

    def _config(self, build: Any) -> ScriptRunConfig:
        return ScriptRunConfig(
            self._source_directory or build.source_directory, command="true", run_config=self._run_config
        )


class MpiStep(PythonScriptStep):
    """A Python script in many processes, which mpirun starts."""

    def __init__(
        self,
        name: Optional[str] = None,
        source_directory: Optional[str] = None,
        script_name: Optional[str] = None,
        arguments: Optional[list[Any]] = None,
        compute_target: Any = None,
        node_count: Optional[int] = None,
        process_count_per_node: Optional[int] = None,
        inputs: Optional[list[Any]] = None,
        outputs: Optional[list[Any]] = None,
        allow_reuse: bool = True,
        version: Optional[str] = None,
        hash_paths: Optional[list[str]] = None,
        **kwargs: Any,
    ) -> None:
        from rookery.sdk.distributed import MpiConfiguration, apply_distributed_job_config

        run_config = RunConfiguration()
        environment = kwargs.pop("environment_definition", None) or kwargs.pop("environment", None)
        if environment is not None:
            run_config.environment = environment
        apply_distributed_job_config(run_config, MpiConfiguration(process_count_per_node or 1, node_count or 1))
        super().__init__(
            script_name or "", name, arguments, compute_target, run_config, None, inputs, outputs,
            kwargs.pop("params", None), source_directory, allow_reuse, version, hash_paths,
        )  # fmt: skip


class EstimatorStep(PythonScriptStep):
    """A deprecated estimator as a step."""

    def __init__(
        self,
        name: Optional[str] = None,
        estimator: Any = None,
        estimator_entry_script_arguments: Optional[list[Any]] = None,
        runconfig_pipeline_params: Optional[dict[str, Any]] = None,
        inputs: Optional[list[Any]] = None,
        outputs: Optional[list[Any]] = None,
        compute_target: Any = None,
        allow_reuse: bool = True,
        version: Optional[str] = None,
    ) -> None:
        if estimator is None or not hasattr(estimator, "to_script_run_config"):
            raise UserError(f"estimator is {type(estimator).__name__}. Give an Estimator.")
        config = estimator.to_script_run_config()
        if config.arguments and estimator_entry_script_arguments is not None:
            raise UserError(
                "The estimator has script_params, and estimator_entry_script_arguments are given too. In a pipeline give "
                "all arguments in estimator_entry_script_arguments."
            )
        arguments = (
            estimator_entry_script_arguments if estimator_entry_script_arguments is not None else config.arguments
        )
        super().__init__(
            config.script, name, arguments, compute_target, config.run_config, runconfig_pipeline_params, inputs,
            outputs, None, config.source_directory, allow_reuse, version,
        )  # fmt: skip
