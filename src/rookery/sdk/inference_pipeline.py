"""From a training pipeline to the one that only scores, and that one as an endpoint. Not of v1: its designer did it."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.pipeline_graph import PipelineGraph
from rookery.worker.http import quote_path

__all__ = ["BATCH", "REAL_TIME", "deploy_graph", "find_trained", "inference_graph", "is_inference"]

REAL_TIME, BATCH = "real-time", "batch"


def inference_graph(workspace: Any, run_id: str, kind: str = REAL_TIME) -> PipelineGraph:
    """The graph that only scores, of a completed run of a pipeline that trains: what was learned is data, what trains is gone.

    Args:
        kind: real-time, for an endpoint; batch, for a pipeline that is run with other data.
    """
    if kind not in (REAL_TIME, BATCH):
        raise UserError(f"kind={kind!r:.40}. Allowed: {REAL_TIME}, {BATCH}.")
    made = workspace.client.request("POST", "/pipelines/inference", body={"run_id": run_id, "kind": kind})
    return PipelineGraph(graph=made["graph"])


def is_inference(graph: dict[str, Any]) -> bool:
    return isinstance(graph.get("inference"), dict)


def find_trained(workspace: Any, graph: dict[str, Any]) -> str:
    """The newest completed run of this very graph.

    Args:
        graph: as it would be submitted, with what `sent` adds.
    """
    query: dict[str, Any] = {"kind": "pipeline", "status": "Completed", "limit": 100}
    for run in workspace.client.request("GET", "/runs", query=query)["runs"]:
        shown = workspace.client.request("GET", f"/pipelines/runs/{quote_path(run['id'])}")
        if shown["graph"].get("nodes") == graph.get("nodes"):
            return str(run["id"])
    raise UserError(
        f"The pipeline '{graph.get('name') or 'pipeline'}' has no completed run with these very nodes. Run it first, or name a run."
    )


def deploy_graph(
    workspace: Any,
    name: str,
    graph: dict[str, Any],
    overwrite: bool = False,
    config: Optional[dict[str, Any]] = None,
    auth_enabled: Optional[bool] = None,
    description: str = "",
    tags: Optional[dict[str, Any]] = None,
) -> Any:
    """An endpoint of a real-time inference graph, as a webservice; `wait_for_deployment` waits until it answers."""
    from rookery.sdk.deploy import service_from

    body: dict[str, Any] = {"name": name, "graph": graph, "overwrite": overwrite, "config": config or {}}
    body.update({"description": description, "tags": tags or {}})
    if auth_enabled is not None:
        body["auth_enabled"] = auth_enabled
    return service_from(workspace, workspace.client.request("POST", "/pipelines/inference/deploy", body=body))
