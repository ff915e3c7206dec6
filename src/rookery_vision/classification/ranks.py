"""The processes of one training: who this one is, and adding up over all of them."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from rookery_vision.declare import launched
from rookery_vision.stack import torch

__all__ = ["Ranks", "global_batches", "joined", "my_share"]

TIMEOUT_S = 600


class Ranks:
    """This process among all."""

    def __init__(self, rank: int, world: int, device: Any) -> None:
        self.rank, self.world, self.device = rank, world, device

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def total(self, values: Sequence[float]) -> list[float]:
        """Each value summed over all processes."""
        if self.world == 1:
            return [float(v) for v in values]
        tensor = torch.tensor([float(v) for v in values], dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(tensor)
        return [float(v) for v in tensor.tolist()]

    def total_tensor(self, tensor: Any) -> Any:
        if self.world > 1:
            moved = tensor.to(self.device)
            torch.distributed.all_reduce(moved)
            return moved.cpu()
        return tensor

    def largest(self, values: Sequence[float]) -> list[float]:
        """Each value's largest over all processes."""
        if self.world == 1:
            return [float(v) for v in values]
        tensor = torch.tensor([float(v) for v in values], dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(tensor, torch.distributed.ReduceOp.MAX)
        return [float(v) for v in tensor.tolist()]

    def any(self, value: bool) -> bool:
        """Whether it is true for one of them; all get the same answer."""
        return value if self.world == 1 else self.total([float(value)])[0] > 0

    def share_buffers(self, network: Any) -> None:
        """The first process' running means for all: they are what will be saved, so they are what is evaluated."""
        if self.world > 1:
            for buffer in network.buffers():
                torch.distributed.broadcast(buffer, 0)

    def wait(self) -> None:
        if self.world > 1:
            torch.distributed.barrier()


@contextlib.contextmanager
def joined() -> Iterator[Ranks]:
    """The processes that the launcher's variables speak of, joined: NCCL on GPUs, gloo on CPUs. One process needs nothing."""
    world, rank = launched.world_size(), launched.rank()
    has_gpu = torch.cuda.is_available()
    local = launched.local_rank()
    device = torch.device("cuda", local % max(1, torch.cuda.device_count())) if has_gpu else torch.device("cpu")
    if has_gpu:
        torch.cuda.set_device(device)
    if world == 1 or torch.distributed.is_initialized():
        yield Ranks(rank, world, device)
        return
    torch.distributed.init_process_group(
        "nccl" if has_gpu else "gloo", timeout=datetime.timedelta(seconds=TIMEOUT_S), rank=rank, world_size=world
    )
    try:
        yield Ranks(rank, world, device)
    finally:
        torch.distributed.destroy_process_group()


def global_batches(count: int, per_rank: int, world: int, seed: int, epoch: int) -> list[Any]:
    """The places of every picture, shuffled and cut into what all processes do together in one step.

    The last one may be smaller. It is left out where a process would get a single picture, which batch norm cannot use: those pictures
    come in another epoch.
    """
    order = numpy.random.default_rng((seed, epoch)).permutation(count)
    size = per_rank * world
    cut = [order[i : i + size] for i in range(0, count, size)]
    return cut[:-1] if len(cut) > 1 and len(cut[-1]) < min(size, 2 * world) else cut


def my_share(group: Any, rank: int, world: int) -> Any:
    """This process' part of a step; parts differ by one picture at most."""
    return numpy.array_split(group, world)[rank]
