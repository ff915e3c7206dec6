"""What comes into a step: registered data sets and models, and what the steps before it have written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from rookery.data import resolver_of
from rookery.errors import DataError, RookeryError
from rookery.record import Record
from rookery.spec.pipeline import NodeKind, Source, step_name, substitute

__all__ = ["Content", "content_of", "kept_outputs", "outputs_are_there"]


@dataclass(frozen=True)
class Content:
    """One input: what it is, and what it holds now."""

    definition_id: str
    fingerprint: str
    data_name: str = ""
    data_version: Optional[int] = None


def content_of(
    record: Record,
    source: Source,
    nodes: dict[str, dict[str, Any]],
    outputs: dict[str, dict[str, Any]],
    parameters: dict[str, Any],
    datastore: str,
) -> Content:
    """What a port gives. Blocking: data sets are listed and hashed.

    Args:
        outputs: of the steps that have completed: node → {port: …}.

    Raises:
        DataError, DatasetNotFoundError, ModelNotFoundError: it cannot be had.
    """
    node = nodes[source.node]
    if node.get("kind") == NodeKind.DATA:
        return _dataset(record, source.node, substitute(node, parameters))
    if node.get("kind") == NodeKind.MODEL:
        return _model(record, substitute(node, parameters), datastore)
    made = (outputs.get(source.node) or {}).get(source.port)
    name = step_name(source.node, node)
    if made is None:
        raise DataError(f"Output '{source.port}' of '{name}' was not kept, so nothing can go on from it.")
    if not made["fingerprint"]:
        raise DataError(f"Output '{source.port}' of '{name}' holds no file. Let the step write into that folder.")
    return Content(made["definition_id"], made["fingerprint"], made["data_name"], made["data_version"])


def kept_outputs(record: Record, run_id: str) -> dict[str, dict[str, Any]]:
    """What a run has made, by port, as a step's row keeps it."""
    found = {}
    for row in record.run_data.of_run(run_id, "out"):
        place = (record.datasets.definition(row["definition_id"]).get("sources") or [{}])[0]
        found[row["name"]] = {
            "definition_id": row["definition_id"],
            "manifest_id": row["manifest_id"],
            "fingerprint": row["fingerprint"],
            "files": row["files"],
            "bytes": row["bytes"],
            "data_name": row["data_name"],
            "data_version": row["data_version"],
            "datastore": place.get("datastore"),
            "path": place.get("path"),
        }
    return found


def outputs_are_there(record: Record, outputs: dict[str, dict[str, Any]]) -> str:
    """Why what a step has made cannot be used again; empty: all of it is there, as it was."""
    for port, made in outputs.items():
        if not made["fingerprint"]:
            continue
        try:
            now = resolver_of(record).resolve(record.datasets.definition(made["definition_id"]))
        except RookeryError:
            return f"its output {port} is no longer there"
        if now.fingerprint != made["fingerprint"]:
            return f"its output {port} was changed since"
    return ""


def _dataset(record: Record, key: str, node: dict[str, Any]) -> Content:
    definition_id = node.get("definition_id")
    name, version = "", None
    if isinstance(node.get("definition"), dict):
        definition_id = record.datasets.save(node["definition"], "pipeline")["id"]
    elif not definition_id:
        wanted = node.get("dataset")
        number = node.get("version")
        if isinstance(wanted, dict) and isinstance(wanted.get("definition"), dict):
            definition_id = record.datasets.save(wanted["definition"], "pipeline")["id"]
        elif isinstance(wanted, dict):
            definition_id = wanted.get("definition_id")
            number, wanted = wanted.get("version", number), wanted.get("dataset") or wanted.get("name")
        if not definition_id:
            found = record.datasets.get(str(wanted), None if number in (None, "", "latest") else int(number))
            definition_id, name, version = found["id"], found["name"], found["version"]
    try:
        manifest = resolver_of(record).resolve(record.datasets.definition(str(definition_id)))
    except DataError as error:
        raise DataError(f"'{step_name(key, node)}' cannot be read: {error.message}") from error
    return Content(str(definition_id), manifest.fingerprint, name, version)


def _model(record: Record, node: dict[str, Any], datastore: str) -> Content:
    """A registered model is laid out on the datastore once, and then is a folder like any other."""
    model = record.models.get(str(node["model"]), None if node.get("version") is None else int(node["version"]))
    store_name = datastore or record.datastores.default()
    store = resolver_of(record).store(store_name)
    root = f"azureml/models/{model['name']}/{model['version']}"
    base = _common_folder([each["path"] for each in model["files"]])
    for file in model["files"]:
        path = f"{root}/{file['path'][len(base) :]}"
        there = store.find(path)
        if there is not None and there.size == file["size"]:
            continue
        with record.content.open(file["sha256"]) as stream, store.writer(path) as writer:
            while piece := stream.read(1024 * 1024):
                writer.write(piece)
            writer.commit()
    saved = record.datasets.save({"kind": "file", "sources": [{"datastore": store_name, "path": root}]}, "pipeline")
    manifest = resolver_of(record).resolve(saved["definition"])
    return Content(saved["id"], manifest.fingerprint)


def _common_folder(paths: list[str]) -> str:
    """The folder that a model was registered as: `net/` of `net/weights.pt` and `net/labels.csv`."""
    folders = {path.split("/", 1)[0] for path in paths if "/" in path}
    if len(folders) == 1 and all("/" in path for path in paths):
        return folders.pop() + "/"
    return ""
