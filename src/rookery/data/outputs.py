"""What a run wrote becomes data: its files on a datastore, and a version of a data set where that was asked for."""

from __future__ import annotations

from typing import Any, Optional

from rookery.data.packs import PackWriter
from rookery.data.resolve import resolver_of
from rookery.errors import DataError, NotFoundError
from rookery.record import Record
from rookery.record.run_data import data_row
from rookery.spec.data import DataMode, DataOutput, output_path
from rookery.spec.plain import from_plain
from rookery.spec.run import RunSpec
from rookery.stores import Store

__all__ = ["complete_outputs", "output_folder", "receive_output"]


def output_folder(record: Record, output: DataOutput) -> tuple[str, str]:
    """(the datastore's name, its folder on this machine where it is one) of an output; for `spec.data.output_job`."""
    name = output.datastore or record.datastores.default()
    kind, spec, _ = record.datastores.opening(name)
    return name, str(spec["folder"]) if kind == "folder" else ""


def receive_output(record: Record, run_id: str, name: str) -> PackWriter:
    """Takes the pack of an output that a node brings back."""
    output = _output(_spec(record, run_id), name)
    store = resolver_of(record).store(output.datastore or record.datastores.default())
    return PackWriter(store, output_path(output, run_id), overwrite=True)


def complete_outputs(record: Record, run_id: str) -> list[dict[str, Any]]:
    """Called when a run has completed, before it is shown so: every output becomes a definition and a row of the run, and
    where asked for a version. Doing it again changes nothing.

    Returns:
        The versions that were registered.

    Raises:
        DataError: an output is not there as it was reported.
    """
    spec = _spec(record, run_id)
    done = {row["name"] for row in record.run_data.of_run(run_id, "out")}
    registered = []
    for output in spec.outputs:
        if output.name not in done:
            version = _complete(record, spec, output)
            if version is not None:
                registered.append(version)
    return registered


def _complete(record: Record, spec: RunSpec, output: DataOutput) -> Optional[dict[str, Any]]:
    store = output.datastore or record.datastores.default()
    path = output_path(output, spec.run_id)
    definition = {**output.definition, "kind": output.definition.get("kind", "file")}
    pattern = definition.pop("path_glob", None)
    definition["sources"] = [{"datastore": store, "path": f"{path}/{pattern}" if pattern else path}]
    saved = record.datasets.save(definition, f"run {spec.run_id}")
    manifest, version = None, None
    if _has_files(resolver_of(record).store(store), path):
        try:
            manifest = resolver_of(record).resolve(saved["definition"])
        except DataError as error:
            raise DataError(f"Output '{output.name}' cannot be kept: {error.message}") from error
    elif output.register_as:
        record.runs.warn(
            spec.run_id, f"Output '{output.name}' holds no file, so '{output.register_as}' got no version."
        )
    if output.register_as and manifest is not None:
        body = {
            "name": output.register_as,
            "definition_id": saved["id"],
            "description": output.description,
            "tags": output.tags,
            "create_new_version": True,
        }
        version = record.datasets.register(body, manifest, f"run {spec.run_id}", spec.run_id, output.name)
    row = data_row(
        "out",
        output.name,
        output.mode or DataMode.MOUNT,
        saved["id"],
        manifest,
        version["name"] if version else "",
        version["version"] if version else None,
    )
    record.run_data.put(spec.run_id, [row])
    return version


def _has_files(store: Store, path: str) -> bool:
    try:
        return any(not file.is_folder for file in store.files(path))
    except DataError:
        return False


def _spec(record: Record, run_id: str) -> RunSpec:
    return from_plain(RunSpec, record.runs.get(run_id)["spec"])


def _output(spec: RunSpec, name: str) -> DataOutput:
    for output in spec.outputs:
        if output.name == name:
            return output
    known = ", ".join(output.name for output in spec.outputs) or "none"
    raise NotFoundError(f"Run '{spec.run_id}' has no output '{name:.80}'. Known: {known}.")
