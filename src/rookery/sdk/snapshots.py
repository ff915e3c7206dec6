"""A run's snapshot: taken from a folder, restored as a zip file."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import Any, Optional

from rookery.errors import SnapshotError, UserError

__all__ = ["restore_snapshot", "snapshot_folder", "warn"]


def snapshot_folder(client: Any, folder: str) -> Any:
    """Store a folder (or one file) by content; the Snapshot. Warnings go to stderr."""
    from rookery.submit import take_snapshot

    if not os.path.exists(folder):
        raise SnapshotError(f"There is no folder {folder!r} to take a snapshot of (looked from {os.getcwd()!r}).")
    return take_snapshot(client, folder, on_warning=warn)


def warn(text: str) -> None:
    print(f"Warning: {text}", file=sys.stderr)


def restore_snapshot(client: Any, snapshot_id: Optional[str], path: Optional[str]) -> str:
    """Write the snapshot's zip file and return where it is.

    Without `path` it lies in a new temporary folder; in a folder it is `<snapshot id>.zip`; else `path` is
    the file,
    with `.zip` added where it lacks.
    """
    if not snapshot_id:
        raise UserError("The run has no snapshot. Give snapshot_id=…, or a run that was submitted from a folder.")
    made = tempfile.mkdtemp(prefix="rookery-snapshot-") if path is None else ""
    if path is None:
        target = os.path.join(made, f"{snapshot_id}.zip")
    elif os.path.isdir(path) or path.endswith(os.sep):
        target = os.path.join(path, f"{snapshot_id}.zip")
    else:
        target = path if path.endswith(".zip") else path + ".zip"
    target = os.path.abspath(target)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    partial = target + ".partial"
    try:
        with open(partial, "wb") as file:
            client.download(f"/snapshots/{snapshot_id}/zip", file)
        os.replace(partial, target)
    except BaseException:
        if made:
            shutil.rmtree(made, ignore_errors=True)
        raise
    finally:
        if os.path.exists(partial):
            os.unlink(partial)
    return target
