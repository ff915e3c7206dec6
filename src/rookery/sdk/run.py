"""Run: what was submitted or started, seen from outside, and from inside through `Run.get_context()`.

Logging, tags, properties, files and metrics are `rookery.worker.run.Run`'s, so that they are the same in any
Python a script runs in; here is what needs the rest of the SDK.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional

from rookery.errors import RunFailedError, RunNotFoundError, SubmitError
from rookery.sdk.details import build_details, describe_error, explain_error
from rookery.sdk.filters import run_filters
from rookery.sdk.html import DOCS_URL
from rookery.sdk.run_logs import log_names, log_text, save_logs
from rookery.sdk.run_types import PROVIDERS, make_run, type_of_run
from rookery.sdk.run_view import run_as_html, run_as_text
from rookery.sdk.snapshots import restore_snapshot, snapshot_folder
from rookery.sdk.streaming import follow_run, print_summary
from rookery.spec.names import check_run_id
from rookery.spec.run import RunKind
from rookery.spec.status import RunStatus
from rookery.worker.http import quote_path
from rookery.worker.journal import ChildSink
from rookery.worker.offline import OfflineRun
from rookery.worker.run import Run as WorkerRun
from rookery.worker.sinks import HttpSink

if TYPE_CHECKING:
    from rookery.sdk.experiment import Experiment
    from rookery.sdk.model import Model
    from rookery.sdk.workspace import Workspace

__all__ = ["Run", "get_run"]

_TERMINAL = tuple(status.value for status in RunStatus if status.is_terminal)


class _RunClass(type):
    """`isinstance(Run.get_context(), Run)` is true offline too, though an offline run knows nothing of the
    SDK."""

    def __instancecheck__(cls, instance: object) -> bool:
        return type.__instancecheck__(cls, instance) or (cls is Run and isinstance(instance, OfflineRun))


class Run(WorkerRun, metaclass=_RunClass):
    """One run. `Run(experiment, run_id)` opens one that exists; `RunNotFoundError` otherwise."""

    # How to wait until what this process wrote is stored, where that is not the agent that the client leads
    # to.
    _drainer: Optional[Callable[[Optional[float]], None]] = None

    def __init__(
        self,
        experiment: Experiment,
        run_id: str,
        outputs: Optional[str] = None,
        *,
        _data: Optional[dict[str, Any]] = None,
        _sink: Any = None,
        _client: Any = None,
        _in_run: bool = False,
        _is_new: bool = False,
        **kwargs: Any,
    ) -> None:
        client = _client if _client is not None else experiment.workspace.client
        super().__init__(run_id, _sink if _sink is not None else HttpSink(client, run_id), client, in_run=_in_run)
        self._experiment_object = experiment
        self._data = _data
        if _data is None and not _in_run and not _is_new:
            check_run_id(run_id)
            self._refresh()

    # -- which run this is

    @property
    def experiment(self) -> Experiment:
        return self._experiment_object

    @property
    def type(self) -> str:
        """v1's name for the kind of run: 'azureml.scriptrun', …"""
        return type_of_run(self._data or self._refresh())

    @property
    def number(self) -> int:
        """The how-manieth of its experiment."""
        return int(self._known("number"))

    @property
    def parent(self) -> Optional[Run]:
        """The run it is a child of; None for one at the top."""
        parent_id = self._known("parent_id")
        return Run.get(self.experiment.workspace, parent_id) if parent_id else None

    def get_status(self) -> str:
        """As it is now; `status` is as last heard. A terminal status never changes and is not asked for
        again."""
        data = self._data
        if data is None or data["status"] not in _TERMINAL:
            data = self._refresh()
        return str(data["status"])

    def get_detailed_status(self) -> dict[str, Any]:
        """`{"status", "details"}`; while the run waits, the details say what for."""
        return {"status": self.get_status(), "details": self._known("reason")}

    @staticmethod
    def get(workspace: Workspace, run_id: str) -> Run:
        """A run by its id alone."""
        from rookery.sdk.experiment import Experiment

        data = workspace.client.request("GET", f"/runs/{quote_path(check_run_id(run_id))}")
        return make_run(Experiment(workspace, data["experiment"], _create_in_cloud=False), data)

    @staticmethod
    def list(
        experiment: Experiment,
        type: Optional[str] = None,
        tags: Any = None,
        properties: Any = None,
        status: Any = None,
        include_children: bool = False,
        _rehydrate_runs: bool = True,
    ) -> Iterator[Run]:
        """The runs of an experiment, newest first."""
        from rookery.sdk.experiment import list_runs

        query = {
            "experiment": experiment.name,
            **run_filters(type, tags, properties, status, include_children),
        }
        return (make_run(experiment, data) for data in list_runs(experiment.workspace.client, query))

    @staticmethod
    def list_by_compute(
        compute: Any, type: Optional[str] = None, tags: Any = None, properties: Any = None, status: Any = None
    ) -> Iterator[Run]:
        """The runs of a compute target, newest first."""
        from rookery.sdk.experiment import Experiment, list_runs

        workspace, query = (
            compute.workspace,
            {"compute": compute.name, **run_filters(type, tags, properties, status)},
        )
        return (
            make_run(Experiment(workspace, data["experiment"], _create_in_cloud=False), data)
            for data in list_runs(workspace.client, query)
        )

    @classmethod
    def get_context(cls, allow_offline: bool = True, used_for_context_manager: bool = False, **kwargs: Any) -> Any:
        """The run that this process belongs to, the same object every time; elsewhere an offline stand-in
        that prints.

        Raises:
            RunEnvironmentError: outside of a run, with allow_offline=False.
        """
        from rookery.worker.context import current_run

        return current_run(Run, allow_offline)

    @classmethod
    def get_submitted_run(cls, **kwargs: Any) -> Any:
        """v1's older name for `get_context(allow_offline=False)`."""
        return cls.get_context(allow_offline=False)

    @staticmethod
    def add_type_provider(runtype: str, run_factory: Callable[..., Any]) -> None:
        """Let `run_factory(experiment, data)` make the objects of runs whose type is `runtype`."""
        PROVIDERS[runtype] = run_factory

    # -- how it goes

    def get_details(self) -> dict[str, Any]:
        """What is known of it, under v1's keys; `error` where it failed, with the whole cause as its
        message."""
        self._drain()
        base = f"{self.experiment.workspace._base_url}/api/v1/runs/{quote_path(self.id)}/logs"
        names = log_names(self._client, self.id)
        data = self._refresh()
        return build_details(data, {name: f"{base}/{quote_path(name)}" for name in names}, self._data_rows(data))

    def get_details_with_logs(self) -> dict[str, Any]:
        """`get_details()` with the text of each log in place of its address."""
        self._drain()
        names = log_names(self._client, self.id)
        data = self._refresh()
        told = {name: log_text(self._client, self.id, name) for name in names}
        return build_details(data, told, self._data_rows(data))

    def get_all_logs(self, destination: Optional[str] = None) -> builtins.list[str]:
        """Write every log below `destination` (default: assets/<run id>); the paths."""
        return save_logs(self._client, self.id, destination)

    def wait_for_completion(
        self, show_output: bool = False, wait_post_processing: bool = False, raise_on_error: bool = True
    ) -> dict[str, Any]:
        """Return `get_details()` when the run has ended and its outputs are stored, whatever
        `wait_post_processing` says.

        Raises:
            RunFailedError: it ended as Failed (unless raise_on_error=False); the message is the whole cause.
            SubmitError: the wait was interrupted by Ctrl-C; the run goes on.
        """
        web_view = self.get_portal_url()
        try:
            follow_run(self._client, self.id, web_view=web_view, show_output=show_output)
        except KeyboardInterrupt:
            raise SubmitError(
                f"The wait for run '{self.id}' was interrupted; the run still executes on its target. "
                f"Stop it with run.cancel() or `rookery stop {self.id}`, follow it with "
                f"run.wait_for_completion(show_output=True) or `rookery logs -f {self.id}`."
            ) from None
        data = self._refresh()
        if show_output:
            print_summary(data, web_view)
        if data["status"] == RunStatus.FAILED.value and raise_on_error:
            told = describe_error(data["error"]) if data["error"] else {}
            raise RunFailedError(
                f"Run '{self.id}' failed.\n{explain_error(data['error'])}", details={"run": self.id, **told}
            )
        return self.get_details()

    def clean(self) -> builtins.list[str]:
        """Nothing is left on a compute target after a run here, so there is nothing to remove."""
        return []

    def get_environment(self) -> Any:
        """The environment it ran in, as an Environment."""
        from rookery.sdk.run_environment import environment_of_run

        return environment_of_run(self._known("spec")["environment"])

    # -- children

    def submit_child(self, config: Any, tags: Optional[dict[str, Any]] = None, **kwargs: Any) -> Any:
        """`experiment.submit` with this run as the parent."""
        from rookery.sdk.script_run import submit_config

        return submit_config(self.experiment, config, tags=tags, parent_id=self.id, **kwargs)

    def get_children(
        self,
        recursive: bool = False,
        tags: Any = None,
        properties: Any = None,
        type: Optional[str] = None,
        status: Any = None,
        _rehydrate_runs: bool = True,
    ) -> Iterator[Run]:
        """Its children, newest first; with `recursive` theirs too."""
        query = run_filters(type, tags, properties, status)
        if recursive:
            query["recursive"] = "true"
        return self._children(query)

    def _children(self, query: dict[str, Any]) -> Iterator[Run]:
        self._drain()
        for data in reversed(self._ask(path="/children", query=query)["runs"]):
            if self._in_run and data["kind"] == RunKind.CHILD:
                # A branch of this process: what is written about it goes the same way as what was written
                # before.
                child = self._make_child(data["id"])
                child._data, child._is_child = data, True
                yield child
            else:
                yield make_run(self.experiment, data)

    # -- code and models

    def take_snapshot(self, file_or_folder_path: str) -> str:
        """Store a file or folder by content and note its id with the run, where it has none; the id."""
        snapshot = snapshot_folder(self._client, file_or_folder_path)
        if not self.get_snapshot_id():
            self.add_properties({"ContentSnapshotId": snapshot.id})
        return str(snapshot.id)

    def restore_snapshot(self, snapshot_id: Optional[str] = None, path: Optional[str] = None) -> str:
        """The run's code as a zip file; its path. A folder as `path` gets `<snapshot id>.zip`."""
        return restore_snapshot(self._client, snapshot_id or self.get_snapshot_id(), path)

    def get_snapshot_id(self) -> Optional[str]:
        """The id of the code it was submitted with."""
        return self._known("snapshot_id") or self.get_properties().get("ContentSnapshotId")

    # -- data

    @property
    def input_datasets(self) -> Any:
        """name → what the run was given: inside the run paths (direct mode: the Dataset), outside of it Datasets."""
        from rookery.sdk.run_data import inputs_of

        return inputs_of(self)

    @property
    def output_datasets(self) -> Any:
        """name → what the run fills: inside the run folders, outside of it the Datasets that it made."""
        from rookery.sdk.run_data import outputs_of

        return outputs_of(self)

    def get_secret(self, name: str) -> Optional[str]:
        """A secret of the workspace's Keyvault."""
        return self.experiment.workspace.get_default_keyvault().get_secret(name)

    def get_secrets(self, secrets: builtins.list[str]) -> dict[str, Optional[str]]:
        return self.experiment.workspace.get_default_keyvault().get_secrets(secrets)

    # -- how it shows itself

    def get_portal_url(self) -> str:
        """Its page."""
        return f"{self.experiment.workspace._base_url}/runs/{quote_path(self.id)}"

    @classmethod
    def get_docs_url(cls) -> str:
        return DOCS_URL

    def __repr__(self) -> str:
        return run_as_text(self)

    def _repr_html_(self) -> str:
        return run_as_html(self)

    # -- what the worker's Run asks of us

    @classmethod
    def _from_context(cls, context: Any) -> Run:
        from rookery.sdk.context import run_of_context

        return run_of_context(context)

    def _experiment(self) -> str:
        return self.experiment.name

    def _refresh(self) -> dict[str, Any]:
        data: dict[str, Any] = super()._refresh()
        return data

    def _drain(self, timeout_s: Optional[float] = 300) -> None:
        if self._drainer is not None:
            self._drainer(timeout_s)
        else:
            super()._drain(timeout_s)

    def _data_rows(self, data: dict[str, Any]) -> builtins.list[dict[str, Any]]:
        """What it was given and made; asked for only where it has such a thing."""
        spec = data.get("spec") or {}
        return self._ask(path="/data")["data"] if spec.get("inputs") or spec.get("outputs") else []

    def _make_child(self, run_id: str) -> Run:
        make = getattr(self._sink, "for_child", None)
        sink = make(run_id) if make else ChildSink(self._sink, run_id)
        child = Run(self.experiment, run_id, _client=self._client, _sink=sink, _in_run=self._in_run, _is_new=True)
        child._drainer = self._drainer
        return child

    def _make_model(self, data: dict[str, Any]) -> Model:
        from rookery.sdk.model import Model

        return Model(self.experiment.workspace, _data=data)


def get_run(experiment: Experiment, run_id: str, rehydrate: bool = True, clean_up: bool = True) -> Run:
    """The run of an experiment with this id.

    Raises:
        RunNotFoundError: there is none, or it belongs to another experiment.
    """
    run = Run.get(experiment.workspace, run_id)
    if run.experiment.name != experiment.name:
        raise RunNotFoundError(
            f"Run '{run_id}' belongs to experiment '{run.experiment.name}', not to '{experiment.name}'."
        )
    return run
