"""A pipeline's graph, built by hand or read from a YAML file: modules, scripts, data, models."""

from __future__ import annotations

import os
from typing import Any, Optional

from rookery.errors import UserError
from rookery.spec.pipeline import DATA_PORT, MODEL_PORT, NodeKind, Problem, new_graph
from rookery.spec.pipeline_yaml import graph_from_yaml, graph_to_yaml
from rookery.spec.safe_yaml import read_text

__all__ = ["GraphNode", "PipelineGraph", "validate_graph"]


class GraphNode:
    """A node that was added; `output(port)` is what others connect to."""

    def __init__(self, key: str, node: dict[str, Any]) -> None:
        self.key, self.node = key, node

    def output(self, port: Optional[str] = None) -> dict[str, str]:
        """Where an input comes from. Data and models have one port, which need not be named."""
        named = port or {NodeKind.DATA: DATA_PORT, NodeKind.MODEL: MODEL_PORT}.get(str(self.node.get("kind")))
        if named is None:
            raise UserError(f"Which output of '{self.key}'? Give its name: output('…').")
        return {"node": self.key, "port": named}

    def __repr__(self) -> str:
        return f"GraphNode({self.key!r})"


class PipelineGraph:
    """A graph as plain data (`graph`), with a few methods to fill it. Nothing is checked before `validate` or `submit`."""

    def __init__(self, name: str = "pipeline", graph: Optional[dict[str, Any]] = None, folder: str = ".") -> None:
        self.graph = new_graph(name) if graph is None else graph
        self._folder = folder  # what `source_directory` of script nodes is relative to

    @property
    def name(self) -> str:
        return str(self.graph.get("name") or "pipeline")

    @property
    def node_dict(self) -> dict[str, Any]:
        return dict(self.graph["nodes"])

    @staticmethod
    def from_yaml(path: str) -> PipelineGraph:
        """The graph of a file."""
        graph = graph_from_yaml(read_text(path), os.fspath(path))
        return PipelineGraph(graph=graph, folder=os.path.dirname(os.path.abspath(path)))

    def to_yaml(self) -> str:
        return graph_to_yaml(self.graph)

    generate_yaml = to_yaml

    def save(self, path: str) -> str:
        """Writes the YAML file; where it is."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.to_yaml())
        return path

    def set(self, /, **values: Any) -> PipelineGraph:
        """default_compute, default_datastore, environment, description, layout …"""
        self.graph.update(values)
        return self

    def parameter(self, name: str, type: str = "string", default: Any = None) -> dict[str, str]:
        """Declares a parameter of the pipeline; what is returned stands for it in the parameters of nodes."""
        return self.parameter_as(name, {"type": type, "default": default})

    def parameter_as(self, name: str, about: dict[str, Any]) -> dict[str, str]:
        self.graph.setdefault("parameters", {})[name] = about
        return {"pipeline_parameter": name}

    def node(self, key: str, /, **about: Any) -> GraphNode:
        """Any node, as it stands in the graph."""
        if key in self.graph["nodes"]:
            raise UserError(f"The graph has a node '{key}' already. Give each an id of its own.")
        self.graph["nodes"][key] = about
        return GraphNode(key, about)

    def data(self, key: str, dataset: Any, version: Optional[int] = None, **more: Any) -> GraphNode:
        """A registered data set."""
        return self.node(key, kind=NodeKind.DATA, dataset=dataset, version=version, **more)

    def model(self, key: str, model: str, version: Optional[int] = None, **more: Any) -> GraphNode:
        """A registered model."""
        return self.node(key, kind=NodeKind.MODEL, model=model, version=version, **more)

    def module(
        self,
        key: str,
        module: str,
        inputs: Optional[dict[str, Any]] = None,
        parameters: Optional[dict[str, Any]] = None,
        **more: Any,
    ) -> GraphNode:
        """A module of the palette; inputs are outputs of other nodes."""
        sources = {port: _source(port, value) for port, value in (inputs or {}).items()}
        return self.node(
            key, kind=NodeKind.MODULE, module=module, parameters=dict(parameters or {}), inputs=sources, **more
        )

    def after(self, first: Any, then: Any) -> PipelineGraph:
        """`then` starts when `first` is over, without taking data from it."""
        pair = [each.key if isinstance(each, GraphNode) else str(each) for each in (first, then)]
        self.graph.setdefault("after", []).append(pair)
        return self

    def validate(self, workspace: Any, parameters: Optional[dict[str, Any]] = None) -> list[dict[str, Any]]:
        """All problems; an empty list: it can be run. `parameters` are values for parameters of the pipeline."""
        from rookery.sdk.pipeline_sources import send_sources

        here: list[Problem] = []
        sent = send_sources(workspace.client, self.graph, self._folder, here)
        found = validate_graph(workspace, sent, parameters)
        known = {(problem["node"], problem["field"]) for problem in found}
        return [*(each.plain() for each in here if (each.node, each.field) not in known), *found]

    def sent(self, workspace: Any) -> dict[str, Any]:
        """The graph, with the folders of its script nodes at the keeper."""
        from rookery.sdk.pipeline_sources import send_sources

        return send_sources(workspace.client, self.graph, self._folder)

    def submit(self, workspace: Any, experiment_name: str, **options: Any) -> Any:
        """A PipelineRun; options as for `Pipeline.submit`."""
        from rookery.sdk.pipeline_run import submit_graph

        return submit_graph(workspace, self.sent(workspace), experiment_name, **options)

    def deploy(self, workspace: Any, name: str, overwrite: bool = False, **options: Any) -> Any:
        """Of a real-time inference graph (`PipelineRun.inference_graph`) the endpoint, as a webservice."""
        from rookery.sdk.inference_pipeline import deploy_graph

        return deploy_graph(workspace, name, self.graph, overwrite, **options)


def validate_graph(
    workspace: Any, graph: dict[str, Any], parameters: Optional[dict[str, Any]] = None
) -> list[dict[str, Any]]:
    body = {"graph": graph, "parameters": parameters}
    return list(workspace.client.request("POST", "/pipelines/validate", body=body)["problems"])


def _source(port: str, value: Any) -> Any:
    if isinstance(value, GraphNode):
        return value.output()
    if isinstance(value, str) and "." in value:
        node, _, output = value.rpartition(".")
        return {"node": node, "port": output}
    if isinstance(value, dict):
        return value
    raise UserError(f"Input '{port}' is {value!r:.60}. Give node.output('port').")
