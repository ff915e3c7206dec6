"""Collective operations without autograd: each is started and gives a Handle, in the order of the calls.

Every rank must start the same operations in the same order. Names are checked for being unique while under way, and are
otherwise only for people.
"""

import weakref

import torch

from horovod.torch.process import channel_for, process
from horovod.torch.wire import DTYPES, divide_, from_wire, is_complex, scale_, to_wire

__all__ = ["Adasum", "Average", "Handle", "Max", "Min", "Product", "Sum", "start_allgather", "start_allreduce"]
__all__ += ["check_op", "start_alltoall", "start_broadcast", "start_reducescatter"]

Average, Sum, Adasum, Min, Max, Product = range(6)
_ON_THE_WIRE = {Average: "SUM", Sum: "SUM", Min: "MIN", Max: "MAX", Product: "PRODUCT"}
_ROW = 16  # numbers that describe one rank's tensor: present, type, dimensions, shape
_named = weakref.WeakValueDictionary()


class Handle(object):
    """An operation under way: `hvd.poll(handle)`, `hvd.synchronize(handle)`."""

    def __init__(self, pending, finish, name=None):
        self._pending, self._finish = pending, finish
        self._output, self._is_done = None, False
        if name is not None:
            _named[name] = self

    def poll(self):
        return self._is_done or all(each.is_completed() for each in self._pending)

    def synchronize(self):
        if not self._is_done:
            for each in self._pending:
                each.wait()
            self._output, self._is_done = self._finish(), True
            self._pending = self._finish = None
        return self._output


def check_op(op, average=None):
    """The operation that op and the older `average` mean.

    Raises:
        ValueError: both are given, or op is none of them.
        NotImplementedError: Adasum.
    """
    if op is not None and average is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    if op is None:
        op = Average if average is None or average else Sum
    if op == Adasum:
        raise NotImplementedError(
            "op=hvd.Adasum is not available in Rookery's horovod. Use hvd.Average (and a learning rate for the larger "
            "batch), or the original Horovod."
        )
    if op not in _ON_THE_WIRE:
        raise ValueError("op={!r} does not exist. Known: Average, Sum, Min, Max, Product of hvd.".format(op))
    return op


def start_allreduce(tensors, op, prescale=1.0, postscale=1.0, name=None, in_place=False, kind="main"):
    """Reduce a list of tensors, those of one type and device in one operation; the Handle gives the list of results."""
    _check_free(name)
    for tensor in tensors:
        if is_complex(tensor) and op not in (Average, Sum):
            raise ValueError("Complex tensors can be summed and averaged only.")
    size = process().size
    parts = []  # (their places in the list, flat tensor on the way)
    pending = []
    for places in _alike(tensors):
        channel = channel_for(tensors[places[0]], kind) if size > 1 else _Alone
        if len(places) == 1:
            flat = to_wire(tensors[places[0]], channel, own=not in_place)
        else:
            flat = torch.cat([to_wire(tensors[i], channel, own=False) for i in places])
        scale_(flat, prescale)
        if size > 1 and flat.numel():
            pending.append(channel.all_reduce(flat, _ON_THE_WIRE[op]))
        parts.append((places, flat))

    def finish():
        outputs = [None] * len(tensors)
        for places, flat in parts:
            if op == Average:
                divide_(flat, size)
            scale_(flat, postscale)
            begin = 0
            for i in places:
                count = tensors[i].numel() * (2 if is_complex(tensors[i]) else 1)
                outputs[i] = _settle(flat[begin : begin + count], tensors[i], in_place)
                begin += count
        return outputs

    return Handle(pending, finish, name)


def start_broadcast(tensor, root, name=None, in_place=False):
    size = process().size
    _check_free(name)
    if not isinstance(root, int) or not 0 <= root < size:
        raise ValueError("root_rank={!r} does not exist. There are ranks 0 to {}.".format(root, size - 1))
    channel = channel_for(tensor) if size > 1 else _Alone
    flat = to_wire(tensor, channel, own=not in_place)
    pending = [channel.broadcast(flat, root)] if size > 1 and flat.numel() else []
    return Handle(pending, lambda: _settle(flat, tensor, in_place), name)


def start_allgather(tensor, name=None):
    """Concatenate along the first dimension, which may differ. The shapes are exchanged before it returns."""
    _check_free(name)
    tensor = tensor.reshape(1) if tensor.dim() == 0 else tensor
    if process().size == 1:
        return Handle([], lambda: tensor.detach().clone(), name)
    counts, rest = _exchange_shapes(tensor, "allgather")
    pending, chunks = _gather_rows(tensor, counts)

    def finish():
        got = [from_wire(chunk, tensor, (n,) + rest) for chunk, n in zip(chunks(), counts)]
        return torch.cat(got)

    return Handle(pending, finish, name)


def start_alltoall(tensor, splits=None, name=None):
    """Rows to each rank; the Handle gives (rows from all ranks, how many from each)."""
    me, size = process().rank, process().size
    _check_free(name)
    sent = _splits(tensor, splits, size)
    if size == 1:
        return Handle([], lambda: (tensor.detach().clone(), sent.to(torch.int32)), name)
    table = start_allgather(sent.view(1, size)).synchronize()
    counts, rest = _exchange_shapes(tensor, "alltoall")
    pending, chunks = _gather_rows(tensor, counts)

    def finish():
        # Every rank gets all rows and keeps its own: more traffic than needed, on any backend and version.
        rows = []
        for other, chunk in enumerate(chunks()):
            begin = int(table[other, :me].sum())
            rows.append(from_wire(chunk, tensor, (counts[other],) + rest)[begin : begin + int(table[other, me])])
        return torch.cat(rows), table[:, me].to(torch.int32)

    return Handle(pending, finish, name)


def start_reducescatter(tensor, op, prescale=1.0, postscale=1.0, name=None):
    """This rank's rows of the reduced tensor; the first ranks get one more where they do not divide evenly."""
    if tensor.dim() == 0:
        raise ValueError("reducescatter needs a tensor with at least one dimension; this one is a number.")
    me, size = process().rank, process().size
    whole = start_allreduce([tensor], op, prescale, postscale, name)
    each, more = divmod(tensor.shape[0], size)
    begin = me * each + min(me, more)

    def finish():
        return whole.synchronize()[0][begin : begin + each + (1 if me < more else 0)].clone()

    handle = Handle([], finish)
    handle.poll = whole.poll
    return handle


class _Alone(object):
    """The channel of a rank without others."""

    name = "alone"


def _check_free(name):
    """Before anything is sent: a call that is refused must not count."""
    other = _named.get(name) if name is not None else None
    if other is not None and not other.poll():
        raise ValueError(
            "An operation named {!r} is under way already. Give each its own name, or hvd.synchronize() the first.".format(
                name
            )
        )


def _alike(tensors):
    groups = {}
    for i, tensor in enumerate(tensors):
        groups.setdefault((str(tensor.dtype), str(tensor.device)), []).append(i)
    return [groups[key] for key in sorted(groups)]


def _settle(flat, tensor, in_place):
    """The result as a tensor of its own, or in the tensor that was given."""
    output = from_wire(flat, tensor)
    if not in_place:
        return output
    if output.data_ptr() != tensor.data_ptr():
        with torch.no_grad():
            tensor.copy_(output)
    return tensor


def _exchange_shapes(tensor, what):
    """(rows of each rank, the other dimensions); a rank that has joined has no rows.

    Raises:
        ValueError: types or the other dimensions differ between ranks; all ranks raise.
    """
    mine = [1, DTYPES.index(tensor.dtype), tensor.dim()] + list(tensor.shape)
    if len(mine) > _ROW:
        raise ValueError("Tensors of {} dimensions cannot be gathered.".format(tensor.dim()))
    row = torch.tensor(mine + [0] * (_ROW - len(mine)))
    rows = [torch.zeros_like(row) for _ in range(process().size)]
    process().channels["main"].all_gather(rows, row).wait()
    known = [each.tolist() for each in rows]
    looks = {}
    for rank, (there, code, dims) in enumerate((each[0], each[1], each[2]) for each in known):
        if there:
            looks.setdefault((str(DTYPES[code]), tuple(known[rank][4 : 3 + dims])), []).append(rank)
    if len(looks) > 1:
        told = "; ".join("ranks {}: {} (n, {})".format(r, d, ", ".join(map(str, s))) for (d, s), r in looks.items())
        raise ValueError("{}: tensors differ in type or in more than their first dimension: {}.".format(what, told))
    return [each[3] for each in known], tuple(tensor.shape[1:])


def _gather_rows(tensor, counts):
    """(operations under way, function that gives each rank's rows, flat)."""
    channel = channel_for(tensor)
    wire = to_wire(tensor, channel, own=False)
    mine = counts[process().rank]
    width = wire.numel() // mine if mine else tensor[:0].new_empty((1,) + tuple(tensor.shape[1:])).numel()
    if not mine and is_complex(tensor):
        width *= 2
    most = max(counts) * width
    if not most:
        return [], lambda: [wire[:0]] * len(counts)
    if wire.numel() < most:
        padded = wire.new_zeros(most)
        padded[: wire.numel()] = wire
        wire = padded
    got = [torch.empty_like(wire) for _ in counts]
    return [channel.all_gather(got, wire)], lambda: [each[: n * width] for each, n in zip(got, counts)]


def _splits(tensor, splits, size):
    if splits is None:
        if tensor.shape[0] % size:
            raise ValueError(
                "alltoall: {} rows do not divide evenly over {} ranks. Give splits.".format(tensor.shape[0], size)
            )
        return torch.full((size,), tensor.shape[0] // size, dtype=torch.int64)
    made = torch.as_tensor(splits).to(device="cpu", dtype=torch.int64)
    if made.numel() != size or int(made.sum()) > tensor.shape[0] or bool((made < 0).any()):
        raise ValueError(
            "alltoall: splits={} must be {} numbers that add up to at most {} rows.".format(
                made.tolist(), size, tensor.shape[0]
            )
        )
    return made
