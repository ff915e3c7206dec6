"""ParallelRunStep: an entry script over mini batches of files or of tables."""

from __future__ import annotations

import copy
import json
import os
import re
import shlex
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.partitions import partition_expression, partition_names
from rookery.sdk.pipeline_data import PipelineParameter
from rookery.sdk.pipeline_steps import PipelineStep
from rookery.sdk.run_configuration import RunConfiguration
from rookery.sdk.script_run_config import ScriptRunConfig
from rookery.spec.data import INPUT_VARIABLE, OUTPUT_VARIABLE, DataMode

__all__ = ["ParallelRunConfig", "ParallelRunStep"]

APPEND_ROW, SUMMARY_ONLY = "append_row", "summary_only"
DEFAULT_FILE = "parallel_run_step.txt"
_NAME = re.compile(r"[a-z]([-a-z0-9]{1,30})?[a-z0-9]\Z")
_SAVED = (
    "entry_script", "error_threshold", "output_action", "node_count", "process_count_per_node", "mini_batch_size",
    "source_directory", "description", "logging_level", "run_invocation_timeout", "run_max_try", "append_row_file_name",
    "allowed_failed_count", "allowed_failed_percent", "partition_keys", "environment_variables",
)  # fmt: skip
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class ParallelRunConfig:
    """What is run and how.

    `error_threshold` is how many files or rows may fail; -1: any number. `allowed_failed_count` and `allowed_failed_percent` count
    mini batches. With `partition_keys` a mini batch is what has the same values of them, whatever `mini_batch_size` says.
    """

    def __init__(
        self,
        environment: Any,
        entry_script: str,
        error_threshold: int,
        output_action: str,
        compute_target: Any,
        node_count: int,
        process_count_per_node: Optional[int] = None,
        mini_batch_size: Any = None,
        source_directory: Optional[str] = None,
        description: Optional[str] = None,
        logging_level: str = "INFO",
        run_invocation_timeout: Any = 60,
        run_max_try: Any = 3,
        append_row_file_name: Optional[str] = None,
        allowed_failed_count: Optional[int] = None,
        allowed_failed_percent: Optional[float] = None,
        partition_keys: Any = None,
        environment_variables: Optional[dict[str, str]] = None,
    ) -> None:
        if output_action not in (APPEND_ROW, SUMMARY_ONLY):
            raise UserError(f"output_action={output_action!r:.40}. Allowed: {APPEND_ROW}, {SUMMARY_ONLY}.")
        if not isinstance(error_threshold, PipelineParameter) and (
            not isinstance(error_threshold, int) or isinstance(error_threshold, bool) or error_threshold < -1
        ):
            raise UserError(f"error_threshold={error_threshold!r:.40}. Give -1 (any number may fail) or more.")
        if isinstance(partition_keys, str) or not all(isinstance(key, str) and key for key in partition_keys or ()):
            raise UserError(f"partition_keys={partition_keys!r:.80}. Give a list of names, such as ['state', 'year'].")
        if not isinstance(logging_level, PipelineParameter) and str(logging_level).upper() not in _LEVELS:
            raise UserError(f"logging_level={logging_level!r:.40}. Allowed: {', '.join(_LEVELS)}.")
        if append_row_file_name and output_action != APPEND_ROW:
            raise UserError("append_row_file_name counts with output_action='append_row' only.")
        self.environment, self.entry_script, self.error_threshold = environment, entry_script, error_threshold
        self.output_action, self.compute_target, self.node_count = output_action, compute_target, node_count
        self.process_count_per_node, self.mini_batch_size = process_count_per_node, mini_batch_size
        self.source_directory, self.description, self.logging_level = source_directory, description, logging_level
        self.run_invocation_timeout, self.run_max_try = run_invocation_timeout, run_max_try
        self.append_row_file_name = append_row_file_name
        self.environment_variables = dict(environment_variables or {})
        self.allowed_failed_count, self.allowed_failed_percent = allowed_failed_count, allowed_failed_percent
        self.partition_keys = list(partition_keys) if partition_keys else None

    def save_to_yaml(self, path: str) -> None:
        """All but the environment's packages and the compute target's kind."""
        import yaml

        data = {name: getattr(self, name) for name in _SAVED if getattr(self, name) not in (None, {})}
        data["environment"] = getattr(self.environment, "name", None)
        data["compute_target"] = getattr(self.compute_target, "name", self.compute_target)
        with open(path, "w", encoding="utf-8") as f:
            yaml.safe_dump(data, f, sort_keys=False)

    @staticmethod
    def load_yaml(workspace: Any, path: str) -> ParallelRunConfig:
        """What `save_to_yaml` wrote; the environment is the registered one of that name."""
        from rookery.sdk.environment import Environment
        from rookery.spec.safe_yaml import load_yaml, read_text

        data = dict(load_yaml(read_text(path), path))
        name = data.pop("environment", None)
        return ParallelRunConfig(environment=Environment.get(workspace, name) if name else None, **data)


class ParallelRunStep(PipelineStep):
    """All processes run on one node: `node_count` × `process_count_per_node` of them share the mini batches."""

    def __init__(
        self,
        name: str,
        parallel_run_config: ParallelRunConfig,
        inputs: list[Any],
        output: Any = None,
        side_inputs: Optional[list[Any]] = None,
        arguments: Optional[list[Any]] = None,
        allow_reuse: bool = True,
    ) -> None:
        if not isinstance(name, str) or not 3 <= len(name) <= 32 or not _NAME.match(name):
            raise UserError(
                f"name={name!r:.60} of a ParallelRunStep: 3 to 32 lower-case letters, digits and '-', a letter first."
            )
        if not isinstance(parallel_run_config, ParallelRunConfig):
            raise UserError(f"parallel_run_config is {type(parallel_run_config).__name__}. Give a ParallelRunConfig.")
        if not inputs:
            raise UserError("inputs is empty. Give the data sets that the mini batches are cut from.")
        if parallel_run_config.output_action == APPEND_ROW and output is None:
            raise UserError("output_action is append_row: give output, the PipelineData that the file goes to.")
        super().__init__(name, [*inputs, *(side_inputs or ())], [output] if output is not None else [], arguments)
        self._config, self._main_inputs, self._output = parallel_run_config, list(inputs), output
        self._regenerate = not allow_reuse

    def node(self, build: Any) -> dict[str, Any]:
        config, run_config = self._config, RunConfiguration()
        if config.environment is not None:
            run_config.environment = copy.copy(config.environment)
        if config.compute_target is not None:
            run_config.target = config.compute_target
        run_config.environment_variables = dict(config.environment_variables)
        folder = config.source_directory or build.source_directory
        if not os.path.isfile(os.path.join(folder, config.entry_script)):
            raise UserError(
                f"entry_script '{config.entry_script}' is not in source_directory '{os.path.abspath(folder)}'."
            )
        given, self._arguments = self._arguments, []
        try:
            node: dict[str, Any] = build.script_node(
                self, ScriptRunConfig(folder, command="true", run_config=run_config)
            )
        finally:
            self._arguments = given
        run = node["run"]
        words = ["python", "-m", "rookery.worker.parallel_run", "--entry", shlex.quote(config.entry_script)]
        for each in self._main_inputs:
            words += self._main_input(node, build, each)
        if config.partition_keys:
            words += ["--keys", shlex.quote(json.dumps(config.partition_keys))]
        if self._output is not None:
            words += ["--output", f'"${OUTPUT_VARIABLE}{next(iter(node["outputs"]))}"']
            if config.output_action == APPEND_ROW:
                words += ["--append-row", shlex.quote(config.append_row_file_name or DEFAULT_FILE)]
        nodes: Any = config.node_count or 1
        processes: Any = config.process_count_per_node or 1
        if not any(isinstance(each, PipelineParameter) for each in (nodes, processes)):
            nodes, processes = None, int(nodes) * int(processes)
        for option, value in (
            ("--mini-batch", config.mini_batch_size or self._default_size()),
            ("--nodes", nodes),
            ("--processes", processes),
            ("--error-threshold", config.error_threshold),
            ("--allowed-failed-count", config.allowed_failed_count),
            ("--allowed-failed-percent", config.allowed_failed_percent),
            ("--logging-level", config.logging_level),
            ("--timeout", config.run_invocation_timeout),
            ("--tries", config.run_max_try),
        ):
            if value is not None:
                shown = build.value(value, self)
                word = build._shell_word(run, shown) if isinstance(shown, dict) else shlex.quote(str(shown))
                words.append(f"{option}={word}")
        rest = [build._shell_word(run, build.argument(node, self, each)) for each in given]
        run["command"] = " ".join([*words, *(["--", *rest] if rest else [])])
        return node

    def _default_size(self) -> Optional[str]:
        """Files of a table that another step writes are read as a table."""
        made_here = [data for data in map(_data, self._main_inputs) if hasattr(data, "to_data_output")]
        return "1MB" if any(data._definition.get("kind") == "tabular" for data in made_here) else None

    def _main_input(self, node: dict[str, Any], build: Any, given: Any) -> list[str]:
        """The words of an input that mini batches are cut from: files by their path, a data set's table by its name."""
        port = build._input(node, self, given)
        if port is None or port not in node["inputs"]:
            raise UserError(
                f"inputs of step '{self.name}' has {type(given).__name__}. Give data sets as ds.as_named_input('name'), or "
                "outputs of other steps."
            )
        data, keys = _data(given), self._config.partition_keys or []
        definition = dict(getattr(data, "_definition", None) or {})
        pattern = str(definition.get("partition_format") or "")
        missing = [key for key in keys if key not in partition_names(pattern)]
        if missing:
            known = ", ".join(partition_names(pattern)) or "none: it was made without partition_format"
            raise UserError(
                f"partition_keys of step '{self.name}' has '{missing[0]}', which is no partition key of its input '{port}'. "
                f"Its keys: {known}."
            )
        is_table, is_made_here = definition.get("kind") == "tabular", hasattr(data, "to_data_output")
        if is_table and is_made_here and keys:
            raise UserError(
                f"partition_keys of step '{self.name}': its input '{port}' is a table that another step writes. Register that "
                "output, and give the registered data set; or read it as files."
            )
        if is_table and not is_made_here:
            node["inputs"][port]["mode"] = DataMode.DIRECT
            return ["--table", port]
        if node["inputs"][port].get("mode") == DataMode.DIRECT:  # as_named_input alone: v1 mounts it
            del node["inputs"][port]["mode"]
        words = ["--input", f'"{port}=${INPUT_VARIABLE}{port}"']
        if keys:
            expression, formats = partition_expression(pattern)
            about = json.dumps({"expression": expression, "formats": formats, "format": pattern})
            words += ["--pattern", shlex.quote(f"{port}={about}")]
        return words


def _data(given: Any) -> Any:
    """The data set, the one that a parameter has as its default, or the output of another step."""
    for name in ("bind_object", "dataset", "default_value"):
        given = getattr(given, name, given)
    return given
