"""`rookery pipeline …`: pipelines from YAML files, and their runs."""

from __future__ import annotations

import os
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.pairs import parse_pairs
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import clean, next_step, note, paint, print_json, say

__all__ = ["app"]

app = typer.Typer(help="Pipelines: validate, run, show, publish.", no_args_is_help=True, rich_markup_mode=None)
File = Annotated[str, typer.Argument(metavar="FILE", help="A pipeline's YAML file.")]
Params = Annotated[
    Optional[list[str]],
    typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the pipeline; repeat for several."),
]
INTERRUPTED = 130


@app.command("validate")
def validate(file: File, param: Params = None, json: AsJson = False, workspace: InWorkspace = None) -> int:
    """Lists all that is wrong with a pipeline; exit code 1 if something is."""
    parameters = parse_pairs("--param", param)
    ws, graph = session.sdk_workspace(), _read(file)
    from rookery.sdk.pipeline_graph import validate_graph

    problems = validate_graph(ws, graph.sent(ws), parameters)
    if session.current().json:
        print_json({"problems": problems})
    elif problems:
        _print_problems(problems)
    else:
        say(f"{len(graph.graph['nodes'])} nodes, no problems.")
        next_step(f"rookery pipeline run {file}")
    return 1 if problems else 0


@app.command("run")
def run(
    file: File,
    param: Params = None,
    experiment: Annotated[
        Optional[str], typer.Option("--experiment", "-e", help="The experiment; else the pipeline's name.")
    ] = None,
    name: Annotated[Optional[str], typer.Option("--name", help="What the run is shown as.")] = None,
    regenerate: Annotated[bool, typer.Option("--regenerate", help="Run every step, reuse nothing.")] = False,
    continue_on_failure: Annotated[
        bool, typer.Option("--continue-on-failure", help="Run what does not depend on a step that failed.")
    ] = False,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for its end.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> int:
    """Runs a pipeline and shows what becomes of its steps."""
    from rookery.errors import UserError

    parameters = parse_pairs("--param", param)
    ws, graph = session.sdk_workspace(), _read(file)
    try:
        made = graph.submit(
            ws,
            experiment or _experiment(graph.name),
            pipeline_parameters=parameters,
            regenerate_outputs=regenerate,
            continue_on_step_failure=continue_on_failure,
            display_name=name,
        )
    except UserError as error:
        problems = error.details.get("problems")
        if not problems or session.current().json:
            raise
        _print_problems(problems)
        return 1
    client, run_id = ws.client, made.id
    if detach:
        if session.current().json:
            print_json({"run": run_id})
        else:
            say(run_id)
            next_step(f"rookery pipeline show {run_id}")
        return 0
    if not session.current().json:
        note(f"Run {run_id}  {made.get_portal_url()}")
    shown = _follow(client, run_id)
    if shown is None:
        note(f"It goes on. Stop it with `rookery stop {run_id}`.")
        return INTERRUPTED
    if session.current().json:
        print_json(shown)
    else:
        _print_steps(shown)
        next_step(f"rookery pipeline show {run_id}")
    return 0 if shown["status"] == "Completed" else 1


@app.command("show")
def show(
    what: Annotated[str, typer.Argument(metavar="FILE|RUN", help="A pipeline's YAML file, or a run of a pipeline.")],
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Shows a pipeline's steps, or of a run what became of them and why."""
    if os.path.isfile(what):
        _show_file(what)
        return
    from rookery.cli.find import find_run
    from rookery.worker.http import quote_path

    client = session.client()
    run_id = find_run(client, what)["id"]
    shown = client.request("GET", f"/pipelines/runs/{quote_path(run_id)}")
    if session.current().json:
        print_json(shown)
        return
    _print_steps(shown)
    failed = next((key for key, step in shown["steps"].items() if step["status"] == "Failed"), None)
    if failed and shown["steps"][failed]["run_id"]:
        next_step(f"rookery logs {shown['steps'][failed]['run_id']}")


@app.command("publish")
def publish(
    file: File,
    name: Annotated[Optional[str], typer.Option("--name", help="What it is called; else the pipeline's name.")] = None,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What it is.")] = "",
    version: Annotated[str, typer.Option("--version", metavar="TEXT", help="Your own number for it.")] = "",
    endpoint: Annotated[
        Optional[str],
        typer.Option("--endpoint", metavar="NAME", help="Make it the default version of this pipeline endpoint."),
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Publishes a pipeline: it can be started by its address."""
    from rookery.errors import NotFoundError
    from rookery.sdk.pipeline_endpoint import PipelineEndpoint
    from rookery.sdk.published_pipeline import publish as publish_graph

    ws, graph = session.sdk_workspace(), _read(file)
    made = publish_graph(ws, name or graph.name, description, version, graph=graph.sent(ws))
    address, number = made.endpoint, None
    if endpoint is not None:
        try:
            place = PipelineEndpoint.get(ws, name=endpoint)
            place.add_default(made)
        except NotFoundError:
            place = PipelineEndpoint.publish(ws, endpoint, description, made)
        address, number = place.endpoint, place.default_version
    if session.current().json:
        print_json({"id": made.id, "name": made.name, "endpoint": address, "version": number})
        return
    say(f"{made.name} is published" + (f" as version {number} of {endpoint}" if number is not None else "") + ":")
    say(address)
    next_step(
        'curl -H "Authorization: Bearer $(cat …/keeper/token)" -d \'{"ExperimentName": "again"}\' ADDRESS',
        "starts it from anywhere",
    )


def _read(file: str) -> Any:
    from rookery.sdk.pipeline_graph import PipelineGraph

    return PipelineGraph.from_yaml(file)


def _experiment(name: str) -> str:
    plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in name).strip("-_")
    return plain or "pipelines"


def _print_problems(problems: list[dict[str, Any]]) -> None:
    for problem in problems:
        where = problem["node"] or "pipeline"
        say(f"{paint(clean(where), 'bold')}: {clean(problem['message'])}")
    note(f"{len(problems)} problem{'s' if len(problems) > 1 else ''}")


def _follow(client: Any, run_id: str) -> Optional[dict[str, Any]]:
    """The run at its end; what is told of it on the way goes to stderr. None: the watcher has enough."""
    from rookery.cli.follow import follow

    def tell(_name: str, data: bytes) -> None:
        if not session.current().json:
            for line in data.decode("utf-8", "replace").splitlines():
                note(clean(line.partition("] ")[2] or line))

    try:
        follow(client, run_id, tell)
    except KeyboardInterrupt:
        return None
    shown: dict[str, Any] = client.request("GET", f"/pipelines/runs/{run_id}")
    return shown


def _show_file(file: str) -> None:
    from rookery.spec.pipeline import in_order, node_map, sources_of

    graph = _read(file).graph
    if session.current().json:
        print_json(graph)
        return
    nodes = node_map(graph)
    rows = []
    for key in [*in_order(graph), *(key for key in nodes if key not in in_order(graph))]:
        node = nodes[key]
        what = node.get("module") or node.get("dataset") or node.get("model") or (node.get("run") or {}).get("script")
        inputs = ", ".join(f"{source.node}.{source.port}" for source in sources_of(node).values())
        rows.append((key, node.get("kind") or "", what if isinstance(what, str) else "", inputs))
    columns = (Column("NODE"), Column("KIND"), Column("WHAT"), Column("TAKES", rank=1, shrinks=True))
    print_table(columns, rows)
    next_step(f"rookery pipeline run {file}")


def _print_steps(shown: dict[str, Any]) -> None:
    rows = []
    for step in shown["steps"].values():
        rows.append((step["name"], step["status"], _seconds(step), step["reason"] or step["reuse"]))
    columns = (
        Column("STEP"),
        Column("STATUS", is_status=True),
        Column("S", right=True),
        Column("WHY", rank=1, shrinks=True),
    )
    print_table(columns, rows)
    reused = sum(bool(step["reused_from"]) for step in shown["steps"].values())
    say(f"{shown['status']}: {len(rows)} steps, {reused} reused")
    if shown["status"] == "Failed" and shown["error"]:
        note(clean(shown["error"]["summary"]))


def _seconds(step: dict[str, Any]) -> str:
    from datetime import datetime

    if not step["started"] or not step["ended"] or step["reused_from"]:
        return ""
    began, ended = (datetime.fromisoformat(step[key].replace("Z", "+00:00")) for key in ("started", "ended"))
    return f"{(ended - began).total_seconds():.1f}"
