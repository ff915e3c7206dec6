"""The network, its optimizer and its number format, made for the machine that is there."""

from __future__ import annotations

import contextlib
from typing import Any, Optional

from rookery_vision.classification.presets import MOMENTUM, WEIGHT_DECAY
from rookery_vision.classification.ranks import Ranks
from rookery_vision.formats.model_directory import ModelSpec, Preprocessing
from rookery_vision.networks.build import build, load
from rookery_vision.stack import torch

__all__ = ["Amp", "amp_for", "make_network", "make_optimizer", "to_input"]


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
    x_NCHW = torch.from_numpy(batch_NHWC).to(device, non_blocking=True).permute(0, 3, 1, 2).float()
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

    @property
    def name(self) -> str:
        return "float32" if self.dtype is None else str(self.dtype).replace("torch.", "")


def amp_for(precision: str, ranks: Ranks) -> Amp:
    """`Auto`: bfloat16 where every process' machine has instructions for it (elsewhere it is many times slower), float16 on
    older GPUs, else float32. By what the machine is, never by a stopwatch: the same seed must give the same weights.
    """
    kind = ranks.device.type
    if precision == "Auto":
        good = torch.cuda.is_bf16_supported(including_emulation=False) if kind == "cuda" else _cpu_has_bfloat16()
        if ranks.any(not good):
            return Amp(kind, torch.float16 if kind == "cuda" else None)
        return Amp(kind, torch.bfloat16)
    return Amp(kind, torch.bfloat16 if precision == "bfloat16" else None)


def _cpu_has_bfloat16() -> bool:
    if not torch.backends.mkldnn.is_available():
        return False
    known = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in known)
