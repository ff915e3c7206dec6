"""`rookery token`: the owner's token, or one with a run's rights only."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_run
from rookery.cli.find import find_run
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import print_json, say

__all__ = ["token"]


def token(
    run: Annotated[
        Optional[str],
        typer.Option("--run", metavar="RUN", help="A token with this run's rights only.", autocompletion=complete_run),
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Prints a token for TCP. The owner's may do everything: keep it to yourself."""
    if run is None:
        answer = {"token": session.owner_token(), "expires_utc": None}
    else:
        client = session.client()
        answer = client.request("POST", "/tokens", body={"run_id": find_run(client, run)["id"]})
    if session.current().json:
        print_json(answer)
    else:
        say(str(answer["token"]))
