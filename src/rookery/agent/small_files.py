"""Small files of a folder, stored many at a time: three requests for hundreds of files instead of two for each."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

from rookery.agent.keeper import Keeper
from rookery.errors import RookeryError
from rookery.spec.names import check_artifact_name
from rookery.worker.http import quote_path

__all__ = ["SmallFiles"]

SMALL_BYTES = 256 * 1024
BATCH_BYTES = 4 * 1024 * 1024
BATCH_FILES = 500


class SmallFiles:
    """Artifacts of one run that wait to be sent together.

    Promises: what was taken is stored by `send` at the latest; where a batch is refused, each of its files is given to
    `store_one`, which tells what is wrong with it.
    """

    def __init__(self, keeper: Keeper, run_id: str, store_one: Callable[[str, str], bool]) -> None:
        self._keeper, self._run_id, self._store_one = keeper, run_id, store_one
        self._waiting: list[tuple[str, str, bytes]] = []  # name, path, content
        self._bytes = 0
        self.stored = 0

    def take(self, name: str, file: str) -> bool:
        """Whether the file is one for a batch; it is read now."""
        try:
            if os.path.getsize(file) > SMALL_BYTES:
                return False
            with open(file, "rb") as f:
                data = f.read(SMALL_BYTES + 1)
            name = check_artifact_name(name)
        except (OSError, RookeryError):
            return False
        if len(data) > SMALL_BYTES:
            return False
        self._waiting.append((name, file, data))
        self._bytes += len(data)
        if self._bytes >= BATCH_BYTES or len(self._waiting) >= BATCH_FILES:
            self.send()
        return True

    def send(self) -> None:
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        if not waiting:
            return
        content = {hashlib.sha256(data).hexdigest(): data for _, _, data in waiting}
        links = [{"name": name, "sha256": hashlib.sha256(data).hexdigest()} for name, _, data in waiting]
        try:
            missing = self._keeper.request("POST", "/content/missing", body={"sha256": list(content)})["missing"]
            if missing:
                pack = b"".join(b"%s%016x%s" % (sha.encode(), len(content[sha]), content[sha]) for sha in missing)
                self._keeper.request("POST", "/content/pack", body=pack)
            self._keeper.request("POST", f"/runs/{quote_path(self._run_id)}/artifacts", body={"artifacts": links})
            self.stored += len(waiting)
        except RookeryError:
            self.stored += sum(self._store_one(name, file) for name, file, _ in waiting)
