"""PublishedPipeline: a pipeline that can be started by its address."""

from __future__ import annotations

import builtins
from typing import Any, Optional

from rookery.sdk.pipeline_graph import PipelineGraph
from rookery.worker.http import quote_path

__all__ = ["PublishedPipeline", "publish"]


class PublishedPipeline:
    """What `Pipeline.publish` gives. It never changes; `disable` keeps it from being started."""

    def __init__(
        self,
        name: str,
        graph_id: str,
        description: Optional[str],
        version: Optional[str],
        published_pipeline_id: str,
        status: str,
        endpoint: str,
        total_run_steps: Any,
        workspace: Any,
        continue_on_step_failure: Optional[bool] = None,
        _pipeline_provider: Any = None,
        **kwargs: Any,
    ) -> None:
        self.name, self.description, self.version = name, description, version
        self.id, self.graph_id, self.status, self.endpoint = published_pipeline_id, graph_id, status, endpoint
        self.total_run_steps, self.workspace = total_run_steps, workspace
        self.continue_on_step_failure = continue_on_step_failure

    @staticmethod
    def _from(workspace: Any, data: dict[str, Any]) -> PublishedPipeline:
        return PublishedPipeline(
            data["name"], data["id"], data["description"], data["version"], data["id"], data["status"], data["endpoint"],
            len(data["graph"]["nodes"]), workspace, data["continue_on_failure"],
        )  # fmt: skip

    @staticmethod
    def get(
        workspace: Any, id: str, _workflow_provider: Any = None, _service_endpoint: Any = None
    ) -> PublishedPipeline:
        data = workspace.client.request("GET", f"/pipelines/published/{quote_path(id)}")
        return PublishedPipeline._from(workspace, data)

    @staticmethod
    def list(
        workspace: Any, active_only: bool = True, _service_endpoint: Any = None
    ) -> builtins.list[PublishedPipeline]:
        """The newest first."""
        query = {"active_only": str(bool(active_only)).lower()}
        found = workspace.client.request("GET", "/pipelines/published", query)["pipelines"]
        return [PublishedPipeline._from(workspace, data) for data in found]

    get_all = list

    def submit(
        self,
        workspace: Any,
        experiment_name: str,
        pipeline_parameters: Optional[dict[str, Any]] = None,
        _workflow_provider: Any = None,
        _service_endpoint: Any = None,
        parent_run_id: Optional[str] = None,
        continue_on_step_failure: Optional[bool] = None,
    ) -> Any:
        """A PipelineRun; the same as a POST to `endpoint`."""
        path = f"/pipelines/v1.0/PipelineRuns/PipelineSubmit/{quote_path(self.id)}"
        return start(workspace, path, experiment_name, pipeline_parameters, parent_run_id, continue_on_step_failure)

    def enable(self) -> None:
        self._set("Active")

    def disable(self) -> None:
        self._set("Disabled")

    def get_graph(self, _workflow_provider: Any = None) -> PipelineGraph:
        return PipelineGraph(graph=self._data()["graph"])

    def get_step_names(self, _workflow_provider: Any = None) -> builtins.list[str]:
        nodes = self._data()["graph"]["nodes"]
        return [
            str(node.get("title") or key) for key, node in nodes.items() if node.get("kind") not in ("data", "model")
        ]

    def save(self, path: Optional[str] = None, _workflow_provider: Any = None) -> str:
        """Its graph as a YAML file; where it is."""
        return self.get_graph().save(path or f"{self.name}.yaml")

    def _data(self) -> dict[str, Any]:
        return dict(self.workspace.client.request("GET", f"/pipelines/published/{quote_path(self.id)}"))

    def _set(self, status: str) -> None:
        data = self.workspace.client.request(
            "PATCH", f"/pipelines/published/{quote_path(self.id)}", body={"status": status}
        )
        self.status = data["status"]

    def __repr__(self) -> str:
        return f"Pipeline(Name: {self.name},\nId: {self.id},\nStatus: {self.status},\nEndpoint: {self.endpoint})"


def publish(
    workspace: Any,
    name: str,
    description: Optional[str],
    version: Optional[str],
    continue_on_step_failure: Optional[bool] = None,
    **what: Any,
) -> PublishedPipeline:
    """`graph=` or `run_id=` is what is published."""
    body = {
        "name": name,
        "description": description or "",
        "version": str(version or ""),
        "continue_on_failure": continue_on_step_failure,
        **what,
    }
    return PublishedPipeline._from(workspace, workspace.client.request("POST", "/pipelines/published", body=body))


def start(
    workspace: Any,
    path: str,
    experiment_name: str,
    parameters: Optional[dict[str, Any]],
    parent_run_id: Optional[str],
    continue_on_step_failure: Optional[bool] = None,
    query: Optional[dict[str, Any]] = None,
) -> Any:
    """POST of v1's body to a published address; a PipelineRun."""
    from rookery.sdk.pipeline_run import PipelineRun, plain_parameters

    body = {
        "ExperimentName": experiment_name,
        "RunSource": "SDK",
        "ParameterAssignments": plain_parameters(workspace, parameters),
        "ParentRunId": parent_run_id,
        "ContinueRunOnStepFailure": continue_on_step_failure,
    }
    answer = workspace.client.request("POST", path, query, body=body)
    return PipelineRun.get(workspace, answer["Id"])
