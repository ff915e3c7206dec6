"""Talking to a keeper: finding or starting it, asking it, and following its events. Standard library only,
Python 3.9 and newer."""

from __future__ import annotations

from rookery.client.client import Client
from rookery.client.config import WorkspaceAddress, find_config, find_workspace, read_config, write_config
from rookery.client.folder import (
    WorkspaceIdentity,
    create_workspace,
    list_workspaces,
    open_workspace,
    workspaces_folder,
)
from rookery.client.part import FilePart
from rookery.client.start import ensure_keeper, find_keeper, stop_keeper
from rookery.client.stream import Event, EventStream
from rookery.client.uploads import upload_content

__all__ = [
    "Client",
    "Event",
    "EventStream",
    "FilePart",
    "WorkspaceAddress",
    "WorkspaceIdentity",
    "create_workspace",
    "ensure_keeper",
    "find_config",
    "find_keeper",
    "find_workspace",
    "list_workspaces",
    "open_workspace",
    "read_config",
    "stop_keeper",
    "upload_content",
    "workspaces_folder",
    "write_config",
]
