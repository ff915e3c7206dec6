"""PipelineRun and StepRun. Their statuses are v1's: `Finished` where other runs say Completed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any, Optional

from rookery.errors import RunFailedError, UnsupportedError, UserError
from rookery.sdk.details import describe_error, explain_error
from rookery.sdk.filters import texts
from rookery.sdk.pipeline_graph import PipelineGraph
from rookery.sdk.run import Run
from rookery.sdk.run_logs import log_text
from rookery.sdk.step_output import PortDataReference, StepRunOutput
from rookery.spec.status import RunStatus
from rookery.worker.http import quote_path

__all__ = ["RUNNING_STATES", "PipelineRun", "StepRun", "submit_graph"]

RUNNING_STATES = ["NotStarted", "Running", "Queued", "Unknown"]
POLL_S = 0.5
# v1 knows fewer states of pipelines and steps than of other runs.
_STATUSES = {
    RunStatus.NOT_STARTED.value: "NotStarted",
    RunStatus.STARTING.value: "Queued",
    RunStatus.PREPARING.value: "Queued",
    RunStatus.QUEUED.value: "Queued",
    RunStatus.PROVISIONING.value: "Queued",
    RunStatus.COMPLETED.value: "Finished",
    RunStatus.FAILED.value: "Failed",
    RunStatus.CANCELED.value: "Canceled",
}
DRIVER_LOG = "azureml-logs/70_driver_log.txt"


def submit_graph(
    workspace: Any,
    graph: dict[str, Any],
    experiment_name: str,
    pipeline_parameters: Optional[dict[str, Any]] = None,
    continue_on_step_failure: bool = False,
    regenerate_outputs: bool = False,
    parent_run_id: Optional[str] = None,
    tags: Optional[dict[str, Any]] = None,
    properties: Optional[dict[str, Any]] = None,
    display_name: Optional[str] = None,
    pipeline_id: Optional[str] = None,
    **kwargs: Any,
) -> PipelineRun:
    """Submits a graph; a PipelineRun."""
    from rookery.sdk.experiment import Experiment

    body = {
        "graph": graph,
        "experiment": experiment_name,
        "parameters": plain_parameters(workspace, pipeline_parameters),
        "continue_on_failure": bool(continue_on_step_failure),
        "regenerate": bool(regenerate_outputs),
        "parent_id": parent_run_id,
        "tags": texts(tags) or {},
        "properties": texts(properties) or {},
        "display_name": display_name,
        "pipeline_id": pipeline_id,
    }
    data = workspace.client.request("POST", "/pipelines/runs", body=body)
    return PipelineRun(Experiment(workspace, data["experiment"], _create_in_cloud=False), data["id"], _data=data)


def plain_parameters(workspace: Any, given: Optional[dict[str, Any]]) -> dict[str, Any]:
    """Parameters as the keeper takes them: data sets and DataPaths as what names them."""
    from rookery.sdk.pipeline_build import Build

    found = {}
    for name, value in (given or {}).items():
        is_data = hasattr(value, "_definition") or type(value).__name__ in ("DataPath", "DatasetConsumptionConfig")
        found[str(name)] = Build(workspace, "parameters")._data_value(value) if is_data else value
    return found


class _PipelinePart(Run):
    """What both share: v1's words for their status."""

    def get_status(self) -> str:
        return _STATUSES.get(super().get_status(), "Running")

    @property
    def status(self) -> str:
        return _STATUSES.get(str(super().status), "Running")

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(f"The keeper ends {type(self).__name__}s; complete() is not for them. Use cancel().")

    def fail(self, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(f"The keeper ends {type(self).__name__}s; fail() is not for them. Use cancel().")

    def child_run(self, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(f"Children of a {type(self).__name__} are made by the keeper, not by child_run().")

    def wait_for_completion(  # type: ignore[override]
        self, show_output: bool = True, timeout_seconds: float = sys.maxsize, raise_on_error: bool = True, **kwargs: Any
    ) -> str:
        """The status at the end.

        Raises:
            RunFailedError: it failed (unless raise_on_error=False); the message is the whole cause.
            UserError: it is not over after `timeout_seconds`; it goes on.
        """
        if timeout_seconds >= sys.maxsize:
            super().wait_for_completion(show_output=show_output, raise_on_error=False)
        else:
            limit = time.monotonic() + timeout_seconds
            while self.get_status() in RUNNING_STATES:
                if time.monotonic() > limit:
                    raise UserError(
                        f"Run '{self.id}' is not over after timeout_seconds={timeout_seconds}; it is {self.get_status()}. It goes on."
                    )
                time.sleep(POLL_S)
        data = self._refresh()
        if data["status"] == RunStatus.FAILED.value and raise_on_error:
            told = describe_error(data["error"]) if data["error"] else {}
            raise RunFailedError(
                f"Run '{self.id}' failed.\n{explain_error(data['error'])}", details={"run": self.id, **told}
            )
        return self.get_status()


class PipelineRun(_PipelinePart):
    """A run of a pipeline; its children are its steps."""

    RUN_TYPE = "azureml.PipelineRun"

    def __init__(self, experiment: Any, run_id: str, _service_endpoint: Any = None, **kwargs: Any) -> None:
        super().__init__(experiment, run_id, **kwargs)

    def get_graph(self) -> PipelineGraph:
        return PipelineGraph(graph=self._shown()["graph"])

    def get_steps(self) -> Iterator[StepRun]:
        """The steps that have begun, or were reused, in the order of the graph."""
        for key, step in self._shown()["steps"].items():
            if step["run_id"]:
                yield StepRun(self.experiment, step["run_id"], self.id, key)

    def find_step_run(self, name: str) -> list[StepRun]:
        """Steps of this name (or node id); an empty list where none has begun."""
        return [
            StepRun(self.experiment, step["run_id"], self.id, key)
            for key, step in self._shown()["steps"].items()
            if step["run_id"] and name in (step["name"], key)
        ]

    def get_pipeline_output(self, pipeline_output_name: str) -> PortDataReference:
        """What a step wrote to the PipelineData with this pipeline_output_name."""
        shown, names = self._shown(), []
        for key, node in shown["graph"]["nodes"].items():
            for port, about in (node.get("outputs") or {}).items():
                if not isinstance(about, dict) or not about.get("pipeline_output"):
                    continue
                names.append(about["pipeline_output"])
                made = shown["steps"].get(key, {}).get("outputs", {}).get(port)
                if about["pipeline_output"] == pipeline_output_name and made:
                    return PortDataReference(self.experiment.workspace, port, made)
        raise UserError(
            f"Run '{self.id}' has no pipeline output '{pipeline_output_name}' (yet). It declares: {', '.join(names) or 'none'}."
        )

    def get_step_details(self) -> dict[str, dict[str, Any]]:
        """Every step by its node id: status, run, whether and why it was reused. Ours, not v1's."""
        return dict(self._shown()["steps"])

    def retry_step(self, node: str) -> None:
        """Does a step that failed once more, and what was not run because of it. Ours, not v1's."""
        self._client.request("POST", f"/pipelines/runs/{quote_path(self.id)}/steps/{quote_path(node)}/retry", body={})
        self._refresh()

    def inference_graph(self, kind: str = "real-time") -> PipelineGraph:
        """The pipeline that only scores, of one that trains and has completed; `deploy` makes an endpoint of it. Not of v1."""
        from rookery.sdk.inference_pipeline import inference_graph

        return inference_graph(self.experiment.workspace, self.id, kind)

    def publish_pipeline(
        self, name: str, description: str, version: str, continue_on_step_failure: Optional[bool] = None, **kwargs: Any
    ) -> Any:
        """Its graph, published."""
        from rookery.sdk.published_pipeline import publish

        workspace = self.experiment.workspace
        return publish(workspace, name, description, version, continue_on_step_failure, run_id=self.id)

    def save(self, path: Optional[str] = None) -> str:
        """Its graph as a YAML file; where it is."""
        return self.get_graph().save(path or f"{self.get_graph().name}.yaml")

    @staticmethod
    def get_pipeline_runs(workspace: Any, pipeline_id: str, _service_endpoint: Any = None) -> list[PipelineRun]:
        """The runs of a published pipeline, the newest first."""
        return runs_with(workspace, "azureml.pipelineid", pipeline_id)

    @staticmethod
    def get(workspace: Any, run_id: str, _service_endpoint: Any = None) -> PipelineRun:
        found = Run.get(workspace, run_id)
        if not isinstance(found, PipelineRun):
            raise UserError(f"Run '{run_id}' is no pipeline: it is of type {found.type}.")
        return found

    def _shown(self) -> dict[str, Any]:
        return dict(self._client.request("GET", f"/pipelines/runs/{quote_path(self.id)}"))


class StepRun(_PipelinePart):
    """A step of a pipeline's run. Of a reused one logs and outputs are those of the run that did the work."""

    RUN_TYPE = "azureml.StepRun"

    def __init__(
        self,
        experiment: Any,
        step_run_id: str,
        pipeline_run_id: Optional[str] = None,
        node_id: Optional[str] = None,
        _service_endpoint: Any = None,
        _is_reused: bool = False,
        **kwargs: Any,
    ) -> None:
        known = {name: value for name, value in kwargs.items() if not name.startswith(("_reused", "_current"))}
        super().__init__(experiment, step_run_id, **known)
        properties = (self._data or self._refresh())["properties"]
        self._pipeline_run_id = pipeline_run_id or properties.get("azureml.pipelinerunid")
        self._node_id = node_id or properties.get("azureml.nodeid")
        self._worked_id = str(properties.get("azureml.reusedrunid") or step_run_id)

    @property
    def pipeline_run_id(self) -> Optional[str]:
        return self._pipeline_run_id

    @property
    def name(self) -> str:
        return str(self._known("display_name"))

    @property
    def is_reused(self) -> bool:
        """Whether another run did the work. Ours, not v1's."""
        return self._worked_id != self.id

    def get_job_log(self) -> str:
        return self.get_stdout_log()

    def get_stdout_log(self) -> str:
        """What the script printed."""
        return log_text(self._client, self._worked_id, DRIVER_LOG)

    def get_stderr_log(self) -> str:
        """The same: both streams are one log."""
        return self.get_stdout_log()

    def get_outputs(self) -> dict[str, StepRunOutput]:
        return {name: StepRunOutput(self, name, made) for name, made in self._made().items()}

    def get_output(self, name: str) -> StepRunOutput:
        made = self._made()
        if name not in made:
            raise UserError(f"Step '{self.name}' has no output '{name}' (yet). It has: {', '.join(made) or 'none'}.")
        return StepRunOutput(self, name, made[name])

    def get_output_data(self, name: str) -> PortDataReference:
        return self.get_output(name).get_port_data_reference()

    def get_metrics(self, *args: Any, **kwargs: Any) -> Any:
        """Of a reused step those of the run that did the work."""
        if self.is_reused:
            return Run.get(self.experiment.workspace, self._worked_id).get_metrics(*args, **kwargs)
        return super().get_metrics(*args, **kwargs)

    def _made(self) -> dict[str, dict[str, Any]]:
        shown = self._client.request("GET", f"/pipelines/runs/{quote_path(str(self._pipeline_run_id))}")
        return dict(shown["steps"][self._node_id]["outputs"])


def runs_with(workspace: Any, property_name: str, value: str) -> list[PipelineRun]:
    """Pipelines' runs with a property, the newest first."""
    from rookery.sdk.experiment import Experiment, list_runs

    query = {"kind": "pipeline", "property": f"{property_name}={value}"}
    return [
        PipelineRun(Experiment(workspace, data["experiment"], _create_in_cloud=False), data["id"], _data=data)
        for data in list_runs(workspace.client, query)
    ]
