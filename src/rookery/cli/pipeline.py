"""`rookery pipeline …`: pipelines from YAML files, and their runs."""

from __future__ import annotations

import os
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_pipeline, complete_run
from rookery.cli.pairs import parse_pairs
from rookery.cli.pipeline_inference import inference
from rookery.cli.pipeline_view import lines_of, print_problems, print_steps, show_end, show_file, with_lines
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import clean, next_step, note, print_json, say

__all__ = ["app"]

app = typer.Typer(
    help="Pipelines: validate, run, show, retry, publish, make inference pipelines.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("inference")(inference)
File = Annotated[str, typer.Argument(metavar="FILE", help="A pipeline's YAML file.")]
Params = Annotated[
    Optional[list[str]],
    typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the pipeline; repeat for several."),
]


@app.command("validate")
def validate(file: File, param: Params = None, json: AsJson = False, workspace: InWorkspace = None) -> int:
    """Lists all that is wrong with a pipeline; exit code 1 if something is."""
    from rookery.errors import UserError
    from rookery.spec.pipeline_keys import odd_keys

    parameters = parse_pairs("--param", param)
    ws, graph = session.sdk_workspace(), None
    try:
        graph = _read(file)
        problems = graph.validate(ws, parameters)
    except UserError as error:  # no graph could be made of it: that is what is wrong with it
        if not os.path.isfile(file):
            raise
        shape = {"node": None, "field": None, "code": "shape", "message": error.message}
        problems = error.details.get("problems") or [shape]
    lines = lines_of(file)
    unread = [odd for odd in odd_keys(graph.graph) if not odd.near] if graph else []
    if session.current().json:
        notes = [{"node": odd.node, "key": odd.key, "line": lines.get(str(odd.node))} for odd in unread]
        print_json({"problems": with_lines(problems, lines), "unread_keys": notes})
        return 1 if problems else 0
    for odd in unread:
        note(f"{clean(odd.node or 'pipeline')}: nothing reads the key '{clean(odd.key)}'; it is kept.")
    if problems:
        print_problems(problems, lines)
        return 1
    assert graph is not None
    say(f"{len(graph.graph['nodes'])} nodes, no problems.")
    next_step(f"rookery pipeline run {file}")
    return 0


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
        return _refused(error, ws, graph, file, parameters)
    if not session.current().json and not detach:
        note(f"Run {made.id}  {made.get_portal_url()}")
    return show_end(ws.client, made.id, detach)


def _step_of(shown: dict[str, Any], step: Optional[str]) -> Optional[str]:
    """By its id or name; without either the first that failed."""
    steps = shown["steps"]
    if step is None:
        return next((key for key, each in steps.items() if each["status"] == "Failed"), None)
    return next((key for key, each in steps.items() if step in (key, each["name"])), step)


@app.command("show")
def show(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|RUN",
            help="A pipeline's YAML file, or a run of a pipeline.",
            autocompletion=complete_pipeline,
        ),
    ],
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Shows a pipeline's steps, or of a run what became of them and why."""
    if os.path.isfile(what):
        show_file(what)
        return
    from rookery.cli.find import find_run
    from rookery.worker.http import quote_path

    client = session.client()
    run_id = find_run(client, what)["id"]
    shown = client.request("GET", f"/pipelines/runs/{quote_path(run_id)}")
    if session.current().json:
        print_json(shown)
        return
    print_steps(shown)
    failed = next((key for key, step in shown["steps"].items() if step["status"] == "Failed"), None)
    if failed and shown["steps"][failed]["run_id"]:
        next_step(f"rookery logs {shown['steps'][failed]['run_id']}")


@app.command("retry")
def retry(
    what: Annotated[str, typer.Argument(metavar="RUN", help="A run of a pipeline.", autocompletion=complete_run)],
    step: Annotated[
        Optional[str], typer.Argument(metavar="STEP", help="Which step; else the first one that failed.")
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for its end.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> int:
    """Does a step that failed once more, and what was not run because of it; what was done stays."""
    from rookery.cli.find import find_run
    from rookery.errors import ConflictError
    from rookery.worker.http import quote_path

    client = session.client()
    run_id = find_run(client, what)["id"]
    path = f"/pipelines/runs/{quote_path(run_id)}"
    node = _step_of(client.request("GET", path), step)
    if node is None:
        raise ConflictError(f"No step of run '{run_id}' has failed, so there is nothing to try again.")
    told = {each["name"]: each["size"] for each in client.request("GET", f"/runs/{quote_path(run_id)}/logs")["logs"]}
    client.request("POST", f"{path}/steps/{quote_path(node)}/retry")
    return show_end(client, run_id, detach, told)


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
) -> int:
    """Publishes a pipeline: it can be started by its address."""
    from rookery.errors import NotFoundError, UserError
    from rookery.sdk.pipeline_endpoint import PipelineEndpoint
    from rookery.sdk.published_pipeline import publish as publish_graph

    ws, graph = session.sdk_workspace(), _read(file)
    try:
        made = publish_graph(ws, name or graph.name, description, version, graph=graph.sent(ws))
    except UserError as error:
        return _refused(error, ws, graph, file)
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
        return 0
    say(f"{made.name} is published" + (f" as version {number} of {endpoint}" if number is not None else "") + ":")
    say(address)
    next_step(
        'curl -H "Authorization: Bearer $(cat …/keeper/token)" -d \'{"ExperimentName": "again"}\' ADDRESS',
        "starts it from anywhere",
    )
    return 0


def _read(file: str) -> Any:
    from rookery.sdk.pipeline_graph import PipelineGraph

    return PipelineGraph.from_yaml(file)


def _refused(error: Any, ws: Any, graph: Any, file: str, parameters: Optional[dict[str, Any]] = None) -> int:
    """A graph with problems: all of them, whoever found the first."""
    problems = error.details.get("problems")
    if not problems or session.current().json:
        raise error
    print_problems(graph.validate(ws, parameters) or problems, lines_of(file))
    return 1


def _experiment(name: str) -> str:
    plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in name).strip("-_")
    return plain or "pipelines"
