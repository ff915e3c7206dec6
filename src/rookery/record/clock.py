"""The one clock of the record: ISO 8601 UTC strings with microseconds and `Z`, which sort as text."""

from __future__ import annotations

import math
import time
from datetime import datetime, timezone

__all__ = ["from_unix", "milliseconds", "utc_now"]


def utc_now() -> str:
    return from_unix(time.time())


def from_unix(seconds: float) -> str:
    """The moment as text; one that no calendar holds (a broken clock in a journal) becomes now."""
    if not math.isfinite(seconds) or not 0 <= seconds < 253402300799:
        seconds = time.time()
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def milliseconds(moment: str) -> int:
    """One of our texts as unix milliseconds."""
    return round(datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp() * 1000)
