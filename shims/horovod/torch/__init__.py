"""horovod.torch over torch.distributed: gloo for CPU tensors, NCCL for CUDA tensors where all ranks have it.

Differences from the original: operations are matched by the order of the calls, not by their names, so every rank must make
the same calls in the same order (gradients of DistributedOptimizer may become ready in any order); process sets, Adasum and
timelines are refused; elastic training keeps its ranks.
"""

from horovod.common.exceptions import HorovodInternalError, HostsUpdatedInterrupt
from horovod.common.process_sets import ProcessSet, add_process_set, global_process_set, remove_process_set
from horovod.common.util import (
    ccl_built,
    cuda_built,
    ddl_built,
    gloo_built,
    gpu_available,
    mpi_built,
    nccl_built,
    rocm_built,
)
from horovod.torch import elastic
from horovod.torch.compression import Compression
from horovod.torch.functions import (
    allgather_object,
    broadcast_object,
    broadcast_object_fn,
    broadcast_optimizer_state,
    broadcast_parameters,
)
from horovod.torch.mpi_ops import (
    Adasum,
    Average,
    Max,
    Min,
    Product,
    Sum,
    allgather,
    allgather_async,
    allreduce,
    allreduce_,
    allreduce_async,
    allreduce_async_,
    alltoall,
    alltoall_async,
    barrier,
    broadcast,
    broadcast_,
    broadcast_async,
    broadcast_async_,
    grouped_allgather,
    grouped_allgather_async,
    grouped_allreduce,
    grouped_allreduce_,
    grouped_allreduce_async,
    grouped_allreduce_async_,
    join,
    poll,
    reducescatter,
    reducescatter_async,
    sparse_allreduce_async,
    synchronize,
)
from horovod.torch.optimizer import DistributedOptimizer
from horovod.torch.process import (
    cross_rank,
    cross_size,
    init,
    is_homogeneous,
    is_initialized,
    local_rank,
    local_size,
    rank,
    shutdown,
    size,
)
from horovod.torch.sync_batch_norm import SyncBatchNorm
from horovod.torch.unavailable import mpi_threads_supported, start_timeline, stop_timeline

__all__ = ["Adasum", "Average", "Compression", "DistributedOptimizer", "HorovodInternalError", "HostsUpdatedInterrupt"]
__all__ += ["Max", "Min", "ProcessSet", "Product", "Sum", "SyncBatchNorm", "add_process_set", "allgather"]
__all__ += ["allgather_async", "allgather_object", "allreduce", "allreduce_", "allreduce_async", "allreduce_async_"]
__all__ += ["alltoall", "alltoall_async", "barrier", "broadcast", "broadcast_", "broadcast_async", "broadcast_async_"]
__all__ += ["broadcast_object", "broadcast_object_fn", "broadcast_optimizer_state", "broadcast_parameters"]
__all__ += ["ccl_built", "cross_rank", "cross_size", "cuda_built", "ddl_built", "elastic", "global_process_set"]
__all__ += ["gloo_built", "gloo_enabled", "gpu_available", "grouped_allgather", "grouped_allgather_async"]
__all__ += ["grouped_allreduce", "grouped_allreduce_", "grouped_allreduce_async", "grouped_allreduce_async_", "init"]
__all__ += ["is_homogeneous", "is_initialized", "join", "local_rank", "local_size", "mpi_built", "mpi_enabled"]
__all__ += ["mpi_threads_supported", "nccl_built", "poll", "rank", "reducescatter", "reducescatter_async"]
__all__ += ["remove_process_set", "rocm_built", "shutdown", "size", "sparse_allreduce_async", "start_timeline"]
__all__ += ["stop_timeline", "synchronize"]

gloo_enabled = gloo_built
mpi_enabled = mpi_built
