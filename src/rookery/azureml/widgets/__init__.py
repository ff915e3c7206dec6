"""azureml.widgets. Differs: the live widget needs `rookery[notebook]`; outside of a notebook `show` prints a few lines of text."""

from __future__ import annotations

from rookery.sdk.run_details import RunDetails

__all__ = ["RunDetails"]
