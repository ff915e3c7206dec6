"""`rookery experiments …`: the names that runs are filed under."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_experiment
from rookery.cli.fields import field
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import next_step, paint, print_json, say
from rookery.cli.words import age, local_time
from rookery.worker.http import quote_path

__all__ = ["app"]

app = typer.Typer(
    help="Experiments: list, show, archive, reactivate, delete.", no_args_is_help=True, rich_markup_mode=None
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment's name.", autocompletion=complete_experiment)]


@app.command("list")
def list_experiments(
    is_archived: Annotated[bool, typer.Option("--archived", help="Only archived ones.")] = False,
    every: Annotated[bool, typer.Option("--all", "-a", help="Archived ones too.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Lists experiments."""
    view = "archived" if is_archived else "all" if every else "active"
    found = session.client().request("GET", "/experiments", query={"view": view})["experiments"]
    if session.current().json:
        print_json({"experiments": found})
        return
    if not found:
        say("No archived experiments." if is_archived else "No experiments yet.")
        next_step("rookery run SCRIPT")
        return
    columns = (
        Column("NAME"),
        Column("RUNS", right=True),
        Column("CHILDREN", right=True, rank=3),
        Column("CREATED", rank=1),
        Column("ARCHIVED", rank=2),
    )
    rows = [
        (e["name"], e["shown_count"], e["child_count"], age(e["created_utc"]), age(e["archived_utc"])) for e in found
    ]
    print_table(columns, rows)
    next_step(f"rookery ps --experiment {found[0]['name']}")


@app.command("show")
def show_experiment(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Shows one experiment."""
    _print(session.client().request("GET", _path(name)))
    if not session.current().json:
        next_step(f"rookery ps --experiment {name}")


@app.command("archive")
def archive_experiment(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Hides an experiment from lists; its runs stay."""
    _change(name, {"archived": True})


@app.command("reactivate")
def reactivate_experiment(
    name: Name,
    new_name: Annotated[Optional[str], typer.Option("--new-name", metavar="NAME", help="A new name for it.")] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Brings an archived experiment back."""
    _change(name, {"archived": False, **({"name": new_name} if new_name else {})})


@app.command("delete")
def delete_experiment(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Deletes an experiment that has no runs."""
    session.client().request("DELETE", _path(name))
    if session.current().json:
        print_json({"deleted": name})
    else:
        say(f"Deleted experiment {name}")
        next_step("rookery experiments list")


def _path(name: str) -> str:
    return "/experiments/" + quote_path(name).replace("/", "%2F")


def _change(name: str, body: dict[str, Any]) -> None:
    _print(session.client().request("PATCH", _path(name), body=body))
    if not session.current().json:
        next_step("rookery experiments list --all")


def _print(experiment: dict[str, Any]) -> None:
    if session.current().json:
        print_json(experiment)
        return
    say(paint(experiment["name"], "bold"))
    field("id", experiment["id"])
    if "shown_count" in experiment:  # not where it was changed
        field("runs", experiment["shown_count"])
        field("children", experiment["child_count"] or "")
    field("created", local_time(experiment["created_utc"]))
    field("archived", local_time(experiment["archived_utc"]))
    field("tags", ", ".join(f"{k}={v}" if v else k for k, v in (experiment["tags"] or {}).items()))
