"""What `rookery top` shows, as text: three tables. With Rich on a terminal, plain lines elsewhere."""

from __future__ import annotations

from typing import Any

from rookery.cli.table import Column
from rookery.cli.terminal import clean
from rookery.cli.words import duration, number, size

__all__ = ["TABLES", "headline", "rows"]

RUNS = (
    Column("RUN"),
    Column("STATUS", is_status=True),
    Column("EXPERIMENT", rank=4, shrinks=True),
    Column("COMPUTE", rank=3),
    Column("TIME", rank=1, right=True),
    Column("METRICS OR REASON", shrinks=True),
)
RANKS = (
    Column("RUN"),
    Column("NODE", right=True),
    Column("RANKS", right=True),
    Column("MACHINE", rank=3, shrinks=True),
    Column("CPU", right=True),
    Column("MEMORY", right=True),
    Column("GPU", rank=2),
)
COMPUTE = (
    Column("COMPUTE"),
    Column("NODES", right=True),
    Column("BUSY", right=True),
    Column("RUNNING", right=True),
    Column("WAITING", right=True),
    Column("PROBLEM", shrinks=True),
)
TABLES = (("runs", RUNS), ("ranks", RANKS), ("compute", COMPUTE))
SHOWN_METRICS = 3


def headline(seen: dict[str, Any]) -> str:
    """One line: how many run and wait, how much room there is."""
    counts, disk = seen["counts"], seen["disk"]
    live = len(seen["running"]), len(seen["waiting"])
    plus = tuple("+" if seen["more"][kind] else "" for kind in ("running", "waiting"))
    return (
        f"{live[0]}{plus[0]} running, {live[1]}{plus[1]} waiting, {counts.get('Failed', 0)} failed of {sum(counts.values())} runs; "
        f"{size(disk['content_bytes'] + disk['log_bytes'] + disk['database_bytes'])} stored, {size(disk['free_bytes'])} free"
    )


def rows(seen: dict[str, Any]) -> dict[str, list[list[str]]]:
    """The rows of each table, by its name."""
    runs = [_run(run, _metrics(run)) for run in seen["running"]]
    runs += [_run(run, clean(run["reason"])) for run in seen["waiting"]]
    runs += [_run(run, clean((run["cause"] or {}).get("summary") or "")) for run in seen["failed"][:3]]
    ranks = [_rank(run, node) for run in seen["running"] for node in run["nodes"]]
    return {"runs": runs, "ranks": ranks, "compute": [_compute(one) for one in seen["compute"]]}


def _run(run: dict[str, Any], words: str) -> list[str]:
    return [
        clean(run["id"]), run["status"], clean(run["experiment"]), clean(run["compute"]), duration(run["duration_s"]), words,
    ]  # fmt: skip


def _metrics(run: dict[str, Any]) -> str:
    shown = [f"{clean(name)} {number(value)}" for name, value in list(run["metrics"].items())[:SHOWN_METRICS]]
    return "  ".join(shown) or clean(run["reason"])


def _rank(run: dict[str, Any], node: dict[str, Any]) -> list[str]:
    first, last = node["ranks"]
    gpus = "  ".join(
        f"{gpu['index']}: {_percent(gpu['util_percent'])} {size(gpu['memory_bytes'])}" for gpu in node["gpus"]
    )
    return [
        clean(run["id"]),
        str(node["node"]),
        str(first) if first == last else f"{first}-{last}",
        clean(node["machine"]),
        _percent(node["cpu_percent"]),
        size(node["memory_bytes"]),
        gpus,
    ]


def _compute(one: dict[str, Any]) -> list[str]:
    return [
        clean(one["name"]),
        f"{one['current_nodes']}/{one['max_nodes']}",
        str(one["busy_nodes"]),
        str(one["running_runs"]),
        str(one["queued_runs"]),
        clean(one["problem"]),
    ]


def _percent(value: Any) -> str:
    return "" if value is None else f"{value:.0f}%"
