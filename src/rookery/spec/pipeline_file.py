"""What only a graph's file can say: on which line a node is, and which keys are written twice. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from rookery.spec.pipeline import Problem

__all__ = ["node_lines", "written_twice"]


def node_lines(text: str) -> dict[str, int]:
    """{id: the line that it begins on}; empty where the text is no YAML."""
    nodes = _value(_compose(text), "nodes")
    return {key.value: key.start_mark.line + 1 for key, _ in _pairs(nodes)}


def written_twice(text: str) -> list[Problem]:
    """Keys that stand twice in one place: a reader takes the last, and the first is lost without a word."""
    return list(_twice(_compose(text), ()))


def _twice(at: Any, path: tuple[str, ...]) -> Iterator[Problem]:
    lines: dict[tuple[str, str], list[int]] = {}
    for key, _ in _pairs(at):
        lines.setdefault((key.tag, key.value), []).append(key.start_mark.line + 1)
    for (_, name), found in lines.items():
        if len(found) > 1:
            node = path[1] if path[:1] == ("nodes",) and len(path) > 1 else name if path == ("nodes",) else None
            where = f"below `{'.'.join(path)}`" if path else "at the top"
            words = f"'{name:.80}' is written {len(found)} times {where}: lines {', '.join(map(str, found))}."
            yield Problem("duplicate", f"{words} Only the last would count. Give each a name of its own.", node, name)
    for key, value in _pairs(at):
        yield from _twice(value, (*path, key.value))
    if isinstance(getattr(at, "value", None), list) and not _pairs(at):
        for each in at.value:
            yield from _twice(each, path)


def _compose(text: str) -> Any:
    import yaml

    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return None


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    """(key, value) of a mapping whose keys are plain."""
    if getattr(node, "id", "") != "mapping":
        return []
    return [(key, value) for key, value in node.value if getattr(key, "id", "") == "scalar"]


def _value(node: Any, name: str) -> Optional[Any]:
    return next((value for key, value in _pairs(node) if key.value == name), None)
