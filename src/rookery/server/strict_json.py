"""JSON that browsers take: numbers that are not finite are the texts "NaN", "Infinity" and "-Infinity"."""

from __future__ import annotations

import json
import math
from typing import Any, Optional

from rookery.server.answers import JsonAnswer

__all__ = ["strict_answer"]


class _StrictAnswer(JsonAnswer):
    def render(self, content: Any) -> bytes:
        try:
            text = json.dumps(content, separators=(",", ":"), allow_nan=False)
        except ValueError:  # rare, and only then is every value looked at
            text = json.dumps(_plain(content), separators=(",", ":"), allow_nan=False)
        return text.encode("ascii")


def strict_answer(content: Any, status: int = 200, headers: Optional[dict[str, str]] = None) -> JsonAnswer:
    return _StrictAnswer(content, status, headers)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
