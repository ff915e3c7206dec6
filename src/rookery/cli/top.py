"""`rookery top`: runs, ranks and compute, live."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from rookery.cli import session
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import print_table
from rookery.cli.terminal import has_color, is_terminal, print_json, say, status_style
from rookery.cli.top_data import look
from rookery.cli.top_view import TABLES, headline, rows
from rookery.errors import KeeperUnavailableError, RookeryError

__all__ = ["top"]


def top(
    once: Annotated[bool, typer.Option("--once", help="Look once and leave.")] = False,
    interval: Annotated[float, typer.Option(min=0.2, metavar="S", help="Seconds between two looks.")] = 2.0,
    most: Annotated[int, typer.Option("-n", "--limit", min=1, max=50, metavar="N", help="How many runs to show.")] = 10,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Shows what runs, what its ranks use, what waits and why, and what compute does. Ctrl-C leaves."""
    client = session.client()
    as_json = session.current().json
    if once or not (as_json or is_terminal()):
        _once(look(client, most), as_json)
        return
    try:
        if as_json:
            while True:
                print_json(look(client, most), line=True)
                time.sleep(interval)
        _live(client, most, interval)
    except KeyboardInterrupt:
        return


def _once(seen: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(seen)
        return
    say(headline(seen))
    found = rows(seen)
    for name, columns in TABLES:
        if found[name]:
            say()
            print_table(columns, found[name])


def _live(client: Any, most: int, interval: float) -> None:
    """The whole screen, given back at the end. A keeper that does not answer is waited for."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(no_color=not has_color(), highlight=False)
    with Live(Text("…"), console=console, screen=True, auto_refresh=False) as live:
        while True:
            try:
                live.update(_screen(look(client, most)), refresh=True)
            except KeeperUnavailableError as error:
                live.update(Text(f"{error.message}\nTrying again."), refresh=True)
            except RookeryError as error:
                if error.code != "run_not_found":  # a run that was deleted between two questions
                    raise
            time.sleep(interval)


def _screen(seen: dict[str, Any]) -> Any:
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    found = rows(seen)
    parts: list[Any] = [Text(headline(seen), style="bold"), Text("")]
    for name, columns in TABLES:
        if not found[name]:
            continue
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
        for column in columns:
            table.add_column(
                column.title,
                justify="right" if column.right else "left",
                no_wrap=not column.shrinks,
                overflow="ellipsis",
            )
        for row in found[name]:
            cells = [
                Text(cell, style=status_style(cell) if column.is_status else "") for column, cell in zip(columns, row)
            ]
            table.add_row(*cells)
        parts.append(table)
    if not found["runs"]:
        parts.insert(2, Text("Nothing runs and nothing waits. Start something: rookery run SCRIPT"))
    parts.append(Text(f"{time.strftime('%H:%M:%S')}   Ctrl-C leaves", style="dim"))
    return Group(*parts)
