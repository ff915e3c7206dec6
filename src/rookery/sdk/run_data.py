"""Data of a run: what it was given and made, from inside and from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rookery.sdk.dataset import AbstractDataset, make_dataset
from rookery.worker.http import quote_path
from rookery.worker.run_data import InputDatasets, OutputDatasets

if TYPE_CHECKING:
    from rookery.sdk.run import Run

__all__ = ["inputs_of", "outputs_of"]


def inputs_of(run: Run) -> dict[str, Any]:
    """By name: inside the run paths (direct mode: Datasets), outside of it Datasets."""
    if run._in_run:
        workspace = run.experiment.workspace
        return InputDatasets(load=lambda found_id: AbstractDataset.get_by_id(workspace, found_id))
    return _datasets(run, "in")


def outputs_of(run: Run) -> dict[str, Any]:
    """By name: inside the run folders, outside of it the Datasets that it made."""
    return OutputDatasets() if run._in_run else _datasets(run, "out")


def _datasets(run: Run, direction: str) -> dict[str, Any]:
    workspace, found = run.experiment.workspace, {}
    for row in run._ask(path="/data")["data"]:
        if row["direction"] != direction:
            continue
        data = None
        if row["data_name"]:
            route = f"/datasets/{quote_path(row['data_name'])}"
            data = workspace.client.request("GET", route, {"version": row["data_version"]})
        definition = data["definition"] if data else None
        if definition is None:
            definition = workspace.client.request("GET", f"/data/definitions/{row['definition_id']}")["definition"]
        found[row["name"]] = make_dataset(workspace, definition, data)
    return found
