"""The phases of a run as bars: when each began, when it ended, how long it took."""

from __future__ import annotations

import time
from typing import Any

from rookery.record.run_brief import unix
from rookery.spec.status import RunStatus

__all__ = ["attempt_bars", "phase_bars"]


def phase_bars(run: dict[str, Any]) -> list[dict[str, Any]]:
    """In order; consecutive ones of one status are one bar, with its last reason. The end itself takes no time and is none."""
    bars: list[dict[str, Any]] = []
    for phase in run["phases"]:
        since = unix(phase["since_utc"])
        if bars and bars[-1]["status"] == phase["status"]:
            bars[-1]["reason"] = phase["reason"] or bars[-1]["reason"]
            continue
        if bars:
            bars[-1]["end"] = since
        bars.append({"status": phase["status"], "reason": phase["reason"], "start": since, "end": None})
    if bars and bars[-1]["end"] is None:
        is_over = RunStatus(run["status"]).is_terminal
        bars[-1]["end"] = (unix(run["ended_utc"]) or bars[-1]["start"]) if is_over else time.time()
    for bar in bars:
        bar["duration_s"] = round(max(0.0, bar["end"] - bar["start"]), 6)
    return [bar for bar in bars if not RunStatus(bar["status"]).is_terminal]


def attempt_bars(run: dict[str, Any]) -> list[dict[str, Any]]:
    """Every try with its nodes and ranks; the one that goes on has no end."""
    return [
        {
            "attempt": one["attempt"],
            "start": unix(one["started_utc"]),
            "end": unix(one["ended_utc"]),
            "result": one["result"],
            "cause": one["cause"],
            "nodes": [{"node": number, **node} for number, node in enumerate(one["nodes"])],
        }
        for one in run.get("attempts", ())
    ]
