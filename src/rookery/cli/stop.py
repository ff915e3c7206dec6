"""`rookery stop RUN…`: asks runs to stop; SIGTERM first, SIGKILL after the grace that is set."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_live_run
from rookery.cli.find import all_runs, find_run
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import next_step, print_json, say
from rookery.spec.status import ACTIVE, TERMINAL

__all__ = ["stop"]


def stop(
    runs: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="RUN",
            help="Ids, beginnings of ids, display names, or @last.",
            autocompletion=complete_live_run,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every run that has not ended.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Stops runs. One that has ended already is left as it is."""
    if bool(runs) == every:
        raise typer.BadParameter("Name the runs to stop, or give --all (not both).")
    client = session.client()
    before = _live(client) if every else [find_run(client, name) for name in runs or ()]
    after = [_cancel(client, run) for run in before]
    if session.current().json:
        print_json({"runs": after})
        return
    for then, now in zip(before, after):
        say(
            f"{then['id']} had ended already: {now['status']}"
            if then["status"] in TERMINAL
            else f"Stopping {then['id']}"
        )
    if not after:
        say("Nothing runs.")
    next_step("rookery ps")


def _live(client: Any) -> list[dict[str, Any]]:
    return list(all_runs(client, {"status": sorted(str(s) for s in ACTIVE)}))


def _cancel(client: Any, run: dict[str, Any]) -> dict[str, Any]:
    if run["status"] in TERMINAL:
        return run
    answer: dict[str, Any] = client.request("POST", f"/runs/{run['id']}/cancel")
    return answer
