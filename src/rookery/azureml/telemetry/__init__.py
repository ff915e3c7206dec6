"""azureml.telemetry. Differs: nothing is ever sent anywhere."""

import logging

__all__ = ["set_diagnostics_collection"]


def set_diagnostics_collection(send_diagnostics=True, verbosity=logging.INFO):
    """Accepted and without effect: Rookery collects nothing."""
