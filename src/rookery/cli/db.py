"""`rookery db status|upgrade|backup|copy`: the database that holds the workspace's record."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rookery.cli import session
from rookery.cli.fields import field
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import next_step, note, print_json, say
from rookery.cli.words import size

__all__ = ["app"]

app = typer.Typer(
    help="The database that holds the record: status, upgrade, backup, copy.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("status")
def db_status(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Says where the record is, of which schema, how large, and what backups there are."""
    from rookery.server import maintenance

    found = maintenance.status(session.workspace_root())
    if session.current().json:
        print_json(found)
        return
    say(f"Record in {found['database']}")
    field("schema", f"{found['schema'] or 'none'} (this version has {found['schema_known']})")
    field("size", size(found["size_bytes"]))
    field("artifacts", found["artifacts"])
    field("backups", len(found["backups"]))
    _print_tables(found["tables"])
    next_step("rookery db backup" if found["schema"] == found["schema_known"] else "rookery db upgrade")


@app.command("upgrade")
def db_upgrade(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Brings the record to this version's schema. What it was before is kept as a backup."""
    from rookery.client.start import stop_keeper
    from rookery.server import maintenance

    root = session.workspace_root()
    stopped = stop_keeper(root)
    if stopped:
        note(f"The keeper (pid {stopped}) has made way. Runs carry on.")
    done = maintenance.upgrade_workspace(root)
    if session.current().json:
        print_json(done)
    elif done["before"] == done["after"]:
        say(f"{done['database']} has schema {done['after']} already: nothing to do.")
    else:
        say(f"{done['database']}: schema {done['before'] or 'none'} → {done['after']}.")
        field("backup", done["backup"] or "")
        next_step("rookery db status")


@app.command("backup")
def db_backup(
    to: Annotated[str, typer.Option("--to", metavar="FILE", help="Where to; default: a new file in backups/.")] = "",
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Writes the whole record, as it is now, to one SQLite file. Nothing has to be stopped."""
    from rookery.server import maintenance

    done = maintenance.backup(session.workspace_root(), to)
    if session.current().json:
        print_json(done)
        return
    say(f"{done['backup']}  {size(done['size_bytes'])}")
    note("It holds the record. Logs and files of runs are in the workspace's folder, or where --artifacts says.")
    next_step(f"rookery db copy sqlite:///{done['backup']} URL")


@app.command("copy")
def db_copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="sqlite:///path/record.db or postgresql://…")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The same; it must be empty.")],
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Copies a record from one database to another: all of it, compared row by row, or nothing."""
    from rookery.server import maintenance

    shown = [] if session.current().json else [say]

    def on_table(done: Any) -> None:
        for tell in shown if done.rows else ():
            tell(f"  {done.name:<22} {done.rows:>10} rows  {done.checksum[:16]}")

    done = maintenance.copy(source, target, on_table)
    if session.current().json:
        print_json(done)
        return
    say(f"{done['rows']} rows in {len(done['tables'])} tables, equal in {done['source']} and {done['target']}.")
    note("A keeper that wrote meanwhile has newer rows: stop it before you copy (`rookery keeper stop`).")
    next_step("rookery server --database URL")


def _print_tables(tables: list[dict[str, Any]]) -> None:
    for table in tables:
        if table["rows"]:
            say(f"  {table['name']:<22} {table['rows']:>10} rows  {table['checksum'][:16]}")
