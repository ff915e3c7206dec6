"""azureml.widgets. Differs: `show` prints a few lines of text instead of a live widget."""

from __future__ import annotations

from typing import Any

__all__ = ["RunDetails"]


class RunDetails:
    """What a run is doing, to look at in a notebook."""

    def __init__(self, run_instance: Any) -> None:
        self._run = run_instance

    def show(self, render_lib: Any = None, widget_settings: Any = None) -> None:
        """Print what the run is doing now."""
        for name, value in self.get_widget_data().items():
            print(f"{name}: {value}")

    def get_widget_data(self, widget_settings: Any = None) -> dict[str, Any]:
        run = self._run
        return {
            "Run": run.id,
            "Experiment": run.experiment.name,
            "Status": run.get_status(),
            "Details": run.get_portal_url(),
        }
