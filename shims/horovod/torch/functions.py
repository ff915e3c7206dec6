"""Starting from the same place: parameters, optimizer state and any object, from one rank to all."""

import hashlib
import io
import pickle

import torch

from horovod.common.process_sets import check_global, global_process_set
from horovod.torch import operations
from horovod.torch.process import rank, size

__all__ = ["allgather_object", "broadcast_object", "broadcast_object_fn", "broadcast_optimizer_state"]
__all__ += ["broadcast_parameters", "broadcast_tensors"]

TOGETHER_BYTES = 32 * 1024 * 1024


def broadcast_parameters(params, root_rank, process_set=global_process_set):
    """Give all ranks the tensors of `root_rank`, in place: a state_dict, named_parameters() or parameters().

    Raises:
        ValueError: ranks have different parameters; the first difference is named, on all ranks.
    """
    check_global(process_set)
    if hasattr(params, "items"):
        pairs = sorted(params.items())
    elif isinstance(params, (str, bytes)) or not hasattr(params, "__iter__"):
        raise ValueError("params is {}. Give model.state_dict(), or a list of tensors.".format(type(params).__name__))
    else:
        pairs = [each if isinstance(each, tuple) else (str(i), each) for i, each in enumerate(params)]
    pairs = [(name, tensor) for name, tensor in pairs if torch.is_tensor(tensor)]
    if size() == 1:
        return
    _check_same(["{} {} {}".format(name, tensor.dtype, tuple(tensor.shape)) for name, tensor in pairs], root_rank)
    broadcast_tensors([tensor for _, tensor in pairs], root_rank)


def broadcast_tensors(tensors, root_rank):
    """Several small ones travel as one."""
    if size() == 1:
        return
    batches, sizes = {}, {}
    for tensor in tensors:
        key = (str(tensor.dtype), str(tensor.device))
        if key not in batches or sizes[key] > TOGETHER_BYTES:
            _broadcast_together(batches.pop(key, []), root_rank)
            batches[key], sizes[key] = [], 0
        batches[key].append(tensor)
        sizes[key] += tensor.numel() * tensor.element_size()
    for key in sorted(batches):
        _broadcast_together(batches[key], root_rank)


def broadcast_optimizer_state(optimizer, root_rank, model=None):
    """Give all ranks the optimizer's state of `root_rank`: options such as the learning rate, and its tensors."""
    if size() == 1:
        return
    tensors = []
    state = optimizer.state_dict() if rank() == root_rank else None
    shape = broadcast_object(_strip(state, tensors) if state is not None else None, root_rank)
    if rank() != root_rank:
        state = _fill(shape, tensors)
    broadcast_tensors(tensors, root_rank)
    if rank() != root_rank:
        optimizer.load_state_dict(state)


def broadcast_object(obj, root_rank=0, name=None, process_set=global_process_set):
    """The object of `root_rank`, on all ranks; it is pickled."""
    check_global(process_set)
    if size() == 1:
        return obj
    data = _dump(obj) if rank() == root_rank else torch.zeros(0, dtype=torch.uint8)
    length = operations.start_broadcast(torch.tensor([data.numel()]), root_rank, name, in_place=True).synchronize()
    if rank() != root_rank:
        data = torch.empty(int(length), dtype=torch.uint8)
    operations.start_broadcast(data, root_rank, in_place=True).synchronize()
    return obj if rank() == root_rank else _load(data)


def broadcast_object_fn(root_rank=0, name=None, process_set=global_process_set):
    return lambda obj: broadcast_object(obj, root_rank, name, process_set)


def allgather_object(obj, name=None, process_set=global_process_set):
    """The objects of all ranks, as a list; ranks that have joined are left out."""
    check_global(process_set)
    if size() == 1:
        return [obj]
    data = _dump(obj)
    lengths = operations.start_allgather(torch.tensor([data.numel()])).synchronize().tolist()
    everything = operations.start_allgather(data, name).synchronize()
    return [_load(part) for part in torch.split(everything, lengths)]


def _check_same(looks, root_rank):
    """Different models would hang, or mix up weights without a word."""
    digest = int(hashlib.sha256("\n".join(looks).encode()).hexdigest()[:15], 16)
    if len(set(operations.start_allgather(torch.tensor([digest])).synchronize().tolist())) == 1:
        return
    everybody = allgather_object(looks)
    theirs = everybody[root_rank]
    for other, mine in enumerate(everybody):
        if mine != theirs:
            more, less = sorted(set(mine) - set(theirs)), sorted(set(theirs) - set(mine))
            raise ValueError(
                "broadcast_parameters: rank {} has other parameters than rank {}. Only there: {}. Missing there: {}. "
                "Build the same model on all ranks.".format(
                    other, root_rank, ", ".join(more[:3]) or "none", ", ".join(less[:3]) or "none"
                )
            )


def _broadcast_together(tensors, root_rank):
    if not tensors:
        return
    if len(tensors) == 1:
        operations.start_broadcast(tensors[0].detach(), root_rank, in_place=True).synchronize()
        return
    flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
    operations.start_broadcast(flat, root_rank, in_place=True).synchronize()
    if rank() == root_rank:
        return
    with torch.no_grad():
        for tensor, part in zip(tensors, torch.split(flat, [tensor.numel() for tensor in tensors])):
            tensor.copy_(part.view(tensor.shape))


class _Tensor(object):
    """Stands for a tensor in an object that travels without its tensors."""

    def __init__(self, tensor):
        self.shape, self.dtype = tuple(tensor.shape), str(tensor.dtype).split(".")[-1]
        self.device = tensor.device.type


def _strip(value, tensors):
    if torch.is_tensor(value):
        tensors.append(value)
        return _Tensor(value)
    if isinstance(value, dict):
        return {key: _strip(each, tensors) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_strip(each, tensors) for each in value)
    return value


def _fill(value, tensors):
    if isinstance(value, _Tensor):
        # Of a GPU's tensors each rank has its own GPU's; where that is, load_state_dict knows.
        device = torch.device("cuda", torch.cuda.current_device()) if value.device == "cuda" else torch.device("cpu")
        tensors.append(torch.empty(value.shape, dtype=getattr(torch, value.dtype), device=device))
        return tensors[-1]
    if isinstance(value, dict):
        return {key: _fill(each, tensors) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_fill(each, tensors) for each in value)
    return value


def _dump(obj):
    try:
        from cloudpickle import dumps  # lambdas and classes of __main__ travel too, where it is there
    except ImportError:
        from pickle import dumps
    return torch.frombuffer(bytearray(dumps(obj)), dtype=torch.uint8) if _HAS_FROMBUFFER else _old_bytes(dumps(obj))


def _load(data):
    return pickle.load(io.BytesIO(bytes(bytearray(data.tolist())) if not _HAS_FROMBUFFER else data.numpy().tobytes()))


_HAS_FROMBUFFER = hasattr(torch, "frombuffer")  # torch 1.10


def _old_bytes(data):
    return torch.ByteTensor(torch.ByteStorage.from_buffer(data))
