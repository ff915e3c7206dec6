"""Files on their way to the keeper that go on where a broken connection has left them."""

from __future__ import annotations

import time
from typing import Any

from rookery.client.part import FilePart
from rookery.errors import ConflictError, KeeperUnavailableError, NotFoundError

__all__ = ["upload_content"]

RESUMABLE_BYTES = 4 * 1024 * 1024  # below it, beginning again costs less than asking
TRIES = 5  # in a row that bring nothing


def upload_content(client: Any, sha256: str, part: FilePart) -> None:
    """Stores the file under its hash; after a loss it goes on from what has arrived.

    Raises:
        ConflictError: the bytes do not have this hash.
        KeeperUnavailableError: it stays away.
    """
    if part.size < RESUMABLE_BYTES:
        client.upload("/content/" + sha256, part)
        return
    begin = part.tell()
    idle, best, wrong = 0, -1, 0
    while True:
        try:
            state = client.request("GET", f"/content/{sha256}/upload")
        except NotFoundError:  # a keeper that cannot do it
            part.seek(begin)
            client.upload("/content/" + sha256, part)
            return
        if state["stored"]:
            return
        offset = min(state["offset"], part.size)
        idle = 0 if offset > best else idle + 1
        best = max(best, offset)
        try:
            if client.send_part("/content/" + sha256, part, offset)["stored"]:
                return
        except ConflictError as error:
            if "sha256" in error.details:
                raise
            wrong += 1  # somebody else sends the same bytes, or it is stored by now
            if wrong > TRIES:
                raise
        except KeeperUnavailableError:
            if idle >= TRIES:
                raise
            time.sleep(0.05 * 2**idle)
