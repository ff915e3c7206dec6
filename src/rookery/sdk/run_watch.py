"""What a live view of a run shows, as data, and a thread that looks again and again until the run has ended."""

from __future__ import annotations

import threading
from typing import Any, Callable, Optional

from rookery.errors import KeeperUnavailableError, RookeryError
from rookery.sdk.details import explain_error
from rookery.spec.status import TERMINAL

__all__ = ["Watch", "look_at_run"]

EVERY_S = 1.0
MAX_CURVES = 8
POINTS = 300
LOG_LINES = 200


def look_at_run(client: Any, run_id: str, url: str = "") -> dict[str, Any]:
    """One look: all that is shown, small enough to be sent every second."""
    seen = client.request("GET", f"/runs/{run_id}/overview")
    run = seen["run"]
    curves = [one["name"] for one in seen["metrics"] if one["kind"] in ("scalar", "list")][:MAX_CURVES]
    series: list[dict[str, Any]] = []
    if curves:
        query = {"name": curves, "points": POINTS}
        series = client.request("GET", f"/runs/{run_id}/series", query=query)["series"]
    log = _main_log([one["name"] for one in seen["logs"]])
    lines: list[str] = []
    if log is not None:
        query = {"start": -LOG_LINES, "limit": LOG_LINES}
        lines = client.request("GET", f"/runs/{run_id}/log-lines/{log}", query=query)["lines"]
    return {
        "id": run_id,
        "name": run["display_name"] or run_id,
        "experiment": run["experiment"],
        "status": run["status"],
        "reason": run["reason"] or "",
        "is_over": run["status"] in TERMINAL,
        "cause": explain_error(run["error"]) if run["error"] else "",
        "phases": seen["phases"],
        "url": url if url.startswith(("http://", "https://")) else "",
        "series": [{"name": one["name"], "x": one["xs"], "y": one["ys"]} for one in series],
        "log_name": log or "",
        "log": lines,
        "problem": "",
    }


class Watch:
    """Calls `tell` with every look that differs from the one before, the last time when the run is over.

    Promises: nothing it does raises into the notebook; a keeper that is away is waited for; `stop` ends it.
    """

    def __init__(self, client: Any, run_id: str, tell: Callable[[dict[str, Any]], None], url: str = "") -> None:
        self._client, self._run_id, self._tell, self._url = client, run_id, tell, url
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._go, name=f"rookery-watch-{run_id[:40]}", daemon=True)
        self.last: dict[str, Any] = {}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def join(self, timeout_s: Optional[float] = None) -> None:
        self._thread.join(timeout_s)

    def _go(self) -> None:
        while not self._stopped.is_set():
            try:
                seen = look_at_run(self._client, self._run_id, self._url)
            except KeeperUnavailableError as error:
                seen = {**self.last, "problem": error.message}
            except RookeryError as error:  # the run is gone, or we may not see it any more
                seen = {**self.last, "problem": error.message, "is_over": True}
            if seen != self.last:
                self.last = seen
                self._tell(seen)
            if seen.get("is_over"):
                return
            self._stopped.wait(EVERY_S)


def _main_log(names: list[str]) -> Optional[str]:
    """The log that people mean: of the script, of rank 0; else of the build."""
    for part in ("70_driver_log_0", "70_driver_log", "std_log", "hyperdrive", "20_image_build"):
        for name in names:
            if part in name:
                return name
    return names[0] if names else None
