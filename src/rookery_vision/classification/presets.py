"""The numbers of the recipe, and the options of one training."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["END_RATE", "MOMENTUM", "POWER", "RESIZE_PER_CROP", "START_RATE", "TOP", "WEIGHT_DECAY", "Options"]

MOMENTUM = 0.9  # Nesterov's
WEIGHT_DECAY = 1e-4  # not on norms and biases: decaying them only costs accuracy
START_RATE = 1e-4  # of the warm-up
END_RATE = 1e-7
POWER = 2.0  # of the polynomial decay
TOP = 5  # the k of top-k accuracy, where there are that many categories
RESIZE_PER_CROP = 256 / 224  # the usual: the shorter edge to 256, of which the middle 224


@dataclass(frozen=True)
class Options:
    """The parameters of Train PyTorch Model, by the names of its card."""

    epochs: int = 5
    batch_size: int = 16  # per process
    warmup_step_number: int = 0  # epochs
    learning_rate: float = 0.001
    random_seed: int = 1
    patience: int = 3
    print_frequency: int = 10
    image_size: int = 0  # 0: pictures as they are
    augmentation: str = "None"
    label_smoothing: float = 0.0
    mixup: float = 0.0
    precision: str = "Auto"
    cache: str = "Auto"
    weight_averaging: float = 0.0  # 0: none
    compile: str = "Auto"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
