"""The operations under Horovod's names and signatures, with gradients where Horovod has them."""

import torch

from horovod.common.process_sets import check_global, global_process_set
from horovod.torch import operations
from horovod.torch.channel import join_all
from horovod.torch.compression import Compression
from horovod.torch.operations import Adasum, Average, Max, Min, Product, Sum, check_op
from horovod.torch.process import (  # noqa: F401
    cross_rank,
    cross_size,
    init,
    is_homogeneous,
    is_initialized,
    local_rank,
    local_size,
    process,
    rank,
    shutdown,
    size,
)

__all__ = ["Adasum", "Average", "Max", "Min", "Product", "Sum"]
__all__ += ["allgather", "allgather_async", "allreduce", "allreduce_", "allreduce_async", "allreduce_async_"]
__all__ += ["alltoall", "alltoall_async", "barrier", "broadcast", "broadcast_", "broadcast_async", "broadcast_async_"]
__all__ += ["grouped_allgather", "grouped_allgather_async", "grouped_allreduce", "grouped_allreduce_"]
__all__ += ["grouped_allreduce_async", "grouped_allreduce_async_", "join", "poll", "reducescatter"]
__all__ += ["reducescatter_async", "sparse_allreduce_async", "synchronize"]


def allreduce(
    tensor,
    average=None,
    name=None,
    compression=Compression.none,
    op=None,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
):
    """The average (or what `op` says) over all ranks, as a new tensor."""
    op = check_op(op, average)
    check_global(process_set)
    sent, ctx = compression.compress(tensor)
    if _wants_gradient(sent):
        result = _Allreduce.apply(sent, name, op, prescale_factor, postscale_factor)
    else:
        result = _first(operations.start_allreduce([sent], op, prescale_factor, postscale_factor, name)).synchronize()
    return compression.decompress(result, ctx)


def allreduce_async(
    tensor,
    average=None,
    name=None,
    op=None,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
):
    """As allreduce, at once with a handle for `poll` and `synchronize`."""
    check_global(process_set)
    return _first(operations.start_allreduce([tensor], check_op(op, average), prescale_factor, postscale_factor, name))


def allreduce_async_(
    tensor,
    average=None,
    name=None,
    op=None,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
):
    """As allreduce_async, into the tensor itself. It is not to be touched until `synchronize`."""
    check_global(process_set)
    return _first(
        operations.start_allreduce([tensor], check_op(op, average), prescale_factor, postscale_factor, name, True)
    )


def allreduce_(tensor, *args, **kwargs):
    """As allreduce, into the tensor itself."""
    return allreduce_async_(tensor, *args, **kwargs).synchronize()


def grouped_allreduce(
    tensors,
    average=None,
    name=None,
    compression=Compression.none,
    op=None,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
):
    """allreduce of a list, tensors of one type together."""
    op = check_op(op, average)
    check_global(process_set)
    packed = [compression.compress(tensor) for tensor in tensors]
    sent = [each for each, _ in packed]
    if any(_wants_gradient(each) for each in sent):
        results = [_Allreduce.apply(each, None, op, prescale_factor, postscale_factor) for each in sent]
    else:
        results = operations.start_allreduce(sent, op, prescale_factor, postscale_factor, name).synchronize()
    return [compression.decompress(each, ctx) for each, (_, ctx) in zip(results, packed)]


def grouped_allreduce_async(
    tensors,
    average=None,
    name=None,
    op=None,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
):
    check_global(process_set)
    tensors = list(tensors)
    return operations.start_allreduce(tensors, check_op(op, average), prescale_factor, postscale_factor, name)


def grouped_allreduce_async_(
    tensors,
    average=None,
    name=None,
    op=None,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
):
    check_global(process_set)
    tensors = list(tensors)
    return operations.start_allreduce(tensors, check_op(op, average), prescale_factor, postscale_factor, name, True)


def grouped_allreduce_(tensors, *args, **kwargs):
    return grouped_allreduce_async_(tensors, *args, **kwargs).synchronize()


def sparse_allreduce_async(tensor, name, op, process_set=global_process_set):
    """Reduce a sparse tensor by gathering everybody's entries; returns a function that gives the result."""
    check_global(process_set)
    op = check_op(op)
    if op not in (Average, Sum):
        raise ValueError("Sparse tensors can be summed and averaged only.")
    entries = tensor.coalesce()
    indices = operations.start_allgather(entries.indices().transpose(0, 1).contiguous())
    values = operations.start_allgather(entries.values())

    def finish():
        got = values.synchronize()
        got = got / size() if op == Average else got
        return torch.sparse_coo_tensor(indices.synchronize().transpose(0, 1), got, tensor.shape).coalesce()

    return finish


def allgather(tensor, name=None, process_set=global_process_set):
    """All ranks' tensors along the first dimension, which may differ."""
    check_global(process_set)
    if _wants_gradient(tensor):
        return _Allgather.apply(tensor, name)
    return operations.start_allgather(tensor, name).synchronize()


def allgather_async(tensor, name=None, process_set=global_process_set):
    check_global(process_set)
    return operations.start_allgather(tensor, name)


def grouped_allgather(tensors, name=None, process_set=global_process_set):
    return [allgather(tensor, process_set=process_set) for tensor in tensors]


def grouped_allgather_async(tensors, name=None, process_set=global_process_set):
    check_global(process_set)
    handles = [operations.start_allgather(tensor) for tensor in tensors]
    return operations.Handle([], lambda: [each.synchronize() for each in handles], name)


def broadcast(tensor, root_rank, name=None, process_set=global_process_set):
    """The tensor of `root_rank`, as a new one."""
    check_global(process_set)
    if _wants_gradient(tensor):
        return _Broadcast.apply(tensor, root_rank, name)
    return operations.start_broadcast(tensor, root_rank, name).synchronize()


def broadcast_async(tensor, root_rank, name=None, process_set=global_process_set):
    check_global(process_set)
    return operations.start_broadcast(tensor, root_rank, name)


def broadcast_async_(tensor, root_rank, name=None, process_set=global_process_set):
    check_global(process_set)
    return operations.start_broadcast(tensor, root_rank, name, in_place=True)


def broadcast_(tensor, root_rank, name=None, process_set=global_process_set):
    return broadcast_async_(tensor, root_rank, name, process_set).synchronize()


def alltoall(tensor, splits=None, name=None, process_set=global_process_set):
    """Rows from all ranks; with `splits` also how many came from each."""
    check_global(process_set)
    if _wants_gradient(tensor):
        output, received = _Alltoall.apply(tensor, splits, name)
    else:
        output, received = operations.start_alltoall(tensor, splits, name).synchronize()
    return output if splits is None else (output, received)


def alltoall_async(tensor, splits=None, name=None, process_set=global_process_set):
    check_global(process_set)
    return operations.start_alltoall(tensor, splits, name)


def reducescatter(
    tensor,
    name=None,
    compression=Compression.none,
    op=Average,
    process_set=global_process_set,
    prescale_factor=1.0,
    postscale_factor=1.0,
):
    """This rank's rows of the reduced tensor."""
    check_global(process_set)
    op = check_op(op)
    sent, ctx = compression.compress(tensor)
    if _wants_gradient(sent):
        result = _Reducescatter.apply(sent, name, op, prescale_factor, postscale_factor)
    else:
        result = operations.start_reducescatter(sent, op, prescale_factor, postscale_factor, name).synchronize()
    return compression.decompress(result, ctx)


def reducescatter_async(
    tensor, name=None, op=Average, process_set=global_process_set, prescale_factor=1.0, postscale_factor=1.0
):
    check_global(process_set)
    return operations.start_reducescatter(tensor, check_op(op), prescale_factor, postscale_factor, name)


def poll(handle):
    """Whether the operation is over, so that `synchronize` will not wait."""
    return handle.poll()


def synchronize(handle):
    """Wait for the operation; its result."""
    return handle.synchronize()


def join(device=-1):
    """This rank has no more data: take part in the others' operations with zeros until all have joined.

    Returns the rank that was the last to join. An average still divides by the number of all ranks.
    """
    here = process()
    return 0 if here.size == 1 else join_all(here)


def barrier(process_set=global_process_set):
    """Wait for all ranks."""
    check_global(process_set)
    operations.start_allreduce([torch.zeros(1)], Sum).synchronize()


class _First(object):
    """The handle of a list with one tensor, as the handle of that tensor."""

    def __init__(self, handle):
        self._handle, self.poll = handle, handle.poll

    def synchronize(self):
        return self._handle.synchronize()[0]


_first = _First


def _wants_gradient(tensor):
    return tensor.requires_grad and torch.is_grad_enabled()


class _Allreduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, name, op, prescale, postscale):
        ctx.how = (op, prescale, postscale)
        return operations.start_allreduce([tensor], op, prescale, postscale, name).synchronize()[0]

    @staticmethod
    def backward(ctx, gradient):
        op, prescale, postscale = ctx.how
        result = operations.start_allreduce([gradient], op, prescale, postscale).synchronize()[0]
        return result, None, None, None, None


class _Allgather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, name):
        ctx.shape = tensor.shape
        return operations.start_allgather(tensor, name).synchronize()

    @staticmethod
    def backward(ctx, gradient):
        reduced = operations.start_allreduce([gradient], Average).synchronize()[0]
        mine = ctx.shape[0] if ctx.shape else 1
        counts = operations.start_allgather(torch.tensor([mine])).synchronize().tolist()
        begin = sum(counts[: rank()])
        return reduced[begin : begin + mine].reshape(ctx.shape), None


class _Broadcast(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, root, name):
        ctx.root = root
        return operations.start_broadcast(tensor, root, name).synchronize()

    @staticmethod
    def backward(ctx, gradient):
        reduced = operations.start_allreduce([gradient], Average).synchronize()[0]
        return reduced if rank() == ctx.root else torch.zeros_like(reduced), None, None


class _Alltoall(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, splits, name):
        output, ctx.received = operations.start_alltoall(tensor, splits, name).synchronize()
        ctx.mark_non_differentiable(ctx.received)
        return output, ctx.received

    @staticmethod
    def backward(ctx, gradient, _):
        return operations.start_alltoall(gradient.contiguous(), ctx.received).synchronize()[0], None, None


class _Reducescatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, name, op, prescale, postscale):
        if op not in (Average, Sum):
            raise NotImplementedError("reducescatter has a gradient for Average and Sum only.")
        ctx.factor = prescale * postscale / (size() if op == Average else 1)
        return operations.start_reducescatter(tensor, op, prescale, postscale, name).synchronize()

    @staticmethod
    def backward(ctx, gradient):
        return operations.start_allgather(gradient).synchronize() * ctx.factor, None, None, None, None
