"""PipelineDraft: a pipeline that is worked on; the designer shows the same drafts."""

from __future__ import annotations

import builtins
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.pipeline_graph import PipelineGraph
from rookery.worker.http import quote_path

__all__ = ["PipelineDraft"]


class PipelineDraft:
    """Made from a Pipeline, a PublishedPipeline or a PipelineRun."""

    def __init__(self, workspace: Any, id: str, _data: Optional[dict[str, Any]] = None, **kwargs: Any) -> None:
        self._workspace = workspace
        self._data = _data or workspace.client.request("GET", f"/pipelines/drafts/{quote_path(id)}")

    @property
    def id(self) -> str:
        return str(self._data["id"])

    @property
    def name(self) -> str:
        return str(self._data["name"])

    @property
    def description(self) -> str:
        return str(self._facts.get("description") or "")

    @property
    def tags(self) -> dict[str, Any]:
        return dict(self._facts.get("tags") or {})

    @property
    def properties(self) -> dict[str, Any]:
        return dict(self._facts.get("properties") or {})

    @property
    def parent_pipeline_id(self) -> Optional[str]:
        return self._facts.get("parent_pipeline_id")

    @property
    def parent_pipeline_run_id(self) -> Optional[str]:
        return self._facts.get("parent_run_id")

    @property
    def last_submitted_pipeline_run_id(self) -> Optional[str]:
        return self._data["last_run_id"]

    @property
    def _facts(self) -> dict[str, Any]:
        return dict(self._data["facts"])

    @staticmethod
    def get(workspace: Any, id: str, _workflow_provider: Any = None, _service_endpoint: Any = None) -> PipelineDraft:
        return PipelineDraft(workspace, id)

    @staticmethod
    def create(
        workspace: Any,
        pipeline: Any,
        name: Optional[str] = None,
        description: Optional[str] = None,
        experiment_name: Optional[str] = None,
        pipeline_parameters: Optional[dict[str, Any]] = None,
        continue_on_step_failure: Optional[bool] = None,
        tags: Optional[dict[str, Any]] = None,
        properties: Optional[dict[str, Any]] = None,
        _workflow_provider: Any = None,
        _service_endpoint: Any = None,
    ) -> PipelineDraft:
        graph, facts = _graph_of(pipeline)
        facts.update(
            description=description,
            experiment=experiment_name,
            parameters=pipeline_parameters,
            continue_on_failure=continue_on_step_failure,
            tags=tags,
            properties=properties,
        )
        if name is not None:
            graph = {**graph, "name": name}
        body = {
            "graph": graph,
            "name": name,
            "facts": {key: value for key, value in facts.items() if value is not None},
        }
        data = workspace.client.request("POST", "/pipelines/drafts", body=body)
        return PipelineDraft(workspace, data["id"], data)

    @staticmethod
    def list(workspace: Any, tags: Any = None, _workflow_provider: Any = None) -> builtins.list[PipelineDraft]:
        """The last changed first; with `tags` those that have all of them."""
        wanted = dict(tags or {}) if isinstance(tags, dict) else dict.fromkeys(tags or ())
        found = []
        for data in workspace.client.request("GET", "/pipelines/drafts")["drafts"]:
            has = data["facts"].get("tags") or {}
            if all(key in has and value in (None, has[key]) for key, value in wanted.items()):
                found.append(PipelineDraft(workspace, data["id"]))
        return found

    def get_graph(self, _workflow_provider: Any = None) -> PipelineGraph:
        return PipelineGraph(graph=self._data["graph"])

    def submit_run(self, _workflow_provider: Any = None) -> Any:
        """A PipelineRun with what the draft says."""
        from rookery.sdk.pipeline_run import PipelineRun

        facts = self._facts
        body = {
            "graph": self._data["graph"],
            "experiment": facts.get("experiment") or "pipelines",
            "description": facts.get("description"),
            "parameters": facts.get("parameters"),
            "continue_on_failure": bool(facts.get("continue_on_failure")),
            "tags": facts.get("tags"),
            "properties": facts.get("properties"),
            "draft_id": self.id,
        }
        data = self._workspace.client.request("POST", "/pipelines/runs", body=body)
        self._data = {**self._data, "last_run_id": data["id"]}
        return PipelineRun.get(self._workspace, data["id"])

    def publish(self, _workflow_provider: Any = None) -> Any:
        """A PublishedPipeline of its graph."""
        from rookery.sdk.published_pipeline import publish

        goes_on = self._facts.get("continue_on_failure")
        return publish(self._workspace, self.name, self.description, None, goes_on, graph=self._data["graph"])

    def update(
        self,
        pipeline: Any = None,
        name: Optional[str] = None,
        description: Optional[str] = None,
        experiment_name: Optional[str] = None,
        tags: Optional[dict[str, Any]] = None,
        pipeline_parameters: Optional[dict[str, Any]] = None,
        continue_on_step_failure: Optional[bool] = None,
        _workflow_provider: Any = None,
    ) -> None:
        """What is given changes. Somebody who has saved it meanwhile is not overwritten: ConflictError."""
        facts = {
            "description": description,
            "experiment": experiment_name,
            "tags": tags,
            "parameters": pipeline_parameters,
            "continue_on_failure": continue_on_step_failure,
        }
        body = {
            "graph": None if pipeline is None else _graph_of(pipeline)[0],
            "name": name,
            "revision": self._data["revision"],
            "facts": {key: value for key, value in facts.items() if value is not None},
        }
        self._data = self._workspace.client.request("PUT", f"/pipelines/drafts/{quote_path(self.id)}", body=body)

    def delete(self, _workflow_provider: Any = None) -> None:
        self._workspace.client.request("DELETE", f"/pipelines/drafts/{quote_path(self.id)}")

    def save(self, path: Optional[str] = None, _workflow_provider: Any = None) -> str:
        """Its graph as a YAML file; where it is."""
        return self.get_graph().save(path or f"{self.name}.yaml")


def _graph_of(pipeline: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the graph, where it comes from)."""
    name = type(pipeline).__name__
    if name == "Pipeline":
        return pipeline.graph.graph, {}
    if name == "PipelineGraph":
        return pipeline.graph, {}
    if name == "PublishedPipeline":
        return pipeline.get_graph().graph, {"parent_pipeline_id": pipeline.id}
    if name == "PipelineRun":
        return pipeline.get_graph().graph, {"parent_run_id": pipeline.id}
    raise UserError(f"pipeline is {name}. Give a Pipeline, a PublishedPipeline or a PipelineRun.")
