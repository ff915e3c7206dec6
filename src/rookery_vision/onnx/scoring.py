"""Scoring pictures as they come, the bytes of a JPEG or PNG, with any model that the image modules made.

    model = open_model(folder)                       # once
    model.score([body])                              # [{"label": "turkeys", "probabilities": {"chickens": 0.03, "turkeys": 0.97}}]

A folder of Export to ONNX is scored by ONNX Runtime: no torch is imported, and none needed. A folder of Train PyTorch Model is
scored by torch. Both prepare a picture in the same way and give the same answers (`onnx_check.json` says how nearly).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Optional, Protocol

import numpy

from rookery_vision.classification.prepare import normalized, prepared
from rookery_vision.errors import InvalidModelDirectoryError
from rookery_vision.formats.model_directory import SPEC, Preprocessing, read_labels

__all__ = ["CHECK", "FILE", "INPUT", "OUTPUT", "PREPROCESSING", "PictureModel", "open_model", "score_picture"]

FILE, CHECK, PREPROCESSING = "model.onnx", "onnx_check.json", "preprocessing.json"
INPUT, OUTPUT = "images", "scores"
DEPTH = 3  # how far below the given folder a model is looked for: a registered one lies in a folder of its own


class Network(Protocol):
    """What knows the weights."""

    def probabilities(self, batch_NHWC: Any) -> Any: ...


class PictureModel:
    """A model, ready to score. May be used by several threads at once."""

    def __init__(
        self, folder: str, categories: list[str], prep: Preprocessing, size: Optional[tuple[int, int]], network: Network
    ) -> None:
        self.folder, self.categories, self.prep, self.size = folder, categories, prep, size
        self._network = network

    def prepare(self, picture: bytes) -> Any:
        """(H, W, 3) bytes of one picture, prepared as for training; see `classification.prepare`.

        Raises:
            InvalidDatasetError, ImageExceedsLimitError: it is not a picture, or too large a one.
        """
        return prepared(picture, self.prep, self.size)

    def probabilities(self, batch_NHWC: Any) -> Any:
        """(N, categories), float32. All pictures of a batch are alike in size, as `prepare` makes them."""
        return self._network.probabilities(batch_NHWC)

    def score(self, pictures: Sequence[bytes]) -> list[dict[str, Any]]:
        """For every picture its label and the probability of each category, in one batch."""
        if not pictures:
            return []
        batch = [self.prepare(picture) for picture in pictures]
        if len({picture.shape for picture in batch}) == 1:
            found = self.probabilities(numpy.stack(batch))
        else:  # a model without a size of its own takes them one by one
            found = numpy.concatenate([self.probabilities(picture[None]) for picture in batch])
        return [self.answer(row) for row in found]

    def answer(self, row: Any) -> dict[str, Any]:
        """One row of `probabilities` in words."""
        values = dict(zip(self.categories, (float(value) for value in row)))
        return {"label": self.categories[int(row.argmax())], "probabilities": values}


def open_model(folder: str, threads: int = 0) -> PictureModel:
    """The model in a folder, or in the one folder below it that has one. `threads`: of ONNX Runtime; 0 leaves it to it.

    Raises:
        InvalidModelDirectoryError: there is none.
    """
    found = _find(folder)
    if os.path.exists(os.path.join(found, FILE)):
        return _open_onnx(found, threads)
    from rookery_vision.classification.score import Model

    model = Model(found)
    return PictureModel(found, model.categories, model.spec.preprocessing, model.spec.image_size, model)


def score_picture(folder: str, picture: bytes) -> dict[str, Any]:
    """Open a model and score one picture. Whoever scores many opens it once."""
    return open_model(folder).score([picture])[0]


class _OnnxNetwork:
    def __init__(self, path: str, told: dict[str, Any], prep: Preprocessing, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = threads
        known = onnxruntime.get_available_providers()
        providers = [p for p in ("CUDAExecutionProvider", "CPUExecutionProvider") if p in known]
        self._session = onnxruntime.InferenceSession(path, options, providers=providers)
        self._input, self._output, self._prep = told.get("input", INPUT), told.get("output", OUTPUT), prep

    def probabilities(self, batch_NHWC: Any) -> Any:
        scores = self._session.run([self._output], {self._input: normalized(batch_NHWC, self._prep)})[0]
        shares = numpy.exp(scores - scores.max(1, keepdims=True))
        return shares / shares.sum(1, keepdims=True)


def _open_onnx(folder: str, threads: int) -> PictureModel:
    try:
        with open(os.path.join(folder, PREPROCESSING), encoding="utf-8") as f:
            told = json.load(f)
        mean, std = (tuple(float(v) for v in told[name]) for name in ("mean", "std"))
        prep = Preprocessing(mean, std, told["resize_shorter_edge"], told["center_crop"])  # type: ignore[arg-type]
        size = (int(told["height"]), int(told["width"])) if told["height"] else None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidModelDirectoryError(
            f"{folder}: {PREPROCESSING} cannot be read: {error!r}. Export the model again with Export to ONNX."
        ) from error
    network = _OnnxNetwork(os.path.join(folder, FILE), told, prep, threads)
    return PictureModel(folder, read_labels(folder), prep, size, network)


def _find(folder: str) -> str:
    found = []
    for here, folders, files in os.walk(folder):
        if FILE in files or SPEC in files:
            found.append(here)
            folders.clear()
        elif here[len(folder) :].count(os.sep) >= DEPTH:
            folders.clear()
    if len(found) != 1:
        raise InvalidModelDirectoryError(
            f"{folder} holds {len(found)} image models ({FILE} or {SPEC} up to {DEPTH} folders down). Give the folder of one: what Export to "
            "ONNX or Train PyTorch Model made."
        )
    return found[0]
