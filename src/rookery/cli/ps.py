"""`rookery ps`: what runs, what waits and for what, what ended lately."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_experiment, complete_status
from rookery.cli.find import all_runs
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, is_terminal, next_step, note, print_json, say
from rookery.cli.words import age, between
from rookery.spec.status import ACTIVE, RunStatus

__all__ = ["ps"]

COLUMNS = (
    Column("RUN"),
    Column("STATUS", is_status=True),
    Column("NAME", rank=3, shrinks=True),
    Column("EXPERIMENT", rank=5, shrinks=True),
    Column("COMPUTE", rank=4),
    Column("CREATED", rank=2),
    Column("TIME", rank=1, right=True),
    Column("REASON"),
)


def ps(
    every: Annotated[bool, typer.Option("--all", "-a", help="Every run, child runs too.")] = False,
    experiment: Annotated[
        Optional[str],
        typer.Option(metavar="NAME", help="Only runs of this experiment.", autocompletion=complete_experiment),
    ] = None,
    status: Annotated[
        Optional[list[str]],
        typer.Option(metavar="STATUS", help="Only this status; repeat for several.", autocompletion=complete_status),
    ] = None,
    most: Annotated[
        int, typer.Option("-n", "--limit", min=1, metavar="N", help="How many runs that have ended to show.")
    ] = 10,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Lists runs: live ones first, then the newest that ended."""
    runs = _select(session.client(), every, experiment, _statuses(status), most)
    if session.current().json:
        print_json({"runs": runs})
        return
    if not runs:
        say("No runs." if experiment or status else "No runs yet.")
        next_step("rookery run SCRIPT")
        return
    # A reason is a sentence: on a terminal it has a line of its own, where it is not cut.
    columns = COLUMNS[:-1] if is_terminal() else COLUMNS
    print_table(columns, [_row(run)[: len(columns)] for run in runs])
    if is_terminal():
        for run in (run for run in runs if run["reason"] and _is_live(run)):
            say(f"{run['id']}: {clean(run['reason'])}")
    if not every and sum(not _is_live(run) for run in runs) >= most:
        note(f"Ended runs: the newest {most}. `rookery ps --all` shows all.")
    next_step(f"rookery {'logs -f' if _is_live(runs[0]) else 'show'} {runs[0]['id']}")


def _select(
    client: Any, every: bool, experiment: Optional[str], statuses: list[str], most: int
) -> list[dict[str, Any]]:
    query: dict[str, Any] = {"experiment": experiment}
    if every:
        query["include_children"] = "true"
    if statuses:
        runs = list(all_runs(client, {**query, "status": statuses}, 0 if every else most))
    elif every:
        runs = list(all_runs(client, query))
    else:
        live = list(all_runs(client, {**query, "status": sorted(str(s) for s in ACTIVE)}))
        ended = list(all_runs(client, {**query, "status": ["Completed", "Failed", "Canceled"]}, most))
        # A run that ended between the two questions is in both answers.
        runs = list({run["id"]: run for run in [*live, *ended]}.values())
    return sorted(runs, key=lambda run: not _is_live(run))


def _statuses(given: Optional[list[str]]) -> list[str]:
    known = {str(s).lower(): str(s) for s in RunStatus}
    unknown = [s for s in given or () if s.lower() not in known]
    if unknown:
        raise typer.BadParameter(
            f"{unknown[0]!r} is no status. Known: {', '.join(known.values())}.", param_hint="--status"
        )
    return [known[s.lower()] for s in given or ()]


def _is_live(run: dict[str, Any]) -> bool:
    return run["status"] in ACTIVE


def _reason(run: dict[str, Any]) -> str:
    if run.get("stale"):
        return f"stale: nothing has come from its client since {age(run['heard_utc'])}"
    return run["reason"]


def _row(run: dict[str, Any]) -> list[str]:
    started = run["started_utc"] or (run["created_utc"] if _is_live(run) else None)
    return [
        run["id"],
        run["status"],
        run["display_name"],
        run["experiment"],
        run["compute"],
        age(run["created_utc"]),
        between(started, run["ended_utc"]),
        _reason(run) if _is_live(run) else "",
    ]
