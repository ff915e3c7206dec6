"""What every verb shares: which workspace was meant, JSON or not, and the client that asks its keeper."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from rookery.errors import (
    AuthenticationError,
    KeeperUnavailableError,
    StorageError,
    UserError,
    WorkspaceNotFoundError,
)

if TYPE_CHECKING:
    from rookery.client import WorkspaceAddress

__all__ = [
    "AsJson",
    "InWorkspace",
    "Session",
    "address",
    "client",
    "current",
    "describe_workspace",
    "owner_token",
    "running_client",
    "sdk_workspace",
    "start",
    "workspace_root",
]


@dataclass
class Session:
    """One call of the command line."""

    json: bool = False
    workspace: Optional[str] = None
    address: Optional[WorkspaceAddress] = None


_session = Session()


def start() -> Session:
    """Forgets what an earlier call in this process was told (tests call `main` many times)."""
    global _session
    _session = Session()
    return _session


def current() -> Session:
    return _session


def address() -> WorkspaceAddress:
    """Where the workspace is: --workspace if given, else `rookery.client`'s rule from the current folder."""
    if _session.address is None:
        from rookery.client.config import find_workspace

        _session.address = _address_at(_session.workspace) if _session.workspace else find_workspace()
    return _session.address


def client() -> Any:
    """The client of the workspace's keeper, which is started where none runs."""
    from rookery.client import Client

    return Client.for_address(address())


def running_client(workspace: Optional[str]) -> Any:
    """The same, but None where no keeper runs. Neither a keeper nor a workspace is made."""
    from rookery.client import Client

    where = _address_at(workspace) if workspace else _address_here()
    if where is None:
        return None
    if where.url:
        return Client.for_address(where)
    try:
        return Client.for_workspace(where.root or "", start=False)
    except KeeperUnavailableError:
        return None


def sdk_workspace() -> Any:
    """The SDK's Workspace for it."""
    from rookery.sdk import Workspace

    return Workspace._from_address(address())


def workspace_root() -> str:
    """The workspace's folder; UserError for one that is on a server."""
    where = address()
    if not where.root:
        raise UserError(
            f"The workspace {where.name!r} is on the server {where.url}. "
            "This needs one in a folder here: `rookery init`."
        )
    return where.root


def owner_token() -> str:
    """The token that may do everything: the workspace's own or, for a server, the one the client keeps."""
    from rookery.spec.paths import WorkspacePaths

    where = address()
    if where.url:
        if not where.token:
            raise AuthenticationError(
                f"No token is known for {where.url}. Set ROOKERY_TOKEN to the one that `rookery token` prints there."
            )
        return where.token
    client()  # a keeper makes the token when it first starts
    path = WorkspacePaths(where.root or "").token
    try:
        with open(path, encoding="ascii") as f:
            return f.read().strip()
    except OSError as error:
        raise StorageError(f"The token in {path} cannot be read: {error.strerror or error}.") from error


def describe_workspace() -> str:
    where = address()
    return f"{where.name} in {where.root}" if where.root else f"{where.name} at {where.url}"


def _address_at(path: str) -> WorkspaceAddress:
    """What --workspace means: a workspace's own folder, a project's, or a config file. Never another one."""
    from rookery.client.config import WorkspaceAddress, find_config, read_config
    from rookery.client.folder import open_workspace

    full = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(full):
        raise WorkspaceNotFoundError(
            f"--workspace {path!r} does not exist. Give a project's folder, its .rookery folder, or a config.json."
        )
    for root in (full, os.path.join(full, ".rookery")):
        if os.path.exists(os.path.join(root, "workspace.json")):
            made = open_workspace(root)
            return WorkspaceAddress(made.name, made.subscription_id, made.resource_group, made.location, root=made.root)
    config = find_config(full)
    if config is None:
        raise WorkspaceNotFoundError(
            f"--workspace {path!r} has no workspace, nor has a folder above it. Make one with `rookery init {path}`."
        )
    return read_config(config)


def _address_here() -> Optional[WorkspaceAddress]:
    """Where the workspace is, without making the person's default one and without a word."""
    from rookery.client.config import find_config
    from rookery.client.folder import workspaces_folder

    if find_config() is None and not os.path.isdir(os.path.join(workspaces_folder(), "default")):
        return None
    return address()


def _remember_json(value: bool) -> bool:
    _session.json = _session.json or value
    return value


def _remember_workspace(value: Optional[str]) -> Optional[str]:
    _session.workspace = value or _session.workspace
    return value


AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON and nothing else on stdout.", callback=_remember_json, is_eager=True),
]
InWorkspace = Annotated[
    Optional[str],
    typer.Option(
        "--workspace",
        "-C",
        metavar="PATH",
        help="A project's folder, its .rookery folder, or a config.json. Default: from here upwards.",
        callback=_remember_workspace,
        is_eager=True,
    ),
]
