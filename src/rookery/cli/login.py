"""`rookery login URL`: a token for a server, kept for this person, and a config.json that leads to it."""

from __future__ import annotations

import os
import socket
import sys
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import is_terminal, next_step, note, print_json, say
from rookery.errors import ConfigError, UserError

__all__ = ["login", "logout"]


def login(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="The server: https://host:port, with its prefix if it has one.")
    ],
    name: Annotated[Optional[str], typer.Option("--user", metavar="NAME", help="Your name there.")] = None,
    with_token: Annotated[
        bool,
        typer.Option(
            "--token", help="Give a token instead of name and password: asked for, or read from standard input."
        ),
    ] = False,
    from_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input, one line.")
    ] = False,
    ca: Annotated[
        Optional[str],
        typer.Option("--ca", metavar="FILE", help="PEM file that the server's certificate is verified with."),
    ] = None,
    no_config: Annotated[bool, typer.Option("--no-config", help="Write no .azureml/config.json here.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Logs in to a server: keeps a token for it (mode 600) and writes .azureml/config.json here, so that Workspace.from_config() finds it."""
    from rookery.client import Client
    from rookery.client.config import keep_token

    url = url.rstrip("/")
    if with_token:
        token = _ask("Token: ", from_stdin=not is_terminal(sys.stdin))
    else:
        name = name or _ask_name()
        password = _ask("Password: ", from_stdin)
        body = {"name": name, "password": password, "token_name": f"login on {socket.gethostname()}"}
        token = Client.for_url(url, ca=ca).request("POST", "/session/token", body=body)["token"]
    client = Client.for_url(url, token, ca)
    me = client.request("GET", "/me")
    kept = keep_token(url, token)
    config = None if no_config else _write_config(client, url, ca)
    if session.current().json:
        print_json({"url": url, "name": me["name"], "role": me["role"], "tokens": kept, "config": config})
        return
    say(f"Logged in to {url} as {me['name']} ({me['role']})")
    if config:
        say(f"{config} leads there")
    next_step("rookery ps")


def logout(
    url: Annotated[str, typer.Argument(metavar="URL", help="The server.")],
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Forgets the token that is kept for a server. `rookery token revoke` ends it there."""
    from rookery.client.config import keep_token

    kept = keep_token(url.rstrip("/"), None)
    if session.current().json:
        print_json({"url": url.rstrip("/"), "tokens": kept})
    else:
        say(f"No token for {url.rstrip('/')} is kept any more")


def _write_config(client: Any, url: str, ca: Optional[str]) -> Optional[str]:
    """None where there is one of another workspace: it is not ours to replace."""
    from rookery.client.config import WorkspaceAddress, find_config, read_config, write_config

    folder = os.path.join(os.getcwd(), ".azureml")
    here = os.path.join(folder, "config.json")
    if find_config() == here:
        try:
            old = read_config(here)
        except ConfigError:
            old = None
        if old is None or old.url != url:
            note(f"{here} leads elsewhere and stays. Remove it first, or log in from another folder.")
            return None
    about = client.request("GET", "/workspace")
    address = WorkspaceAddress(
        about["name"],
        about["subscription_id"],
        about["resource_group"],
        url=url,
        ca=os.path.abspath(ca) if ca else None,
    )
    return write_config(address)


def _ask_name() -> str:
    if not is_terminal(sys.stdin):
        raise UserError("No name was given. Give --user NAME and --password-stdin, or --token.")
    print("Name: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _ask(words: str, from_stdin: bool) -> str:
    from rookery.cli.user import read_password

    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not is_terminal(sys.stdin):
        raise UserError("No terminal to ask at. Give --password-stdin, or --token, and the secret on standard input.")
    return read_password(words).strip()
