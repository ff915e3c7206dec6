"""Large files on their way to the keeper: after a broken connection they go on from what has arrived.

As `rookery.client.uploads` does it, with an agent's patience. A file is stored under its hash first, then given its name.
"""

from __future__ import annotations

import os
import random
from typing import BinaryIO

from rookery.agent.keeper import Keeper
from rookery.errors import ConflictError, NotFoundError, UserError
from rookery.worker.http import HttpClient

__all__ = ["upload_content"]

RESUMABLE_BYTES = 4 * 1024 * 1024  # below it, beginning again costs less than asking
TURNS = 12  # given up to another sender of the same bytes


def upload_content(keeper: Keeper, sha256: str, file: str) -> bool:
    """Store a file under its hash. False where that is not worth it, or cannot be done: then it is sent in one piece.

    Raises:
        ConflictError: the file does not have this hash any more.
        UserError: it has become shorter while it was sent.
    """
    size = os.path.getsize(file)
    if size < RESUMABLE_BYTES:
        return False

    def send(client: HttpClient) -> bool:
        state = client.request("GET", f"/content/{sha256}/upload")
        if state["stored"]:
            return True
        offset = min(int(state["offset"]), size)
        with open(file, "rb") as f:
            f.seek(offset)
            answer = client.send_rest(f"/content/{sha256}", _Rest(f, size - offset), offset, size)
        return bool(answer["stored"])

    for turn in range(TURNS):
        try:
            if keeper.patiently(send):
                return True
        except NotFoundError:
            return False  # a keeper that cannot do it
        except ConflictError as error:
            if "sha256" in error.details:
                raise
            # Another node has the same file, and whoever began last sends it: let it, then see what is missing.
            keeper.pause(random.uniform(0.2, 0.6) * (turn + 1))
    return False


class _Rest:
    """The next `left` bytes of a file, and no more: what is appended meanwhile is not part of it."""

    def __init__(self, file: BinaryIO, left: int) -> None:
        self._file, self._left = file, left

    def read(self, size: int = -1) -> bytes:
        if self._left == 0:
            return b""
        try:
            data = self._file.read(self._left if size < 0 else min(size, self._left))
        except OSError as error:  # as it is it would look like a lost connection, and be tried for ever
            raise UserError(f"It cannot be read while it is sent: {error.strerror or error}.") from error
        if not data:
            raise UserError("A file became shorter while it was sent.")
        self._left -= len(data)
        return data
