"""The values of a metric over time."""

from __future__ import annotations

from typing import Any

from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import number_out
from rookery.server.mlflow.errors import invalid
from rookery.server.mlflow.pages import page
from rookery.server.mlflow.runs import find_run

__all__ = ["get_history", "get_history_bulk"]

MAX_RESULTS = 25_000
MAX_RUNS = 100


def get_history(call: Call) -> dict[str, Any]:
    key = call.text("metric_key")
    found = _values(call, call.run_id(), key)
    if call.args.get("max_results") not in (None, ""):
        found, token = page(found, call.integer("max_results", low=1, high=10**9), call.text("page_token", ""))
    else:
        token = None
    shown: dict[str, Any] = {"metrics": found} if found else {}
    return {**shown, **({"next_page_token": token} if token else {})}


def get_history_bulk(call: Call) -> dict[str, Any]:
    """Of several runs, thinned to at most `max_results` values each."""
    key, runs = call.text("metric_key"), call.texts("run_ids")
    if not runs or len(runs) > MAX_RUNS:
        raise invalid(f"GetMetricHistoryBulkInterval takes 1 to {MAX_RUNS} run_ids, not {len(runs)}.")
    limit = call.integer("max_results", 2500, 1, 2500)
    start, end = call.integer("start_step", -(2**63)), call.integer("end_step", 2**63 - 1)
    shown = []
    for run_id in runs:
        found = [m for m in _values(call, run_id, key) if start <= m["step"] <= end]
        found.sort(key=lambda m: (m["step"], m["timestamp"]))
        every = -(-len(found) // limit) if found else 1
        thinned = found[::every]
        if found and thinned[-1] is not found[-1]:
            thinned.append(found[-1])
        shown += [{**metric, "run_id": run_id} for metric in thinned]
    return {"metrics": shown} if shown else {}


def _values(call: Call, run_id: str, key: str) -> list[dict[str, Any]]:
    """By time, then step. The same value twice is one, as it is with MLflow: a client that repeats a request after a lost
    answer must not make a second point of it."""
    find_run(call, run_id)
    found = call.record.metrics.get(run_id, key)
    if not found or "values" not in found[0]:
        return []
    metric = found[0]
    steps = metric["steps"] or range(len(metric["values"]))
    rows = (
        (number_out(value), round(time * 1000), step if step is not None else index)
        for index, (value, step, time) in enumerate(zip(metric["values"], steps, metric["times"]))
        if isinstance(value, (int, float))
    )
    return [
        {"key": key, "value": value, "timestamp": stamp, "step": step}
        for value, stamp, step in sorted(dict.fromkeys(rows), key=lambda row: (row[1], row[2]))
    ]
