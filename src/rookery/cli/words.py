"""Numbers in words: durations, ages, sizes, a curve of a few characters. Pure."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Optional

__all__ = ["age", "duration", "local_time", "number", "parse_time", "size", "sparkline"]

_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = "_.-=+*%#"


def parse_time(text: Optional[str]) -> Optional[datetime]:
    """A time of the protocol (ISO 8601 with Z), or None."""
    if not text:
        return None
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def duration(seconds: Optional[float]) -> str:
    """`0.42s`, `7.3s`, `3m 07s`, `2h 05m`, `4d 03h`."""
    if seconds is None:
        return ""
    seconds = max(0.0, seconds)
    if seconds < 1:
        return f"{seconds:.2f}s"
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d {whole % 86400 // 3600:02d}h"


def between(start: Optional[str], end: Optional[str] = None) -> str:
    """How long from one time of the protocol to another, or to now."""
    first = parse_time(start)
    if first is None:
        return ""
    last = parse_time(end) or datetime.now(timezone.utc)
    return duration((last - first).total_seconds())


def age(text: Optional[str]) -> str:
    """`just now`, `5m ago`, `3h ago`, `2d ago`."""
    then = parse_time(text)
    if then is None:
        return ""
    seconds = (datetime.now(timezone.utc) - then).total_seconds()
    for unit, name in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= unit:
            return f"{int(seconds // unit)}{name} ago"
    return f"{int(seconds)}s ago" if seconds >= 5 else "just now"


def local_time(text: Optional[str]) -> str:
    """In the reader's own time zone, to the second."""
    then = parse_time(text)
    return then.astimezone().strftime("%Y-%m-%d %H:%M:%S") if then else ""


def size(num_bytes: Optional[float]) -> str:
    """`17 B`, `4.2 kB`, `1.3 MB` (powers of 1000, as disks are sold)."""
    if num_bytes is None:
        return ""
    value = float(num_bytes)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 999.5 or unit == "TB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"
        value /= 1000
    return ""


def number(value: Any) -> str:
    """A metric's value, short: six significant digits for floats."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def sparkline(values: Sequence[Any], length: int = 20) -> str:
    """The course of a metric in at most `length` characters; empty when there is no course."""
    numbers = [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)]
    if len(numbers) < 2 or length < 1:
        return ""
    if len(numbers) > length:  # the mean of each stretch, so that a spike is damped but not lost
        edges = [round(i * len(numbers) / length) for i in range(length + 1)]
        numbers = [sum(numbers[a:b]) / (b - a) for a, b in zip(edges, edges[1:])]
    low, high = min(numbers), max(numbers)
    bars = _BARS if _writes(_BARS) else _ASCII_BARS
    if high == low:
        return bars[0] * len(numbers)
    spread = high - low
    return "".join(bars[min(len(bars) - 1, int((n - low) / spread * len(bars)))] for n in numbers)


def _writes(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
