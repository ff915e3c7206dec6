"""Samples of nodes as lines: one list a number instead of one object a sample, and no more points than a chart shows."""

from __future__ import annotations

from typing import Any, Optional

from rookery.record.run_brief import unix

__all__ = ["sample_lines"]


def sample_lines(samples: list[dict[str, Any]], points: int) -> list[dict[str, Any]]:
    """[{"node", "times", "cpu_percent", "memory_bytes", "gpus": [{"index", "util_percent", "memory_bytes"}]}…]."""
    by_node: dict[int, list[dict[str, Any]]] = {}
    for sample in samples:
        kept = by_node.setdefault(sample["node"], [])
        # An agent that was not answered says the same again.
        if not kept or kept[-1].get("time") is None or kept[-1].get("time") != sample.get("time"):
            kept.append(sample)
    return [_node(node, found, points) for node, found in sorted(by_node.items())]


def _node(node: int, samples: list[dict[str, Any]], points: int) -> dict[str, Any]:
    parts = _parts(samples, points)
    cards = sorted({gpu["index"] for sample in samples for gpu in _gpus(sample) if "index" in gpu})
    return {
        "node": node,
        "times": [_seconds(part[0].get("time")) for part in parts],
        "cpu_percent": [_top(s.get("cpu_percent") for s in part) for part in parts],
        "memory_bytes": [_top(s.get("memory_bytes") for s in part) for part in parts],
        "gpus": [
            {
                "index": card,
                "util_percent": [_top(_of(s, card, "util_percent") for s in part) for part in parts],
                "memory_bytes": [_top(_of(s, card, "memory_bytes") for s in part) for part in parts],
            }
            for card in cards
        ],
    }


def _parts(samples: list[dict[str, Any]], points: int) -> list[list[dict[str, Any]]]:
    count = min(points, len(samples))
    edges = [len(samples) * i // count for i in range(count + 1)]
    return [samples[a:b] for a, b in zip(edges, edges[1:])]


def _gpus(sample: dict[str, Any]) -> list[dict[str, Any]]:
    found = sample.get("gpus")
    return [gpu for gpu in found if isinstance(gpu, dict)] if isinstance(found, list) else []


def _of(sample: dict[str, Any], card: Any, what: str) -> Any:
    return next((gpu.get(what) for gpu in _gpus(sample) if gpu.get("index") == card), None)


def _seconds(time: Any) -> Optional[float]:
    """Agents write ISO texts; charts want unix seconds."""
    try:
        return unix(time) if isinstance(time, str) else time
    except ValueError:
        return None  # an agent's word; the sample has no place on the axis then


def _top(values: Any) -> Optional[float]:
    """The largest: what ran into a limit for a moment is to be seen."""
    return max((v for v in values if isinstance(v, (int, float))), default=None)
