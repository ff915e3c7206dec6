"""All that is wrong with a graph, at once, in sentences. Pure: what it must know of the workspace it is given."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.pipeline.catalog import Card, unknown_module
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

__all__ = ["Known", "output_types", "validate"]

MAX_NODES = 2000
_ANY = ["AnyDirectory", "AnyFile"]


@dataclass
class Known:
    """What a graph may name. `has_dataset(name, version)` and `has_model` answer why not, or an empty text."""

    cards: dict[str, Card]
    computes: dict[str, int] = field(default_factory=dict)  # name → most nodes; 0: not known
    has_dataset: Callable[[str, Any], str] = lambda name, version: ""
    has_model: Callable[[str, Any], str] = lambda name, version: ""
    check_run: Callable[[dict[str, Any]], None] = lambda run: None  # raises for what no run's body may say


def validate(graph: Any, known: Known, parameters: Optional[dict[str, Any]] = None) -> list[Problem]:
    """Every problem, in the order of nodes; none: it can be run. `parameters` are what was given at submit."""
    if not isinstance(graph, dict):
        return [Problem("shape", f"A graph is a JSON object, not {type(graph).__name__}.")]
    found = list(_shape(graph))
    nodes = node_map(graph)
    found += _parameters(graph, parameters or {})
    values = _values(graph, parameters or {})
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
        card = cards.get(str(node.get("module")))
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
        kind = about.get("type", "string") if isinstance(about, dict) else None
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
        card = known.cards.get(str(node.get("module")))
        if card is None:
            yield Problem("unknown_module", unknown_module(node.get("module"), known.cards), key, "module")
        else:
            yield from _card_parameters(key, node, card, values)
        yield from _inputs(key, name, node, nodes, known, card)
        yield from _run_settings(key, name, node, graph, known, values, card)
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


def _card_parameters(key: str, node: dict[str, Any], card: Card, values: dict[str, Any]) -> Iterable[Problem]:
    given = node.get("parameters") or {}
    if not isinstance(given, dict):
        yield Problem("shape", "`parameters` of a node is an object: {name: value}.", key, "parameters")
        return
    for name in given:
        if name not in card.parameters:
            near = difflib.get_close_matches(str(name), list(card.parameters), 1)
            hint = f"Did you mean '{near[0]}'?" if near else f"It has: {', '.join(card.parameters) or 'none'}."
            yield Problem("unknown_parameter", f"{card.title} has no parameter '{name!s:.80}'. {hint}", key, str(name))
    resolved = {name: substitute(value, values) for name, value in given.items()}
    for name, parameter in card.parameters.items():
        if name not in resolved:
            if parameter.is_required and _counts(parameter, card, resolved):
                allowed = f" Allowed: {', '.join(parameter.choices)}." if parameter.choices else ""
                message = f"Parameter '{parameter.label}' of {card.title} is missing.{allowed}"
                yield Problem("missing_parameter", message, key, name)
            continue
        try:
            parameter.check(resolved[name])
        except Exception as error:  # the documented errors of modules, whose base is no RookeryError
            code = "missing_parameter" if type(error).__name__ == "NullOrEmptyError" else "bad_parameter"
            yield Problem(code, str(error), key, name)


def _counts(parameter: Any, card: Card, given: dict[str, Any]) -> bool:
    """Whether a parameter that depends on another one counts with what is given."""
    if parameter.when is None:
        return True
    other, wanted = parameter.when
    default = card.parameters[other].default if other in card.parameters else None
    return bool(given.get(other, default) == wanted)


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


def _run_settings(
    key: str,
    name: str,
    node: dict[str, Any],
    graph: dict[str, Any],
    known: Known,
    values: dict[str, Any],
    card: Optional[Card],
) -> Iterable[Problem]:
    settings = substitute(node.get("run_settings") or {}, values)
    if not isinstance(settings, dict):
        yield Problem("shape", "`run_settings` of a node is an object.", key, "run_settings")
        return
    compute = settings.get("compute") or substitute(graph.get("default_compute"), values) or "local"
    field_name = "compute" if settings.get("compute") else "default_compute"
    if known.computes and compute not in known.computes:
        message = f"'{name}': there is no compute target '{compute!s:.80}'. Known: {', '.join(known.computes)}."
        yield Problem("unknown_compute", message, key, field_name)
    counts = {}
    for what in ("node_count", "process_count_per_node"):
        value = settings.get(what)
        counts[what] = 1 if value is None else value
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            yield Problem(
                "bad_run_settings", f"'{name}': {what} is {value!r:.40}. Give a whole number from 1.", key, what
            )
            return
    most = known.computes.get(compute, 0) if isinstance(compute, str) else 0
    if most and counts["node_count"] > most:
        message = f"'{name}' asks for {counts['node_count']} nodes; compute target '{compute}' has {most} at most."
        yield Problem("bad_run_settings", message, key, "node_count")
    if card and not card.distributed and counts["node_count"] * counts["process_count_per_node"] > 1:
        message = f"{card.title} runs as one process; node_count and process_count_per_node must be 1."
        yield Problem("bad_run_settings", message, key, "process_count_per_node")


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
    try:
        known.check_run({**node, "run": run})
    except RookeryError as error:
        yield Problem("bad_run", f"'{name}': {error.message}", key, "run")


def _order(graph: dict[str, Any], nodes: dict[str, dict[str, Any]]) -> Iterable[Problem]:
    for pair in graph.get("after") or ():
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            yield Problem("shape", f"`after` holds {pair!r:.60}. Give pairs: [first, then].")
            continue
        for each in pair:
            if each not in nodes:
                yield Problem("unknown_source", f"`after` names '{each!s:.80}', which is not in the pipeline.")
    loop = find_cycle(graph)
    if loop:
        names = " → ".join(f"'{step_name(key, nodes[key])}'" for key in loop)
        yield Problem("cycle", f"The steps wait for each other: {names}. Take one of these connections away.", loop[0])
