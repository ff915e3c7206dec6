"""`rookery datastore …`: places for data."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_datastore
from rookery.cli.fields import field
from rookery.cli.pairs import parse_pairs, parse_secrets
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, next_step, paint, print_json, say
from rookery.worker.http import quote_path

__all__ = ["app"]

app = typer.Typer(help="Datastores: list, show, add, default, forget.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A datastore.", autocompletion=complete_datastore)]


@app.command("list")
def list_datastores(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Lists datastores; the default one has a star."""
    found = session.client().request("GET", "/datastores")["datastores"]
    if session.current().json:
        print_json({"datastores": found})
        return
    columns = (Column("DATASTORE"), Column("KIND"), Column("PLACE", shrinks=True), Column("CREDENTIALS", rank=2))
    rows = [
        (
            d["name"] + (" *" if d["is_default"] else ""),
            d["kind"],
            _where(d),
            "sealed" if d["has_credentials"] else "",
        )
        for d in found
    ]
    print_table(columns, rows)
    next_step("rookery data add NAME PATH")


@app.command("show")
def show_datastore(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Shows one datastore. Credentials are never shown."""
    _print(session.client().request("GET", _route(name)))


@app.command("add")
def add_datastore(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="folder, s3, gcs, azure or http.")],
    option: Annotated[
        Optional[list[str]],
        typer.Option(
            "--option",
            metavar="KEY=VALUE",
            help="Of a folder: folder, follow_links; s3: bucket, prefix, endpoint, region, anonymous; gcs: bucket, prefix, "
            "project; azure: account, container, prefix; http: url. Repeat for several.",
        ),
    ] = None,
    secret: Annotated[
        Optional[list[str]],
        typer.Option(
            "--secret",
            metavar="KEY[=VALUE]",
            help="A credential, sealed by the keeper. Without a value that of the variable KEY. Of s3: key, secret, token; "
            "gcs: token; azure: account_key, sas_token, tenant_id, client_id, client_secret; http: query, username, password.",
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace one of that name.")] = False,
    no_check: Annotated[bool, typer.Option("--no-check", help="Keep it without looking whether it is there.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Registers a datastore."""
    spec: dict[str, Any] = dict(parse_pairs("--option", option))
    for flag in ("follow_links", "anonymous"):
        if flag in spec:
            spec[flag] = str(spec[flag]).lower() in ("1", "true", "yes")
    body = {
        "name": name,
        "kind": kind,
        "spec": spec,
        "credentials": parse_secrets("--secret", secret),
        "overwrite": overwrite,
        "check": not no_check,
    }
    _print(session.client().request("POST", "/datastores", body=body))


@app.command("default")
def set_default(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Makes a datastore the default one."""
    _print(session.client().request("POST", _route(name) + "/default"))


@app.command("forget")
def forget_datastore(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Forgets a datastore and its credentials. Its files stay."""
    session.client().request("DELETE", _route(name))
    if session.current().json:
        print_json({"forgotten": name})
    else:
        say(f"Forgot datastore {clean(name)}; its files stay.")
        next_step("rookery datastore list")


def _route(name: str) -> str:
    return "/datastores/" + quote_path(name).replace("/", "%2F")


def _where(data: dict[str, Any]) -> str:
    spec = data["spec"]
    return str(spec.get("folder") or spec.get("url") or spec.get("bucket") or spec.get("container") or "")


def _print(data: dict[str, Any]) -> None:
    if session.current().json:
        print_json(data)
        return
    say(paint(clean(data["name"]), "bold"))
    field("kind", data["kind"] + (", the default" if data["is_default"] else ""))
    for key, value in data["spec"].items():
        field(key, str(value))
    field("credentials", "sealed" if data["has_credentials"] else "none")
    next_step(f"rookery data add NAME PATH --datastore {clean(data['name'])}")
