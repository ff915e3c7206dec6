"""`RunDetails(run).show()`: a run to look at. A live widget in a notebook, a few lines of text elsewhere."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["RunDetails"]

_ADVICE = "A live view needs one more package: pip install 'rookery[notebook]'"


class RunDetails:
    """What a run is doing, to look at.

    In a notebook `show` returns at once, and what it shows goes on by itself until the run has ended: status and reason, the cause
    of a failure, curves, the end of the log.
    """

    def __init__(self, run_instance: Any) -> None:
        self._run = run_instance
        self._widget: Any = None

    def show(self, render_lib: Any = None, widget_settings: Any = None) -> None:
        """Show what the run is doing."""
        if not _is_notebook():
            self._print()
            return
        from IPython.display import display

        try:
            from rookery.sdk.run_widget import make_widget
        except ImportError:
            display(self._run)
            print(_ADVICE)
            return
        if self._widget is None:
            self._widget = make_widget(self._run)
        display(self._widget)

    def get_widget_data(self, widget_settings: Any = None) -> dict[str, Any]:
        """What is shown, as data."""
        run = self._run
        return {
            "Run": run.id,
            "Experiment": run.experiment.name,
            "Status": run.get_status(),
            "Details": run.get_portal_url(),
        }

    def _print(self) -> None:
        for name, value in self.get_widget_data().items():
            print(f"{name}: {value}")


def _is_notebook() -> bool:
    """Whether a kernel runs this, which has a page to show things on; a plain IPython has none."""
    loaded = sys.modules.get("IPython")
    shell = loaded.get_ipython() if loaded is not None else None
    return shell is not None and hasattr(shell, "kernel")
