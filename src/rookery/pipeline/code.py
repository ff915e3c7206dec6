"""A graph as a Python program that builds the same graph and submits it."""

from __future__ import annotations

import keyword
import math
import pprint
import re
from typing import Any

from rookery.spec.pipeline import in_order, new_graph, node_map

__all__ = ["graph_to_python"]

_HEAD = '''"""{title}: made from a graph. `build().graph` is that graph again."""

{more}from rookery.sdk import PipelineGraph, Workspace


def build() -> PipelineGraph:
'''
_TAIL = """

if __name__ == "__main__":
    ws = Workspace.from_config()
    run = build().submit(ws, {experiment!r})
    run.wait_for_completion()
"""


def graph_to_python(graph: dict[str, Any]) -> str:
    """The program's text."""
    name = str(graph.get("name") or "pipeline")
    lines = [f"g = PipelineGraph({name!r})"]
    plain = new_graph(name)
    # Order is part of a graph: nodes and keys are given as they stand.
    for key, value in graph.items():
        if key not in ("version", "name", "parameters", "nodes", "after") and value != plain.get(key, _Nothing):
            lines += _call("g.set", [], {key: value})
    for parameter, about in (graph.get("parameters") or {}).items():
        if isinstance(about, dict) and list(about) == ["type", "default"]:
            lines.append(f"g.parameter({parameter!r}, {about['type']!r}, {about['default']!r})")
        else:
            lines += _call("g.parameter_as", [repr(parameter)], {"about": about})
    names = _variables(graph)
    for key, node in node_map(graph).items():
        lines += _node(key, node, names)
    for pair in graph.get("after") or ():
        lines.append(
            f"g.after({pair[0]!r}, {pair[1]!r})"
            if isinstance(pair, list) and len(pair) == 2
            else f"g.set(after={pair!r})"
        )
    lines.append("return g")
    experiment = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_") or "pipeline"
    title = re.sub(r"[^\w .,()+-]", " ", name)
    more = "from math import inf, nan  # noqa: F401\n\n" if _has_odd_numbers(graph) else ""
    return (
        _HEAD.format(title=title, more=more)
        + "".join(f"    {line}\n" for line in lines)
        + _TAIL.format(experiment=experiment)
    )


def _has_odd_numbers(value: Any) -> bool:
    """Numbers that Python writes as names."""
    if isinstance(value, float):
        return not math.isfinite(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_has_odd_numbers(each) for each in inner)


class _Nothing:
    """No value is equal to it."""


def _node(key: str, node: dict[str, Any], names: dict[str, str]) -> list[str]:
    """Of the kinds that have a method of their own, with the sources of inputs by variable where they come before."""
    return _call(f"{names[key]} = g.node", [repr(key)], {str(name): value for name, value in node.items()})


def _variables(graph: dict[str, Any]) -> dict[str, str]:
    """A name of Python's for every node."""
    found: dict[str, str] = {}
    for key in [*in_order(graph), *node_map(graph)]:
        if key in found:
            continue
        name = re.sub(r"\W", "_", key)
        if not name.isidentifier() or keyword.iskeyword(name) or name in ("g", "ws", "run", "build"):
            name = f"node_{name}"
        while name in found.values():
            name += "_"
        found[key] = name
    return found


def _is_keyword_argument(name: str) -> bool:
    """Python takes some letters for others in names, so only plain ones may stand for a key."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def _call(what: str, places: list[str], named: dict[str, Any]) -> list[str]:
    """One call, an argument a line; what cannot be a keyword goes in as a dictionary."""
    plain = {name: value for name, value in named.items() if _is_keyword_argument(name)}
    odd = {name: value for name, value in named.items() if name not in plain}
    lines = [f"{what}(", *(f"    {place}," for place in places)]
    for name, value in plain.items():
        text = pprint.pformat(value, width=100, sort_dicts=False, compact=True).split("\n")
        lines.append(f"    {name}={text[0]}" + ("," if len(text) == 1 else ""))
        lines += [f"    {' ' * (len(name) + 1)}{line}" for line in text[1:-1]]
        if len(text) > 1:
            lines.append(f"    {' ' * (len(name) + 1)}{text[-1]},")
    if odd:
        lines.append(f"    **{odd!r},")
    return [*lines, ")"]
