"""The one rule for sending a request again after the keeper was lost in the middle of it."""

from __future__ import annotations

from rookery.spec.repeat import is_repeatable

__all__ = ["may_repeat"]


def may_repeat(method: str, path: str, was_sent: bool) -> bool:
    """Whether a request that got no answer may be sent again. `path` is below /api/v1, without the query.

    A request that was not handed over completely (connection refused, or closed while sending) was not
    carried out: the keeper acts on whole requests only. (A DELETE that was carried out before the keeper died
    answers "not found" the second time.)
    """
    return not was_sent or is_repeatable(method, path)
