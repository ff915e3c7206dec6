"""Script nodes of a file: their folders are sent to the keeper, and the graph names what was sent."""

from __future__ import annotations

import copy
import os
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.snapshots import snapshot_folder
from rookery.spec.pipeline import NodeKind, Problem, node_map

__all__ = ["send_sources"]


def send_sources(
    client: Any, graph: dict[str, Any], folder: str = ".", problems: Optional[list[Problem]] = None
) -> dict[str, Any]:
    """The graph with the snapshot of every `source_directory`, which is relative to `folder`. Others stay as they are.

    Args:
        problems: what is wrong is added here, and its node is left as it is; without it UserError is raised for all of it.
    """
    made, found = copy.deepcopy(graph), []
    sent: dict[str, str] = {}
    for key, node in node_map(made).items():
        given = node.get("source_directory")
        if node.get("kind") not in (NodeKind.SCRIPT, NodeKind.TUNE) or not given:
            continue
        path = os.path.abspath(os.path.join(folder, str(given)))
        wrong = _problem(key, node, str(given), path)
        if wrong is not None:
            found.append(wrong)
            continue
        if path not in sent:
            sent[path] = snapshot_folder(client, path).id
        node["run"]["snapshot_id"] = sent[path]
    if problems is not None:
        problems += found
    elif found:
        words = " ".join(each.message for each in found)
        raise UserError(words, details={"problems": [each.plain() for each in found]})
    return made


def _problem(key: str, node: dict[str, Any], given: str, path: str) -> Optional[Problem]:
    run = node.get("run")
    if not os.path.isdir(path):
        message = f"source_directory '{given}' of '{key}' is no folder: {path}. It is looked for beside the file."
        return Problem("bad_source", message, key, "source_directory")
    if not isinstance(run, dict):
        message = f"'{key}' has no `run`: what is started in '{given}' (script and arguments, or command)."
        return Problem("shape", message, key, "run")
    script = run.get("script")
    if isinstance(script, str) and not os.path.isfile(os.path.join(path, script)):
        message = f"Script '{script}' of '{key}' is not in its source_directory '{given}' ({path})."
        return Problem("bad_source", message, key, "script")
    return None
