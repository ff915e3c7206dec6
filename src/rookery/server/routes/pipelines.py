"""Pipelines: graphs checked and turned into other forms, and their runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from rookery.errors import NotFoundError
from rookery.pipeline.code import graph_to_python
from rookery.pipeline.inference import inference_graph
from rookery.pipeline.knowing import find_problems
from rookery.pipeline.samples import sample_pipelines
from rookery.pipeline.serving import about_served, graph_to_serve, make_inference
from rookery.pipeline.submitting import submit_pipeline
from rookery.pipeline.view import show_run
from rookery.server.answers import JsonAnswer, answer
from rookery.server.auth import Asking, Principal, check_parent
from rookery.server.routes.data import check_sources
from rookery.server.schemas_pipeline import GraphGiven, InferenceAsked, InferenceDeployed, PipelineRunNew, YamlGiven
from rookery.server.services import Served
from rookery.server.strict_json import strict_answer
from rookery.spec.data_definition import check_definition
from rookery.spec.names import copy_name
from rookery.spec.pipeline_yaml import graph_from_yaml, graph_to_yaml
from rookery.spec.run import RunKind

__all__ = ["check_graph_sources", "router"]

router = APIRouter(tags=["pipelines"])


@router.post("/pipelines/validate")
def validate_pipeline(given: GraphGiven, services: Served) -> JsonAnswer:
    """All problems at once."""
    problems = find_problems(services.record, services.controller, given.graph, given.parameters)
    return strict_answer({"problems": [problem.plain() for problem in problems]})


@router.get("/pipelines/samples")
def list_samples() -> JsonAnswer:
    """The gallery."""
    return strict_answer({"samples": sample_pipelines()})


@router.post("/pipelines/code")
def pipeline_code(given: GraphGiven, services: Served) -> JsonAnswer:
    """The Python program that submits the same graph."""
    return strict_answer({"python": graph_to_python(given.graph)})


@router.post("/pipelines/yaml")
def pipeline_to_yaml(given: GraphGiven) -> JsonAnswer:
    return strict_answer({"yaml": graph_to_yaml(given.graph)})


@router.post("/pipelines/graph")
def pipeline_from_yaml(given: YamlGiven, services: Served) -> JsonAnswer:
    """The graph of a file, and what is wrong with it."""
    graph = graph_from_yaml(given.yaml)
    problems = find_problems(services.record, services.controller, graph)
    return strict_answer({"graph": graph, "problems": [problem.plain() for problem in problems]})


@router.post("/pipelines/inference")
def make_inference_graph(asked: InferenceAsked, services: Served) -> JsonAnswer:
    """From a completed training pipeline, the graph that only scores."""
    return strict_answer({"graph": inference_graph(services.record, asked.run_id, asked.kind)})


@router.post("/pipelines/inference/deploy", status_code=201)
def deploy_inference(asked: InferenceDeployed, services: Served, asking: Asking) -> JsonAnswer:
    """An endpoint of a real-time inference graph: every request goes through its modules."""
    graph = graph_to_serve(services.record, asked.graph, asked.run_id)
    check_graph_sources(graph, asking)
    said = asked.model_dump(exclude={"graph", "run_id"}, exclude_none=True)
    about = about_served(services.record, graph)
    body = {**said, "models": [], "properties": about, "inference": make_inference(services.record, graph)}
    return answer(services.serving.manager().create(body, str(asking)), 201)


@router.post("/pipelines/runs", status_code=201)
def submit_graph(new: PipelineRunNew, services: Served, asking: Asking) -> JsonAnswer:
    """A run of kind pipeline; a graph with problems is refused, with all of them in `details.problems`."""
    check_parent(services, asking, new.parent_id)
    check_graph_sources(new.graph, asking)
    options = new.model_dump(exclude={"graph", "experiment", "pipeline_id"})
    options["display_name"], options["description"] = new.display_name or "", new.description or ""
    origin = {"azureml.pipelineid": new.pipeline_id} if new.pipeline_id else None
    run = submit_pipeline(
        services.record, services.controller, new.graph, new.experiment, str(asking), origin=origin, **options
    )
    return strict_answer(run, 201)


@router.get("/pipelines/runs/{run_id}")
def get_pipeline_run(run_id: str, services: Served) -> JsonAnswer:
    return strict_answer(show_run(services.record, run_id))


@router.post("/pipelines/runs/{run_id}/steps/{node}/retry", status_code=202)
def retry_step(run_id: str, node: str, services: Served) -> JsonAnswer:
    """Does a step that failed once more, and what was not run because of it; the pipeline goes on."""
    show_run(services.record, run_id)
    services.controller.driver(RunKind.PIPELINE).real().retry(run_id, node)
    return strict_answer(show_run(services.record, run_id), 202)


@router.post("/pipelines/runs/{run_id}/clone", status_code=201)
def clone_pipeline_run(run_id: str, services: Served, asking: Asking) -> JsonAnswer:
    """Its graph as a new draft, with the values that its parameters had as their defaults."""
    shown = show_run(services.record, run_id)
    graph = {**shown["graph"], "parameters": dict(shown["graph"].get("parameters") or {})}
    for name, value in shown["parameters"].items():
        if name in graph["parameters"]:
            graph["parameters"][name] = {**graph["parameters"][name], "default": value}
    taken = {draft["name"] for draft in services.record.drafts.list()}
    name = copy_name(str(shown["display_name"] or graph.get("name") or "pipeline"), taken)
    facts = {"experiment": shown["experiment"], "parent_run_id": run_id}
    return strict_answer(services.record.drafts.create({**graph, "name": name}, name, str(asking), facts), 201)


def check_graph_sources(graph: Any, asking: Principal) -> None:
    """Definitions in a graph follow the same rules as saved ones: some sources are the owner's alone."""
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    parameters = graph.get("parameters") if isinstance(graph, dict) else None
    for node in nodes.values() if isinstance(nodes, dict) else ():
        _check(node, asking)
        _check(node.get("dataset") if isinstance(node, dict) else None, asking)
    for about in parameters.values() if isinstance(parameters, dict) else ():
        _check(about.get("default") if isinstance(about, dict) else None, asking)


def _check(value: Any, asking: Principal) -> None:
    if isinstance(value, dict) and isinstance(value.get("definition"), dict):
        check_sources(check_definition(value["definition"]), asking)


def found_run(services: Any, run_id: str) -> dict[str, Any]:
    """The plan of a pipeline's run."""
    run = services.record.runs.get(run_id)
    if run["kind"] != RunKind.PIPELINE:
        raise NotFoundError(f"Run '{run_id}' is no pipeline.")
    return dict(run["spec"]["plan"])
