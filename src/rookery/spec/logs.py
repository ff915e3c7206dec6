"""Names of log files. Both runtimes of the original named them; the older names are the ones we store under."""

from __future__ import annotations

import re

__all__ = [
    "BUILD_LOG",
    "DRIVER_LOG",
    "PIPELINE_LOG",
    "TUNE_LOG",
    "canonical_log_name",
    "driver_log_name",
    "is_driver_log",
    "newer_log_name",
]

DRIVER_LOG = "azureml-logs/70_driver_log.txt"
BUILD_LOG = "azureml-logs/20_image_build_log.txt"
PIPELINE_LOG = "logs/azureml/executionlogs.txt"  # of a pipeline: what becomes of its steps, and why
TUNE_LOG = "azureml-logs/hyperdrive.txt"  # of a tuning: what it has decided

_NEWER = re.compile(r"^user_logs/std_log(?:_process_0*(\d+))?\.txt$")
_DRIVER = re.compile(r"^azureml-logs/70_driver_log(?:_(\d+))?\.txt$")


def driver_log_name(rank: int, world_size: int) -> str:
    """The log of one rank: without a number when there is only one rank."""
    return DRIVER_LOG if world_size == 1 else f"azureml-logs/70_driver_log_{rank}.txt"


def canonical_log_name(name: str) -> str:
    """The name a log is stored under, given either runtime's name for it."""
    found = _NEWER.match(name)
    if not found:
        return name
    return DRIVER_LOG if found.group(1) is None else f"azureml-logs/70_driver_log_{int(found.group(1))}.txt"


def newer_log_name(name: str) -> str:
    """The newer runtime's name for a driver log; any other name is returned as it is."""
    found = _DRIVER.match(name)
    if not found:
        return name
    return "user_logs/std_log.txt" if found.group(1) is None else f"user_logs/std_log_process_{found.group(1)}.txt"


def is_driver_log(name: str) -> bool:
    return _DRIVER.match(name) is not None
