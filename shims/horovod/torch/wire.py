"""Tensors as they travel: contiguous, on the device of their channel, of a type that it can carry."""

import torch

__all__ = ["DTYPES", "divide_", "from_wire", "is_complex", "scale_", "to_wire"]

# Their place in this list says what a rank sends, so it is only ever added to.
DTYPES = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
    torch.bool, torch.bfloat16, torch.complex64, torch.complex128,
]  # fmt: skip
# gloo of the older versions carries none of these; each fits into the other without loss.
FOR_GLOO = {torch.bool: torch.uint8, torch.int16: torch.int32, torch.bfloat16: torch.float32}


def to_wire(tensor, channel, own=True):
    """`tensor` to be sent, flat. With own=False it may be the tensor's own memory, so that the result is in place."""
    if tensor.dtype not in DTYPES:
        raise ValueError("Tensors of {} cannot be sent. Known: {}.".format(tensor.dtype, ", ".join(map(str, DTYPES))))
    if tensor.is_sparse:
        raise ValueError("A sparse tensor cannot be sent as it is. Give tensor.to_dense().")
    data = tensor.detach()
    if is_complex(data):
        data = torch.view_as_real(data)
    if channel.name == "nccl":
        made = data.to(torch.uint8) if data.dtype == torch.bool else data
    else:
        made = data.to(device="cpu", dtype=FOR_GLOO.get(data.dtype, data.dtype))
    made = made.contiguous().view(-1)
    return made.clone() if own and _shares_memory(made, data) else made


def from_wire(wire, like, shape=None):
    """What arrived, as a tensor of the type and device of `like` (and its shape, unless another is given)."""
    shape = tuple(like.shape if shape is None else shape)
    if is_complex(like):
        real = torch.float32 if like.dtype == torch.complex64 else torch.float64
        return torch.view_as_complex(wire.to(device=like.device, dtype=real).view(shape + (2,)))
    return wire.to(device=like.device, dtype=like.dtype).view(shape)


def is_complex(tensor):
    return tensor.dtype in (torch.complex64, torch.complex128)


def scale_(wire, factor):
    if factor == 1:
        return wire
    if wire.dtype.is_floating_point:
        return wire.mul_(factor)
    return wire.copy_((wire.double() * factor).to(wire.dtype))


def divide_(wire, count):
    """Average of a sum: integers are cut off, as Horovod does."""
    if wire.dtype.is_floating_point:
        return wire.div_(count)
    try:
        return wire.copy_(torch.div(wire, count, rounding_mode="trunc"))
    except TypeError:  # before torch 1.8, where floor_divide cuts off
        return wire.floor_divide_(count)


def _shares_memory(one, other):
    return one.data_ptr() == other.data_ptr()
