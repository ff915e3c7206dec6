"""What `rookery top` shows, as data: one look at the keeper."""

from __future__ import annotations

from typing import Any

__all__ = ["look"]

POINTS = 60  # samples of a node that are looked at; the last is shown


def look(client: Any, most: int) -> dict[str, Any]:
    """{"time", "running": […], "waiting": […], "failed": […], "compute": […], "disk", "counts"}. A running run also has its
    `metrics` (latest values) and its `nodes`: what each one uses, and its ranks."""
    home = client.request("GET", "/home", query={"limit": most})
    asked = {
        "statuses": ["Running", "Finalizing", "CancelRequested", "NotResponding"],
        "include_children": True,
        "archived": "all",
        "limit": 2 * most,
        "columns": {"params": [], "tags": []},
    }
    found = client.request("POST", "/search/runs", body=asked)["runs"]
    metrics = {run["id"]: run["metrics"] for run in found}
    for run in home["running"]:
        run["metrics"] = metrics.get(run["id"], {})
        run["nodes"] = _nodes(client, run)
    return dict(home)


def _nodes(client: Any, run: dict[str, Any]) -> list[dict[str, Any]]:
    """One entry a node of the present try: machine, ranks, and the last sample."""
    seen = client.request("GET", f"/runs/{run['id']}/timeline", query={"points": POINTS})
    lines = {line["node"]: line for line in seen["samples"]}
    attempt = seen["attempts"][-1] if seen["attempts"] else {"nodes": []}
    machines = {node["node"]: node["machine"] or node["id"] for node in attempt["nodes"]}
    per_node = run["processes_per_node"]
    nodes = []
    for number in sorted(lines.keys() | machines.keys()):
        line = lines.get(number, {})
        nodes.append(
            {
                "node": number,
                "machine": machines.get(number) or "",
                "ranks": [number * per_node, (number + 1) * per_node - 1],
                "cpu_percent": _last(line.get("cpu_percent")),
                "memory_bytes": _last(line.get("memory_bytes")),
                "gpus": [
                    {
                        "index": gpu["index"],
                        "util_percent": _last(gpu["util_percent"]),
                        "memory_bytes": _last(gpu["memory_bytes"]),
                    }
                    for gpu in line.get("gpus", ())
                ],
            }
        )
    return nodes


def _last(values: Any) -> Any:
    return values[-1] if values else None
