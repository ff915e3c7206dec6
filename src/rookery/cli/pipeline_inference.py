"""`rookery pipeline inference`: from a pipeline that trains to the one that only scores, and that one behind an address."""

from __future__ import annotations

import os
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_pipeline
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import clean, is_terminal, next_step, note, print_json, say

__all__ = ["inference"]

KINDS = ("real-time", "batch")


def inference(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|RUN",
            help="A completed run of a pipeline that trains, or its file (then its newest completed run); or the file of an inference pipeline.",
            autocompletion=complete_pipeline,
        ),
    ],
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help="real-time, for an endpoint, or batch, to be run with other data."),
    ] = "real-time",
    output: Annotated[
        Optional[str],
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write its YAML file there; without --deploy it is printed."
        ),
    ] = None,
    deploy: Annotated[
        Optional[str], typer.Option("--deploy", metavar="NAME", help="Put it behind an address, as this endpoint.")
    ] = None,
    auth: Annotated[
        Optional[bool], typer.Option("--auth/--no-auth", help="Whether the endpoint wants a key. Default: no.")
    ] = None,
    is_overwriting: Annotated[
        bool, typer.Option("--overwrite", help="Replace an endpoint of that name, without a pause.")
    ] = False,
    is_detached: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait until it answers.")] = False,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Makes the pipeline that only scores of one that has trained, and deploys it."""
    from rookery.sdk.inference_pipeline import deploy_graph

    if kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} does not exist. Known: {', '.join(KINDS)}.", param_hint="--kind")
    if deploy is not None and kind != "real-time":
        raise typer.BadParameter("An endpoint is made of a real-time one. Leave --kind out.", param_hint="--deploy")
    ws = session.sdk_workspace()
    graph = _graph(ws, what, kind)
    if output is not None:
        graph.save(output)
    service = None
    if deploy is not None:
        service = deploy_graph(ws, deploy, graph.graph, is_overwriting, auth_enabled=auth)
        if not is_detached:
            if is_terminal() and not session.current().json:
                note(f"{service.name}: coming up …")
            service.wait_for_deployment()
    if session.current().json:
        print_json({"graph": graph.graph, "file": output, "endpoint": service._data if service else None})
    elif service is not None:
        say(f"{clean(service.name)}  {service._data['state']}  {service.scoring_uri}")
        _say_ends(graph.graph)
        next_step(f"rookery predict {service.name} FILE")
    elif output is not None:
        say(f"{output}: {len(graph.graph['nodes'])} nodes")
        _say_ends(graph.graph)
        verb = "run" if kind == "batch" else "inference"
        next_step(f"rookery pipeline {verb} {output}" + (" --deploy NAME" if verb == "inference" else ""))
    else:
        say(graph.to_yaml().rstrip("\n"))


def _graph(ws: Any, what: str, kind: str) -> Any:
    """The inference pipeline that is meant."""
    from rookery.cli.find import find_run
    from rookery.errors import UserError
    from rookery.sdk.inference_pipeline import find_trained, inference_graph, is_inference
    from rookery.sdk.pipeline_graph import PipelineGraph

    if not os.path.isfile(what):
        return inference_graph(ws, find_run(ws.client, what)["id"], kind)
    given = PipelineGraph.from_yaml(what)
    if not is_inference(given.graph):
        return inference_graph(ws, find_trained(ws, given.sent(ws)), kind)
    is_kind = given.graph["inference"].get("kind")
    if is_kind != kind:
        raise UserError(
            f"{what} is a {is_kind} inference pipeline, not a {kind} one. Name the training run, or its file."
        )
    return given


def _say_ends(graph: dict[str, Any]) -> None:
    """Which names a request and its answer have, where there is more than one of them."""
    ends = graph.get("inference") or {}
    for what, key in (("inputs", "web_service_inputs"), ("outputs", "web_service_outputs")):
        names = list(dict.fromkeys(str(end.get("name")) for end in ends.get(key) or () if isinstance(end, dict)))
        if len(names) > 1:
            say(f"{what}: {clean(', '.join(names))}")
