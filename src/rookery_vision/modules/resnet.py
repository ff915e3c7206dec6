"""ResNet."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import choice, module, output_port, switch, text
from rookery_vision.errors import InvalidModelDirectoryError
from rookery_vision.modules.categories import IMAGE_CLASSIFICATION
from rookery_vision.networks.names import RESNETS

__all__ = ["resnet"]


@module("ResNet", category=IMAGE_CLASSIFICATION, help="A ResNet, ResNeXt or wide ResNet to train on pictures.")
def resnet(
    untrained_model: Annotated[
        str, output_port("Untrained model", "UntrainedModelDirectory", help="For Train PyTorch Model.")
    ],
    model_name: Annotated[
        str, choice("Model name", "Which one.", choices=RESNETS, error=InvalidModelDirectoryError)
    ] = "resnext101_32x8d",
    pretrained: Annotated[bool, switch("Pretrained", "Begin with weights that were trained on ImageNet.")] = True,
    zero_init_residual: Annotated[
        bool, switch("Zero init residual", "Begin with every block passing on what it gets.")
    ] = False,
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

    params = {"model_name": model_name, "pretrained": pretrained, "zero_init_residual": zero_init_residual}
    write_untrained(untrained_model, "ResNet", params, weights)
