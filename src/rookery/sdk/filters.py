"""Filters as v1 writes them, as the API wants them."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.run_types import kind_of_type
from rookery.spec.status import RunStatus

__all__ = ["given", "key_values", "run_filters", "texts"]


def run_filters(
    run_type: Optional[str] = None,
    tags: Any = None,
    properties: Any = None,
    status: Any = None,
    include_children: bool = False,
) -> dict[str, Any]:
    """The query for runs: by type, tags, properties and status."""
    query: dict[str, Any] = {
        "tag": key_values(tags, "tags"),
        "property": key_values(properties, "properties"),
    }
    for key, value in kind_of_type(run_type).items():
        query[key] = [*query[key], value] if key in query else value
    query["status"] = _statuses(status)
    if include_children:
        query["include_children"] = "true"
    return {key: value for key, value in query.items() if value}


def key_values(filters: Any, what: str = "tags") -> list[str]:
    """`"key"`, `{"key": "value"}` and `["key", ["key", "value"]]` become `key` and `key=value`."""
    if not filters:
        return []
    if isinstance(filters, str):
        return [filters]
    try:
        items = list(filters.items() if isinstance(filters, dict) else filters)
        return [item if isinstance(item, str) else _pair(*item) for item in items]
    except TypeError:
        raise UserError(
            f"{what}={filters!r} is no filter. Give 'key', {{'key': 'value'}} or ['key', ['key', 'value']]."
        ) from None


def _pair(key: Any, value: Any) -> str:
    return str(key) if value is None else f"{key}={value}"


def _statuses(status: Any) -> list[str]:
    if not status:
        return []
    known = {member.value.lower(): member.value for member in RunStatus}
    found = []
    for word in [status] if isinstance(status, str) else status:
        if str(word).lower() not in known:
            raise UserError(f"Status {word!r} does not exist. Known: {', '.join(known.values())}.")
        found.append(known[str(word).lower()])
    return found


def texts(values: Any) -> Optional[dict[str, Optional[str]]]:
    """Tags or properties with keys and values as text; a value may be None."""
    if values is None:
        return None
    try:
        pairs = dict(values)
    except (TypeError, ValueError):
        raise UserError(f"{values!r:.80} are no tags or properties. Give a dict, such as {{'key': 'value'}}.") from None
    return {str(key): None if value is None else str(value) for key, value in pairs.items()}


def given(**values: Any) -> dict[str, Any]:
    """Those that are not None."""
    return {key: value for key, value in values.items() if value is not None}
