"""`rookery server`: the keeper in the foreground on TCP, for a team or other machines."""

from __future__ import annotations

import json as json_text
import os
import socket
import sys
from typing import Annotated

import typer

from rookery.cli import session
from rookery.cli.places import remember_places
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import note, print_json, say
from rookery.errors import UserError

__all__ = ["server"]


def server(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; 0.0.0.0 for all interfaces.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, metavar="N", help="The TCP port.")] = 8787,
    tls_cert: Annotated[
        str,
        typer.Option("--tls-cert", metavar="FILE", help="Speak TLS with this certificate (PEM, its chain after it)."),
    ] = "",
    tls_key: Annotated[
        str, typer.Option("--tls-key", metavar="FILE", help="The key of the certificate, if it is in another file.")
    ] = "",
    prefix: Annotated[
        str,
        typer.Option(
            "--prefix", metavar="PATH", help="Behind a proxy: the path that all addresses begin with, as /rookery."
        ),
    ] = "",
    proxies: Annotated[
        str,
        typer.Option(
            "--trust-proxy",
            metavar="ADDRESSES",
            help="Believe X-Forwarded-For, -Proto and -Host from these addresses or networks, a comma list.",
        ),
    ] = "",
    log_format: Annotated[
        str,
        typer.Option(
            "--log", metavar="FORM", help="How requests and problems are logged to stderr: text, json or none."
        ),
    ] = "text",
    database: Annotated[
        str,
        typer.Option(
            "--database",
            metavar="URL",
            help="Keep the record here: postgresql://user:password@host/name. Remembered for the workspace.",
        ),
    ] = "",
    artifacts: Annotated[
        str,
        typer.Option(
            "--artifacts",
            metavar="PLACE",
            help="Keep files here: s3://bucket/path, any URL that fsspec knows, or a folder. Remembered for the workspace.",
        ),
    ] = "",
    testing: Annotated[
        bool,
        typer.Option("--testing", help="For test suites: POST /__reset empties the workspace. On loopback only."),
    ] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Serves the workspace on TCP until it is stopped with Ctrl-C. Clients need its address and a token."""
    from rookery.client.start import stop_keeper

    root = session.workspace_root()
    if testing and host not in ("127.0.0.1", "localhost", "::1"):
        raise UserError(f"--testing lets everybody empty the workspace, so it is for loopback only, not for {host}.")
    if log_format not in ("text", "json", "none"):
        raise typer.BadParameter(f"--log {log_format!r} is not known. Known: text, json, none.")
    prefix = "/" + prefix.strip("/") if prefix.strip("/") else ""
    is_local = host in ("127.0.0.1", "localhost", "::1")
    _check_free(host, port)
    if database or artifacts:
        stop_keeper(root)  # it would go on with the places that it knows
        remember_places(root, database, artifacts)
    if not is_local:
        _check_people(host)
    url = f"{'https' if tls_cert else 'http'}://{_reachable(host)}:{port}{prefix}"
    if session.current().json:
        print_json({"url": url, "host": host, "port": port, "workspace": root}, line=True)
    else:
        where = session.address()
        keys = {
            "subscription_id": where.subscription_id,
            "resource_group": where.resource_group,
            "workspace_name": where.name,
        }
        say(f"Serving {root} at {url}")
        say(f"A user logs in with `rookery login {url}`, or in a browser at {url}/login")
        say("A program has this in .azureml/config.json and, in ROOKERY_TOKEN, a token (`rookery token create`):")
        say("  " + json_text.dumps({**keys, "rookery": {"format": 1, "url": url}}))
        if tls_cert:
            note(
                'A certificate that the clients do not trust by themselves is named there too: "ca": "<its PEM file>".'
            )
        elif not is_local and not proxies:
            note(
                "Tokens and passwords travel in clear to this address. Give --tls-cert, or put a proxy with TLS in front of it."
            )
    command = [
        sys.executable,
        "-m",
        "rookery.server",
        "--workspace",
        root,
        "--foreground",
        "--host",
        host,
        "--port",
        str(port),
        "--no-idle",
    ]
    command += ["--testing"] if testing else []
    for option, value in (("--prefix", prefix), ("--trust-proxy", proxies), ("--log", log_format)):
        command += [option, value] if value else []
    for option, path in (("--tls-cert", tls_cert), ("--tls-key", tls_key)):
        command += [option, os.path.abspath(path)] if path else []
    stopped = stop_keeper(root)
    if stopped:
        note(f"The keeper that ran here by itself (pid {stopped}) has made way. Runs carry on.")
    sys.stdout.flush()
    os.execv(sys.executable, command)


def _check_free(host: str, port: int) -> None:
    """UserError where the keeper could not listen: better said before anything is promised."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(where)
    except OSError as error:
        why = error.strerror or error
        raise UserError(
            f"{host} port {port} cannot be listened on: {why}. Choose others with --host, --port."
        ) from error


def _check_people(host: str) -> None:
    """UserError where nobody could log in; the keeper asks again. Said here before anything is promised."""
    if os.environ.get("ROOKERY_DATABASE_URL") or session.client().request("GET", "/users")["users"]:
        return
    raise UserError(
        f"{host} is reached by others, and this workspace has no users. Add one first: `rookery user add NAME --role owner`. "
        "On 127.0.0.1, which is the default, none is needed."
    )


def _reachable(host: str) -> str:
    """An address that another machine can use where all interfaces are listened on."""
    if host in ("0.0.0.0", "::", ""):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
