"""Which keys of a graph something reads. Others are kept, and told where they look like a slip of the pen."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from rookery.spec.pipeline import NodeKind, new_graph, node_map

__all__ = ["OddKey", "odd_keys"]

_SEEN = (
    "title",
    "comment",
    "description",
    "name",
    "layout",
    "groups",
    "notes",
)  # nothing is run in another way for these
_GRAPH = (*new_graph(), "inference")
_NODE = ("kind", "title", "comment", "description", "regenerate", "continue_on_failure", "step_type")
_SCRIPT = ("run", "inputs", "outputs", "source_directory", "hash_paths")
_KINDS = {
    NodeKind.MODULE: ("module", "version", "arguments", "parameters", "inputs", "outputs", "run_settings"),
    NodeKind.SCRIPT: _SCRIPT,
    NodeKind.TUNE: _SCRIPT,
    NodeKind.DATA: ("dataset", "version", "definition", "definition_id", "kept"),
    NodeKind.MODEL: ("model", "version"),
}
_SETTINGS = ("compute", "node_count", "process_count_per_node", "environment")


@dataclass(frozen=True)
class OddKey:
    """A key that nothing reads; `near` is the one that may be meant, or empty."""

    node: Optional[str]
    key: str
    near: str


def odd_keys(graph: dict[str, Any]) -> Iterator[OddKey]:
    """Of the graph, its nodes of known kinds, and their run_settings."""
    yield from _odd(None, graph, _GRAPH)
    for name, node in node_map(graph).items():
        kind = node.get("kind")
        if not isinstance(kind, str) or kind not in _KINDS:
            continue
        yield from _odd(name, node, (*_NODE, *_KINDS[kind]))
        settings = node.get("run_settings")
        if isinstance(settings, dict) and kind == NodeKind.MODULE:
            yield from _odd(name, settings, _SETTINGS)


def _odd(node: Optional[str], given: dict[str, Any], known: tuple[str, ...]) -> Iterator[OddKey]:
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(str(key), [each for each in known if each not in given], 1, 0.75)
            yield OddKey(node, str(key), near[0] if near and near[0] not in _SEEN else "")
