"""`rookery user …`: who may use the workspace when it is served."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, is_terminal, next_step, note, print_json, say
from rookery.cli.words import age
from rookery.errors import NotFoundError
from rookery.worker.http import quote_path

__all__ = ["app"]

app = typer.Typer(
    help="Users of a server: add, list, remove, role, password.", no_args_is_help=True, rich_markup_mode=None
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
FromStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input, one line.")]
ROLES = "reader, contributor or owner"


@app.command("add")
def add_user(
    name: Name,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help=f"{ROLES}.")] = "contributor",
    from_stdin: FromStdin = False,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="No login in the browser; tokens only. Asks for nothing.")
    ] = False,
    with_token: Annotated[bool, typer.Option("--token", help="Make a token at once, and print it.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Adds a user. Asks for a password on a terminal; without one the user has tokens only."""
    password = None if no_password else _password(from_stdin)
    client = session.client()
    made = client.request("POST", "/users", body={"name": name, "role": role, "password": password})
    token = None
    if with_token:
        token = client.request("POST", "/user-tokens", body={"user": name, "name": "first"})
    if session.current().json:
        print_json({**made, **({"token": token["token"], "expires_utc": token["expires_utc"]} if token else {})})
        return
    if token:
        note(f"The token of {made['name']}, valid until {token['expires_utc']}. It is shown this once:")
        say(token["token"])
    else:
        say(f"Added {made['name']} as {made['role']}" + ("" if made["has_password"] else ", without a password"))
        next_step(f"rookery token create --user {made['name']}")


@app.command("list")
def list_users(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Lists users."""
    found = session.client().request("GET", "/users")["users"]
    if session.current().json:
        print_json({"users": found})
        return
    if not found:
        say("No users yet. The workspace is its owner's alone.")
        next_step("rookery user add NAME --role owner")
        return
    columns = (
        Column("NAME"),
        Column("ROLE"),
        Column("PASSWORD", rank=1),
        Column("TOKENS", right=True),
        Column("ADDED", rank=2),
    )
    rows = [
        (u["name"], u["role"], "yes" if u["has_password"] else "no", u["tokens"], age(u["created_utc"])) for u in found
    ]
    print_table(columns, rows)
    next_step(f"rookery token list --user {found[0]['name']}")


@app.command("remove")
def remove_user(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Removes a user, with all tokens and sessions. What the user did stays under the name."""
    session.client().request("DELETE", _path(name))
    _done({"removed": name}, f"Removed {clean(name)}; their tokens and sessions have ended.")


@app.command("role")
def change_role(
    name: Name,
    role: Annotated[str, typer.Argument(metavar="ROLE", help=f"{ROLES}.")],
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Gives a user another role. It counts at once, for the tokens that exist too."""
    changed = session.client().request("PATCH", _path(name), body={"role": role})
    _done(changed, f"{changed['name']} is {changed['role']} now")


@app.command("password")
def change_password(
    name: Name, from_stdin: FromStdin = False, json: AsJson = False, workspace: InWorkspace = None
) -> None:
    """Sets a user's password and ends their sessions. Tokens stay."""
    password = _password(from_stdin)
    if not password:
        raise typer.BadParameter("a password is needed: on a terminal, or with --password-stdin.")
    changed = session.client().request("PATCH", _path(name), body={"password": password})
    _done(changed, f"{changed['name']} has a new password; their sessions have ended.")


def read_password(words: str) -> str:
    """Asked for on the terminal, unseen."""
    import getpass

    return getpass.getpass(words, stream=sys.stderr)


def _password(from_stdin: bool) -> Optional[str]:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n") or None
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)) or session.current().json:
        return None
    first = read_password("Password (empty: none): ")
    if first and read_password("Again: ") != first:
        raise typer.BadParameter("the two passwords are not the same.")
    return first or None


def _path(name: str) -> str:
    if "/" in name:  # no name has one, and servers take it for another path, however it is written
        raise NotFoundError(f"User '{name:.80}' does not exist. `rookery user list` shows all.")
    return "/users/" + quote_path(name)


def _done(answer: dict[str, Any], words: str) -> None:
    if session.current().json:
        print_json(answer)
    else:
        say(words)
        next_step("rookery user list")
