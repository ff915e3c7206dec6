"""A child that goes on from an earlier one: its outputs become an input, named by `--resume-from`."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

from rookery.data.resolve import resolver_of
from rookery.spec.data import INPUT_VARIABLE, DataInput
from rookery.spec.run import RunSpec

__all__ = ["RESUME_INPUT", "lay_out_outputs", "resumed_spec"]

RESUME_INPUT = "RESUME_FROM"
_OUTPUTS = "outputs/"


def resumed_spec(record: Any, spec: RunSpec, earlier: str, submitted_by: str) -> RunSpec:
    """The child's spec with the outputs of the earlier run as an input; unchanged where that has none. Doing it again
    gives the same."""
    if not record.artifacts.list(earlier, _OUTPUTS):
        return spec
    store, folder = lay_out_outputs(record, earlier)
    definition = {"kind": "file", "sources": [{"datastore": store, "path": folder}]}
    saved = record.datasets.save(definition, submitted_by)
    place = f"${INPUT_VARIABLE}{RESUME_INPUT}"
    more = (*spec.inputs, DataInput(RESUME_INPUT, saved["id"]))
    if spec.command:
        return replace(spec, inputs=more, command=f'{spec.command} --resume-from "{place}"')
    return replace(spec, inputs=more, arguments=(*spec.arguments, "--resume-from", place))


def lay_out_outputs(record: Any, earlier: str) -> tuple[str, str]:
    """The outputs of a run as files on the default datastore, whose name and folder are returned; those that are there are
    left as they are."""
    name, folder = record.datastores.default(), f"azureml/{earlier}/outputs"
    store = resolver_of(record).store(name)
    for artifact in record.artifacts.list(earlier, _OUTPUTS):
        path = f"{folder}/{artifact['name'][len(_OUTPUTS) :]}"
        found = store.find(path)
        if found is not None and found.size == artifact["size"]:
            continue
        with store.writer(path) as writer, record.content.open(artifact["sha256"]) as source:
            shutil.copyfileobj(source, writer, 1024 * 1024)
            writer.commit()
    return name, folder
