"""Only with `rookery server --testing`: an empty store between the tests of a foreign suite."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete

from rookery.record.schema import metadata
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import Artifacts
from rookery.server.mlflow.experiments import find_default

__all__ = ["reset"]

KEPT = ("workspace", "compute")


def reset(call: Call) -> dict[str, Any]:
    """Forgets every run, experiment and model. `artifact_root` is what clients are then told; empty: this server again."""
    with call.record.database.write() as tx:
        for table in reversed(metadata.sorted_tables):
            if table.name not in KEPT:
                tx.conn.execute(delete(table))
        tx.memory.forget_all()
    Artifacts.root = call.text("artifact_root", "").rstrip("/") or "mlflow-artifacts:"
    find_default(call.record)
    return {}
