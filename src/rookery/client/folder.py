"""A workspace as a folder: making one, opening one, listing the person's own. The keeper fills it; this only
gives it an identity."""

from __future__ import annotations

import json
import os
import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Optional

from rookery.errors import ConfigError, StorageError, WorkspaceError, WorkspaceNotFoundError
from rookery.settings import rookery_home
from rookery.spec.names import check_workspace_name, new_guid
from rookery.spec.paths import WorkspacePaths

__all__ = [
    "FORMAT",
    "WorkspaceIdentity",
    "create_workspace",
    "list_workspaces",
    "open_workspace",
    "workspaces_folder",
]

FORMAT = 1
# v1 code prints and concatenates it, so there is always one; the same everywhere, because here nothing hangs
# on it.
LOCAL_SUBSCRIPTION = str(uuid.uuid5(uuid.NAMESPACE_DNS, "rookery.local"))


@dataclass(frozen=True)
class WorkspaceIdentity:
    """What workspace.json says."""

    root: str
    id: str
    name: str
    subscription_id: str
    resource_group: str
    location: str
    created_utc: str


def create_workspace(
    root: str,
    name: str,
    subscription_id: Optional[str] = None,
    resource_group: Optional[str] = None,
    location: Optional[str] = None,
    exist_ok: bool = False,
) -> WorkspaceIdentity:
    """Make `root` a workspace. Of several that race, one makes it and (with `exist_ok`) all get the same.

    Raises:
        UserError: the name is not a valid one.
        WorkspaceError: there is a workspace already, and not `exist_ok`.
        StorageError: the folder cannot be written.
        ConfigError: what is there is corrupt or newer than this version.
    """
    check_workspace_name(name)
    root = os.path.realpath(root)
    paths = WorkspacePaths(root)
    content = {
        "format": FORMAT,
        "id": new_guid(),
        "name": name,
        "subscription_id": subscription_id or LOCAL_SUBSCRIPTION,
        "resource_group": resource_group or "rookery",
        "location": location or "local",
        "created_utc": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    try:
        if not os.path.exists(paths.identity):
            os.makedirs(os.path.dirname(root), exist_ok=True)
            os.makedirs(root, mode=0o700, exist_ok=True)
            os.chmod(root, 0o700)  # it will hold tokens; also when the folder was there before
            _write_once(paths.gitignore, "*\n")
            if _write_once(paths.identity, json.dumps(content, indent=2) + "\n"):
                return open_workspace(root)
    except OSError as error:
        raise StorageError(
            f"The workspace folder {root} cannot be made: {error.strerror or error}. "
            "Choose a folder on a disk that is writable and has room, or set ROOKERY_HOME to one."
        ) from error
    if not exist_ok:
        raise WorkspaceError(f"There is a workspace in {root} already. Open it, or pass exist_ok=True to use it.")
    return open_workspace(root)


def open_workspace(root: str) -> WorkspaceIdentity:
    """The identity of the workspace in `root`.

    Raises:
        WorkspaceNotFoundError: there is none.
        ConfigError: workspace.json is corrupt, or written by a newer version.
        StorageError: it cannot be read.
    """
    root = os.path.realpath(root)
    path = WorkspacePaths(root).identity
    try:
        with open(path, encoding="utf-8") as f:
            content: Any = json.load(f)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise WorkspaceNotFoundError(
            f"{root} is not a Rookery workspace (it has no workspace.json). Make one with "
            "`rookery init` or Workspace.create()."
        ) from error
    except OSError as error:
        raise StorageError(
            f"{path} cannot be read: {error.strerror or error}. Check the folder's owner and permissions."
        ) from error
    except ValueError as error:
        raise ConfigError(
            f"{path} is not valid JSON ({error}). Restore it from a backup; the workspace's id and name are in it."
        ) from error
    if not isinstance(content, dict) or not isinstance(content.get("format"), int):
        raise ConfigError(
            f"{path} is not the identity of a workspace: its 'format' is missing. Restore it from a backup."
        )
    if content["format"] > FORMAT:
        raise ConfigError(
            f"{path} has format {content['format']}; this version of Rookery reads up to "
            f"{FORMAT}. Upgrade it: pip install -U rookery."
        )
    names = [f for f in WorkspaceIdentity.__dataclass_fields__ if f != "root"]
    missing = [n for n in names if not isinstance(content.get(n), str)]
    if missing:
        raise ConfigError(f"{path} lacks {', '.join(missing)}. Restore it from a backup.")
    return WorkspaceIdentity(root=root, **{n: content[n] for n in names})


def workspaces_folder() -> str:
    """Where the person's own workspaces lie: `$ROOKERY_HOME/workspaces`."""
    return os.path.join(rookery_home(), "workspaces")


def list_workspaces() -> list[WorkspaceIdentity]:
    """The person's own workspaces, by name. One that cannot be read is left out."""
    try:
        names = sorted(os.listdir(workspaces_folder()))
    except OSError:
        return []
    found = []
    for name in names:
        try:
            found.append(open_workspace(os.path.join(workspaces_folder(), name)))
        except WorkspaceError:
            continue
    return found


def _write_once(path: str, text: str) -> bool:
    """Write a file that nobody ever sees half written; False when another was there first."""
    temporary = f"{path}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
    try:
        with open(temporary, "x", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            os.fsync(f.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        return True
    finally:
        try:
            os.unlink(temporary)
        except OSError:
            pass
