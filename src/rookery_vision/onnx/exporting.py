"""Export to ONNX: written, compared with PyTorch on real pictures, refused where they differ."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Sequence
from typing import Any

import numpy

from rookery_vision.classification.network import to_input
from rookery_vision.classification.pictures import PictureSet
from rookery_vision.classification.result import write_service
from rookery_vision.classification.score import Model
from rookery_vision.errors import InvalidDatasetError, by_id
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.meta import write_yaml
from rookery_vision.onnx.scoring import CHECK, FILE, INPUT, OUTPUT, PREPROCESSING
from rookery_vision.stack import torch

__all__ = ["compare", "export"]

NUM_COMPARED = 64
BATCH = 16


def export(model: str, dataset: str, output: str, tolerance: float, register_as: str) -> None:
    """
    Raises:
        FailedToCompleteOperationError: ONNX Runtime's answers differ from PyTorch's by more than the tolerance.
        InvalidDatasetError: no pictures to compare them on.
    """
    trained = Model(model)
    trained.network.cpu()
    trained.device = torch.device("cpu")
    directory = ImageDirectory.read(dataset)
    if not directory.rows:
        raise InvalidDatasetError(f"{dataset} has no pictures to compare the two on.")
    pictures = _prepared(trained, directory)
    path = os.path.join(output, FILE)
    _write(trained, path, pictures[0].shape[:2])
    check = compare(trained, path, pictures)
    check["tolerance"] = tolerance
    if check["largest_absolute_difference"] > tolerance or check["top1_agreement"] < 1.0:
        os.remove(path)
        raise by_id("FailedToCompleteOperation")(
            f"The exported model differs from PyTorch's: by {check['largest_absolute_difference']:.3g} in a probability (allowed {tolerance:g}), "
            f"with the same label for {check['top1_agreement']:.1%} of {check['pictures']} pictures. It was not kept."
        )
    with open(os.path.join(output, CHECK), "w", encoding="utf-8") as f:
        json.dump(check, f, indent=1)
    _write_rest(trained, model, output)
    print(
        f"{FILE}: same label for all of {check['pictures']} pictures, largest difference of a probability "
        f"{check['largest_absolute_difference']:.2g}",
        flush=True,
    )
    _record(output, check, register_as)


def compare(trained: Model, path: str, pictures: Sequence[Any]) -> dict[str, Any]:
    """PyTorch's probabilities beside ONNX Runtime's, on pictures (H, W, 3), in two sizes of batch."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ours, theirs = [], []
    for group in (pictures[:1], *(pictures[i : i + BATCH] for i in range(1, len(pictures), BATCH))):
        batch_NHWC = numpy.stack(group)
        x_NCHW = to_input(batch_NHWC, trained.spec.preprocessing, trained.device)
        scores = session.run([OUTPUT], {INPUT: x_NCHW.contiguous().numpy()})[0]
        theirs.append(torch.from_numpy(scores).softmax(1).numpy())
        ours.append(trained.probabilities(batch_NHWC))
    a, b = numpy.concatenate(ours), numpy.concatenate(theirs)
    difference = numpy.abs(a - b)
    return {
        "pictures": len(pictures),
        "largest_absolute_difference": float(difference.max()),
        "largest_relative_difference": float((difference / numpy.maximum(numpy.abs(a), 1e-6)).max()),
        "top1_agreement": float((a.argmax(1) == b.argmax(1)).mean()),
        "onnxruntime": onnxruntime.__version__,
        "torch": torch.__version__,
    }


def _prepared(trained: Model, directory: ImageDirectory) -> list[Any]:
    """Up to 64 pictures from all over the data set, as the network gets them. Read first: exporting takes longer than finding out that one
    cannot be read.
    """
    pictures = PictureSet(directory, trained.spec.preprocessing, with_cache=False)
    try:
        places = numpy.linspace(0, len(pictures) - 1, min(NUM_COMPARED, len(pictures))).astype(int)
        return [pictures.picture(place) for place in sorted({int(place) for place in places})]
    finally:
        pictures.close()


def _write(trained: Model, path: str, size: tuple[int, int]) -> None:
    """The network alone, any number of pictures at once."""
    height, width = trained.spec.image_size or size
    network = trained.network.to(memory_format=torch.contiguous_format)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own, about itself
        torch.onnx.export(
            network,
            (torch.zeros(2, 3, height, width),),
            path,
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_shapes={"x": {0: torch.export.Dim("batch")}},
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def _write_rest(trained: Model, model: str, output: str) -> None:
    prep, (height, width) = trained.spec.preprocessing, trained.spec.image_size or (0, 0)
    told = {
        "input": INPUT,
        "output": OUTPUT,
        "layout": "NCHW float32, RGB",
        "height": height,
        "width": width,
        "resize_shorter_edge": prep.resize,
        "center_crop": prep.crop,
        "scale": 1 / 255,
        "mean": list(prep.mean),
        "std": list(prep.std),
        "scores_to_probabilities": "softmax",
    }
    with open(os.path.join(output, PREPROCESSING), "w", encoding="utf-8") as f:
        json.dump(told, f, indent=1)
    for name in ("index_to_label.csv", "_schema.json", "_samples.json"):
        shutil.copyfile(os.path.join(model, name), os.path.join(output, name))
    write_service(output, ["rookery", "numpy", "pillow", "simplejpeg", f"onnxruntime=={_runtime_version()}"])
    flavor = {"framework": "onnx", "file": FILE}
    write_yaml(os.path.join(output, "model_spec.yaml"), {"flavor": flavor, "task_type": "MultiClassification"})


def _runtime_version() -> str:
    import onnxruntime

    return str(onnxruntime.__version__)


def _record(output: str, check: dict[str, Any], register_as: str) -> None:
    from rookery.worker import Run, find_context

    if find_context() is None:
        return
    run = Run.get_context()
    for name in ("largest_absolute_difference", "largest_relative_difference", "top1_agreement"):
        run.log("ONNX " + name.replace("_", " "), check[name])
    if register_as:
        run.upload_folder("onnx_model", output)
        run.register_model(
            register_as,
            model_path="onnx_model",
            model_framework="Onnx",
            properties={"onnx_check." + name: str(value) for name, value in check.items()},
        )
