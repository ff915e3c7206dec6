"""Export to ONNX."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import input_port, module, number, output_port, text
from rookery_vision.modules.categories import SCORE

__all__ = ["export_to_onnx"]


@module(
    "Export to ONNX",
    category=SCORE,
    help="Writes a trained model for ONNX Runtime, and compares the two on real pictures before it lets it go.",
)
def export_to_onnx(
    trained_model: Annotated[str, input_port("Trained model", "ModelDirectory", help="From Train PyTorch Model.")],
    dataset: Annotated[str, input_port("Dataset", "ImageDirectory", help="Pictures to compare the two on.")],
    onnx_model: Annotated[
        str,
        output_port("ONNX model", "ModelDirectory", help="model.onnx, labels, preprocessing.json, onnx_check.json."),
    ],
    tolerance: Annotated[
        float, number("Tolerance", "The largest difference of a probability that is let through.", above=0, high=1)
    ] = 0.001,
    register_as: Annotated[
        str, text("Register as", "In a run: the name under which to register it. Empty: do not.")
    ] = "",
) -> None:
    from rookery_vision.onnx.exporting import export

    export(trained_model, dataset, onnx_model, tolerance, register_as)
