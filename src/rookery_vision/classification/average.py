"""An exponential average of the weights: steadier than the last ones, and better on pictures that were not trained on."""

from __future__ import annotations

import copy
from typing import Any, Optional

from rookery_vision.stack import torch

__all__ = ["Average"]

SETTLING = 10  # early on the average forgets faster, or it would keep the weights that training began with


class Average:
    """A network of its own with the averaged weights and running means."""

    def __init__(self, network: Any, decay: float) -> None:
        self.decay = decay
        self.network = copy.deepcopy(network).eval().requires_grad_(False)

    @classmethod
    def of(cls, network: Any, decay: float) -> Optional[Average]:
        """None where none is asked for."""
        return cls(network, decay) if decay > 0 else None

    @torch.no_grad()
    def update(self, network: Any, steps_done: int) -> None:
        """After every step; `steps_done` counts from the beginning of the training."""
        decay = min(self.decay, (1 + steps_done) / (SETTLING + steps_done))
        mine, theirs = [], []
        for own, other in zip(self.network.state_dict().values(), network.state_dict().values()):
            if own.is_floating_point():
                mine.append(own)
                theirs.append(other)
            else:
                own.copy_(other)
        torch._foreach_lerp_(mine, theirs, 1 - decay)
