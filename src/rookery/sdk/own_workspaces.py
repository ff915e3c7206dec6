"""The person's own workspaces, below $ROOKERY_HOME/workspaces: finding one by name."""

from __future__ import annotations

import os
from typing import Optional

from rookery.client import (
    WorkspaceAddress,
    WorkspaceIdentity,
    list_workspaces,
    open_workspace,
    workspaces_folder,
)
from rookery.errors import WorkspaceNotFoundError
from rookery.spec.names import check_workspace_name

__all__ = ["address_of", "find_own"]


def find_own(name: str, subscription_id: Optional[str], resource_group: Optional[str]) -> WorkspaceAddress:
    """WorkspaceNotFoundError lists the others."""
    root = os.path.join(workspaces_folder(), check_workspace_name(name))
    try:
        identity = open_workspace(root)
    except WorkspaceNotFoundError:
        known = ", ".join(found.name for found in list_workspaces())
        raise WorkspaceNotFoundError(
            f"Workspace '{name}' does not exist in {workspaces_folder()!r}. Known: {known or 'none'}. "
            f"Make it with Workspace.create('{name}')."
        ) from None
    return address_of(identity, subscription_id, resource_group)


def address_of(
    identity: WorkspaceIdentity, subscription_id: Optional[str] = None, resource_group: Optional[str] = None
) -> WorkspaceAddress:
    return WorkspaceAddress(
        identity.name,
        subscription_id or identity.subscription_id,
        resource_group or identity.resource_group,
        identity.location,
        root=identity.root,
    )
