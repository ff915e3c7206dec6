"""DenseNet."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import choice, module, output_port, switch, text
from rookery_vision.errors import InvalidModelDirectoryError
from rookery_vision.modules.categories import IMAGE_CLASSIFICATION
from rookery_vision.networks.names import DENSENETS

__all__ = ["densenet"]


@module("DenseNet", category=IMAGE_CLASSIFICATION, help="A DenseNet to train on pictures.")
def densenet(
    untrained_model: Annotated[
        str, output_port("Untrained model", "UntrainedModelDirectory", help="For Train PyTorch Model.")
    ],
    model_name: Annotated[
        str, choice("Model name", "Which one.", choices=DENSENETS, error=InvalidModelDirectoryError)
    ] = "densenet201",
    pretrained: Annotated[bool, switch("Pretrained", "Begin with weights that were trained on ImageNet.")] = True,
    memory_efficient: Annotated[bool, switch("Memory efficient", "Less memory, more computing.")] = False,
    weights: Annotated[
        str,
        text(
            "Weights",
            "A file of weights, or model:NAME of a registered one. Empty: torch's cache.",
            when=("pretrained", True),
        ),
    ] = "",
) -> None:
    from rookery_vision.networks.untrained import write_untrained

    params = {"model_name": model_name, "pretrained": pretrained, "memory_efficient": memory_efficient}
    write_untrained(untrained_model, "DenseNet", params, weights)
