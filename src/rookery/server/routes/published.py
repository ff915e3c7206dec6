"""What is published: pipelines and endpoints that are started by their address, and schedules."""

from __future__ import annotations

from typing import Any, Optional

from fastapi import APIRouter

from rookery.errors import ConflictError, UserError
from rookery.pipeline.knowing import check_graph
from rookery.pipeline.rest import rest_parameters
from rookery.pipeline.schedules import check_schedule, first_due
from rookery.pipeline.submitting import submit_pipeline
from rookery.record.published import ACTIVE
from rookery.server.answers import JsonAnswer
from rookery.server.auth import Asking
from rookery.server.routes.pipelines import check_graph_sources, found_run
from rookery.server.schemas_pipeline import (
    PipelineEndpointChange,
    PipelineEndpointNew,
    PipelineSubmission,
    PublishedChange,
    PublishedNew,
    ScheduleChange,
    ScheduleNew,
)
from rookery.server.services import Served, Services
from rookery.server.strict_json import strict_answer
from rookery.spec.protocol import PREFIX
from rookery.spec.run import RunKind

__all__ = ["router"]

router = APIRouter(tags=["pipelines"])
V1 = "/pipelines/v1.0"


@router.get("/pipelines/published")
def list_published(services: Served, active_only: bool = True) -> JsonAnswer:
    found = services.record.published.list(active_only)
    return strict_answer({"pipelines": [_pipeline(services, each) for each in found]})


@router.post("/pipelines/published", status_code=201)
def publish_pipeline(new: PublishedNew, services: Served, asking: Asking) -> JsonAnswer:
    """A graph, or that of a run, under an address of its own."""
    if (new.graph is None) == (new.run_id is None):
        raise UserError("Give either a graph or the run_id of a pipeline: what is to be published.")
    graph, goes_on = new.graph, bool(new.continue_on_failure)
    if new.run_id is not None:
        plan = found_run(services, new.run_id)
        graph = plan["graph"]
        goes_on = bool(plan.get("continue_on_failure")) if new.continue_on_failure is None else goes_on
    check_graph_sources(graph, asking)
    check_graph(services.record, services.controller, graph)
    made = services.record.published.publish(graph, new.name, new.description, new.version, goes_on, str(asking))
    return strict_answer(_pipeline(services, made), 201)


@router.get("/pipelines/published/{pipeline_id}")
def get_published(pipeline_id: str, services: Served) -> JsonAnswer:
    return strict_answer(_pipeline(services, services.record.published.get(pipeline_id)))


@router.patch("/pipelines/published/{pipeline_id}")
def change_published(pipeline_id: str, change: PublishedChange, services: Served) -> JsonAnswer:
    return strict_answer(_pipeline(services, services.record.published.set_status(pipeline_id, change.status)))


@router.get("/pipelines/endpoints")
def list_endpoints(services: Served, active_only: bool = True) -> JsonAnswer:
    found = services.record.published.endpoints(active_only)
    return strict_answer({"endpoints": [_endpoint(services, each) for each in found]})


@router.post("/pipelines/endpoints", status_code=201)
def create_endpoint(new: PipelineEndpointNew, services: Served, asking: Asking) -> JsonAnswer:
    made = services.record.published.create_endpoint(new.name, new.description, new.pipeline_id, str(asking))
    return strict_answer(_endpoint(services, made), 201)


@router.get("/pipelines/endpoints/{endpoint}")
def get_endpoint(endpoint: str, services: Served, by: str = "id") -> JsonAnswer:
    """By its id; with `by=name` by its name."""
    published = services.record.published
    found = published.endpoint(name=endpoint) if by == "name" else published.endpoint(endpoint)
    return strict_answer(_endpoint(services, found))


@router.patch("/pipelines/endpoints/{endpoint}")
def change_endpoint(endpoint: str, change: PipelineEndpointChange, services: Served) -> JsonAnswer:
    """Adds a version, sets the default one, the status, the name."""
    return strict_answer(_endpoint(services, services.record.published.change_endpoint(endpoint, **change.given())))


@router.get("/pipelines/schedules")
def list_schedules(services: Served, active_only: bool = False) -> JsonAnswer:
    return strict_answer({"schedules": services.record.schedules.list(active_only)})


@router.post("/pipelines/schedules", status_code=201)
def create_schedule(new: ScheduleNew, services: Served, asking: Asking) -> JsonAnswer:
    facts = check_schedule(services.record, new.model_dump())
    made = services.record.schedules.create(new.name, facts, first_due(facts), str(asking))
    services.controller.driver(RunKind.PIPELINE).real().schedules_changed()
    return strict_answer(made, 201)


@router.get("/pipelines/schedules/{schedule_id}")
def get_schedule(schedule_id: str, services: Served) -> JsonAnswer:
    return strict_answer(services.record.schedules.get(schedule_id))


@router.patch("/pipelines/schedules/{schedule_id}")
def change_schedule(schedule_id: str, change: ScheduleChange, services: Served) -> JsonAnswer:
    given = change.given()
    values: dict[str, Any] = {key: given.pop(key) for key in ("name", "status") if given.get(key) is not None}
    found = services.record.schedules.get(schedule_id)
    if given:
        if given.get("recurrence"):
            given.setdefault("datastore", None)
        elif given.get("datastore"):
            given.setdefault("recurrence", None)
        values["facts"] = check_schedule(services.record, {**found["facts"], **given})
    if given or (values.get("status") == ACTIVE and found["status"] != ACTIVE):
        values["next_utc"] = first_due(values.get("facts") or found["facts"])
    found = services.record.schedules.change(schedule_id, **values) if values else found
    services.controller.driver(RunKind.PIPELINE).real().schedules_changed()
    return strict_answer(found)


@router.delete("/pipelines/schedules/{schedule_id}")
def delete_schedule(schedule_id: str, services: Served) -> JsonAnswer:
    services.record.schedules.delete(schedule_id)
    return strict_answer({})


# -- as v1's clients call it: the paths are those of the original, below ours


@router.post(V1 + "/PipelineRuns/PipelineSubmit/{pipeline_id}")
def submit_published(pipeline_id: str, body: PipelineSubmission, services: Served, asking: Asking) -> JsonAnswer:
    return _submit(services, services.record.published.get(pipeline_id), body, str(asking), {})


@router.post(V1 + "/PipelineEndpoints/Id/{endpoint_id}")
def submit_endpoint(endpoint_id: str, body: PipelineSubmission, services: Served, asking: Asking) -> JsonAnswer:
    """The default version."""
    return _submit_version(services, services.record.published.endpoint(endpoint_id), None, body, str(asking))


@router.post(V1 + "/PipelineEndpoints/Id/{endpoint_id}/{version}")
def submit_endpoint_version(
    endpoint_id: str, version: str, body: PipelineSubmission, services: Served, asking: Asking
) -> JsonAnswer:
    return _submit_version(services, services.record.published.endpoint(endpoint_id), version, body, str(asking))


@router.post(V1 + "/PipelineEndpoints/Name")
def submit_endpoint_by_name(
    name: str, body: PipelineSubmission, services: Served, asking: Asking, pipelineVersion: Optional[str] = None
) -> JsonAnswer:
    return _submit_version(services, services.record.published.endpoint(name=name), pipelineVersion, body, str(asking))


def _submit_version(
    services: Services, endpoint: dict[str, Any], version: Optional[str], body: PipelineSubmission, who: str
) -> JsonAnswer:
    if endpoint["status"] != ACTIVE:
        raise ConflictError(f"Pipeline endpoint '{endpoint['name']}' is {endpoint['status']}. Enable it first.")
    pipeline = services.record.published.version(endpoint, version)
    return _submit(services, pipeline, body, who, {"azureml.pipelineendpointid": endpoint["id"]})


def _submit(
    services: Services, pipeline: dict[str, Any], body: PipelineSubmission, who: str, origin: dict[str, str]
) -> JsonAnswer:
    if pipeline["status"] != ACTIVE:
        raise ConflictError(f"Published pipeline '{pipeline['name']}' is {pipeline['status']}. Enable it first.")
    if not body.ExperimentName:
        raise UserError('The body lacks "ExperimentName": the experiment that the run is to be in.')
    goes_on = body.ContinueRunOnStepFailure
    run = submit_pipeline(
        services.record,
        services.controller,
        pipeline["graph"],
        body.ExperimentName,
        who,
        parent_id=body.ParentRunId,
        display_name=body.DisplayName or pipeline["name"],
        description=body.Description or "",
        tags=body.Tags,
        properties=body.Properties,
        parameters=rest_parameters(services.record, pipeline["graph"], body.model_dump()),
        continue_on_failure=pipeline["continue_on_failure"] if goes_on is None else goes_on,
        origin={"azureml.pipelineid": pipeline["id"], "azureml.runsource": body.RunSource or "Unavailable", **origin},
    )
    shown = {"Id": run["id"], "ExperimentName": run["experiment"], "PipelineId": pipeline["id"]}
    return strict_answer({**shown, "Status": {"StatusCode": run["status"]}, "Description": run["description"]})


def _pipeline(services: Services, found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "endpoint": _url(services, f"/PipelineRuns/PipelineSubmit/{found['id']}")}


def _endpoint(services: Services, found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "endpoint": _url(services, f"/PipelineEndpoints/Id/{found['id']}")}


def _url(services: Services, path: str) -> str:
    return f"{services.own_url() or ''}{PREFIX}{V1}{path}"
