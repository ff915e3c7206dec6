"""`rookery init [PATH]`: makes a folder a workspace."""

from __future__ import annotations

import json as json_text
import os
import re
from typing import Annotated, Optional

import typer

from rookery.cli import session
from rookery.cli.session import AsJson
from rookery.cli.terminal import clean, next_step, print_json, say
from rookery.errors import UserError

__all__ = ["init"]


def init(
    path: Annotated[
        str,
        typer.Argument(metavar="PATH", help="The project's folder; it is made if it is not there.", show_default=False),
    ] = ".",
    name: Annotated[
        Optional[str],
        typer.Option("--name", metavar="NAME", help="The workspace's name. Default: the folder's."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Makes a workspace in a folder. Done twice, it changes nothing."""
    from rookery.client.config import WorkspaceAddress, write_config
    from rookery.client.folder import create_workspace

    folder = os.path.abspath(os.path.expanduser(path))
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UserError(f"{path!r} is a file. Give a folder.")
    root = os.path.join(folder, ".rookery")
    was_there = os.path.exists(os.path.join(root, "workspace.json"))
    known = _known_keys(os.path.join(folder, ".azureml", "config.json"), root)
    made = create_workspace(
        root,
        name or known.get("workspace_name") or _name_of(folder),
        subscription_id=known.get("subscription_id"),
        resource_group=known.get("resource_group"),
        exist_ok=True,
    )
    if name and name != made.name:
        raise UserError(f"There is a workspace {made.name!r} in {folder} already, so it cannot be called {name!r}.")
    address = WorkspaceAddress(made.name, made.subscription_id, made.resource_group, made.location, root=made.root)
    config = write_config(address, os.path.join(folder, ".azureml"))
    if session.current().json:
        print_json({"name": made.name, "id": made.id, "root": root, "config": config, "created": not was_there})
        return
    say(f"Workspace {made.name} {'was there already' if was_there else 'made'}:")
    say(f"  {clean(root)}  what is recorded; keep it out of version control")
    say(f"  {clean(config)}  says where it is; Workspace.from_config() reads it")
    next_step("rookery run SCRIPT" if folder == os.getcwd() else f"cd {clean(path)} && rookery run SCRIPT")


def _known_keys(config: str, root: str) -> dict[str, str]:
    """v1's three keys of a config.json that is there already (downloaded from Azure), to keep them.

    Raises:
        UserError: it leads to another workspace of ours, or cannot be read; it is not overwritten.
    """
    if not os.path.exists(config):
        return {}
    try:
        with open(config, encoding="utf-8-sig") as f:
            data = json_text.load(f)
        ours = data.get("rookery") or {}
        leads_to = ours.get("url") or (ours.get("path") and os.path.join(os.path.dirname(config), ours["path"]))
    except (OSError, ValueError, AttributeError) as error:
        raise UserError(f"{config} is there already and cannot be read ({error}). Mend or remove it.") from error
    if leads_to and os.path.realpath(leads_to) != os.path.realpath(root):
        raise UserError(f"{config} is there already and leads to {leads_to}. Remove it to make a workspace here.")
    return {k: v for k, v in data.items() if k in ("workspace_name", "subscription_id", "resource_group") and v}


def _name_of(folder: str) -> str:
    """The folder's name with everything that a workspace's name may not hold replaced."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", os.path.basename(folder)).strip("-_")[:32]
    return name if len(name) >= 2 else "workspace"
