"""Script nodes of a file: their folders are sent to the keeper, and the graph names what was sent."""

from __future__ import annotations

import copy
import os
from typing import Any

from rookery.errors import UserError
from rookery.sdk.snapshots import snapshot_folder
from rookery.spec.pipeline import NodeKind, node_map

__all__ = ["send_sources"]


def send_sources(client: Any, graph: dict[str, Any], folder: str = ".") -> dict[str, Any]:
    """The graph with the snapshot of every `source_directory`, which is relative to `folder`. Others stay as they are."""
    made, sent = copy.deepcopy(graph), {}
    for key, node in node_map(made).items():
        given = node.get("source_directory")
        if node.get("kind") not in (NodeKind.SCRIPT, NodeKind.TUNE) or not given:
            continue
        path = os.path.abspath(os.path.join(folder, str(given)))
        if not os.path.isdir(path):
            raise UserError(f"source_directory '{given}' of '{key}' is no folder: {path}.")
        if path not in sent:
            sent[path] = snapshot_folder(client, path).id
        if not isinstance(node.get("run"), dict):
            raise UserError(f"'{key}' has no `run`: what is started in '{given}' (script and arguments, or command).")
        node["run"]["snapshot_id"] = sent[path]
    return made
