"""Which requests may be carried out twice."""

from __future__ import annotations

import re

__all__ = ["is_repeatable"]

# POSTs whose repetition has the same effect as the first: a run is known by its run_id, content and snapshots
# by their hash, to cancel twice is to cancel once, a second token or link of an artifact harms nobody, the same
# environment is the same version and joins the same build, a definition of data is the same, a file of a pack is there
# already or is written anew, what comes from elsewhere says what must be there before
# it. An agent's own are told with offsets, or say what is. What appends (records), what numbers (models) and what is
# refused the second time (status) is not here.
_REPEATABLE_POSTS = re.compile(
    r"/(runs|snapshots|tokens|content/missing|content/pack|runs/[^/]+/cancel|runs/[^/]+/artifacts|keeper/stop"
    r"|environments|environments/builds|environments/prepared|environments/[^/]+/labels"
    r"|past/[^/]+|past/runs/[^/]+/values"
    r"|search/runs|search/series|compare"
    r"|data/definitions|data/definitions/[^/]+/resolve|datastores/[^/]+/(pack|default)"
    r"|agent/[^/]+/\d+/\d+/([a-z]+|outputs/[^/]+))\Z"
)


def is_repeatable(method: str, path: str) -> bool:
    """Whether doing this again changes nothing. `path` is below /api/v1, without the query.

    GET and HEAD read; PUT, PATCH and DELETE say what is to be, not what is to be added.
    """
    return method in ("GET", "HEAD", "PUT", "PATCH", "DELETE") or (
        method == "POST" and _REPEATABLE_POSTS.match(path) is not None
    )
