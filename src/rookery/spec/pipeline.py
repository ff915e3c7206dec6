"""The graph of a pipeline: plain JSON data, and the few functions that read it. Unknown keys anywhere are kept as they are.

`{"version": 1, "name", "nodes": {id: node}, "after": [[first, then]], "parameters": {name: {"type", "default"}}, …}`; a node is of
a kind (module, script, tune, data, model) and names where each of its inputs comes from: `{"node": id, "port": name}`.
docs/inside/pipeline.md has all of it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from rookery.errors import UserError

__all__ = [
    "DATA_PORT",
    "GRAPH_VERSION",
    "MODEL_PORT",
    "PARAMETER_TYPES",
    "NodeKind",
    "Problem",
    "Source",
    "dependencies",
    "find_cycle",
    "fits",
    "in_order",
    "is_parameter",
    "new_graph",
    "node_map",
    "parameter_values",
    "sources_of",
    "step_name",
    "substitute",
]

GRAPH_VERSION = 1
DATA_PORT, MODEL_PORT = "data", "model"
PARAMETER_TYPES = ("number", "integer", "string", "boolean", "data")
ANY_TYPES = frozenset(["AnyDirectory", "AnyFile", "Any"])


class NodeKind:
    """What a node is. Others are placeholders: kept, shown, and a problem."""

    MODULE = "module"  # a card of the palette
    SCRIPT = "script"  # what a submitted run's body says
    TUNE = "tune"  # a search for hyperparameters
    DATA = "data"  # a registered data set
    MODEL = "model"  # a registered model
    STEPS = (MODULE, SCRIPT, TUNE)  # those that are run
    ALL = (MODULE, SCRIPT, TUNE, DATA, MODEL)


@dataclass(frozen=True)
class Problem:
    """One thing that keeps a graph from being run. `field` is the parameter, port or setting of the node."""

    code: str
    message: str
    node: Optional[str] = None
    field: Optional[str] = None

    def plain(self) -> dict[str, Any]:
        return {"node": self.node, "field": self.field, "code": self.code, "message": self.message}


@dataclass(frozen=True)
class Source:
    """Where an input comes from."""

    node: str
    port: str


def new_graph(name: str = "pipeline") -> dict[str, Any]:
    """A graph without nodes."""
    return {
        "version": GRAPH_VERSION,
        "name": name,
        "description": "",
        "default_compute": None,
        "default_datastore": None,
        "environment": None,
        "parameters": {},
        "nodes": {},
        "after": [],
        "layout": {},
        "groups": [],
        "notes": [],
    }


def node_map(graph: Any) -> dict[str, dict[str, Any]]:
    """The nodes that are objects; what else stands there is the validator's to tell."""
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    if not isinstance(nodes, dict):
        return {}
    return {str(key): node for key, node in nodes.items() if isinstance(node, dict)}


def sources_of(node: dict[str, Any]) -> dict[str, Source]:
    """{port: where it comes from}, of those that say so in the right form."""
    given = node.get("inputs")
    found = {}
    for port, source in given.items() if isinstance(given, dict) else ():
        if isinstance(source, dict) and isinstance(source.get("node"), str) and isinstance(source.get("port"), str):
            found[str(port)] = Source(source["node"], source["port"])
    return found


def dependencies(graph: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """{node: those that must be over before it}, by data and by order alone. Unknown nodes are left out."""
    nodes = node_map(graph)
    before: dict[str, dict[str, None]] = {key: {} for key in nodes}
    for key, node in nodes.items():
        for source in sources_of(node).values():
            if source.node in nodes:
                before[key][source.node] = None
    for pair in graph.get("after") or ():
        if isinstance(pair, (list, tuple)) and len(pair) == 2 and pair[0] in nodes and pair[1] in nodes:
            before[pair[1]][pair[0]] = None
    return {key: tuple(found) for key, found in before.items()}


def in_order(graph: dict[str, Any]) -> list[str]:
    """All nodes, each after those it depends on, otherwise as they stand in the graph. Those of a cycle are left out."""
    before = dependencies(graph)
    after: dict[str, list[str]] = {key: [] for key in before}
    left = {}
    for key, needed in before.items():
        left[key] = len(needed)
        for each in needed:
            after[each].append(key)
    ready = [key for key, count in left.items() if count == 0]
    ordered = []
    for key in ready:  # grows while it is walked
        ordered.append(key)
        for following in after[key]:
            left[following] -= 1
            if left[following] == 0:
                ready.append(following)
    return ordered


def find_cycle(graph: dict[str, Any]) -> list[str]:
    """The nodes of one cycle in their order, the first again at the end; empty: there is none."""
    before = dependencies(graph)
    left = set(before) - set(in_order(graph))
    # What is left has a cycle or comes after one; whoever has nobody before it among them is not in it.
    for start in sorted(left, key=list(before).index):
        path, seen, at = [start], {start}, start
        while True:
            following = next((each for each in before[at] if each in left), None)
            if following is None:
                break
            if following in seen:
                loop = path[path.index(following) :]
                return [following, *reversed(loop)]
            path.append(following)
            seen.add(following)
            at = following
    return []


def fits(given: Iterator[str] | tuple[str, ...] | list[str], wanted: tuple[str, ...] | list[str]) -> bool:
    """Whether an output of these types may go into an input of those. None named: anything."""
    have, want = set(given), set(wanted)
    return not have or not want or bool(have & want) or bool(ANY_TYPES & (have | want))


def is_parameter(value: Any) -> bool:
    """Whether a value stands for a parameter of the pipeline."""
    return isinstance(value, dict) and isinstance(value.get("pipeline_parameter"), str)


def parameter_values(graph: dict[str, Any], given: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    """What every parameter of the pipeline comes to: what was given at submit, else its default.

    Raises:
        UserError: a value for a parameter that the pipeline does not have, or of another type.
    """
    declared = graph.get("parameters") or {}
    unknown = [name for name in given or {} if name not in declared]
    if unknown:
        raise UserError(
            f"The pipeline has no parameter '{unknown[0]}'. It has: {', '.join(declared) or 'none'}. "
            "Leave it out, or add it to the pipeline."
        )
    values = {}
    for name, about in declared.items():
        value = (given or {}).get(name, about.get("default") if isinstance(about, dict) else about)
        values[name] = check_parameter(
            name, about.get("type", "string") if isinstance(about, dict) else "string", value
        )
    return values


def check_parameter(name: str, kind: str, value: Any) -> Any:
    """The value as its type; text is read, because it may come from a command line. None stays: it has none."""
    if value is None or kind not in PARAMETER_TYPES:
        return value
    try:
        if kind == "boolean":
            return _boolean(value)
        if kind == "integer":
            if isinstance(value, bool) or float(value) != int(float(value)):
                raise ValueError(value)
            return int(value) if not isinstance(value, str) else int(value.strip())
        if kind == "number":
            if isinstance(value, bool):
                raise ValueError(value)
            return value if isinstance(value, (int, float)) else _number(str(value).strip())
        if kind == "string":
            return value if isinstance(value, str) else _text(value)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"Parameter '{name}' of the pipeline is {value!r:.80}. Allowed: {_NOUNS[kind]}.") from None
    return value


_NOUNS = {"boolean": "true or false", "integer": "a whole number", "number": "a number", "string": "a text"}


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    text = str(value).strip().lower()
    if text not in words:
        raise ValueError(value)
    return words[text]


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        raise ValueError(value)
    return str(value)


def substitute(value: Any, parameters: dict[str, Any]) -> Any:
    """The same data, with what stands for parameters of the pipeline replaced by their values."""
    if is_parameter(value):
        return copy.deepcopy(parameters.get(value["pipeline_parameter"]))
    if isinstance(value, dict):
        return {key: substitute(each, parameters) for key, each in value.items()}
    if isinstance(value, list):
        return [substitute(each, parameters) for each in value]
    return value


def step_name(key: str, node: dict[str, Any]) -> str:
    """What people call a node: its title, else its id."""
    return str(node.get("title") or key)
