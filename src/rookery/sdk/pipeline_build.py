"""From steps to the graph of a pipeline: sources are sent to the keeper, data and parameters find their nodes."""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Any, Optional

from rookery.errors import RunConfigError, SubmitError, UserError
from rookery.sdk.data_delivery import save_definition
from rookery.sdk.data_reference import DataPath, DataReference
from rookery.sdk.dataset_consumption import DatasetConsumptionConfig
from rookery.sdk.pipeline_data import (
    InputPortBinding,
    PipelineData,
    PipelineDataset,
    PipelineOutput,
    PipelineParameter,
    StepOutput,
)
from rookery.sdk.pipeline_steps import PipelineStep, flatten
from rookery.sdk.snapshots import snapshot_folder
from rookery.sdk.submission import _text, build_run_spec, check_submission
from rookery.sdk.submission_data import _plain_name, _reference, plan_data
from rookery.spec.data import INPUT_VARIABLE, OUTPUT_VARIABLE, DataInput, DataOutput
from rookery.spec.pipeline import DATA_PORT, NodeKind, new_graph
from rookery.spec.plain import to_plain
from rookery.spec.run import RunSpec

__all__ = ["Build"]

_NOT_OF_A_STEP = ("run_id", "experiment", "kind", "parent_id", "display_name", "description", "target", "tags", "plan")


class Build:
    """One pipeline being made."""

    def __init__(
        self, workspace: Any, name: str, default_datastore: Any = None, source_directory: Optional[str] = None
    ) -> None:
        self.workspace, self.client = workspace, workspace.client
        self.source_directory = source_directory or "."
        self.graph = new_graph(name)
        if default_datastore is not None:
            self.graph["default_datastore"] = getattr(default_datastore, "name", default_datastore)
        self._ids: dict[int, str] = {}
        self._snapshots: dict[str, Any] = {}
        self._data: dict[Any, str] = {}

    def add(self, steps: Any, closure: bool = True) -> dict[str, Any]:
        """The graph of these steps and, with `closure`, of all that they depend on."""
        ordered = _with_those_before(list(flatten(steps)), closure)
        for step in ordered:
            self._ids[id(step)] = self._new_id(step.name)
        for step in ordered:
            key = self._ids[id(step)]
            self.graph["nodes"][key] = node = step.node(self)
            node.setdefault("title", step.name)
            node.setdefault("step_type", step.step_type)
            if step._regenerate:
                node["regenerate"] = True
        for step in ordered:
            for before in step.run_after_steps:
                if id(before) in self._ids:
                    self.graph["after"].append([self._ids[id(before)], self._ids[id(step)]])
        return self.graph

    # -- what steps ask

    def script_node(self, step: PipelineStep, config: Any) -> dict[str, Any]:
        """The node of a step that is a run: its body, its ports."""
        check_submission(config)
        folder = os.path.abspath(config.source_directory)
        if folder not in self._snapshots:
            self._snapshots[folder] = snapshot_folder(self.client, folder)
        snapshot = self._snapshots[folder]
        spec = build_run_spec(
            config,
            run_id="step",
            experiment="pipeline",
            snapshot_id=snapshot.id,
            properties={"ContentSnapshotId": snapshot.id},
            data=plan_data(config).save(self.client),
        )
        if spec.script and not snapshot.holds(spec.script):
            raise SubmitError(
                f"Script '{spec.script}' of step '{step.name}' is left out of the snapshot by the ignore rules of '{folder}'."
            )
        run = plain_body(spec)
        node: dict[str, Any] = {"kind": NodeKind.SCRIPT, "title": step.name, "run": run, "inputs": {}, "outputs": {}}
        for output in step.outputs_found():
            self._output(node, output)
        for each in step._inputs:
            self._input(node, step, each)
        words = [self.argument(node, step, each) for each in step._arguments]
        if spec.command:
            run["command"] = " ".join(self._shell_word(run, word) for word in words)
        elif words:
            run["arguments"] = words
        return node

    def value(self, value: Any, step: PipelineStep) -> Any:
        """A value that may be a parameter of the pipeline."""
        if isinstance(value, PipelineParameter):
            return self.parameter(value)
        return _text(value, f"step '{step.name}'") if not isinstance(value, (int, float, bool)) else value

    def parameter(self, given: PipelineParameter) -> dict[str, Any]:
        """What stands for it in the graph; it is declared there."""
        kind, default = _parameter_type(given.default_value), given.default_value
        if kind == "data":
            default = self._data_value(default)
        about = {"type": kind, "default": default}
        known = self.graph["parameters"].setdefault(given.name, about)
        if known != about:
            raise RunConfigError(
                f"Two PipelineParameters are called '{given.name}', with the defaults {known['default']!r:.40} and "
                f"{default!r:.40}. Use one object for both."
            )
        return {"pipeline_parameter": given.name}

    def argument(self, node: dict[str, Any], step: PipelineStep, value: Any) -> Any:
        """As an argument has it: text, the variable of an input or output, or a parameter."""
        if isinstance(value, PipelineParameter) and _parameter_type(value.default_value) != "data":
            return self.parameter(value)
        name = self._output_of(node, step, value)
        if name is not None:
            return f"${OUTPUT_VARIABLE}{name}"
        port = self._input(node, step, value)
        if port is not None:
            return f"${INPUT_VARIABLE}{port}" if port in node["inputs"] else f"${OUTPUT_VARIABLE}{port}"
        return _text(value, f"arguments of step '{step.name}'")

    # -- ports

    def _output(self, node: dict[str, Any], output: Any) -> None:
        if isinstance(output, PipelineData):
            name, about = output._output_name or output.name, output._plain_output()
        else:
            given = output.to_data_output()
            name, about = given.name, _differing(given, DataOutput(given.name))
            about.pop("name", None)
            about.setdefault("path", given.path)
        if name in node["outputs"] and node["outputs"][name] != about:
            raise RunConfigError(f"Two outputs are called '{name}'. Give each a name of its own.")
        node["outputs"][name] = about

    def _output_of(self, node: dict[str, Any], step: PipelineStep, value: Any) -> Optional[str]:
        """The name of the output, where the step itself writes it."""
        if isinstance(value, StepOutput) and value._producer is step:
            return value._output_name
        if hasattr(value, "to_data_output"):
            return str(value.name)
        return None

    def _input(self, node: dict[str, Any], step: PipelineStep, value: Any) -> Optional[str]:
        """The port that a value comes in at; None: it is no data."""
        if isinstance(value, PipelineOutput):
            value = value.create_input_binding()
        if isinstance(value, PipelineData):
            value = value.create_input_binding()
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], PipelineParameter):
            return self._data_path_input(node, value[0], value[1])
        if isinstance(value, PipelineParameter):
            return self._data_path_input(node, value, None)
        if isinstance(value, InputPortBinding):
            return self._bound(node, step, value)
        if isinstance(value, PipelineDataset):
            value = DatasetConsumptionConfig(
                _plain_name(value.name), value.dataset, value.bind_mode, value.path_on_compute
            )
        if isinstance(value, DatasetConsumptionConfig):
            source = self._data_node(value.name, value.dataset)
            return _connect(node, value.name, source, value.mode, value.path_on_compute)
        if isinstance(value, DataReference):
            return self._data_reference(node, value)
        return None

    def _bound(self, node: dict[str, Any], step: PipelineStep, value: InputPortBinding) -> str:
        made = value.bind_object
        if isinstance(made, DataReference):
            return self._data_reference(node, made)
        if hasattr(made, "_definition") and not hasattr(made, "to_data_output"):
            return _connect(node, value.name, self._data_node(value.name, made), value.bind_mode, value.path_on_compute)
        producer = getattr(made, "_producer", None)
        if producer is None or id(producer) not in self._ids:
            raise RunConfigError(
                f"Step '{step.name}' reads '{value.get_bind_object_name()}', which no step of the pipeline writes. Name it in "
                "the `outputs` of a step, and give that step to the pipeline."
            )
        output = made._output_name if isinstance(made, StepOutput) else made.name
        source = {"node": self._ids[id(producer)], "port": output}
        return _connect(node, value.name, source, value.bind_mode, value.path_on_compute, value.is_reference)

    def _data_reference(self, node: dict[str, Any], value: DataReference) -> str:
        name = _plain_name(value.data_reference_name)
        if name in node["inputs"] or name in node["outputs"]:
            return name
        made = _reference(self.client, name, value)
        if isinstance(made, DataInput):
            source = self._node_for(name, {"definition_id": made.definition_id})
            return _connect(node, name, source, made.mode, made.path_on_compute, True)
        about = _differing(made, DataOutput(name))
        about.pop("name", None)
        about.setdefault("path", made.path)
        node["outputs"][name] = about
        return name

    def _data_path_input(self, node: dict[str, Any], value: PipelineParameter, binding: Any) -> str:
        source = self._node_for(value.name, {"dataset": self.parameter(value)})
        mode = getattr(binding, "mode", "mount")
        return _connect(node, value.name, source, mode, getattr(binding, "path_on_compute", None), True)

    def _data_node(self, name: str, dataset: Any) -> dict[str, str]:
        if isinstance(dataset, PipelineParameter):
            return self._node_for(dataset.name, {"dataset": self.parameter(dataset)})
        return self._node_for(dataset.name or name, self._data_value(dataset))

    def _data_value(self, value: Any) -> dict[str, Any]:
        """How a graph names data: a registered version, or a definition."""
        if isinstance(value, DataPath):
            place = {"datastore": value.datastore_name, "path": value.path_on_datastore}
            return {"definition_id": save_definition(self.client, {"kind": "file", "sources": [place]})}
        if isinstance(value, DatasetConsumptionConfig):
            value = value.dataset
        if getattr(value, "name", None) and getattr(value, "version", None) is not None:
            return {"dataset": value.name, "version": int(value.version)}
        return {"definition_id": save_definition(self.client, value._definition)}

    def _node_for(self, name: str, about: dict[str, Any]) -> dict[str, str]:
        key = repr(sorted(about.items(), key=str))
        if key not in self._data:
            self._data[key] = self._new_id(name)
            self.graph["nodes"][self._data[key]] = {"kind": NodeKind.DATA, "title": name, **about}
        return {"node": self._data[key], "port": DATA_PORT}

    def _shell_word(self, run: dict[str, Any], word: Any) -> str:
        """In a command a parameter of the pipeline is the variable that holds its value."""
        if isinstance(word, dict):
            variable = f"AZUREML_PARAMETER_{word['pipeline_parameter']}"
            run.setdefault("variables", {})[variable] = word
            return f'"${variable}"'
        return f'"{word}"' if word.startswith((f"${INPUT_VARIABLE}", f"${OUTPUT_VARIABLE}")) else str(word)

    def _new_id(self, name: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:80] or "step"
        taken = {*self._ids.values(), *self._data.values(), *self.graph["nodes"]}
        found, number = base, 2
        while found in taken:
            found, number = f"{base}_{number}", number + 1
        return found


def plain_body(spec: RunSpec) -> dict[str, Any]:
    """A RunSpec as a node's `run` has it: only what is not the default."""
    found = _differing(spec, RunSpec("step", "pipeline"))
    run = {name: value for name, value in found.items() if name not in _NOT_OF_A_STEP}
    run["environment"] = {**to_plain(spec.environment)}
    run.setdefault("variables", {})
    run["compute"] = spec.compute
    return run


def _differing(value: Any, plain: Any) -> dict[str, Any]:
    pairs = (
        (field.name, getattr(value, field.name), getattr(plain, field.name)) for field in dataclasses.fields(value)
    )
    return {name: to_plain(mine) for name, mine, default in pairs if mine != default}


def _connect(
    node: dict[str, Any], port: str, source: dict[str, str], mode: str, path: Optional[str], reference: bool = False
) -> str:
    about: dict[str, Any] = dict(source)
    if mode != "mount":
        about["mode"] = mode
    if path:
        about["path_on_compute"] = path
    if reference:
        about["is_reference"] = True
    known = node["inputs"].setdefault(port, about)
    if (known["node"], known["port"]) != (source["node"], source["port"]):
        raise RunConfigError(
            f"Two inputs are called '{port}'. Give each a name of its own with as_named_input or as_input."
        )
    return port


def _with_those_before(steps: list[PipelineStep], closure: bool) -> list[PipelineStep]:
    """Those given, each after those that it depends on; with `closure` also those that are not given."""
    ordered: list[PipelineStep] = []
    given = {id(step) for step in steps}

    def visit(step: PipelineStep, path: tuple[int, ...]) -> None:
        if any(each is step for each in ordered) or (not closure and id(step) not in given):
            return
        if id(step) in path:
            raise UserError(f"Step '{step.name}' waits for itself, by data or run_after. Take one of them away.")
        for before in [*step.run_after_steps, *_producers(step)]:
            visit(before, (*path, id(step)))
        ordered.append(step)

    for step in steps:
        visit(step, ())
    return ordered


def _producers(step: PipelineStep) -> list[PipelineStep]:
    found = []
    for value in [*step._inputs, *step._arguments]:
        if isinstance(value, PipelineOutput):
            value = value.create_input_binding()
        made = value.bind_object if isinstance(value, InputPortBinding) else value
        producer = getattr(made, "_producer", None)
        if isinstance(producer, PipelineStep) and producer is not step:
            found.append(producer)
    return found


def _parameter_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"  # v1 took 0.5 where the default was 1
    if value is None or isinstance(value, str):
        return "string"
    if isinstance(value, (DataPath, DatasetConsumptionConfig)) or hasattr(value, "_definition"):
        return "data"
    raise UserError(
        f"The default value of a PipelineParameter is {type(value).__name__}. Give text, a number, True or False, a DataPath "
        "or a data set."
    )
