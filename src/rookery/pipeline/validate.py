"""All that is wrong with a graph, at once, in sentences. Pure: what it must know of the workspace it is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.pipeline.catalog import Card, card_of
from rookery.pipeline.validate_modules import card_arguments, card_parameters, no_card, run_settings
from rookery.spec.pipeline import (
    DATA_PORT,
    GRAPH_VERSION,
    MODEL_PORT,
    PARAMETER_TYPES,
    NodeKind,
    Problem,
    check_parameter,
    find_cycle,
    fits,
    is_parameter,
    node_map,
    step_name,
    substitute,
)
from rookery.spec.pipeline_keys import odd_keys

__all__ = ["Known", "output_types", "validate"]

MAX_NODES = 2000
_VARIABLE = re.compile(r"\$\{?ROOKERY_(INPUT|OUTPUT)_([A-Za-z_][A-Za-z0-9_]*)")
_ANY = ["AnyDirectory", "AnyFile"]


@dataclass
class Known:
    """What a graph may name. `has_dataset(name, version)` and `has_model` answer why not, or an empty text."""

    cards: dict[str, Card]
    computes: dict[str, int] = field(default_factory=dict)  # name → most nodes; 0: not known
    has_dataset: Callable[[str, Any], str] = lambda name, version: ""
    has_model: Callable[[str, Any], str] = lambda name, version: ""
    check_run: Callable[[dict[str, Any]], list[tuple[str, str]]] = (
        lambda node: []
    )  # (field, what is wrong) of a run's body


def validate(graph: Any, known: Known, parameters: Optional[dict[str, Any]] = None) -> list[Problem]:
    """Every problem, in the order of nodes; none: it can be run. `parameters` are what was given at submit."""
    if not isinstance(graph, dict):
        return [Problem("shape", f"A graph is a JSON object, not {type(graph).__name__}.")]
    found = list(_shape(graph))
    nodes = node_map(graph)
    found += _odd_keys(graph, nodes)
    found += _parameters(graph, parameters or {})
    values = _values(graph, parameters or {})
    found += _default_compute(graph, known, values)
    for key, node in nodes.items():
        found += _node(key, node, nodes, graph, known, values)
    found += _order(graph, nodes)
    if nodes and not any(node.get("kind") in NodeKind.STEPS for node in nodes.values()):
        found.append(Problem("empty", "The pipeline has no step: add a module, and connect it."))
    if not nodes:
        found.append(Problem("empty", "The pipeline has no nodes. Add a module from the palette."))
    return found


def output_types(node: dict[str, Any], cards: dict[str, Card]) -> Optional[dict[str, list[str]]]:
    """{port: types} that a node gives; None where that is not known (a placeholder)."""
    kind = node.get("kind")
    if kind == NodeKind.DATA:
        return {DATA_PORT: _ANY}
    if kind == NodeKind.MODEL:
        return {MODEL_PORT: ["ModelDirectory"]}
    if kind == NodeKind.MODULE:
        card = card_of(node, cards)
        return None if card is None else {port["name"]: port["types"] for port in card.outputs}
    if kind in (NodeKind.SCRIPT, NodeKind.TUNE):
        outputs = node.get("outputs")
        return {str(port): _types(about) for port, about in outputs.items()} if isinstance(outputs, dict) else {}
    return None


def _types(about: Any) -> list[str]:
    given = about.get("types") if isinstance(about, dict) else None
    return list(given) if isinstance(given, list) and given else _ANY


def _shape(graph: dict[str, Any]) -> Iterable[Problem]:
    if graph.get("version", GRAPH_VERSION) != GRAPH_VERSION:
        yield Problem("version", f"The graph has version {graph['version']!r:.40}; this Rookery reads {GRAPH_VERSION}.")
    nodes = graph.get("nodes", {})
    if not isinstance(nodes, dict):
        yield Problem("shape", f"`nodes` is {type(nodes).__name__}. It is an object: {{id: node}}.")
        return
    if len(nodes) > MAX_NODES:
        yield Problem("size", f"The pipeline has {len(nodes)} nodes; {MAX_NODES} are allowed.")
    for key, node in nodes.items():
        if not isinstance(node, dict):
            yield Problem("shape", f"Node '{key:.80}' is {type(node).__name__}. It is an object with a `kind`.", key)
        if len(key) > 255:
            yield Problem("shape", f"The id '{key:.40}…' of a node has {len(key)} characters; 255 are allowed.", key)


def _odd_keys(graph: dict[str, Any], nodes: dict[str, dict[str, Any]]) -> Iterable[Problem]:
    """Keys that look like a slip of the pen. Other unknown ones are kept, and harm nothing."""
    for odd in odd_keys(graph):
        if odd.near:
            what = "The pipeline" if odd.node is None else f"'{step_name(odd.node, nodes[odd.node])}'"
            message = f"{what} has a key '{odd.key:.80}', which nothing reads. Did you mean '{odd.near}'?"
            yield Problem("unknown_key", message, odd.node, odd.key)


def _default_compute(graph: dict[str, Any], known: Known, values: dict[str, Any]) -> Iterable[Problem]:
    name = substitute(graph.get("default_compute"), values)
    if name and known.computes and name not in known.computes:
        message = f"default_compute: there is no compute target '{name!s:.80}'. Known: {', '.join(known.computes)}."
        yield Problem("unknown_compute", message, None, "default_compute")


def _parameters(graph: dict[str, Any], given: dict[str, Any]) -> Iterable[Problem]:
    declared = graph.get("parameters") or {}
    if not isinstance(declared, dict):
        yield Problem("shape", "`parameters` of the pipeline is an object: {name: {type, default}}.")
        return
    for name in given:
        if name not in declared:
            known = ", ".join(declared) or "none"
            yield Problem("unknown_pipeline_parameter", f"The pipeline has no parameter '{name:.80}'. It has: {known}.")
    for name, about in declared.items():
        if not isinstance(about, dict):
            message = f"Parameter '{name}' of the pipeline is {about!r:.40}. Give {{type, default}}, such as {{type: integer, default: 5}}."
            yield Problem("bad_pipeline_parameter", message)
            continue
        kind = about.get("type", "string")
        if kind not in PARAMETER_TYPES:
            known = ", ".join(PARAMETER_TYPES)
            yield Problem("bad_pipeline_parameter", f"Parameter '{name}' is of type {kind!r:.40}. Known: {known}.")
            continue
        try:
            check_parameter(name, kind, given.get(name, about.get("default")))
        except RookeryError as error:
            yield Problem("bad_pipeline_parameter", error.message)


def _values(graph: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """What parameters come to, as far as that can be said."""
    declared, values = graph.get("parameters") or {}, {}
    for name, about in declared.items() if isinstance(declared, dict) else ():
        value = given.get(name, about.get("default") if isinstance(about, dict) else None)
        try:
            values[name] = (
                check_parameter(name, about.get("type", "string"), value) if isinstance(about, dict) else value
            )
        except RookeryError:
            values[name] = None
    return values


def _node(
    key: str,
    node: dict[str, Any],
    nodes: dict[str, dict[str, Any]],
    graph: dict[str, Any],
    known: Known,
    values: dict[str, Any],
) -> Iterable[Problem]:
    kind = node.get("kind")
    name = step_name(key, node)
    if kind not in NodeKind.ALL:
        known_kinds = ", ".join(NodeKind.ALL)
        yield Problem(
            "unknown_kind", f"'{name}' is of kind {kind!r:.60}, which is not known here. Known: {known_kinds}.", key
        )
        return
    if kind == NodeKind.DATA:
        yield from _data(key, name, node, known, values, graph)
        return
    if kind == NodeKind.MODEL:
        if not isinstance(node.get("model"), str) or not node["model"]:
            yield Problem("missing_parameter", f"'{name}' names no model. Choose a registered one.", key, "model")
        elif why := known.has_model(node["model"], node.get("version")):
            yield Problem("unknown_model", why, key, "model")
        return
    yield from _unknown_parameters(key, name, node, graph)
    if kind == NodeKind.MODULE:
        card = card_of(node, known.cards)
        if card is None:
            yield no_card(key, name, node, known.cards)
        else:
            if card.status == "Disabled":
                message = (
                    f"'{name}': module '{card.name}' (version {card.version}) is disabled. Enable it, or name another."
                )
                yield Problem("disabled_module", message, key, "module")
            yield from card_parameters(key, node, card, values)
            yield from card_arguments(key, name, node, card, values)
        yield from _inputs(key, name, node, nodes, known, card)
        yield from run_settings(key, name, node, graph, known.computes, values, card)
    else:
        yield from _body(key, name, node, known, values)
        yield from _inputs(key, name, node, nodes, known, None)


def _data(
    key: str, name: str, node: dict[str, Any], known: Known, values: dict[str, Any], graph: dict[str, Any]
) -> Iterable[Problem]:
    yield from _unknown_parameters(key, name, node, graph)
    given = substitute(node.get("dataset"), values)
    version = substitute(node.get("version"), values)
    if any(isinstance(each, dict) and (each.get("definition_id") or each.get("definition")) for each in (node, given)):
        return
    if isinstance(given, dict):
        version, given = given.get("version", version), given.get("dataset") or given.get("name")
    if not isinstance(given, str) or not given:
        yield Problem("missing_parameter", f"'{name}' names no data set. Choose a registered one.", key, "dataset")
    elif why := known.has_dataset(given, version):
        yield Problem("unknown_dataset", why, key, "dataset")


def _unknown_parameters(key: str, name: str, value: Any, graph: dict[str, Any]) -> Iterable[Problem]:
    """Places that stand for a parameter which the pipeline does not have."""
    declared = graph.get("parameters") or {}
    for field_name, place in _places(value):
        if place not in declared:
            known = ", ".join(declared) or "none"
            message = (
                f"'{name}' refers to the pipeline's parameter '{place:.80}', which it does not have. It has: {known}."
            )
            yield Problem("unknown_pipeline_parameter", message, key, field_name)


def _places(value: Any, name: Optional[str] = None) -> Iterable[tuple[Optional[str], str]]:
    if is_parameter(value):
        yield name, value["pipeline_parameter"]
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _places(each, str(key))
    elif isinstance(value, list):
        for each in value:
            yield from _places(each, name)


def _inputs(
    key: str,
    name: str,
    node: dict[str, Any],
    nodes: dict[str, dict[str, Any]],
    known: Known,
    card: Optional[Card],
) -> Iterable[Problem]:
    given = node.get("inputs") or {}
    if not isinstance(given, dict):
        yield Problem("shape", "`inputs` of a node is an object: {port: {node, port}}.", key, "inputs")
        return
    wanted = {port["name"]: port for port in card.inputs} if card else {}
    for port, source in given.items():
        label = wanted[port]["label"] if port in wanted else port
        if card and port not in wanted:
            has = ", ".join(wanted) or "none"
            yield Problem("unknown_input", f"{card.title} has no input '{port!s:.80}'. It has: {has}.", key, str(port))
            continue
        if source is None:
            continue
        if not isinstance(source, dict) or not isinstance(source.get("node"), str) or not source.get("port"):
            message = f"Input '{label}' of '{name}' is {source!r:.60}. Give {{node, port}}, or node.port in a file."
            yield Problem("shape", message, key, str(port))
            continue
        if source["node"] not in nodes:
            message = f"Input '{label}' of '{name}' comes from '{source['node']:.80}', which is not in the pipeline."
            yield Problem("unknown_source", message, key, str(port))
            continue
        yield from _connection(key, str(port), name, label, source, nodes, known, wanted.get(port))
    for port, about in wanted.items():
        if not about["optional"] and given.get(port) is None:
            types = " or ".join(about["types"])
            message = f"Input '{about['label']}' of '{name}' is not connected. Connect an output of type {types}."
            yield Problem("missing_input", message, key, port)


def _connection(
    key: str,
    port: str,
    name: str,
    label: str,
    source: dict[str, Any],
    nodes: dict[str, dict[str, Any]],
    known: Known,
    wanted: Optional[dict[str, Any]],
) -> Iterable[Problem]:
    other = nodes[source["node"]]
    gives = output_types(other, known.cards)
    if gives is None:
        return  # a placeholder, which is a problem of its own
    from_name = step_name(source["node"], other)
    if source["port"] not in gives:
        has = ", ".join(gives) or "none"
        message = f"Input '{label}' of '{name}': '{from_name}' has no output '{source['port']!s:.80}'. It has: {has}."
        yield Problem("unknown_output", message, key, port)
    elif wanted is not None and not fits(gives[source["port"]], wanted["types"]):
        message = (
            f"Input '{label}' of '{name}' takes {' or '.join(wanted['types'])}; output '{source['port']}' of "
            f"'{from_name}' gives {' or '.join(gives[source['port']])}."
        )
        yield Problem("wrong_type", message, key, port)


def _body(key: str, name: str, node: dict[str, Any], known: Known, values: dict[str, Any]) -> Iterable[Problem]:
    run = node.get("run")
    if not isinstance(run, dict):
        yield Problem(
            "shape", f"'{name}' has no `run`: what a submitted run's body says (script or command …).", key, "run"
        )
        return
    run = substitute(run, values)
    if run.get("compute") and known.computes and run["compute"] not in known.computes:
        message = f"'{name}': there is no compute target '{run['compute']!s:.80}'. Known: {', '.join(known.computes)}."
        yield Problem("unknown_compute", message, key, "compute")
    yield from _ports_used(key, name, node, run)
    for field_name, message in known.check_run({**node, "run": run}):
        if field_name != "compute" or isinstance(run.get("compute"), str):  # else it was told above
            yield Problem("bad_run", f"'{name}': {message}", key, field_name)


def _ports_used(key: str, name: str, node: dict[str, Any], run: dict[str, Any]) -> Iterable[Problem]:
    """Variables of inputs and outputs in arguments or the command: each is one that the node has."""
    words = [run.get("command"), *(run["arguments"] if isinstance(run.get("arguments"), list) else ())]
    used = {found for word in words if isinstance(word, str) for found in _VARIABLE.findall(word)}
    for what, port in sorted(used):
        plural = f"{what.lower()}s"
        given, own = node.get(plural), run.get(plural)
        has = [str(each) for each in given] if isinstance(given, dict) else []
        has += [str(each.get("name")) for each in own if isinstance(each, dict)] if isinstance(own, list) else []
        if port not in has:
            message = f"'{name}' uses $ROOKERY_{what}_{port}, but has no {what.lower()} '{port}'. It has: {', '.join(has) or 'none'}."
            yield Problem(f"missing_{what.lower()}", message, key, port)


def _order(graph: dict[str, Any], nodes: dict[str, dict[str, Any]]) -> Iterable[Problem]:
    for pair in graph.get("after") or ():
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            yield Problem("shape", f"`after` holds {pair!r:.60}. Give pairs: [first, then].")
            continue
        for each in pair:
            if each not in nodes:
                yield Problem("unknown_source", f"`after` names '{each!s:.80}', which is not in the pipeline.")
    left = dict(graph)
    while loop := find_cycle(left):
        names = " → ".join(f"'{step_name(key, nodes[key])}'" for key in loop)
        yield Problem("cycle", f"The steps wait for each other: {names}. Take one of these connections away.", loop[0])
        left["nodes"] = {key: node for key, node in node_map(left).items() if key not in loop}  # there may be others
