"""`rookery studio [RUN]`: opens the studio in a browser, logged in."""

from __future__ import annotations

import sys
from typing import Annotated, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_run
from rookery.cli.find import find_run
from rookery.cli.page import base_url
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import note, print_json, say
from rookery.errors import KeeperUnavailableError

__all__ = ["studio"]


def studio(
    run: Annotated[
        Optional[str],
        typer.Argument(metavar="RUN", help="Open this run's page.", show_default=False, autocompletion=complete_run),
    ] = None,
    is_closed: Annotated[
        bool, typer.Option("--no-open", help="Open no browser; print the address, which logs in once, within a minute.")
    ] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Opens the studio in your browser, already logged in. A keeper is started where none runs."""
    from rookery.worker.http import quote_path

    client = session.client()
    page = f"/runs/{quote_path(find_run(client, run)['id'])}" if run else "/"
    base = base_url(client)
    if base is None:
        raise KeeperUnavailableError("The keeper does not listen on a port, so no browser can reach it.")
    made = client.request("POST", "/session/code")
    url = f"{base}/enter?code={made['code']}&to={page}"
    if session.current().json:
        print_json({"url": url, "page": base + page, "expires_s": made["expires_s"]})
        return
    if is_closed or not _open(url):
        say(url)
        note(f"It logs a browser in once, within {made['expires_s']:.0f} seconds. Afterwards: {base}{page}")
        return
    say(f"The studio is open at {base}{page}")


def _open(url: str) -> bool:
    """Whether a browser took it. Browsers of the terminal would sit on it, so they do not count."""
    import os
    import webbrowser

    has_display = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not has_display and not os.environ.get("BROWSER"):
        note("There is no display here to open a browser on.")
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
