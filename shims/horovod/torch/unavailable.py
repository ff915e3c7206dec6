"""Horovod's names that mean nothing over torch.distributed."""

import warnings

__all__ = ["mpi_threads_supported", "start_timeline", "stop_timeline"]


def mpi_threads_supported():
    """There is no MPI between the ranks."""
    return False


def start_timeline(file_path, mark_cycles=False):
    warnings.warn(
        "hvd.start_timeline() is not available in Rookery's horovod: {} will not be written. torch.profiler shows the "
        "collective operations.".format(file_path),
        stacklevel=2,
    )


def stop_timeline():
    """Nothing was started."""
