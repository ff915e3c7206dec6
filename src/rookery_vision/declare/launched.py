"""Which process of a run this is, from the variables of whatever launched it: our agent, torchrun, or mpirun."""

from __future__ import annotations

import os

__all__ = ["local_rank", "local_world_size", "rank", "world_size"]


def rank() -> int:
    return _number("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", default=0)


def world_size() -> int:
    return _number("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", default=1)


def local_rank() -> int:
    return _number("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", default=0)


def local_world_size() -> int:
    """How many processes of the run are on this machine."""
    return _number("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", default=1)


def _number(*names: str, default: int) -> int:
    for name in names:
        value = os.environ.get(name, "").strip()
        if value.isdigit():
            return int(value)
    return default
