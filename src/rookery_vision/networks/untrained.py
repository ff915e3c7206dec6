"""Writing an UntrainedModelDirectory."""

from __future__ import annotations

from typing import Any

from rookery_vision.formats.model_directory import ModelSpec, write_model_spec, write_state
from rookery_vision.networks.build import build, fitting
from rookery_vision.networks.weights import pretrained

__all__ = ["write_untrained"]

IMAGENET_CLASSES = 1000


def write_untrained(folder: str, network: str, init_params: dict[str, Any], weights: str) -> None:
    """Describe a network; with `pretrained` its weights go along, looked at here so that a wrong file is told at once."""
    spec = ModelSpec(network, init_params)
    from rookery_vision.stack import torch

    with torch.device("meta"):  # shapes only
        shapes = build(spec, IMAGENET_CLASSES)
    if init_params["pretrained"]:
        state = pretrained(spec.model_name, weights)
        fitting(shapes, spec, state)
        write_state(folder, state)
    write_model_spec(folder, spec)
    print(f"{spec.model_name}, {'pretrained' if init_params['pretrained'] else 'with fresh weights'}", flush=True)
