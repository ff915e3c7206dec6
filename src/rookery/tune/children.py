"""From a tuning's RunSpec and one set of values to the RunSpec of a child: a script with arguments, or a pipeline with parameters. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rookery.spec.run import RunKind, RunSpec
from rookery.spec.tune import child_run_id, pipeline_parameter_name

__all__ = ["argument_name", "child_spec", "overridden", "with_values"]


def child_spec(parent: RunSpec, number: int, values: Mapping[str, Any]) -> RunSpec:
    """A run like the tuning's own, with these values as arguments of its script; or a run of its pipeline, with these values as
    parameters."""
    pipeline = (parent.plan or {}).get("pipeline")
    if pipeline:
        return _pipeline_spec(parent, pipeline, number, values)
    arguments, command = parent.arguments, parent.command
    if command:
        command = " ".join([command, *(shlex.quote(text) for text in _pairs(values))])
    else:
        arguments = with_values(parent.arguments, values)
    return replace(
        parent,
        run_id=child_run_id(parent.run_id, number),
        kind=RunKind.SCRIPT,
        parent_id=parent.run_id,
        display_name="",
        description="",
        arguments=arguments,
        command=command,
        plan=None,
        tags={},
        properties={**_own_properties(parent), "rookery.trial": str(number)},
    )


def _pipeline_spec(parent: RunSpec, pipeline: Mapping[str, Any], number: int, values: Mapping[str, Any]) -> RunSpec:
    sampled = {pipeline_parameter_name(name): value for name, value in values.items()}
    return RunSpec(
        run_id=child_run_id(parent.run_id, number),
        experiment=parent.experiment,
        kind=RunKind.PIPELINE,
        parent_id=parent.run_id,
        properties={**_own_properties(parent), "rookery.trial": str(number)},
        plan={**pipeline, "parameters": {**(pipeline.get("parameters") or {}), **sampled}},
    )


def with_values(arguments: tuple[str, ...], values: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments with `--name value` of every parameter at their end; what was given for the same name goes."""
    names = {argument_name(name) for name in values}
    kept: list[str] = []
    skip = False
    for i, text in enumerate(arguments):
        if skip:
            skip = False
            continue
        if text in names:
            skip = i + 1 < len(arguments) and not arguments[i + 1].startswith("--")
            continue
        if text.partition("=")[0] in names:
            continue
        kept.append(text)
    return (*kept, *_pairs(values))


def overridden(parent: RunSpec, values: Mapping[str, Any]) -> list[str]:
    """What is sampled and given as well, as an argument of the script or a parameter of the pipeline."""
    given = {text.partition("=")[0] for text in parent.arguments}
    fixed = ((parent.plan or {}).get("pipeline") or {}).get("parameters") or {}
    return [name for name in values if argument_name(name) in given or pipeline_parameter_name(name) in fixed]


def argument_name(name: str) -> str:
    return name if name.startswith("-") else f"--{name}"


def _pairs(values: Mapping[str, Any]) -> list[str]:
    return [text for name, value in values.items() for text in (argument_name(name), _text(value))]


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def _own_properties(parent: RunSpec) -> dict[str, str]:
    """Without what says of the parent that it is a step of a pipeline: its children are none."""
    return {name: value for name, value in parent.properties.items() if name not in _OF_A_STEP}


_OF_A_STEP = ("rookery.run_type", "azureml.pipelinerunid", "azureml.nodeid", "StepType")
