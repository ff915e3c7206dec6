"""One answer of `rookery doctor`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BROKEN", "INFO", "MISSING", "OK", "Check"]

OK = "ok"
INFO = "absent"  # nobody misses it unless they want what it is for
MISSING = "missing"  # most people will want it
BROKEN = "broken"  # Rookery itself needs it


@dataclass(frozen=True)
class Check:
    name: str
    state: str
    detail: str
    fix: str = ""
