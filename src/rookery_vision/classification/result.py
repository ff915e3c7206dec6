"""The best epoch's model, and writing it as a ModelDirectory."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
from typing import Any, Optional

from rookery_vision.formats.model_directory import write_labels, write_model_spec, write_state
from rookery_vision.stack import torch, torchvision

__all__ = ["Best", "write_result", "write_service"]


class Best:
    """The epoch with the best top-1 accuracy; of two that are equal the one with the lower loss."""

    def __init__(self) -> None:
        self.epoch = -1
        self.top1, self.top5, self.loss = -1.0, -1.0, float("inf")
        self.weights: Optional[dict[str, Any]] = None
        self.matrix: Any = None

    def consider(self, epoch: int, valid: dict[str, Any], network: Any) -> bool:
        if (valid["top1"], -valid["loss"]) <= (self.top1, -self.loss):
            return False
        self.epoch, self.top1, self.top5, self.loss = epoch, valid["top1"], valid["top5"], valid["loss"]
        self.matrix = valid["matrix"]
        # A copy: training goes on in the network's own tensors.
        self.weights = {n: v.detach().cpu().clone().contiguous() for n, v in network.state_dict().items()}
        return True

    def state(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Best:
        best = cls()
        vars(best).update(state)
        return best


def write_result(folder: str, trainer: Any, best: Best) -> None:
    """The ModelDirectory; in a run also among its files, as `trained_model_outputs`."""
    assert best.weights is not None
    os.makedirs(folder, exist_ok=True)
    data, options = trainer.data, trainer.options
    write_state(folder, best.weights)
    write_labels(folder, data.categories)
    _write_deployment(folder, data.training.folder)
    spec = dataclasses.replace(
        data.spec,
        preprocessing=data.prep,
        num_classes=len(data.categories),
        image_size=trainer.train_set.size,
        training={
            **options.as_dict(),
            "world_size": trainer.ranks.world,
            "precision_used": trainer.amp.name,
            "compiled": trainer.is_compiled,
            "best_epoch": best.epoch + 1,
            "top1_acc": best.top1,
            "top5_acc": best.top5,
            "valid_loss": best.loss,
        },
    )
    write_model_spec(folder, spec)
    from rookery.worker import Run, find_context

    if find_context() is not None:
        Run.get_context().upload_folder("trained_model_outputs", folder)


def write_service(folder: str, packages: list[str]) -> None:
    """`score.py`, which a service runs, and the environment that it needs."""
    from rookery_vision.classification import scoring_script
    from rookery_vision.formats.meta import write_yaml

    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    environment = {"name": "project_environment", "dependencies": [f"python={python}", "pip", {"pip": packages}]}
    for name in ("conda.yaml", "conda_env.yaml"):
        write_yaml(os.path.join(folder, name), environment)
    shutil.copyfile(scoring_script.__file__, os.path.join(folder, "score.py"))


def _write_deployment(folder: str, training: str) -> None:
    """What a web service needs beside the weights."""
    versions = [f"torch=={torch.__version__.split('+')[0]}", f"torchvision=={torchvision.__version__.split('+')[0]}"]
    write_service(folder, [*versions, "rookery[vision]"])
    for name in ("_schema.json", "_samples.json"):
        shutil.copyfile(os.path.join(training, name), os.path.join(folder, name))
    with open(os.path.join(folder, "_samples.json"), encoding="utf-8") as f:
        json.load(f)  # a service that starts with a damaged sample would be found out too late
