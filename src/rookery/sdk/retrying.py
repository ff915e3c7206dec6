"""From `run_config.retries` to the fields of a RunSpec that say how often it is tried again, and with how many nodes."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.run_config_elements import Retries
from rookery.sdk.run_configuration import RunConfiguration

__all__ = ["retry_fields"]


def retry_fields(run_config: RunConfiguration, options: dict[str, Any]) -> dict[str, Any]:
    """`options` are the launcher's: its `min_nodes` counts where `retries` has none.

    Raises:
        UserError: `retries` is something else than Retries, or one of its numbers is none.
    """
    given = run_config.retries
    if given is None:
        given = Retries()
    if not isinstance(given, Retries):
        raise UserError(f"run_config.retries is {given!r}. Give Retries(lost_node=…, user_error=…), from rookery.sdk.")
    min_nodes = given.min_nodes if given.min_nodes is not None else options.get("min_nodes")
    return {
        "retries_lost_node": _count(given.lost_node, "lost_node"),
        "retries_user_error": _count(given.user_error, "user_error") or 0,
        "min_node_count": _count(min_nodes, "min_nodes"),
    }


def _count(value: Any, name: str) -> Optional[int]:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise UserError(f"retries.{name}={value!r} is {type(value).__name__}. Give a whole number.")
    return value
