"""Waiting for the end of a run in a test: where it does not come, the test fails with what is known instead of hanging."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from rookery.spec.paths import WorkspacePaths

__all__ = ["RUN_LIMIT_S", "evidence", "wait_for_end"]

RUN_LIMIT_S = 200.0
LAST_BYTES = 4000


def wait_for_end(run: Any, limit_s: float = RUN_LIMIT_S) -> dict[str, Any]:
    """`run.wait_for_completion(raise_on_error=False)`.

    Raises:
        AssertionError: it has not returned after `limit_s`; the message is `evidence(run)`.
    """
    answer: list[Any] = []

    def wait() -> None:
        try:
            answer.append(run.wait_for_completion(raise_on_error=False))
        except BaseException as error:
            answer.append(error)

    thread = threading.Thread(target=wait, name="wait-for-end", daemon=True)
    thread.start()
    thread.join(limit_s)
    if not answer:
        raise AssertionError(f"Run {run.id} did not end within {limit_s:g} s.\n{evidence(run)}")
    if isinstance(answer[0], BaseException):
        raise answer[0]
    found: dict[str, Any] = answer[0]
    return found


def evidence(run: Any) -> str:
    """What the record, the agents and the keeper say of a run, as text."""
    paths = WorkspacePaths(run.experiment.workspace.root)
    try:
        data = run.experiment.workspace.client.request("GET", f"/runs/{run.id}")
        data.pop("spec", None)
        parts = [("the run", json.dumps(data, indent=1)), ("compute", json.dumps(_nodes(run, data), indent=1))]
        attempts = int(data["attempt"])
    except Exception as error:
        parts, attempts = [("the run cannot be read", repr(error))], 3
    for attempt in range(1, attempts + 1):
        for node in range(8):
            place = paths.attempt(run.id, attempt).node(node)
            if os.path.isdir(place.root):
                for path in (place.agent, place.outcome, place.agent_log):
                    parts.append((os.path.relpath(path, paths.root), _tail(path)))
    parts.append(("keeper.json", _tail(paths.endpoint)))
    parts.append(("keeper.log", _tail(paths.keeper_log)))
    return "\n".join(f"--- {title}\n{text}" for title, text in parts)


def _nodes(run: Any, data: dict[str, Any]) -> Any:
    return run.experiment.workspace.client.request("GET", f"/compute/{data['compute']}/nodes")


def _tail(path: str) -> str:
    try:
        with open(path, "rb") as f:
            f.seek(max(0, os.path.getsize(path) - LAST_BYTES))
            return f.read().decode("utf-8", "replace")
    except OSError as error:
        return f"({error.strerror})"
