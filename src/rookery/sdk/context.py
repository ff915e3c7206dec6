"""`Run.get_context()`: the SDK's object for the run that this process belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rookery.worker.context import find_context

if TYPE_CHECKING:
    from rookery.sdk.run import Run

__all__ = ["is_in_run", "run_of_context"]


def is_in_run() -> bool:
    """Whether an agent started this process (or an ancestor of it)."""
    return find_context() is not None


def run_of_context(context: Any) -> Run:
    """The run that the agent's variables describe. Asks nothing: experiment and workspace are looked up when
    used."""
    from rookery.client import Client
    from rookery.sdk.experiment import Experiment
    from rookery.sdk.run import Run
    from rookery.sdk.workspace import Workspace

    client = Client.in_run()
    name = context.experiment or client.request("GET", f"/runs/{context.run_id}")["experiment"]
    experiment = Experiment(Workspace._of_client(client), name, _create_in_cloud=False)
    return Run(experiment, context.run_id, _client=client, _sink=context.sink(), _in_run=True)
