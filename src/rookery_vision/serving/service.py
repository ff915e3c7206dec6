"""The modules of a graph, called one after the other for every request.

`graph.json` (made by the keeper, `rookery.pipeline.serving`): `{"nodes": [{"id", "module", "parameters", "inputs": {port: {"node",
"port"}}}, …], "kept": {node: folder}, "feeds": [{"node", "port", "name", "types"}, …], "outputs": [{"node", "port", "name"}, …]}`; nodes in
the order in which they run, each input from a node before it, from what is kept beside the file, or fed by a request. A graph of
one output answers that table; one of several `{"Results": {name: table}}`.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import io
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable
from typing import Any, Union

from rookery_vision.catalog import find
from rookery_vision.errors import (
    FailedToWriteOutputsError,
    InvalidModelDirectoryError,
    InvalidTransformationDirectoryError,
    LibraryExceptionError,
    ModuleError,
    ModuleOutOfMemoryError,
    UnableToDeserializeModelError,
    UntrainedModelError,
)
from rookery_vision.formats.table import Table, read_table
from rookery_vision.serving.asked import BadRequest, folder_name, is_picture, read_rows, write_rows

__all__ = ["GraphService"]

GRAPH, FEATURES, SAMPLES = "graph.json", "features.json", "_samples.json"
# Nothing that other rows would mend.
_OURS = (
    FailedToWriteOutputsError,
    InvalidModelDirectoryError,
    InvalidTransformationDirectoryError,
    LibraryExceptionError,
    ModuleOutOfMemoryError,
    UnableToDeserializeModelError,
    UntrainedModelError,
)
Made = dict[tuple[str, str], str]  # (node, port) → folder


class GraphService:
    """A graph, ready to be asked. What no request has an influence on is done once, when it is made."""

    def __init__(self, folder: str) -> None:
        with open(os.path.join(folder, GRAPH), encoding="utf-8") as f:
            self._graph = json.load(f)
        self._kept = {node: os.path.join(folder, *path.split("/")) for node, path in self._graph["kept"].items()}
        self._names = list(dict.fromkeys(feed["name"] for feed in self._graph["feeds"]))
        self._outputs = self._graph.get("outputs") or [
            self._graph["output"]
        ]  # the latter: deployed before there were several
        self._fed = {(feed["node"], feed["port"]) for feed in self._graph["feeds"]}
        self._known, self._label = _learned(self._kept.values())
        # In the service's own folder, which goes when the service does: its processes are killed, and could remove nothing.
        place = folder if os.access(folder, os.W_OK) else None
        self._once = tempfile.TemporaryDirectory(prefix=".rookery-graph-", dir=place)
        moving = self._moving()
        self._made: Made = {}
        self._run([node for node in self._graph["nodes"] if node["id"] not in moving], self._made, self._once.name)
        self._nodes = [node for node in self._graph["nodes"] if node["id"] in moving]
        self._try_out()

    def answer(self, body: bytes) -> dict[str, Any]:
        """What the graph says of a request's body.

        Raises:
            BadRequest: the request is at fault.
        """
        if not is_picture(body):
            return self._shown(_rows, self._score(read_rows(body, self._names)))
        if len(self._names) > 1:
            raise BadRequest(
                f"One picture, and several inputs are wanted: {', '.join(self._names)}. Send JSON: "
                '{"Inputs": {name: [{"image": base64}]}}.'
            )
        row = {"image": base64.b64encode(body).decode()}
        return self._shown(_one, self._score({self._names[0]: [row]}))

    def _shown(self, form: Callable[[Table], dict[str, Any]], tables: list[Table]) -> dict[str, Any]:
        if len(tables) == 1:
            return form(tables[0])
        return {"Results": {output["name"]: form(table) for output, table in zip(self._outputs, tables)}}

    def _score(self, given: dict[str, list[dict[str, Any]]]) -> list[Table]:
        """The table of every output, without a label that nobody has sent."""
        sent = {name for rows in given.values() for row in rows for name in row}
        with tempfile.TemporaryDirectory(prefix="rookery-asked-") as scratch:
            made = dict(self._made)
            for place, feed in enumerate(self._graph["feeds"]):
                folder = folder_name(scratch, place)
                write_rows(folder, given[feed["name"]], feed["types"], self._known, self._label)
                made[("", f"{feed['node']} {feed['port']}")] = folder
            try:
                self._run(self._nodes, made, scratch)
            except _OURS:
                raise
            except ModuleError as error:
                raise BadRequest(str(error)) from error
            tables = [read_table(made[(output["node"], output["port"])]) for output in self._outputs]
        hidden = {name for name in self._label if name not in sent}
        return [Table({n: c for n, c in table.columns.items() if n not in hidden}, table.task) for table in tables]

    def _run(self, nodes: list[dict[str, Any]], made: Made, scratch: str) -> None:
        for place, node in enumerate(nodes):
            card = find(node["module"])
            inputs = {port: self._input(node["id"], port, source, made) for port, source in node["inputs"].items()}
            outputs = {port.name: os.path.join(scratch, f"{place}-{port.name}") for port in card.outputs}
            with contextlib.redirect_stdout(io.StringIO()):  # what they tell of a run is nothing for a service's log
                card(**inputs, **outputs, **node["parameters"])
            made.update({(node["id"], port): folder for port, folder in outputs.items()})

    def _input(self, node: str, port: str, source: dict[str, str], made: Made) -> str:
        if (node, port) in self._fed:
            return made[("", f"{node} {port}")]
        return self._kept.get(source["node"]) or made[(source["node"], source["port"])]

    def _moving(self) -> set[str]:
        """The nodes that a request has an influence on."""
        found = {feed["node"] for feed in self._graph["feeds"]}
        for node in self._graph["nodes"]:
            if any(source["node"] in found for port, source in node["inputs"].items()):
                found.add(node["id"])
        return found

    def _try_out(self) -> None:
        """Asks it what its model was given as samples: what is missing here is told at the start, and the first one to ask does
        not wait for libraries and weights."""
        for folder in self._kept.values():
            path = os.path.join(folder, SAMPLES)
            if len(self._names) != 1 or not os.path.exists(path):
                continue
            with open(path, encoding="utf-8") as f:
                rows = json.load(f)
            if isinstance(rows, list) and rows:
                with contextlib.suppress(BadRequest):  # they are of the model's own input, which may not be the graph's
                    self._score({self._names[0]: rows[:1]})


def _learned(folders: Iterable[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """Of models for tables: {column: kind}, and the label with a value that it may have."""
    known: dict[str, str] = {}
    label: dict[str, Any] = {}
    for folder in folders:
        path = os.path.join(folder, FEATURES)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                model = json.load(f)
            known.update({each["column"]: each["kind"] for each in model["features"]})
            label[str(model["label"])] = model["classes"][0] if model["classes"] else 0.0
    return known, label


def _rows(table: Table) -> dict[str, Any]:
    columns = list(table.columns.values())
    values = [[_plain(value) for value in column.values] for column in columns]
    return {"columns": [column.name for column in columns], "result": [list(row) for row in zip(*values)]}


def _one(table: Table) -> dict[str, Any]:
    """Of one picture, as endpoints of models answer."""
    labels, shares = table.with_role("scored_labels"), table.with_role("scored_probabilities")
    if not labels:
        return _rows(table)
    probabilities = {str(column.category): _plain(column.values[0]) for column in shares}
    label = _plain(labels[0].values[0])
    return {"label": label, "probability": probabilities.get(str(label)), "probabilities": probabilities}


def _plain(value: Any) -> Union[bool, int, float, str, None]:
    """As JSON has it: no NaN, no infinities, times as text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
