"""`rookery gc`: gives back the room of what nothing refers to any more."""

from __future__ import annotations

from typing import Annotated

import typer

from rookery.cli import session
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import next_step, note, print_json, say
from rookery.cli.words import size

__all__ = ["gc"]

TIMEOUT_S = 3600.0
WORDS = {
    "deleted_runs": "runs deleted long ago, with their logs",
    "snapshots": "snapshots of no run",
    "content": "stored files that nothing names",
    "manifests": "lists of data files that no run and no data set names",
    "definitions": "definitions of data that no run and no data set names",
    "files_without_row": "files that the record does not know",
    "logs_of_no_run": "logs of runs that are gone",
    "folders_of_no_run": "folders of runs that are gone",
    "folders_of_no_endpoint": "folders of endpoints that are gone",
    "spool": "spool of runs that are over",
    "payloads": "payloads of other versions",
    "build_logs": "logs of builds that are gone",
    "uploads": "unfinished uploads",
}


def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    older_than: Annotated[
        float, typer.Option("--older-than", min=0, metavar="HOURS", help="Leave alone what is younger.")
    ] = 24.0,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Removes stored files, logs and leftovers that nothing refers to, and runs that were deleted long ago."""
    wish = {"dry_run": dry_run, "older_than_h": older_than}
    found = session.client().request("POST", "/gc", body=wish, timeout_s=TIMEOUT_S)
    if session.current().json:
        print_json(found)
        return
    for one in found["kinds"]:
        if one["items"]:
            say(f"  {one['items']:>8}  {size(one['bytes']):>10}  {WORDS.get(one['kind'], one['kind'])}")
    total = sum(one["bytes"] for one in found["kinds"])
    items = sum(one["items"] for one in found["kinds"])
    removed = sum(one["removed"] for one in found["kinds"])
    if not items:
        say(f"Nothing that is older than {older_than:g} h can be removed.")
    elif dry_run:
        say(f"{items} things, {size(total)}, would be removed.")
        next_step("rookery gc")
    else:
        say(f"{removed} of {items} things removed, {size(total)} in all.")
        if removed < items:
            note("The others are in use again, or wait for a run below them.")
