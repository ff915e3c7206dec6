"""`rookery token`: the owner's token, one with a run's rights only, and the tokens of users."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_run
from rookery.cli.find import find_run
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import next_step, note, print_json, say
from rookery.cli.words import age

__all__ = ["app"]

app = typer.Typer(
    help="Tokens: the owner's (without a verb), and those of users: create, list, revoke.",
    invoke_without_command=True,
    rich_markup_mode=None,
)
OfUser = Annotated[Optional[str], typer.Option("--user", metavar="NAME", help="Whose; yours where it is not given.")]


@app.callback()
def token(
    ctx: typer.Context,
    run: Annotated[
        Optional[str],
        typer.Option("--run", metavar="RUN", help="A token with this run's rights only.", autocompletion=complete_run),
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Prints a token for TCP. The owner's may do everything: keep it to yourself."""
    if ctx.invoked_subcommand is not None:
        return
    if run is None:
        answer: dict[str, Any] = {"token": session.owner_token(), "expires_utc": None}
    else:
        client = session.client()
        answer = client.request("POST", "/tokens", body={"run_id": find_run(client, run)["id"]})
    if session.current().json:
        print_json(answer)
    else:
        say(str(answer["token"]))


@app.command("create")
def create_token(
    user: OfUser = None,
    name: Annotated[str, typer.Option("--name", metavar="WORDS", help="What it is for.")] = "token",
    days: Annotated[
        Optional[float], typer.Option("--days", metavar="N", help="How long it is valid; setting user_token_days.")
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Makes a token with a user's rights and prints it, this once."""
    body = {"name": name, "user": user, "days": days}
    made = session.client().request("POST", "/user-tokens", body=body)
    if session.current().json:
        print_json(made)
        return
    note(f"Token {made['id']} of {made['user']}, valid until {made['expires_utc']}. It is shown this once:")
    say(made["token"])


@app.command("list")
def list_tokens(user: OfUser = None, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Lists the tokens of users: yours, or as an owner everybody's. Never the tokens themselves."""
    found = session.client().request("GET", "/user-tokens", query={"user": user})["tokens"]
    if session.current().json:
        print_json({"tokens": found})
        return
    if not found:
        say("No tokens.")
        next_step("rookery token create --user NAME")
        return
    columns = (
        Column("ID"),
        Column("USER"),
        Column("NAME", shrinks=True),
        Column("CREATED", rank=2),
        Column("USED", rank=1),
        Column("EXPIRES"),
    )
    rows = [
        (t["id"], t["user"], t["name"], age(t["created_utc"]), age(t["last_used_utc"]), t["expires_utc"][:16] + "Z")
        for t in found
    ]
    print_table(columns, rows)
    next_step(f"rookery token revoke {found[0]['id']}")


@app.command("revoke")
def revoke_token(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The token's id, from `rookery token list`.")],
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Ends a token at once."""
    from rookery.worker.http import quote_path

    session.client().request("DELETE", "/user-tokens/" + quote_path(token_id).replace("/", "%2F"))
    if session.current().json:
        print_json({"revoked": token_id})
    else:
        say(f"Revoked {token_id}")
        next_step("rookery token list")
