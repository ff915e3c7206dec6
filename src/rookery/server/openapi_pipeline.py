"""The rows of `openapi.OPERATIONS` for the routes of pipelines."""

from __future__ import annotations

from typing import Any

from rookery.server import answer_models_pipeline as p
from rookery.server.answer_models import Empty, Run, listing
from rookery.server.answer_serve import Endpoint

__all__ = ["PIPELINES"]

_V1 = "/pipelines/v1.0"

PIPELINES: dict[tuple[str, str], tuple[str, Any, Any]] = {
    ("GET", "/modules"): ("list_modules", listing("modules", p.ModuleCard, others=list[p.ModuleCard]), None),
    ("POST", "/modules"): ("add_module", p.ModuleCard, None),
    ("PUT", "/modules/{name}"): ("create_module", p.ModuleVersions, None),
    ("PATCH", "/modules/{name}"): ("change_module", p.ModuleVersions, None),
    ("DELETE", "/modules/{name}"): ("delete_module", Empty, None),
    ("GET", "/modules/{name}/versions"): ("list_module_versions", p.ModuleVersions, None),
    ("POST", "/pipelines/validate"): ("validate_pipeline", p.Problems, None),
    ("GET", "/pipelines/samples"): ("list_samples", listing("samples", p.PipelineSample), None),
    ("POST", "/pipelines/code"): ("pipeline_code", p.Code, None),
    ("POST", "/pipelines/yaml"): ("pipeline_to_yaml", p.Yaml, None),
    ("POST", "/pipelines/graph"): ("pipeline_from_yaml", p.GraphRead, None),
    ("POST", "/pipelines/inference"): ("inference_graph", p.Graph, None),
    ("POST", "/pipelines/inference/deploy"): ("deploy_inference", Endpoint, None),
    ("GET", "/pipelines/drafts"): ("list_drafts", listing("drafts", p.Draft), None),
    ("POST", "/pipelines/drafts"): ("create_draft", p.Draft, None),
    ("GET", "/pipelines/drafts/{draft_id}"): ("get_draft", p.Draft, None),
    ("PUT", "/pipelines/drafts/{draft_id}"): ("save_draft", p.Draft, None),
    ("DELETE", "/pipelines/drafts/{draft_id}"): ("delete_draft", Empty, None),
    ("POST", "/pipelines/runs"): ("submit_pipeline", Run, None),
    ("GET", "/pipelines/runs/{run_id}"): ("get_pipeline_run", p.PipelineRun, None),
    ("POST", "/pipelines/runs/{run_id}/steps/{node}/retry"): ("retry_step", p.PipelineRun, None),
    ("POST", "/pipelines/runs/{run_id}/clone"): ("clone_pipeline_run", p.Draft, None),
    ("GET", "/pipelines/published"): ("list_published", listing("pipelines", p.PublishedPipeline), None),
    ("POST", "/pipelines/published"): ("publish_pipeline", p.PublishedPipeline, None),
    ("GET", "/pipelines/published/{pipeline_id}"): ("get_published", p.PublishedPipeline, None),
    ("PATCH", "/pipelines/published/{pipeline_id}"): ("change_published", p.PublishedPipeline, None),
    ("GET", "/pipelines/endpoints"): ("list_pipeline_endpoints", listing("endpoints", p.PipelineEndpoint), None),
    ("POST", "/pipelines/endpoints"): ("create_pipeline_endpoint", p.PipelineEndpoint, None),
    ("GET", "/pipelines/endpoints/{endpoint}"): ("get_pipeline_endpoint", p.PipelineEndpoint, None),
    ("PATCH", "/pipelines/endpoints/{endpoint}"): ("change_pipeline_endpoint", p.PipelineEndpoint, None),
    ("GET", "/pipelines/schedules"): ("list_schedules", listing("schedules", p.Schedule), None),
    ("POST", "/pipelines/schedules"): ("create_schedule", p.Schedule, None),
    ("GET", "/pipelines/schedules/{schedule_id}"): ("get_schedule", p.Schedule, None),
    ("PATCH", "/pipelines/schedules/{schedule_id}"): ("change_schedule", p.Schedule, None),
    ("DELETE", "/pipelines/schedules/{schedule_id}"): ("delete_schedule", Empty, None),
    ("POST", _V1 + "/PipelineRuns/PipelineSubmit/{pipeline_id}"): ("submit_published", p.SubmittedV1, None),
    ("POST", _V1 + "/PipelineEndpoints/Id/{endpoint_id}"): ("submit_endpoint", p.SubmittedV1, None),
    ("POST", _V1 + "/PipelineEndpoints/Id/{endpoint_id}/{version}"): ("submit_endpoint_version", p.SubmittedV1, None),
    ("POST", _V1 + "/PipelineEndpoints/Name"): ("submit_endpoint_by_name", p.SubmittedV1, None),
}
