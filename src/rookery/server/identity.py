"""The workspace's identity, as it was when it was made."""

from __future__ import annotations

import json
import os
from typing import Any

from rookery.errors import ConfigError, StorageError, VersionMismatchError, WorkspaceNotFoundError
from rookery.spec.paths import WorkspacePaths

__all__ = ["FORMAT", "read_identity"]

FORMAT = 1


def read_identity(paths: WorkspacePaths) -> dict[str, Any]:
    """workspace.json, once it is certain that this folder is a workspace that we may and can keep.

    Raises:
        WorkspaceNotFoundError, ConfigError, VersionMismatchError, StorageError: which of these is not so, and
        what to do.
    """
    try:
        with open(paths.identity, encoding="utf-8") as f:
            identity = json.load(f)
    except FileNotFoundError:
        raise WorkspaceNotFoundError(
            f"{paths.root} is not a workspace: it has no workspace.json. Make one with `rookery init`."
        ) from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{paths.identity} cannot be read ({error}). Mend it, or restore it from a copy.") from error
    if not isinstance(identity, dict) or not all(isinstance(identity.get(key), str) for key in ("id", "name")):
        raise ConfigError(f"{paths.identity} lacks the workspace's id or name. Mend it, or restore it from a copy.")
    found = identity.get("format", FORMAT)
    if not isinstance(found, int) or found > FORMAT:
        raise VersionMismatchError(
            f"The workspace {paths.root} has format {found!r:.20}; this Rookery knows up to {FORMAT}. "
            "It was used by a newer version: upgrade with `pip install -U rookery`.",
            details={"found": found, "known": FORMAT},
        )
    if not os.access(paths.root, os.W_OK | os.X_OK):
        raise StorageError(
            f"The workspace {paths.root} may not be written by this user. Make it writable, or use another."
        )
    return identity
