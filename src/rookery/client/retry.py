"""The one rule for sending a request again after the keeper was lost in the middle of it."""

from __future__ import annotations

import re

__all__ = ["may_repeat"]

# Repeating these changes nothing: GET and HEAD read; PUT, PATCH and DELETE say what is to be, not what is to
# be added. (A DELETE that was carried out before the keeper died answers "not found" the second time.)
_REPEATABLE_METHODS = frozenset(["GET", "HEAD", "PUT", "PATCH", "DELETE"])

# POSTs whose repetition has the same effect as the first: a run is known by its run_id, content and snapshots
# by their hash, to cancel twice is to cancel once, a second token or link of an artifact harms nobody, the same
# environment is the same version and joins the same build. What appends (records), what numbers (models) and what is
# refused the second time (status) is not here.
_REPEATABLE_POSTS = re.compile(
    r"/(runs|snapshots|tokens|content/missing|content/pack|runs/[^/]+/cancel|runs/[^/]+/artifacts|keeper/stop"
    r"|environments|environments/builds|environments/prepared|environments/[^/]+/labels)\Z"
)


def may_repeat(method: str, path: str, was_sent: bool) -> bool:
    """Whether a request that got no answer may be sent again. `path` is below /api/v1, without the query.

    A request that was not handed over completely (connection refused, or closed while sending) was not
    carried out: the keeper acts on whole requests only.
    """
    return (
        not was_sent
        or method in _REPEATABLE_METHODS
        or (method == "POST" and _REPEATABLE_POSTS.match(path) is not None)
    )
