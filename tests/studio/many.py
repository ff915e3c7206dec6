"""Very many runs, written straight into a record by SQL, so that a page of 100,000 is there in seconds."""

from __future__ import annotations

import json
import os

from sqlalchemy import text

from rookery.record import Record
from rookery.spec.paths import WorkspacePaths
from rookery.spec.plain import to_plain
from rookery.spec.run import EnvironmentSpec, RunSpec

__all__ = ["fill"]

_EACH = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count) "
_WHEN = "strftime('%Y-%m-%dT%H:%M:%S', 1762000000 + i * 60, 'unixepoch') || '.000000Z'"
_RUNS = f"""INSERT INTO runs (id, experiment_id, number, kind, root_id, display_name, description, status, reason, attempt, compute,
  target, created_utc, started_utc, ended_utc, submitted_by, spec, warnings, phases, began_ms)
{_EACH} SELECT 'many_' || i, 'e-many', i + 1, 'script', 'many_' || i, 'flight ' || i, '',
  CASE i % 5 WHEN 3 THEN 'Failed' WHEN 4 THEN 'Canceled' ELSE 'Completed' END, '', 1, CASE i % 2 WHEN 0 THEN 'local' ELSE 'cluster' END,
  'local', {_WHEN}, {_WHEN}, {_WHEN}, 'ada', :spec, '[]', '[]', (1762000000 + i * 60) * 1000 FROM n"""
_METRICS = f"""INSERT INTO metrics (run_id, name, kind, total, tail, tail_count, tail_dtype, tail_steps, last, last_value, last_step, last_time)
{_EACH} SELECT 'many_' || i, 'loss', 'scalar', 0, 0, 0, 'd', 0, (i * 7919 % :count) * 1.0, (i * 7919 % :count) * 1.0, 1, 1762000000 FROM n"""
_PARAMS = f"""INSERT INTO run_params (run_id, key, value, head)
{_EACH} SELECT 'many_' || i, 'lr', '0.' || (i % 10), '0.' || (i % 10) FROM n"""
_EXPERIMENT = """INSERT INTO experiments (id, name, created_utc, tags, run_count)
VALUES ('e-many', 'many', '2025-11-01T12:00:00.000000Z', '{}', :count)"""


def fill(root: str, count: int) -> None:
    """`count` ended runs `many_0` … in the experiment `many` of the workspace in this folder, whose keeper does not run.

    Run i is `flight i`, a minute after the one before; Failed where i % 5 is 3; `lr` is 0.(i % 10); `loss` is each of 0 … count - 1 once
    (7919 is a prime: `many_0` has 0, and `count - 1` is the highest).
    """
    spec = RunSpec("many", "many", script="train.py", environment=EnvironmentSpec(python="python3"))
    record = Record(WorkspacePaths(os.path.abspath(root)))
    try:
        with record.database.write() as tx:
            given = {"count": count, "spec": json.dumps(to_plain(spec))}
            for statement in (_EXPERIMENT, _RUNS, _METRICS, _PARAMS):
                wanted = {name: value for name, value in given.items() if f":{name}" in statement}
                tx.conn.execute(text(statement), wanted)
    finally:
        record.close()
