"""PipelineEndpoint: published pipelines as versions under one name and one address."""

from __future__ import annotations

import builtins
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.published_pipeline import PublishedPipeline, start
from rookery.worker.http import quote_path

__all__ = ["PipelineEndpoint", "PipelineIdVersion", "PipelineVersion"]


class PipelineVersion:
    def __init__(self, version: str, pipeline: PublishedPipeline) -> None:
        self.version, self.pipeline = version, pipeline


class PipelineIdVersion:
    def __init__(self, version: str, pipeline_id: str) -> None:
        self.version, self.pipeline_id = version, pipeline_id


class PipelineEndpoint:
    """Its first version is '0'; one of them is the default."""

    def __init__(
        self,
        workspace: Any,
        id: str,
        name: str,
        description: str,
        status: str,
        default_version: str,
        endpoint: str,
        pipeline_version_list: builtins.list[PipelineIdVersion],
        _pipeline_endpoint_provider: Any = None,
        _published_pipeline_provider: Any = None,
        _swaggerurl: Optional[str] = None,
    ) -> None:
        self._workspace = workspace
        self.id, self.name, self.description, self.status = id, name, description, status
        self.default_version, self.endpoint = default_version, endpoint
        self.pipeline_version_list = pipeline_version_list
        self.swaggerurl = _swaggerurl or f"{workspace._base_url}/api/v1/openapi.json"

    @staticmethod
    def _from(workspace: Any, data: dict[str, Any]) -> PipelineEndpoint:
        made = object.__new__(PipelineEndpoint)
        made._take(workspace, data)
        return made

    def _take(self, workspace: Any, data: dict[str, Any]) -> None:
        versions = [PipelineIdVersion(each["version"], each["pipeline_id"]) for each in data["versions"]]
        PipelineEndpoint.__init__(
            self, workspace, data["id"], data["name"], data["description"], data["status"], data["default_version"],
            data["endpoint"], versions,
        )  # fmt: skip

    @staticmethod
    def publish(
        workspace: Any,
        name: str,
        description: str,
        pipeline: Any,
        _workflow_provider: Any = None,
        _service_endpoint: Any = None,
    ) -> PipelineEndpoint:
        """A new endpoint; `pipeline` is a Pipeline or a PublishedPipeline, and becomes version '0'."""
        body = {"name": name, "description": description or "", "pipeline_id": _published(pipeline, name).id}
        return PipelineEndpoint._from(workspace, workspace.client.request("POST", "/pipelines/endpoints", body=body))

    @staticmethod
    def get(
        workspace: Any,
        id: Optional[str] = None,
        name: Optional[str] = None,
        _workflow_provider: Any = None,
        _service_endpoint: Any = None,
    ) -> PipelineEndpoint:
        if (id is None) == (name is None):
            raise UserError("Give either id or name of the pipeline endpoint.")
        query = {"by": "id" if id is not None else "name"}
        path = f"/pipelines/endpoints/{quote_path(str(id if id is not None else name))}"
        return PipelineEndpoint._from(workspace, workspace.client.request("GET", path, query))

    @staticmethod
    def list(
        workspace: Any,
        active_only: bool = True,
        max_results: int = 100,
        _workflow_provider: Any = None,
        _service_endpoint: Any = None,
    ) -> builtins.list[PipelineEndpoint]:
        query = {"active_only": str(bool(active_only)).lower()}
        found = workspace.client.request("GET", "/pipelines/endpoints", query)["endpoints"]
        return [PipelineEndpoint._from(workspace, data) for data in found[:max_results]]

    @staticmethod
    def get_all(workspace: Any, active_only: bool = True, **kwargs: Any) -> builtins.list[PipelineEndpoint]:
        return PipelineEndpoint.list(workspace, active_only)

    def enable(self) -> None:
        self._change(status="Active")

    def disable(self) -> None:
        self._change(status="Disabled")

    def archive(self) -> None:
        self._change(status="Archived")

    def reactivate(self, name: str) -> None:
        self._change(status="Active", name=name)

    def set_name(self, name: str) -> None:
        self._change(name=name)

    def add(self, pipeline: Any) -> None:
        """The next version; the default stays."""
        self._change(add=_published(pipeline, self.name).id)

    def add_default(self, pipeline: Any) -> None:
        """The next version, which becomes the default."""
        self._change(add=_published(pipeline, self.name).id, make_default=True)

    def set_default_version(self, version: Any) -> None:
        self._change(default_version=str(version))

    def set_default(self, pipeline: Any) -> None:
        """The version that is this published pipeline becomes the default."""
        for each in self.pipeline_version_list:
            if each.pipeline_id == pipeline.id:
                self._change(default_version=each.version)
                return
        raise UserError(
            f"Pipeline '{pipeline.id}' is no version of '{self.name}'. Add it first: endpoint.add(pipeline)."
        )

    def get_default_version(self) -> str:
        return self.default_version

    def get_pipeline(self, version: Any = None) -> PublishedPipeline:
        wanted = str(version if version is not None else self.default_version)
        for each in self.pipeline_version_list:
            if each.version == wanted:
                return PublishedPipeline.get(self._workspace, each.pipeline_id)
        known = ", ".join(each.version for each in self.pipeline_version_list)
        raise UserError(f"Pipeline endpoint '{self.name}' has no version {wanted}. It has: {known}.")

    def list_versions(
        self, _workflow_provider: Any = None, _service_endpoint: Any = None
    ) -> builtins.list[PipelineVersion]:
        return [
            PipelineVersion(each.version, PublishedPipeline.get(self._workspace, each.pipeline_id))
            for each in self.pipeline_version_list
        ]

    get_all_versions = list_versions

    def list_pipelines(self, active_only: bool = True, **kwargs: Any) -> builtins.list[PublishedPipeline]:
        found = [each.pipeline for each in self.list_versions()]
        return [each for each in found if each.status == "Active" or not active_only]

    get_all_pipelines = list_pipelines

    def submit(
        self,
        experiment_name: str,
        pipeline_parameters: Optional[dict[str, Any]] = None,
        parent_run_id: Optional[str] = None,
        pipeline_version: Any = None,
    ) -> Any:
        """A PipelineRun of this version, or of the default one; the same as a POST to `endpoint`."""
        path = f"/pipelines/v1.0/PipelineEndpoints/Id/{quote_path(self.id)}"
        if pipeline_version is not None:
            path += f"/{quote_path(str(pipeline_version))}"
        return start(self._workspace, path, experiment_name, pipeline_parameters, parent_run_id)

    def _change(self, **changes: Any) -> None:
        path = f"/pipelines/endpoints/{quote_path(self.id)}"
        self._take(self._workspace, self._workspace.client.request("PATCH", path, body=changes))

    def __repr__(self) -> str:
        return (
            f"PipelineEndpoint(Name: {self.name},\nId: {self.id},\nStatus: {self.status},\nEndpoint: {self.endpoint})"
        )


def _published(pipeline: Any, name: str) -> PublishedPipeline:
    if isinstance(pipeline, PublishedPipeline):
        return pipeline
    if hasattr(pipeline, "publish"):
        made: PublishedPipeline = pipeline.publish(name)
        return made
    raise UserError(f"pipeline is {type(pipeline).__name__}. Give a Pipeline or a PublishedPipeline.")
