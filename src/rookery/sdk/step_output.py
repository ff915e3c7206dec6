"""What a step of a pipeline has written: where it lies, and how to get it."""

from __future__ import annotations

import os
from typing import Any, Optional

from rookery.sdk.data_delivery import fetch_tree, resolve

__all__ = ["PortDataReference", "StepRunOutput"]


class PortDataReference:
    """A place on a datastore that a step has filled."""

    def __init__(self, workspace: Any, name: str, made: dict[str, Any]) -> None:
        self._workspace, self._made = workspace, made
        self.data_reference_name = name

    @property
    def path_on_datastore(self) -> str:
        return str(self._made["path"])

    @property
    def datastore(self) -> Any:
        from rookery.sdk.datastore import Datastore

        return Datastore.get(self._workspace, self._made["datastore"])

    @property
    def datastore_name(self) -> str:
        return str(self._made["datastore"])

    def download(self, local_path: str, overwrite: Optional[bool] = None, show_progress: Optional[bool] = None) -> int:
        """Writes its files below `local_path`, at their path on the datastore; how many."""
        target = os.path.join(local_path, *self.path_on_datastore.split("/"))
        os.makedirs(target, exist_ok=True)
        manifest = resolve(self._workspace.client, self._made["definition_id"])
        return len(fetch_tree(self._workspace.client, manifest, target, overwrite=bool(overwrite)))

    def as_dataset(self) -> Any:
        """The same as a FileDataset. Ours, not v1's."""
        from rookery.sdk.dataset import Dataset

        return Dataset.File.from_files((self.datastore, self.path_on_datastore))

    def __repr__(self) -> str:
        return f"PortDataReference({self.datastore_name!r}, {self.path_on_datastore!r})"


class StepRunOutput:
    """One output of a StepRun."""

    def __init__(self, step_run: Any, name: str, step_output: dict[str, Any]) -> None:
        self.step_run, self.name, self.step_output = step_run, name, step_output
        self.pipeline_run_id = step_run.pipeline_run_id
        self.context = step_run.experiment.workspace

    def get_port_data_reference(self) -> PortDataReference:
        return PortDataReference(self.context, self.name, self.step_output)
