"""`rookery server`: the keeper in the foreground on TCP, for a team or other machines."""

from __future__ import annotations

import json as json_text
import os
import socket
import sys
from typing import Annotated

import typer

from rookery.cli import session
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
    _check_free(host, port)
    url = f"{'https' if tls_cert else 'http'}://{_reachable(host)}:{port}"
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
        say("A client has this in .azureml/config.json and, in ROOKERY_TOKEN, what `rookery token` says:")
        say("  " + json_text.dumps({**keys, "rookery": {"format": 1, "url": url}}))
        if tls_cert:
            note(
                'A certificate that the clients do not trust by themselves is named there too: "ca": "<its PEM file>".'
            )
        elif host not in ("127.0.0.1", "localhost", "::1"):
            note(
                "Whoever has the token and reaches this address runs programs here. Give --tls-cert, or put TLS in front of it."
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


def _reachable(host: str) -> str:
    """An address that another machine can use where all interfaces are listened on."""
    if host in ("0.0.0.0", "::", ""):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
