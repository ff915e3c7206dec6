"""The logs of a run: their names, their text, and all of them as files."""

from __future__ import annotations

import io
import os
from typing import Any, Optional

from rookery.spec.names import check_artifact_name
from rookery.worker.http import quote_path

__all__ = ["log_names", "log_text", "save_logs"]


def log_names(client: Any, run_id: str) -> list[str]:
    return [log["name"] for log in client.request("GET", f"/runs/{quote_path(run_id)}/logs")["logs"]]


def log_text(client: Any, run_id: str, name: str) -> str:
    """All of it; bytes that are no UTF-8 are shown as replacement characters."""
    content = io.BytesIO()
    client.download(_path(run_id, name), content)
    return content.getvalue().decode("utf-8", "replace")


def save_logs(client: Any, run_id: str, destination: Optional[str] = None) -> list[str]:
    """Write every log below `destination` (default: assets/<run id>); the paths."""
    folder = os.path.join("assets", run_id) if destination is None else os.fspath(destination)
    paths = []
    for name in log_names(client, run_id):
        path = os.path.join(folder, *check_artifact_name(name).split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            client.download(_path(run_id, name), file)
        paths.append(path)
    return paths


def _path(run_id: str, name: str) -> str:
    return f"/runs/{quote_path(run_id)}/logs/{quote_path(name)}"
