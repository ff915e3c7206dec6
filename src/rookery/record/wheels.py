"""Private wheels: content under a file name that pip can read, in the folder from which the builder takes files."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from typing import Any
from urllib.parse import quote

from rookery.errors import ConflictError, UserError
from rookery.record.content import Content
from rookery.record.storage import storage_errors
from rookery.settings import rookery_home
from rookery.spec.paths import WorkspacePaths

__all__ = ["Wheels", "wheels_folder"]

# name-version(-build)?-python-abi-platform.whl
_WHEEL = re.compile(r"[A-Za-z0-9_.]+-[A-Za-z0-9_.!+]+(?:-[0-9][A-Za-z0-9_.]*)?(?:-[A-Za-z0-9_.]+){3}\.whl")


def wheels_folder() -> str:
    """Where the wheels of all workspaces of this person lie: requirements may name files below it."""
    return os.path.join(rookery_home(), "wheels")


class Wheels:
    """Promises: the address of a wheel names its hash, so it never means other bytes; nothing is copied where a link will do."""

    def __init__(self, content: Content, paths: WorkspacePaths) -> None:
        self._content = content
        workspace = hashlib.sha256(os.path.realpath(paths.root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._folder = os.path.join(wheels_folder(), workspace)

    def add(self, name: Any, sha256: Any, exist_ok: bool = False) -> dict[str, str]:
        """{name, sha256, url}. The url goes into pip requirements as it is.

        Raises:
            UserError: the name is no wheel's.
            ConflictError: there is one of that name, and `exist_ok` is not set.
            ArtifactNotFoundError: the content is not stored; PUT it first.
        """
        if not isinstance(name, str) or len(name) > 255 or not _WHEEL.fullmatch(name):
            raise UserError(
                f"{name!r:.120} is no wheel's file name. It has the form name-version-python-abi-platform.whl, "
                "as `pip wheel` writes it."
            )
        self._content.size(str(sha256))  # raises where it is not stored
        known = self.find(name)
        if known and not exist_ok:
            raise ConflictError(
                f"The workspace has a wheel '{name}' already. Raise its version, or give exist_ok=True.",
                details={"sha256": known},
            )
        path = os.path.join(self._folder, str(sha256), name)
        if not os.path.exists(path):
            self._place(str(sha256), path)
        return {"name": name, "sha256": str(sha256), "url": "file://" + quote(path)}

    def find(self, name: str) -> list[str]:
        """The hashes of the wheels with this file name."""
        with contextlib.suppress(FileNotFoundError):
            return sorted(h for h in os.listdir(self._folder) if os.path.exists(os.path.join(self._folder, h, name)))
        return []

    def _place(self, sha256: str, path: str) -> None:
        with storage_errors(self._folder):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            source = self._content.local_path(sha256)
            if source is not None:
                try:
                    os.link(source, path)
                    return
                except FileExistsError:
                    return
                except OSError:
                    pass  # another file system, or one without links
            partial = f"{path}.{secrets.token_hex(4)}"
            with self._content.open(sha256) as blob, open(partial, "wb") as f:
                shutil.copyfileobj(blob, f)
            os.replace(partial, path)
