"""`rookery import mlflow`: everything that another tracker has recorded, brought into this workspace."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Optional

import typer

from rookery.cli.session import AsJson, InWorkspace, client, current, describe_workspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import is_terminal, next_step, note, print_json, say

__all__ = ["app"]

app = typer.Typer(
    help="Bring what another tracker has recorded into this workspace: mlflow.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

SHOWN_PROBLEMS = 20


@app.callback()
def _group() -> None:
    """Bring what another tracker has recorded into this workspace."""


@app.command("mlflow")
def import_mlflow(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A tracking server's address, a SQLite file, or an mlruns folder.")
    ],
    experiment: Annotated[
        Optional[list[str]], typer.Option("--experiment", "-e", metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
    token: Annotated[Optional[str], typer.Option(help="For the server. Default: MLFLOW_TRACKING_TOKEN.")] = None,
    username: Annotated[
        Optional[str], typer.Option(help="For the server; the password is MLFLOW_TRACKING_PASSWORD, or asked for.")
    ] = None,
    artifacts: Annotated[
        Optional[str],
        typer.Option(metavar="FOLDER", help="Where a server keeps its files, when its database is imported."),
    ] = None,
    as_json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Experiments, runs, metrics, files and models of MLflow. Can be called again: it goes on, and adds what is missing."""
    from rookery.bring import bring, open_source

    opened = open_source(
        source, token=token, username=username, password=_password(token, username), artifacts=artifacts
    )
    keeper = client()
    try:
        with _bar(not current().json) as progress:
            compared = bring(keeper, opened, experiment or [], progress)
    finally:
        opened.close()
    if current().json:
        print_json(_plain(compared))
    else:
        _show(compared, opened.words)
    if not compared.is_equal:
        raise typer.Exit(1)


def _password(token: Optional[str], username: Optional[str]) -> Optional[str]:
    import os

    if token or not username or "MLFLOW_TRACKING_PASSWORD" in os.environ or not sys.stdin.isatty():
        return None
    return str(typer.prompt(f"Password of {username}", hide_input=True))


def _plain(compared: Any) -> dict[str, Any]:
    counts = {kind: {"source": there, "here": here} for kind, there, here, _ in compared.rows()}
    return {"equal": compared.is_equal, "new_runs": compared.new_runs, "counts": counts, "problems": compared.problems}


def _show(compared: Any, words: str) -> None:
    columns = [Column(""), Column("SOURCE", right=True), Column("HERE", right=True), Column("DIFFERENCE", right=True)]
    rows = [
        [kind, f"{there:,}", f"{here:,}", f"{more:+,}" if more else ""] for kind, there, here, more in compared.rows()
    ]
    print_table(columns, rows)
    for text in compared.problems[:SHOWN_PROBLEMS]:
        note("! " + text)
    if len(compared.problems) > SHOWN_PROBLEMS:
        note(f"! and {len(compared.problems) - SHOWN_PROBLEMS} more problems; all of them with --json.")
    new = f"{compared.new_runs} new runs" if compared.new_runs else "nothing new"
    if compared.is_equal:
        say(f"Everything of {words} is in {describe_workspace()} ({new}).")
        next_step("rookery ps --all", "the runs")
    else:
        say(f"Not everything of {words} is in {describe_workspace()} ({new}). Import it again to try once more.")


@contextmanager
def _bar(wanted: bool) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal, else nothing."""
    if not wanted or not is_terminal(sys.stderr):
        yield lambda done, total, words: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, words: bar.update(task, completed=done, total=total, description=escape(words[:60]))
