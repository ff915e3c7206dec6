"""`rookery endpoints …`: the models that are behind an address."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_endpoint
from rookery.cli.fields import field, heading
from rookery.cli.pairs import parse_model
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, is_terminal, next_step, note, paint, print_json, say
from rookery.cli.words import age, local_time, number
from rookery.errors import NotFoundError, UserError
from rookery.worker.http import quote_path

__all__ = ["app"]

app = typer.Typer(
    help="Endpoints: list, show, logs, keys, update, reload, share traffic, delete.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The endpoint.", autocompletion=complete_endpoint)]
_COLORS = {"Healthy": "green", "Transitioning": "cyan", "Unhealthy": "yellow", "Failed": "red"}


@app.command("list")
def list_endpoints(
    kind: Annotated[Optional[str], typer.Option("--kind", metavar="KIND", help="Only local, aci or aks.")] = None,
    model: Annotated[
        Optional[str], typer.Option("--model", metavar="NAME[:VERSION]", help="Only of this model.")
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Lists endpoints."""
    name, version = parse_model(model) if model else (None, None)
    query = {"kind": kind, "model": name, "model_version": version}
    found = session.client().request("GET", "/endpoints", query={k: v for k, v in query.items() if v})["endpoints"]
    if session.current().json:
        print_json({"endpoints": found})
        return
    if not found:
        say("No endpoints yet.")
        next_step("rookery deploy MODEL")
        return
    columns = (
        Column("ENDPOINT"),
        Column("STATE"),
        Column("MODELS", rank=2, shrinks=True),
        Column("REQUESTS", rank=3, right=True),
        Column("ADDRESS", rank=1, shrinks=True),
        Column("UPDATED", rank=4),
    )
    rows = [(e["name"], e["state"], _models(e), e["requests"], e["scoring_uri"], age(e["updated_utc"])) for e in found]
    print_table(columns, rows)
    next_step(f"rookery endpoints show {found[0]['name']}")


@app.command("show")
def show_endpoint(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Shows one endpoint: state, address, versions, how quick it answers."""
    client = session.client()
    found = _get(client, name)
    latency = client.request("GET", _path(name, "/latency"), query={"seconds": 3600, "points": 60})["total"]
    if session.current().json:
        print_json({**found, "latency": latency})
        return
    say(paint(clean(found["name"]), "bold") + "  " + paint(found["state"], _COLORS.get(found["state"], "dim")))
    _fields(found)
    if latency["requests"]:
        field(
            "last hour",
            f"asked {latency['requests']}, failed {latency['errors']}, p50 {number(latency['p50_ms'])} ms, p95 {number(latency['p95_ms'])} ms, p99 {number(latency['p99_ms'])} ms",
        )
    heading("Versions")
    columns = (
        Column("VERSION"),
        Column("STATE"),
        Column("TRAFFIC", right=True),
        Column("MODELS", rank=1, shrinks=True),
        Column("PROCESSES", rank=2, right=True),
    )
    print_table(
        columns,
        [
            (
                v["name"],
                v["state"],
                f"{number(v['traffic'])} %",
                _model_ids(v),
                len([r for r in v["replicas"] if r["state"] == "ready"]),
            )
            for v in found["versions"]
        ],
        indent=2,
    )
    next_step(f"rookery predict {found['name']} FILE")


@app.command("logs")
def show_logs(
    name: Name,
    version: Annotated[Optional[str], typer.Option("--version", metavar="NAME", help="Of this version.")] = None,
    lines: Annotated[int, typer.Option("--lines", metavar="N", help="The last N lines.", min=1)] = 1000,
    is_following: Annotated[bool, typer.Option("--follow", "-f", help="Go on as more is written.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Prints what an endpoint's processes wrote."""
    import io

    client = session.client()
    query = {"lines": lines, **({"version": version} if version else {})}
    target = io.BytesIO()
    size = 0
    if is_following:
        size = int(client.raw("GET", _path(name, "/log") + _log_query(version, 0, 0))[1].get("x-log-size", 0))
    client.download(_path(name, "/logs"), target, query=query)
    text = target.getvalue().decode("utf-8", "replace")
    if session.current().json:
        print_json({"name": name, "log": text})
        return
    sys.stdout.write(text)
    sys.stdout.flush()
    while is_following:
        time.sleep(0.5)
        status, headers, data = client.raw("GET", _path(name, "/log") + _log_query(version, size, 1 << 20))
        if status >= 400:
            return
        size = min(size, int(headers.get("x-log-size", size))) + len(data)
        sys.stdout.write(data.decode("utf-8", "replace"))
        sys.stdout.flush()


@app.command("keys")
def show_keys(
    name: Name,
    regenerate: Annotated[
        Optional[str], typer.Option("--regenerate", metavar="KEY", help="Make the primary or secondary key anew first.")
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Prints the keys of an endpoint."""
    client = session.client()
    if regenerate is not None:
        word = regenerate.capitalize()
        if word not in ("Primary", "Secondary"):
            raise typer.BadParameter(
                f"{regenerate!r} does not exist. Known: primary, secondary.", param_hint="--regenerate"
            )
        keys = client.request("POST", _path(name, "/keys"), body={"key": word})
    else:
        keys = client.request("GET", _path(name, "/keys"))
    if session.current().json:
        print_json(keys)
        return
    field("primary", keys["primary"], indent=0)
    field("secondary", keys["secondary"], indent=0)
    if not _get(client, name)["auth_enabled"]:
        note("No key is asked for: `rookery endpoints update NAME --auth` changes that.")


@app.command("token")
def show_token(name: Name, json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Prints a token for an endpoint that takes tokens, good for an hour."""
    token = session.client().request("POST", _path(name, "/token"))
    if session.current().json:
        print_json(token)
    else:
        say(token["access_token"])


@app.command("update")
def update_endpoint(
    name: Name,
    model: Annotated[
        Optional[list[str]],
        typer.Option(
            "--model", metavar="NAME[:VERSION]", help="Answer with this model from now on; repeat for several."
        ),
    ] = None,
    replicas: Annotated[
        Optional[int], typer.Option("--replicas", metavar="N", help="Processes that answer.", min=1)
    ] = None,
    auth: Annotated[Optional[bool], typer.Option("--auth/--no-auth", help="Whether a key is needed.")] = None,
    is_detached: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait until it is done.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Changes an endpoint. No request fails meanwhile."""
    changes: dict[str, Any] = {}
    if model:
        changes["models"] = [{"name": n, **({"version": v} if v else {})} for n, v in map(parse_model, model)]
    if replicas is not None:
        changes["config"] = {"num_replicas": replicas}
    if auth is not None:
        changes["auth_enabled"] = auth
    if not changes:
        raise typer.BadParameter("Nothing to change. Give --model, --replicas or --auth.", param_hint="--model")
    client = session.client()
    _finish(client, client.request("PATCH", _path(name), body=changes), is_detached)


@app.command("reload")
def reload_endpoint(
    name: Name,
    is_detached: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait until it is done.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Starts an endpoint's processes anew. No request fails meanwhile."""
    client = session.client()
    _finish(client, client.request("POST", _path(name, "/reload")), is_detached)


@app.command("traffic")
def share_traffic(
    name: Name,
    shares: Annotated[
        list[str],
        typer.Argument(metavar="VERSION=PERCENT...", help="What the shares leave over is the default version's."),
    ],
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Shares an endpoint's requests between its versions."""
    client = session.client()
    known = {v["name"] for v in _get(client, name)["versions"]}
    wanted = [_share(text, known) for text in shares]
    found: dict[str, Any] = {}
    for version, percent in wanted:
        found = client.request("PUT", _path(name, f"/versions/{quote_path(version)}"), body={"traffic": percent})
    if session.current().json:
        print_json(found)
        return
    for version in found["versions"]:
        field(version["name"], f"{number(version['traffic'])} %", indent=0)


@app.command("delete")
def delete_endpoint(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="The endpoints.", autocompletion=complete_endpoint)
    ],
    is_sure: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Takes endpoints down."""
    if not is_sure:
        if session.current().json or not (is_terminal() and is_terminal(sys.stdin)):
            raise typer.BadParameter("Deleting asks first, and nobody can answer here. Give --yes.")
        typer.confirm(f"Take down {', '.join(names)}?", abort=True)
    client = session.client()
    for name in names:
        client.request("DELETE", _path(name))
    if session.current().json:
        print_json({"deleted": list(names)})
    else:
        say("\n".join(f"{clean(name)} is gone." for name in names))


def _get(client: Any, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = client.request("GET", _path(name))
        return found
    except NotFoundError as error:
        known = [e["name"] for e in client.request("GET", "/endpoints")["endpoints"]]
        text = f"Endpoint '{name}' does not exist. Known: {', '.join(known) or 'none'}. Deploy one with `rookery deploy MODEL`."
        raise type(error)(text) from None


def _path(name: str, rest: str = "") -> str:
    return f"/endpoints/{quote_path(name)}{rest}"


def _log_query(version: Optional[str], offset: int, length: int) -> str:
    from urllib.parse import urlencode

    return "?" + urlencode({"offset": offset, "length": length, **({"version": version} if version else {})})


def _models(endpoint: dict[str, Any]) -> str:
    return ", ".join(dict.fromkeys(_model_ids(version) for version in endpoint["versions"]))


def _model_ids(version: dict[str, Any]) -> str:
    return ", ".join(f"{m['name']}:{m['version']}" for m in version["models"])


def _fields(found: dict[str, Any]) -> None:
    field("kind", found["kind"])
    field("address", found["scoring_uri"])
    field("swagger", found["swagger_uri"])
    field("opened by", "a key" if found["auth_enabled"] else "a token" if found["token_auth_enabled"] else "anybody")
    field("created", local_time(found["created_utc"]))
    field("updated", local_time(found["updated_utc"]))
    field("requests", f"{found['requests']}, of which {found['errors']} failed")
    field("description", found["description"])
    operation = found["operation"] or {}
    if operation.get("state") == "Running":
        field("now", f"{operation['kind']}: {operation.get('words') or ''}")
    error = found["error"] or operation.get("error")
    if error:
        field("error", error["summary"])
        for line in error.get("last_lines") or ():
            say("    " + clean(line))


def _finish(client: Any, found: dict[str, Any], is_detached: bool) -> None:
    pause = 0.05
    while not is_detached and found["operation"]["state"] == "Running":
        time.sleep(pause)
        pause = min(pause * 1.5, 1.0)
        found = client.request("GET", _path(found["name"]))
    operation = found["operation"]
    if operation["state"] == "Failed":
        error = operation["error"] or {}
        raise UserError(
            f"{operation['kind']} of '{found['name']}' failed: {error.get('summary')}. What was there before goes on. "
            f"See `rookery endpoints logs {found['name']}`."
        )
    if session.current().json:
        print_json(found)
        return
    say(f"{clean(found['name'])}  {found['state']}  {found['scoring_uri']}")


def _share(text: str, known: set[str]) -> tuple[str, float]:
    version, _, percent = text.partition("=")
    try:
        share = float(percent)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise typer.BadParameter(f"{text!r} is not VERSION=PERCENT, as in blue=20.", param_hint="VERSION=PERCENT")
    if version not in known:
        raise typer.BadParameter(
            f"There is no version {version!r}. Known: {', '.join(sorted(known))}.", param_hint="VERSION=PERCENT"
        )
    return version, share
