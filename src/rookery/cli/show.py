"""`rookery show RUN`: everything about one run on one screen."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from rookery.cli import session
from rookery.cli.attempts import print_attempts
from rookery.cli.complete import complete_run
from rookery.cli.fields import field, heading
from rookery.cli.find import find_run
from rookery.cli.metrics import print_metrics
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, next_step, paint, paint_status, print_json, say
from rookery.cli.tune_view import print_tuning
from rookery.cli.words import age, between, local_time, size
from rookery.spec.run import RunKind
from rookery.spec.status import TERMINAL

__all__ = ["cause_block", "describe_command", "show"]

MOST_FILES = 12


def show(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Id, beginning of one, display name, or @last.", autocompletion=complete_run
        ),
    ],
    every: Annotated[bool, typer.Option("--all", "-a", help="All artifacts and logs, however many there are.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Shows a run: status and phases, what ran and where, metrics, files, and why it failed."""
    client = session.client()
    found = find_run(client, run)
    path = f"/runs/{found['id']}"
    metrics = client.request("GET", path + "/metrics")["metrics"]
    artifacts = client.request("GET", path + "/artifacts")["artifacts"]
    logs = client.request("GET", path + "/logs")["logs"]
    children = client.request("GET", path + "/children")["runs"]
    tuning = client.request("GET", path + "/tune") if found["kind"] == RunKind.TUNE else None
    if session.current().json:
        print_json(
            {
                **found,
                "metrics": metrics,
                "artifacts": artifacts,
                "logs": logs,
                "children": [c["id"] for c in children],
                **({"tuning": tuning} if tuning else {}),
            }
        )
        return
    _print_head(found)
    _print_phases(found)
    _print_what(found)
    print_attempts(found, every)
    print_metrics(metrics)
    _print_files("Artifacts", artifacts, every)
    _print_files("Logs", logs, every)
    if tuning:
        heading("Children, the best first")
        print_tuning(tuning, indent=2)
    else:
        _print_children(children)
    for warning in found["warnings"]:
        say(paint("warning: ", "yellow") + clean(warning))
    if found["error"]:
        heading("Why it failed" if found["status"] == "Failed" else "Error")
        say(cause_block(found))
    _print_next(found, artifacts)


def cause_block(run: dict[str, Any]) -> str:
    """The cause of a failure as one block."""
    from rookery.sdk.details import explain_error

    return explain_error(run["error"])


def describe_command(spec: dict[str, Any]) -> str:
    """What was run, as one would type it."""
    if spec["command"]:
        return str(spec["command"])
    if spec["script"]:
        return shlex.join(["python", spec["script"], *spec["arguments"]])
    return ""


def _print_head(run: dict[str, Any]) -> None:
    name = f"  {clean(run['display_name'])}" if run["display_name"] and run["display_name"] != run["id"] else ""
    say(paint(run["id"], "bold") + name)
    took = between(run["started_utc"], run["ended_utc"]) if run["started_utc"] else ""
    field(
        "status",
        paint_status(run["status"]) + (f" after {took}" if took and run["status"] in TERMINAL else ""),
    )
    if run["status"] not in TERMINAL:
        field("because", run["reason"])
    field("about", run["description"])
    field(
        "created",
        f"{local_time(run['created_utc'])} ({age(run['created_utc'])}) by {run['submitted_by'] or 'unknown'}",
    )
    field("experiment", f"{run['experiment']} #{run['number']}")
    field("part of", run["parent_id"])


def _print_phases(run: dict[str, Any]) -> None:
    phases = run["phases"]
    ends = [p["since_utc"] for p in phases[1:]] + [run["ended_utc"]]
    parts = []
    for phase, end in zip(phases, ends):
        is_last = phase["status"] in TERMINAL
        parts.append(phase["status"] if is_last else f"{phase['status']} {between(phase['since_utc'], end)}")
    field("phases", " → ".join(parts))


def _print_what(run: dict[str, Any]) -> None:
    spec, properties = run["spec"], run["properties"]
    environment = spec["environment"]
    field("command", describe_command(spec) or f"({run['kind']} run)")
    nodes = (
        f", {spec['node_count']} × {spec['processes_per_node']} processes"
        if spec["node_count"] * spec["processes_per_node"] > 1
        else ""
    )
    field(
        "compute",
        f"{run['target'] or run['compute']}{nodes}" + (f", attempt {run['attempt']}" if run["attempt"] > 1 else ""),
    )
    if environment["python"]:
        field("environment", f"{environment['name']} ({environment['python']})")
    field("snapshot", run["snapshot_id"])
    git = [properties.get(f"azureml.git.{key}") for key in ("branch", "commit")]
    is_dirty = str(properties.get("azureml.git.dirty", "")).lower() == "true"
    field(
        "git",
        " ".join(g for g in git if g) + (" with uncommitted changes" if is_dirty else "") if any(git) else "",
    )
    field("params", ", ".join(f"{k}={v}" for k, v in run.get("params", {}).items()))
    if run.get("stale"):
        field(
            "stale",
            f"nothing has come from its client since {age(run['heard_utc'])}; its status is what the client said",
        )
    field("tags", ", ".join(k if v in (None, "") else f"{k}={v}" for k, v in run["tags"].items()))
    shown = {
        k: v for k, v in properties.items() if not k.startswith(("azureml.", "mlflow.")) and k != "ContentSnapshotId"
    }
    field("properties", ", ".join(f"{k}={v}" for k, v in shown.items()))


def _print_files(title: str, files: list[dict[str, Any]], every: bool) -> None:
    if not files:
        return
    heading(title)
    shown = files if every else files[:MOST_FILES]
    print_table(
        (Column("NAME"), Column("SIZE", rank=1, right=True)),
        [(f["name"], size(f["size"])) for f in shown],
        indent=2,
    )
    if len(shown) < len(files):
        say(f"  … {len(files) - len(shown)} more (--all shows them)")


def _print_children(children: list[dict[str, Any]]) -> None:
    if not children:
        return
    heading("Children")
    columns = (Column("RUN"), Column("STATUS", is_status=True), Column("NAME", rank=1, shrinks=True))
    print_table(columns, [(c["id"], c["status"], c["display_name"]) for c in children[:MOST_FILES]], indent=2)
    if len(children) > MOST_FILES:
        say(f"  … {len(children) - MOST_FILES} more (`rookery ps --all` shows them)")


def _print_next(run: dict[str, Any], artifacts: list[dict[str, Any]]) -> None:
    if run["status"] not in TERMINAL:
        next_step(f"rookery logs -f {run['id']}")
    elif run["status"] == "Failed" or not artifacts:
        next_step(f"rookery logs {run['id']}")
    else:
        next_step(f"rookery download {run['id']}")
