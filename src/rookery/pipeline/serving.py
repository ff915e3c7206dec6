"""An inference graph as an endpoint: its modules, what its training has kept, and the script that runs them for every request."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
from typing import Any, Optional

from rookery.data import read_entry, resolver_of
from rookery.errors import ConflictError, DataError, UserError
from rookery.pipeline.catalog import BUILT_IN, Card, Catalog, card_of, unknown_module
from rookery.pipeline.inference import inference_graph
from rookery.pipeline.sources import content_of
from rookery.pipeline.steps import environment_of
from rookery.pipeline.view import show_run
from rookery.record import Record
from rookery.spec.pipeline import (
    NodeKind,
    Source,
    find_cycle,
    node_map,
    parameter_values,
    sources_of,
    step_name,
    substitute,
)
from rookery.spec.plain import to_plain

__all__ = ["about_served", "graph_to_serve", "make_inference", "serving_plan"]

SCRIPT, GRAPH, KEPT = "score.py", "graph.json", "kept"
_ENTRY = ("serving", "entry.py")  # of rookery_vision
REAL_TIME = "real-time"
_AGAIN = "Make it from a training run: `Make a real-time inference pipeline`, or POST /pipelines/inference."


def graph_to_serve(record: Record, graph: Optional[dict[str, Any]], run_id: Optional[str]) -> dict[str, Any]:
    """The real-time inference graph that is meant: given, that of a run, or made from a training run.

    Raises:
        UserError, ConflictError: there is none.
    """
    if (graph is None) == (run_id is None):
        raise UserError("Give either `graph`, a real-time inference pipeline, or `run_id`, a pipeline's run.")
    if graph is None:
        shown = show_run(record, str(run_id))
        graph = shown["graph"]
        if not isinstance(graph.get("inference"), dict):
            return inference_graph(record, str(run_id), REAL_TIME)
        graph = {**graph, "parameters": _with_values(graph.get("parameters"), shown["parameters"])}
    kind = (graph.get("inference") or {}).get("kind") if isinstance(graph.get("inference"), dict) else None
    if kind != REAL_TIME:
        what = "a batch inference pipeline" if kind else "a pipeline that trains, or none that scores"
        raise UserError(f"This is {what}; an endpoint is made of a real-time inference pipeline. {_AGAIN}")
    return graph


def about_served(record: Record, graph: dict[str, Any]) -> dict[str, str]:
    """Properties of the endpoint: of which pipeline and training it is, whether it takes pictures or rows; of several inputs or
    outputs their names.

    Raises:
        UserError: the graph cannot be served.
    """
    plan = serving_plan(graph, Catalog(record).cards())
    feeds = plan["feeds"]
    about = {
        "pipeline": str(graph.get("name") or ""),
        "training_run": str(graph["inference"].get("training_run") or ""),
        "takes": "rows" if any("DataFrameDirectory" in feed["types"] for feed in feeds) else "pictures",
    }
    for what, ends in (("inputs", feeds), ("outputs", plan["outputs"])):
        names = list(dict.fromkeys(end["name"] for end in ends))
        if len(names) > 1:
            about[what] = ", ".join(names)
    return about


def make_inference(record: Record, graph: dict[str, Any]) -> dict[str, Any]:
    """`inference` of an endpoint (docs/inside/serve.md): a snapshot of script, graph and what is kept. Blocking: copies files.

    Raises:
        UserError, ConflictError, DataError: it cannot be served; the words say why.
    """
    cards = Catalog(record).cards()
    plan = serving_plan(graph, cards)
    environment = environment_of(record, _one_environment(graph, plan, cards))
    parameters, nodes = parameter_values(graph), node_map(graph)
    entries = [
        _stored(record, SCRIPT, _script()),
        _stored(record, GRAPH, json.dumps(plan, ensure_ascii=False, sort_keys=True).encode()),
    ]
    for key, folder in plan["kept"].items():
        try:
            content = content_of(
                record, Source(key, ""), nodes, {}, parameters, str(graph.get("default_datastore") or "")
            )
            manifest = resolver_of(record).resolve(record.datasets.definition(content.definition_id))
        except DataError as error:
            raise ConflictError(
                f"What '{step_name(key, nodes[key])}' holds is not there any more: {error.message} Run the training pipeline "
                "again, and make the inference pipeline from that run."
            ) from error
        for index, entry in enumerate(manifest.entries):
            if not entry.is_folder:
                with read_entry(record, manifest, index)[1] as stream:
                    sha256, size = record.content.put(stream)
                entries.append(_entry(f"{folder}/{entry.path}", sha256, size))
    snapshot = str(record.snapshots.create(entries)["id"])
    return {
        "entry_script": SCRIPT,
        "source_name": "",
        "snapshot_id": snapshot,
        "environment": to_plain(environment),
    }


def serving_plan(graph: dict[str, Any], cards: dict[str, Card]) -> dict[str, Any]:
    """What `rookery_vision.serving.service` runs: modules in their order, kept data, where requests come in, what is answered.

    Raises:
        UserError: the graph cannot be served.
    """
    nodes, parameters = node_map(graph), parameter_values(graph)
    loop = find_cycle(graph)
    if loop:
        raise UserError(f"{' → '.join(loop)} is a circle. Take one of the lines away.")
    feeds = _named(graph, "web_service_inputs", nodes)
    outputs = _named(graph, "web_service_outputs", nodes)
    if not outputs:
        raise UserError(f"The module whose result is answered is not in the pipeline any more. {_AGAIN}")
    names = [output["name"] for output in outputs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"Two outputs of the service are called '{twice}'. Give each a name of its own.")
    fed = {(feed["node"], feed["port"]) for feed in feeds}
    ordered: dict[str, dict[str, Any]] = {}
    kept: dict[str, str] = {}

    def visit(key: str) -> None:
        if key in ordered or key in kept:
            return
        node = nodes[key]
        if node.get("kind") in (NodeKind.DATA, NodeKind.MODEL):
            kept[key] = f"{KEPT}/{len(kept)}-{re.sub(r'[^A-Za-z0-9_.-]+', '_', key)[:40]}"
            return
        card = _card(key, node, cards)
        inputs = {}
        for port in card.inputs:
            source = sources_of(node).get(port["name"])
            if (key, port["name"]) in fed:
                inputs[port["name"]] = {"node": "", "port": ""}
                continue
            if source is None or source.node not in nodes:
                if port["optional"]:
                    continue
                raise UserError(f"Input '{port['label']}' of '{step_name(key, node)}' is not connected. Connect it.")
            visit(source.node)
            inputs[port["name"]] = {"node": source.node, "port": source.port}
        values = _values(key, substitute(node, parameters), card)
        ordered[key] = {"id": key, "module": card.name, "parameters": values, "inputs": inputs}

    for output in outputs:
        visit(output["node"])
    used = [
        {**feed, "types": cards[str(nodes[feed["node"]]["module"])].ports[feed["port"]]["types"]}
        for feed in feeds
        if feed["node"] in ordered and feed["port"] in ordered[feed["node"]]["inputs"]
    ]
    if not used:
        raise UserError(
            f"Nothing of the pipeline takes what a request brings: it would always answer the same. {_AGAIN}"
        )
    for output in outputs:
        answered = ordered.get(output["node"])
        card = cards[answered["module"]] if answered else None
        if card is None or "DataFrameDirectory" not in (card.ports.get(output["port"]) or {}).get("types", ()):
            raise UserError(
                f"'{output['node']}' gives no table as '{output['port']}'; a table is what is answered. {_AGAIN}"
            )
    return {"version": 1, "nodes": list(ordered.values()), "kept": kept, "feeds": used, "outputs": outputs}


def _card(key: str, node: dict[str, Any], cards: dict[str, Card]) -> Card:
    name = step_name(key, node)
    if node.get("kind") != NodeKind.MODULE:
        raise UserError(f"'{name}' is a {node.get('kind')!s:.40}: an endpoint is made of built-in modules only.")
    card = card_of(node, cards)
    if card is None:
        raise UserError(unknown_module(node.get("module"), cards, node.get("version")))
    if card.source != BUILT_IN:
        raise UserError(
            f"'{name}' is a module of your own ('{card.name}'): an endpoint is made of built-in modules only. Take it out, or serve "
            "the trained model with a script of your own (docs/serving.md)."
        )
    return card


def _values(key: str, node: dict[str, Any], card: Card) -> dict[str, Any]:
    from rookery_vision.errors import ModuleError

    given = {name: value for name, value in (node.get("parameters") or {}).items() if value is not None}
    name = step_name(key, node)
    try:
        odd = [each for each in given if each not in card.parameters]
        if odd:
            raise UserError(f"'{name}' has no parameter '{odd[0]}'. It has: {', '.join(card.parameters) or 'none'}.")
        missing = [p.label for each, p in card.parameters.items() if p.is_required and each not in given]
        if missing:
            raise UserError(f"Parameter '{missing[0]}' of '{name}' is not set. Set it.")
        return {each: card.parameters[each].check(value) for each, value in given.items()}
    except ModuleError as error:
        raise UserError(f"'{name}': {error}") from None


def _named(graph: dict[str, Any], what: str, nodes: dict[str, dict[str, Any]]) -> list[dict[str, str]]:
    """What `inference` says of ends that are still in the graph."""
    found = []
    for each in graph["inference"].get(what) or ():
        if isinstance(each, dict) and each.get("node") in nodes and isinstance(each.get("port"), str):
            found.append({"node": each["node"], "port": each["port"], "name": str(each.get("name") or what)})
    return found


def _one_environment(graph: dict[str, Any], plan: dict[str, Any], cards: dict[str, Card]) -> Any:
    """All modules of a service run in one process, so in one environment."""
    parameters, nodes = parameter_values(graph), node_map(graph)
    common = substitute(graph.get("environment"), parameters)
    wanted: list[Any] = []
    for each in plan["nodes"]:
        own = (nodes[each["id"]].get("run_settings") or {}).get("environment")
        asked = substitute(own, parameters) or cards[each["module"]].environment or common
        if asked not in wanted:
            wanted.append(asked)
    if len(wanted) > 1:
        raise UserError("Its modules have several environments; those of an endpoint run in one. Give them the same.")
    return wanted[0] if wanted else common


def _with_values(declared: Any, values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {**about, "default": values[name]} if name in values and isinstance(about, dict) else about
        for name, about in (declared or {}).items()
    }


def _script() -> bytes:
    found = importlib.util.find_spec("rookery_vision")  # its file is read, not imported: the keeper needs none of it
    if found is None or not found.submodule_search_locations:
        raise UserError(
            "The modules are not installed beside the keeper. Install `rookery[vision]` or `rookery[tabular]`."
        )
    with open(os.path.join(found.submodule_search_locations[0], *_ENTRY), "rb") as f:
        return f.read()


def _stored(record: Record, path: str, data: bytes) -> dict[str, Any]:
    return _entry(path, *record.content.put(io.BytesIO(data)))


def _entry(path: str, sha256: str, size: int) -> dict[str, Any]:
    return {"path": path, "sha256": sha256, "size": size, "mode": 0o644, "link": None}
