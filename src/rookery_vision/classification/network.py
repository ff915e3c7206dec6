"""The network, its optimizer and its number format, made for the machine that is there."""

from __future__ import annotations

import contextlib
from typing import Any, Optional

from rookery_vision.classification.presets import MOMENTUM, WEIGHT_DECAY
from rookery_vision.formats.model_directory import ModelSpec, Preprocessing
from rookery_vision.networks.build import build, load
from rookery_vision.stack import torch

__all__ = ["DTYPES", "Amp", "compiled", "make_network", "make_optimizer", "to_input"]

DTYPES = {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}
BACKEND = "inductor"  # of torch.compile


def make_network(spec: ModelSpec, num_classes: int, state: Optional[dict[str, Any]]) -> Any:
    """channels_last: the order in which pictures come, and in which convolutions are fastest on CPUs and GPUs alike."""
    network = load(build(spec, num_classes), spec, state)
    return network.to(memory_format=torch.channels_last)


def make_optimizer(network: Any, rate: float) -> Any:
    decayed = [p for p in network.parameters() if p.ndim > 1]
    others = [p for p in network.parameters() if p.ndim <= 1]  # norms and biases
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.SGD(groups, lr=rate, momentum=MOMENTUM, nesterov=True, fused=True)


def to_input(batch_NHWC: Any, prep: Preprocessing, device: Any) -> Any:
    """Bytes → what the network takes. They travel as bytes; the arithmetic is done on the whole batch, where the network is."""
    coded = torch.from_numpy(batch_NHWC)
    if device.type == "cuda":
        coded = coded.pin_memory()  # or the copy would not run beside the computing
    x_NCHW = coded.to(device, non_blocking=True).permute(0, 3, 1, 2).float()
    mean = torch.tensor(prep.mean, device=device).mul_(255).view(1, 3, 1, 1)
    std = torch.tensor(prep.std, device=device).mul_(255).view(1, 3, 1, 1)
    return x_NCHW.sub_(mean).div_(std)


class Amp:
    """The number format of the forward pass; float16 also needs its gradients scaled."""

    def __init__(self, kind: str, dtype: Any) -> None:
        self.kind, self.dtype = kind, dtype
        self._scaler = torch.amp.GradScaler(kind) if dtype is torch.float16 else None

    def autocast(self) -> Any:
        return contextlib.nullcontext() if self.dtype is None else torch.autocast(self.kind, dtype=self.dtype)

    def backward(self, loss: Any) -> None:
        (self._scaler.scale(loss) if self._scaler else loss).backward()

    def step(self, optimizer: Any) -> None:
        if self._scaler is None:
            optimizer.step()
            return
        self._scaler.step(optimizer)
        self._scaler.update()

    def state(self) -> dict[str, Any]:
        return self._scaler.state_dict() if self._scaler else {}

    def load_state(self, state: dict[str, Any]) -> None:
        if self._scaler and state:
            self._scaler.load_state_dict(state)

    @property
    def name(self) -> str:
        return "float32" if self.dtype is None else str(self.dtype).replace("torch.", "")


def compiled(network: Any, batch_size: int) -> Any:
    """The network for `torch.compile`, for batches of this size; smaller ones go through the network as it is.

    What is compiled fits one shape, and compiling again for the last batch of an epoch would take longer than it.
    """
    return _Compiled(network, batch_size)


class _Compiled(torch.nn.Module):
    def __init__(self, network: Any, batch_size: int) -> None:
        super().__init__()
        self.network, self._batch_size = network, batch_size
        # Not as a part of this one: its weights are the network's, and would be counted twice.
        object.__setattr__(self, "_fast", torch.compile(network, backend=BACKEND, dynamic=False))

    def forward(self, x_NCHW: Any) -> Any:
        fits = len(x_NCHW) == self._batch_size and self.network.training
        return (self._fast if fits else self.network)(x_NCHW)
