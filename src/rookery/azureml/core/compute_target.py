"""azureml.core.compute_target: the path by which most people import ComputeTargetException. Runs on Python
3.6."""

from rookery.azureml.exceptions import ComputeTargetException

__all__ = ["ComputeTargetException"]
