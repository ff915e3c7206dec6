"""From a training pipeline that has completed, the graph that only scores: trained models and transformations become data, what
trains, splits and evaluates goes. By rules, best effort, as the original did it."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

from rookery.errors import ConflictError, UserError
from rookery.pipeline.catalog import BUILT_IN, Catalog, card_of
from rookery.pipeline.validate import output_types
from rookery.pipeline.view import show_run
from rookery.record import Record
from rookery.spec.pipeline import DATA_PORT, NodeKind, dependencies, node_map, sources_of
from rookery.spec.status import RunStatus

__all__ = ["inference_graph"]


def inference_graph(record: Record, run_id: str, kind: str) -> dict[str, Any]:
    """The graph of a real-time or a batch inference pipeline.

    Raises:
        ConflictError: the run has not completed.
        UserError: it has nothing that scores.
    """
    shown = show_run(record, run_id)
    if shown["status"] != RunStatus.COMPLETED:
        raise ConflictError(
            f"Run '{run_id}' is {shown['status']}. An inference pipeline is made from one that has completed."
        )
    graph = copy.deepcopy(shown["graph"])
    for name, value in shown["parameters"].items():  # what was asked of the training is asked of what it has made
        if isinstance((graph.get("parameters") or {}).get(name), dict):
            graph["parameters"][name]["default"] = value
    nodes, cards = node_map(graph), Catalog(record).cards()
    for key in list(nodes):
        node = nodes[key]
        if node.get("kind") != NodeKind.MODULE:
            continue
        card = card_of(node, cards)
        if card is None:
            continue  # a module that is gone: nothing is known of it
        given = output_types(node, cards) or {}
        types = {each for port in given.values() for each in port}
        if "ModelDirectory" in types and "Training" in str(card.plain["category"]):
            nodes[key] = _kept(shown, key, "MD", "ModelDirectory")
        elif types == {"TransformationDirectory"}:
            nodes[key] = _kept(shown, key, "TD", "TransformationDirectory")
        elif "TransformationDirectory" in types and card.source == BUILT_IN:
            _apply_what_was_learned(graph, nodes, shown, key, given)
        elif str(node["module"]).startswith("split"):
            _bypass(nodes, key)
        elif node["module"] == "apply_image_transformation":
            node.setdefault("parameters", {})["mode"] = "For inference"
    for node in nodes.values():  # what is kept has one port
        for source in (node.get("inputs") or {}).values():
            if isinstance(source, dict) and nodes.get(str(source.get("node")), {}).get("kept"):
                source["port"] = DATA_PORT
    scores = [key for key, node in nodes.items() if str(node.get("module", "")).startswith("score")]
    if not scores:
        raise UserError(f"The pipeline of run '{run_id}' has no module that scores, so nothing can be asked of it.")
    graph["nodes"] = nodes
    scores = _without_twins(nodes, scores)
    wanted = _ancestors(graph, scores)
    graph["nodes"] = {key: node for key, node in nodes.items() if key in wanted}
    graph["after"] = [pair for pair in graph.get("after") or () if all(each in wanted for each in pair)]
    for part in ("layout",):
        graph[part] = {key: place for key, place in (graph.get(part) or {}).items() if key in wanted}
    graph["name"] = f"{graph.get('name') or 'pipeline'} ({kind} inference)"
    _open_ends(graph, scores, kind)
    graph["inference"] = {**graph.get("inference", {}), "kind": kind, "training_run": run_id}
    return graph


def _kept(shown: dict[str, Any], key: str, prefix: str, kind: str) -> dict[str, Any]:
    """What a step has made of this type, as data; `kept` says of what."""
    outputs = shown["steps"][key]["outputs"]
    port = next((port for port, made in outputs.items() if kind in made["types"]), None)
    if port is None:
        raise ConflictError(f"Step '{key}' has kept nothing that could be used.")
    return {
        "kind": NodeKind.DATA,
        "title": f"{prefix}-{shown['steps'][key]['name']}",
        "definition_id": outputs[port]["definition_id"],
        "kept": {"run_id": shown["steps"][key]["run_id"], "port": port, "types": outputs[port]["types"]},
    }


def _apply_what_was_learned(
    graph: dict[str, Any],
    nodes: dict[str, dict[str, Any]],
    shown: dict[str, Any],
    key: str,
    given: dict[str, list[str]],
) -> None:
    """A module that learns from a table and changes it (Clean Missing Data) becomes Apply Transformation of what it has learned:
    a service's rows are few, and must not be learned from."""
    learned = f"{key}_learned"
    while learned in nodes:
        learned += "_"
    nodes[learned] = _kept(shown, key, "TD", "TransformationDirectory")
    nodes[key] = {
        "kind": NodeKind.MODULE,
        "module": "apply_transformation",
        "title": f"Apply {shown['steps'][key]['name']}",
        "comment": "",
        "parameters": {},
        "inputs": {
            "transformation": {"node": learned, "port": DATA_PORT},
            "dataset": dict(nodes[key]["inputs"]["dataset"]),
        },
        "run_settings": nodes[key].get("run_settings") or {},
    }
    for node in nodes.values():
        for port, source in list((node.get("inputs") or {}).items()):
            if isinstance(source, dict) and source.get("node") == key:
                is_learned = "TransformationDirectory" in given.get(str(source.get("port")), [])
                place = (learned, DATA_PORT) if is_learned else (key, "transformed_dataset")
                node["inputs"][port] = {"node": place[0], "port": place[1]}
    layout = graph.get("layout") or {}
    if key in layout:
        layout[learned] = {"x": layout[key]["x"] - 240, "y": layout[key]["y"] - 100}


def _bypass(nodes: dict[str, dict[str, Any]], key: str) -> None:
    """Whoever took something from this node takes what this node took."""
    given = next(iter(sources_of(nodes[key]).values()), None)
    for node in nodes.values():
        for port, source in list((node.get("inputs") or {}).items()):
            if isinstance(source, dict) and source.get("node") == key and given is not None:
                node["inputs"][port] = {"node": given.node, "port": given.port}


def _ancestors(graph: dict[str, Any], keys: list[str]) -> set[str]:
    before, found, left = dependencies(graph), set(keys), list(keys)
    while left:
        for each in before[left.pop()]:
            if each not in found:
                found.add(each)
                left.append(each)
    return found


def _makes_data(node: dict[str, Any]) -> bool:
    """A module at whose place a service has what it was sent: it fetches or draws data of its own."""
    if node.get("kind") != NodeKind.MODULE:
        return False
    return node.get("module") == "import_data" or not sources_of(node)


def _without_twins(nodes: dict[str, dict[str, Any]], scores: list[str]) -> list[str]:
    """Those that say something of their own: without the split, what scored one part does the same as what scored the other."""

    seen: dict[str, str] = {}

    def look(key: str) -> str:
        if key not in seen:
            node = nodes[key]
            inputs = {
                port: (look(source.node), source.port)
                for port, source in sources_of(node).items()
                if source.node in nodes
            }
            does = [node.get("module"), node.get("version"), node.get("parameters") or {}, inputs]
            text = json.dumps(does, sort_keys=True, default=str) if node.get("kind") == NodeKind.MODULE else key
            seen[key] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return seen[key]

    found: dict[str, str] = {}
    for key in scores:
        found.setdefault(look(key), key)
    return list(found.values())


def _open_ends(graph: dict[str, Any], scores: list[str], kind: str) -> None:
    """Where data comes in and goes out: of a batch a parameter, of a service its input and output."""
    raw = [key for key, node in graph["nodes"].items() if node.get("kind") == NodeKind.DATA and not node.get("kept")]
    if kind == "batch":
        graph["parameters"] = dict(graph.get("parameters") or {})
        for key in raw:
            node = graph["nodes"][key]
            if isinstance(node.get("dataset"), str):
                name = key if len(raw) > 1 else "input_data"
                default = {"dataset": node["dataset"], "version": node.get("version")}
                graph["parameters"][name] = {"type": "data", "default": default}
                graph["nodes"][key] = {**node, "dataset": {"pipeline_parameter": name}, "version": None}
        return
    model = next(
        (s.node for s in sources_of(graph["nodes"][scores[0]]).values() if graph["nodes"][s.node].get("kept")), None
    )
    raw += [key for key, node in graph["nodes"].items() if _makes_data(node)]
    taken = [
        (key, port, source.node)
        for key, node in graph["nodes"].items()
        if key not in raw
        for port, source in sources_of(node).items()
        if source.node in raw
    ]
    places = list(dict.fromkeys(source for _, _, source in taken))
    inputs = [
        {"node": key, "port": port, "name": f"WebServiceInput{places.index(source) + 1}"} for key, port, source in taken
    ]
    graph["inference"] = {
        "model": None if model is None else graph["nodes"][model]["kept"],
        "web_service_inputs": inputs,
        "web_service_outputs": [
            {"node": score, "port": "scored_dataset", "name": f"WebServiceOutput{place}"}
            for place, score in enumerate(scores, 1)
        ],
    }
