"""A workspace with very many runs, written straight into the record, behind a keeper of its own."""

from __future__ import annotations

import os

__all__ = ["workspace_with_runs"]

STATUSES = ("Completed", "Completed", "Completed", "Failed", "Canceled")


def workspace_with_runs(folder: str, count: int):
    """A client of a workspace that has `count` finished runs in the experiment 'many'."""
    from sqlalchemy import insert

    from rookery.client import Client
    from rookery.client.folder import create_workspace
    from rookery.record import Record
    from rookery.record.schema import experiments, run_tags, runs
    from rookery.spec.paths import WorkspacePaths
    from rookery.spec.plain import to_plain
    from rookery.spec.run import EnvironmentSpec, RunSpec

    root = os.path.join(folder, "many")
    create_workspace(root, "many")
    record = Record(WorkspacePaths(root))
    when = "2026-11-15T20:00:00.000000Z"
    with record.database.write() as tx:
        tx.conn.execute(
            insert(experiments).values(
                id="e1", name="many", created_utc=when, archived_utc=None, tags={}, run_count=count
            )
        )
        for start in range(0, count, 5000):
            rows, tags = [], []
            for i in range(start, min(start + 5000, count)):
                run_id = f"many_{i}"
                spec = RunSpec(
                    run_id,
                    "many",
                    script="train.py",
                    arguments=("--lr", "0.1"),
                    environment=EnvironmentSpec(python="/usr/bin/python3"),
                )
                rows.append(
                    {
                        "id": run_id,
                        "experiment_id": "e1",
                        "number": i + 1,
                        "kind": "script",
                        "parent_id": None,
                        "root_id": run_id,
                        "display_name": "",
                        "description": "",
                        "status": STATUSES[i % len(STATUSES)],
                        "reason": "",
                        "attempt": 1,
                        "compute": "local",
                        "target": "local",
                        "created_utc": when,
                        "started_utc": when,
                        "ended_utc": when,
                        "submitted_by": "bench",
                        "spec": to_plain(spec),
                        "error": None,
                        "warnings": [],
                        "phases": [],
                        "snapshot_id": None,
                        "state": None,
                    }
                )
                tags.append({"run_id": run_id, "key": "i", "value": str(i % 100)})
            tx.conn.execute(insert(runs), rows)
            tx.conn.execute(insert(run_tags), tags)
    record.close()
    return Client.for_workspace(root)
