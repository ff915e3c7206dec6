"""Pipeline: steps that are run together, in the order that their data and `run_after` give."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.pipeline_build import Build
from rookery.sdk.pipeline_graph import PipelineGraph, validate_graph

__all__ = ["Pipeline"]


class Pipeline:
    """Steps, or lists of them; those that they depend on need not be given (`resolve_closure`).

    Making one sends the steps' source folders to the keeper, so what is submitted later is what was there then.
    """

    def __init__(
        self,
        workspace: Any,
        steps: Any,
        description: Optional[str] = None,
        default_datastore: Any = None,
        default_source_directory: Optional[str] = None,
        resolve_closure: bool = True,
        _workflow_provider: Any = None,
        _service_endpoint: Any = None,
        _graph: Optional[dict[str, Any]] = None,
        **kwargs: Any,
    ) -> None:
        self._workspace = workspace
        if _graph is not None:
            self._graph = _graph
            return
        name = str(kwargs.pop("name", None) or description or "pipeline")[:100]
        build = Build(workspace, name, default_datastore, default_source_directory)
        self._graph = build.add(steps, resolve_closure)
        self._graph["description"] = description or ""

    @property
    def workspace(self) -> Any:
        return self._workspace

    @property
    def graph(self) -> PipelineGraph:
        return PipelineGraph(graph=self._graph)

    def service_endpoint(self) -> str:
        return f"{self._workspace._base_url}/api/v1"

    def validate(self) -> list[dict[str, Any]]:
        """All problems; an empty list: it can be run."""
        return validate_graph(self._workspace, self._graph)

    def submit(
        self,
        experiment_name: str,
        pipeline_parameters: Optional[dict[str, Any]] = None,
        continue_on_step_failure: bool = False,
        regenerate_outputs: bool = False,
        parent_run_id: Optional[str] = None,
        credential_passthrough: Any = None,
        **kwargs: Any,
    ) -> Any:
        """A PipelineRun.

        Raises:
            UserError: it cannot be run; `details["problems"]` has all that is wrong.
        """
        from rookery.sdk.pipeline_run import submit_graph

        return submit_graph(
            self._workspace, self._graph, experiment_name, pipeline_parameters, continue_on_step_failure,
            regenerate_outputs, parent_run_id, **kwargs,
        )  # fmt: skip

    def publish(
        self,
        name: Optional[str] = None,
        description: Optional[str] = None,
        version: Optional[str] = None,
        continue_on_step_failure: Optional[bool] = None,
    ) -> Any:
        """A PublishedPipeline: it can be started by its address."""
        from rookery.sdk.published_pipeline import publish

        named = name or str(self._graph.get("name") or "pipeline")
        return publish(self._workspace, named, description, version, continue_on_step_failure, graph=self._graph)

    @staticmethod
    def load_yaml(
        workspace: Any, filename: str, _workflow_provider: Any = None, _service_endpoint: Any = None
    ) -> Pipeline:
        """From a YAML file of Rookery's form (docs/pipelines.md)."""
        return Pipeline(workspace, [], _graph=PipelineGraph.from_yaml(filename).sent(workspace))

    def __repr__(self) -> str:
        return f"Pipeline({self._graph.get('name')!r}, {len(self._graph['nodes'])} nodes)"


def submit_any(experiment: Any, given: Any, tags: Optional[dict[str, Any]] = None, **kwargs: Any) -> Any:
    """`Experiment.submit` of a Pipeline, a PublishedPipeline or a PipelineEndpoint."""
    name = type(given).__name__
    if name == "Pipeline":
        return given.submit(experiment.name, tags=tags, **kwargs)
    if name == "PipelineGraph":
        return given.submit(experiment.workspace, experiment.name, tags=tags, **kwargs)
    options = {key: kwargs[key] for key in ("pipeline_parameters", "parent_run_id") if key in kwargs}
    if name == "PublishedPipeline":
        return given.submit(experiment.workspace, experiment.name, **options)
    if name == "PipelineEndpoint":
        return given.submit(experiment.name, pipeline_version=kwargs.get("pipeline_version"), **options)
    raise UserError(f"{name} cannot be submitted. Give a Pipeline, a PublishedPipeline or a PipelineEndpoint.")
