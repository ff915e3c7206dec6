"""The same finished runs for both servers: two metrics, two parameters each, put where each of them keeps its own."""

from __future__ import annotations

from benchmarks import peer

__all__ = ["fill_ours", "fill_theirs"]

FILL_PEER = """
import json, os, sys, uuid
from sqlalchemy import create_engine, text
engine = create_engine("sqlite:///" + sys.argv[1])
with engine.begin() as conn:
    runs, metrics, params = [], [], []
    for i in range(int(sys.argv[2])):
        run = uuid.uuid5(uuid.NAMESPACE_OID, str(i)).hex
        runs.append(dict(run_uuid=run, name=f"r{i}", status="FINISHED", start_time=1700000000000 + i, lifecycle_stage="active",
                         artifact_uri="mlflow-artifacts:/0/" + run + "/artifacts", experiment_id=0, user_id="bench"))
        for name, value in (("loss", i % 1000 / 1000), ("acc", i % 777 / 777)):
            metrics.append(dict(key=name, value=value, timestamp=1700000000000 + i, step=1, is_nan=False, run_uuid=run))
        params += [dict(key="lr", value=str(i % 10), run_uuid=run), dict(key="depth", value=str(i % 7), run_uuid=run)]
    conn.execute(text("INSERT INTO runs (run_uuid, name, status, start_time, lifecycle_stage, artifact_uri, experiment_id, user_id) VALUES (:run_uuid, :name, :status, :start_time, :lifecycle_stage, :artifact_uri, :experiment_id, :user_id)"), runs)
    conn.execute(text("INSERT INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid) VALUES (:key, :value, :timestamp, :step, :is_nan, :run_uuid)"), metrics)
    conn.execute(text("INSERT INTO params (key, value, run_uuid) VALUES (:key, :value, :run_uuid)"), params)
print(json.dumps({}))
"""


def fill_theirs(database: str, num_runs: int) -> None:
    """Into the database of an MLflow server that is not running."""
    peer.run_in_peer(FILL_PEER, database, str(num_runs))


def fill_ours(root: str, num_runs: int) -> None:
    """The same runs that the peer has, put where the record keeps them."""
    from sqlalchemy import insert

    from rookery.record import Record
    from rookery.record.clock import from_unix
    from rookery.record.schema import experiments, metrics, runs
    from rookery.record.schema_tracking import run_params
    from rookery.spec.paths import WorkspacePaths

    record = Record(WorkspacePaths(root))
    record.experiments.create("Default", experiment_id="0")
    rows, values, params = [], [], []
    for i in range(num_runs):
        run_id, moment = f"{i:032x}", from_unix(1.7e9 + i / 1000)
        rows.append(
            {
                "id": run_id, "experiment_id": "0", "number": i + 1, "kind": "external", "root_id": run_id, "display_name": f"r{i}",
                "description": "", "status": "Completed", "reason": "", "attempt": 1, "compute": "external", "target": "external",
                "created_utc": moment, "started_utc": moment, "ended_utc": moment, "submitted_by": "bench", "spec": {},
                "warnings": [], "phases": [], "began_ms": 1700000000000 + i,
            }
        )  # fmt: skip
        for name, value in (("loss", i % 1000 / 1000), ("acc", i % 777 / 777)):
            values.append(
                {
                    "run_id": run_id, "name": name, "kind": "scalar", "total": 1, "tail": -1, "tail_count": 0, "tail_dtype": "",
                    "tail_steps": 0, "last": value, "last_value": value, "last_step": 1, "last_time": 1.7e9,
                }
            )  # fmt: skip
        for name, text in (("lr", str(i % 10)), ("depth", str(i % 7))):
            params.append({"run_id": run_id, "key": name, "value": text, "head": text})
    with record.database.write() as tx:
        tx.conn.execute(insert(runs), rows)
        tx.conn.execute(insert(metrics), values)
        tx.conn.execute(insert(run_params), params)
        tx.conn.execute(experiments.update().values(run_count=num_runs))
    record.close()
