"""`rookery doctor`: what this machine has, what is missing, and the command that gets it."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from rookery.cli import session
from rookery.cli.checks import BROKEN, MISSING, OK, Check, examine
from rookery.cli.complete import complete_compute
from rookery.cli.compute import check_compute
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import cells
from rookery.cli.terminal import clean, is_terminal, next_step, paint, print_json, say, width

__all__ = ["doctor"]

_STYLES = {OK: "green", MISSING: "yellow", BROKEN: "red"}
LABEL = 18


def doctor(
    python: Annotated[
        Optional[str],
        typer.Option("--python", metavar="PATH", help="The interpreter whose torch to look at. Default: this one."),
    ] = None,
    compute: Annotated[
        Optional[str],
        typer.Option(
            "--compute",
            metavar="NAME",
            help="Try this compute target from end to end instead.",
            autocompletion=complete_compute,
        ),
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> int:
    """Examines this machine and the workspace; exits with 1 when something that Rookery needs is broken."""
    if compute:
        return check_compute(compute)
    checks = examine(python)
    is_well = all(check.state != BROKEN for check in checks)
    if session.current().json:
        print_json({"ok": is_well, "checks": [vars(check) for check in checks]})
        return 0 if is_well else 1
    for check in checks:
        _print(check)
    broken = [c.name for c in checks if c.state == BROKEN]
    missing = [c.name for c in checks if c.state == MISSING]
    say()
    if broken:
        say(paint(f"Broken: {', '.join(broken)}.", "red") + " Rookery needs it.")
    elif missing:
        say(f"Everything that Rookery needs is there. You may want: {', '.join(missing)}.")
    else:
        say("Everything is there.")
    if is_well:
        next_step("rookery run SCRIPT")
    return 0 if is_well else 1


def _print(check: Check) -> None:
    state = paint(f"{check.state:<8}", _STYLES.get(check.state, "dim"))
    say(f"{state}{check.name:<{LABEL}}{_wrapped(clean(check.detail), 8 + LABEL)}")
    if check.fix:
        say(" " * 8 + paint("fix: ", "dim") + clean(check.fix))


def _wrapped(text: str, start: int) -> str:
    import textwrap

    room = width() - start
    if not is_terminal() or cells(text) <= room:
        return text
    return ("\n" + " " * start).join(textwrap.wrap(text, max(room, 16), break_on_hyphens=False))
