"""Numbers for Prometheus, in its text format."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

from rookery import __version__

if TYPE_CHECKING:
    from rookery.server.services import Services

__all__ = ["CONTENT_TYPE", "RequestNumbers", "prometheus_text"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_Number = Union[int, float]


class RequestNumbers:
    """Requests by route and status, and how long they took. Added to in the event loop only, so there is no lock."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str, int], int] = {}
        self.times: dict[tuple[str, str], list[_Number]] = {}  # one number per bucket, then those above, then the sum

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        if method not in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            method = "other"
        key = (method, route, status)
        self.counts[key] = self.counts.get(key, 0) + 1
        row = self.times.get((method, route))
        if row is None:
            row = self.times[(method, route)] = [0] * (len(BUCKETS) + 1) + [0.0]
        for index, edge in enumerate(BUCKETS):
            if seconds <= edge:
                row[index] += 1
                break
        else:
            row[len(BUCKETS)] += 1
        row[-1] += seconds


def prometheus_text(services: Services) -> str:
    """All of them. Asks the record; not to be called in the event loop."""
    page = _Page()
    page.add("rookery_info", "gauge", "The version that runs.", [({"version": __version__}, 1)])
    page.add(
        "rookery_uptime_seconds", "gauge", "Since the keeper started.", [({}, time.monotonic() - services.started)]
    )
    page.add("process_resident_memory_bytes", "gauge", "Memory of the keeper.", [({}, memory_bytes())])
    page.add("rookery_threads", "gauge", "Threads of the keeper.", [({}, threading.active_count())])
    statuses = services.record.numbers.runs_by_status()
    page.add("rookery_runs", "gauge", "Runs by status.", [({"status": k}, n) for k, n in sorted(statuses.items())])
    targets = services.controller.computes()
    for field, words in (("queued_runs", "waiting"), ("running_runs", "running")):
        rows: list[tuple[dict[str, Any], _Number]] = [({"target": t["name"]}, t.get(field) or 0) for t in targets]
        page.add(f"rookery_target_{field}", "gauge", f"Runs that are {words}, by compute target.", rows)
    page.add(
        "rookery_target_nodes",
        "gauge",
        "Nodes, by compute target.",
        [({"target": t["name"]}, t.get("current_nodes") or 0) for t in targets],
    )
    page.add(
        "rookery_metric_values_total",
        "counter",
        "Metric values taken in since the keeper started.",
        [({}, services.record.numbers.values_taken())],
    )
    page.add("rookery_open_streams", "gauge", "Open event streams.", [({}, services.activity.open_streams)])
    page.add("rookery_open_requests", "gauge", "Requests under way.", [({}, services.activity.open_requests)])
    deliveries = services.webhooks.numbers()
    page.add(
        "rookery_webhook_deliveries",
        "gauge",
        "Deliveries of webhooks, by state.",
        [({"state": k}, n) for k, n in sorted(deliveries.items())],
    )
    _add_requests(page, services.requests)
    return page.text()


def memory_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _add_requests(page: _Page, requests: RequestNumbers) -> None:
    counts = sorted(requests.counts.copy().items())  # a copy: this is a thread, and the loop adds
    page.add(
        "rookery_http_requests_total",
        "counter",
        "Requests by route and status.",
        [({"method": m, "route": r, "status": s}, n) for (m, r, s), n in counts],
    )
    rows: list[tuple[str, dict[str, Any], _Number]] = []
    for (method, route), numbers in sorted(requests.times.copy().items()):
        labels, total = {"method": method, "route": route}, 0
        for edge, n in zip((*BUCKETS, "+Inf"), list(numbers)):
            total += int(n)
            rows.append(("_bucket", {**labels, "le": edge}, total))
        rows += [("_sum", labels, numbers[-1]), ("_count", labels, total)]
    page.add_named("rookery_http_request_duration_seconds", "histogram", "How long answers took, by route.", rows)


class _Page:
    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, name: str, kind: str, words: str, rows: Iterable[tuple[dict[str, Any], _Number]]) -> None:
        self.add_named(name, kind, words, [("", labels, value) for labels, value in rows])

    def add_named(self, name: str, kind: str, words: str, rows: Iterable[tuple[str, dict[str, Any], _Number]]) -> None:
        self._lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
        for suffix, labels, value in rows:
            inside = ",".join(f'{key}="{_escaped(one)}"' for key, one in labels.items())
            self._lines.append(f"{name}{suffix}{{{inside}}} {value}" if inside else f"{name}{suffix} {value}")

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


def _escaped(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
