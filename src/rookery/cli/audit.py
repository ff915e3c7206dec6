"""`rookery audit`: who did what."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import next_step, print_json, say
from rookery.cli.words import local_time

__all__ = ["audit"]


def audit(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="How many, newest first.")] = 50,
    who: Annotated[Optional[str], typer.Option("--who", metavar="NAME", help="Only what this user did.")] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Shows who changed what, newest first. Owners only."""
    client = session.client()
    found: list[dict[str, Any]] = []
    cursor = None
    while len(found) < limit:
        page = client.request(
            "GET", "/audit", query={"limit": min(limit - len(found), 1000), "before": cursor, "who": who}
        )
        found += page["entries"]
        cursor = page["cursor"]
        if cursor is None:
            break
    if session.current().json:
        print_json({"entries": found})
        return
    if not found:
        say("Nothing has been changed yet.")
        return
    columns = (
        Column("TIME"), Column("WHO"), Column("STATUS", right=True), Column("ACTION"), Column("PATH", rank=1, shrinks=True),
        Column("FROM", rank=2), Column("REQUEST", rank=3),
    )  # fmt: skip
    rows = [
        (local_time(e["time_utc"]), e["who"], e["status"], e["action"], e["path"], e["address"], e["request_id"])
        for e in found
    ]
    print_table(columns, rows)
    next_step(f"rookery audit --who {found[0]['who']}")
