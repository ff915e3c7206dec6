"""Clusters that `make ray-cluster` and `make slurm-cluster` leave running: how the examples find them."""

from __future__ import annotations

import json
import os
from typing import Any, Optional

from rookery.testing.netns import STATE

__all__ = ["lasting_cluster", "note_cluster"]

_NOTE = "attach.json"


def note_cluster(folder: str, engine: str, options: dict[str, Any]) -> None:
    """Keep in a network's folder, which goes with it, how the cluster on it is attached."""
    with open(os.path.join(folder, _NOTE), "w", encoding="utf-8") as f:
        json.dump({"engine": engine, "options": options}, f)


def lasting_cluster(engine: str) -> Optional[dict[str, Any]]:
    """The engine options of the cluster of that kind that runs here; None when there is none."""
    for name in sorted(os.listdir(STATE)) if os.path.isdir(STATE) else ():
        try:
            with open(os.path.join(STATE, name, _NOTE), encoding="utf-8") as f:
                note = json.load(f)
        except (OSError, ValueError):
            continue
        if note["engine"] == engine:
            options: dict[str, Any] = note["options"]
            return options
    return None
