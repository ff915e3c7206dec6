"""`rookery keeper status|start|stop`: the process that owns the workspace. It also starts by itself."""

from __future__ import annotations

from typing import Any

import typer

from rookery.cli import session
from rookery.cli.fields import field
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import next_step, paint, print_json, say
from rookery.cli.words import duration, size

__all__ = ["app"]

app = typer.Typer(
    help="The keeper, the process that owns the workspace: status, start, stop.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("status")
def keeper_status(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Tells whether a keeper runs, and how it is. Starts none."""
    client = session.running_client(session.current().workspace)
    if client is None:
        _say_none()
        return
    _print(client.request("GET", "/keeper"))


@app.command("start")
def start_keeper(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Starts a keeper where none runs."""
    _print(session.client().request("GET", "/keeper"))


@app.command("stop")
def stop_keeper(json: AsJson = False, workspace: InWorkspace = None) -> None:
    """Stops the keeper. Runs carry on, and the next command starts another."""
    from rookery.client.start import stop_keeper as stop

    pid = stop(session.workspace_root())
    if pid is None:
        _say_none()
    elif session.current().json:
        print_json({"running": False, "stopped_pid": pid})
    else:
        say(f"The keeper (pid {pid}) has left. Runs carry on; any command starts another.")
        next_step("rookery ps")


def _say_none() -> None:
    if session.current().json:
        print_json({"running": False})
    else:
        say("No keeper is running. Any command that needs one starts it.")
        next_step("rookery keeper start")


def _print(keeper: dict[str, Any]) -> None:
    if session.current().json:
        print_json({"running": True, **keeper})
        return
    say(paint(f"Keeper, pid {keeper['pid']}", "bold") + f"  Rookery {keeper['version']}")
    field("workspace", session.describe_workspace())
    field("up for", duration(keeper["uptime_s"]))
    field("memory", size(keeper["memory_bytes"]))
    field("runs", f"{keeper['live_runs']} live, {keeper['queued_runs']} of them queued")
    field("streams", keeper["open_streams"])
    field("idle for", duration(keeper["idle_s"]) if keeper["idle_s"] else "")
    field("socket", keeper["socket"])
    field("TCP", f"127.0.0.1:{keeper['port']}" if keeper["port"] else "")
    next_step("rookery ps")
