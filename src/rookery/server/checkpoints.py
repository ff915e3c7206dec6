"""What a run keeps from attempt to attempt (ROOKERY_RESUME_DIR), where its nodes do not see the workspace's folder.

Plain files in the run's own folder on the keeper, not in the content store: they go with the run's end, and a checkpoint that is
written anew every epoch must not stay for ever in every version.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from typing import Any, BinaryIO, Optional

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from rookery.errors import NotFoundError, UserError
from rookery.record.storage import storage_errors
from rookery.spec.names import check_artifact_name

__all__ = ["CheckpointFolder"]

PIECE = 1024 * 1024
_NEW = ".rookery-new-"


class CheckpointFolder:
    """Promises: a file is whole or not there; no name leads out of the folder, through links neither."""

    def __init__(self, root: str) -> None:
        self._root = root

    def list(self) -> list[dict[str, Any]]:
        """[{path, size, mode}], sorted by the time they came: what points to other files comes after them."""
        found = []
        for full in self._walk():
            with contextlib.suppress(OSError):
                about = os.stat(full)
                path = os.path.relpath(full, self._root).replace(os.sep, "/")
                found.append((about.st_mtime_ns, {"path": path, "size": about.st_size, "mode": about.st_mode & 0o777}))
        return [one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1]["path"]))]

    def open(self, name: str) -> tuple[BinaryIO, int]:
        """The file and its size.

        Raises:
            NotFoundError: there is none of that name.
        """
        try:
            file = open(self._path(name), "rb")  # noqa: SIM115  closed by who sends it
        except OSError:
            raise NotFoundError(f"The run has no checkpoint '{name:.200}'.") from None
        return file, os.fstat(file.fileno()).st_size

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(self._path(name))

    async def receive(self, name: str, mode: int, expected: Optional[str], request: Request) -> int:
        """Take a file from a request's body; its size.

        Raises:
            UserError: the bytes do not have the hash that was announced: the file changed while it was read.
        """
        path = self._path(name)
        partial = os.path.join(self._root, _NEW + secrets.token_hex(8))
        digest, size = hashlib.sha256(), 0
        file = await run_in_threadpool(self._begin, path, partial)
        try:
            buffer = bytearray()
            async for piece in request.stream():
                buffer += piece
                if len(buffer) >= PIECE:
                    size += len(buffer)
                    await run_in_threadpool(_write, file, bytes(buffer), digest)
                    buffer.clear()
            await run_in_threadpool(_write, file, bytes(buffer), digest)
            file.close()
            if expected and digest.hexdigest() != expected:
                raise UserError(f"'{name:.200}' changed while it was sent; send it again.")
            os.chmod(partial, (mode & 0o777) | 0o600)
            os.replace(partial, path)
            return size + len(buffer)
        finally:
            file.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(partial)

    def _begin(self, path: str, partial: str) -> BinaryIO:
        with storage_errors(self._root):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            if os.path.realpath(os.path.dirname(path)) != os.path.join(
                os.path.realpath(self._root), os.path.relpath(os.path.dirname(path), self._root)
            ).removesuffix("/."):
                raise UserError("A checkpoint's folder is a link; it is refused.")
            return open(partial, "wb")

    def _path(self, name: str) -> str:
        return os.path.join(self._root, *check_artifact_name(name).split("/"))

    def _walk(self) -> Iterator[str]:
        for here, _, names in os.walk(self._root):
            for name in names:
                full = os.path.join(here, name)
                if not name.startswith(_NEW) and not os.path.islink(full):
                    yield full


def _write(file: BinaryIO, data: bytes, digest: Any) -> None:
    digest.update(data)
    with storage_errors(file.name):
        file.write(data)
