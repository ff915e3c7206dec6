"""Pages: opaque tokens that hold an offset, and small listings that are filtered and sorted here."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any, Optional

from rookery.record.search import Condition, Order
from rookery.server.mlflow.errors import invalid
from rookery.server.mlflow.filters import holds

__all__ = ["make_token", "page", "read_token", "select"]

_PROMPT = "mlflow.prompt.is_prompt"


def make_token(offset: int) -> str:
    return base64.b64encode(json.dumps({"offset": offset}).encode("ascii")).decode("ascii")


def read_token(token: Optional[str]) -> int:
    """The offset of a token; 0 without one."""
    if not token:
        return 0
    try:
        offset = json.loads(base64.b64decode(token, validate=True))["offset"]
        if isinstance(offset, bool) or not isinstance(offset, int) or not 0 <= offset < 2**62:
            raise ValueError
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise invalid(f"Invalid page token {token!r:.80}: it is not one that a search has returned.") from None
    return offset


def page(found: Sequence[Any], limit: int, token: Optional[str]) -> tuple[list[Any], Optional[str]]:
    start = read_token(token)
    part = list(found[start : start + limit])
    return part, make_token(start + limit) if len(found) > start + limit else None


def select(
    found: Sequence[dict[str, Any]],
    conditions: Sequence[Condition],
    order: Sequence[Order],
    value_of: Callable[[dict[str, Any], str, str], Any],
) -> list[dict[str, Any]]:
    """Those for which all conditions hold, sorted; `value_of(item, kind, key)` is what is compared, None where it is missing."""
    kept = [item for item in found if all(_holds(item, c, value_of) for c in conditions)]
    for one in reversed(order):
        present = [item for item in kept if value_of(item, one.kind, one.key) is not None]
        absent = [item for item in kept if value_of(item, one.kind, one.key) is None]
        present.sort(key=lambda item: value_of(item, one.kind, one.key), reverse=not one.ascending)
        kept = present + absent
    return kept


def _holds(item: dict[str, Any], condition: Condition, value_of: Callable[[dict[str, Any], str, str], Any]) -> bool:
    value = value_of(item, condition.kind, condition.key)
    if value is None and condition.kind == "tag" and condition.key == _PROMPT:
        # The client asks this of every search, so that prompts stay out of the list of models, which do not have the tag.
        return (condition.op, condition.value) in (("!=", "true"), ("=", "false"))
    return holds(condition.op, value, condition.value)
