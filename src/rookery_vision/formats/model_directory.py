"""UntrainedModelDirectory and ModelDirectory: a network's description, and its weights and labels once it has them."""

from __future__ import annotations

import csv
import os
from dataclasses import asdict, dataclass, field
from typing import Any, Optional

from rookery_vision.errors import InvalidModelDirectoryError, UnableToDeserializeModelError, UntrainedModelError
from rookery_vision.formats.meta import VERSION, read_yaml, write_yaml

__all__ = [
    "LABELS",
    "SPEC",
    "STATE",
    "ModelSpec",
    "Preprocessing",
    "read_labels",
    "read_model_spec",
    "read_state",
    "write_labels",
    "write_model_spec",
    "write_state",
]

SPEC, STATE, LABELS = "model_spec.yaml", "state_dict.pt", "index_to_label.csv"
FRAMEWORK, TASK = "pytorch", "MultiClassification"
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Preprocessing:
    """What is done to a picture before the network sees it: shorter edge to `resize`, the middle `crop` × `crop` of it, then x / 255
    minus mean, by std. Without resize and crop a picture is taken as it is."""

    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD
    resize: Optional[int] = None
    crop: Optional[int] = None


@dataclass(frozen=True)
class ModelSpec:
    """`model_spec.yaml`. `num_classes` and the picture size are known once it is trained."""

    network: str  # the class: DenseNet or ResNet
    init_params: dict[str, Any]
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    num_classes: Optional[int] = None
    image_size: Optional[tuple[int, int]] = None  # height, width
    training: dict[str, Any] = field(default_factory=dict)

    @property
    def model_name(self) -> str:
        return str(self.init_params.get("model_name"))


def write_model_spec(folder: str, spec: ModelSpec) -> None:
    """Written last: a folder without it is not whole."""
    data: dict[str, Any] = {
        "version": VERSION,
        "flavor": {
            "framework": FRAMEWORK,
            "class": spec.network,
            "module": "rookery_vision.networks",
            "init_params": dict(spec.init_params),
        },
        "task_type": TASK,
        "preprocessing": {n: list(v) if isinstance(v, tuple) else v for n, v in asdict(spec.preprocessing).items()},
    }
    if spec.num_classes is not None:
        data["num_classes"] = spec.num_classes
    if spec.image_size is not None:
        data["image_size"] = list(spec.image_size)
    if spec.training:
        data["training"] = spec.training
    write_yaml(os.path.join(folder, SPEC), data)


def read_model_spec(folder: str, is_trained: bool = False) -> ModelSpec:
    """What a port of that type takes.

    Raises:
        InvalidModelDirectoryError: it is not a PyTorch image model.
        UntrainedModelError: a trained one is asked for, and it is not.
    """
    data = read_yaml(os.path.join(folder, SPEC))
    if data is None:
        raise InvalidModelDirectoryError(
            f"{folder} is not a model directory: it has no {SPEC}. Connect DenseNet or ResNet for an untrained model, Train PyTorch "
            "Model for a trained one."
        )
    flavor = data.get("flavor")
    if not isinstance(flavor, dict) or flavor.get("framework") != FRAMEWORK or data.get("task_type") != TASK:
        framework = flavor.get("framework") if isinstance(flavor, dict) else None
        raise InvalidModelDirectoryError(
            f"{folder} holds a model of {framework!r} for {data.get('task_type')!r}. Only PyTorch models for {TASK} fit here: DenseNet "
            "and ResNet, and what Train PyTorch Model makes of them. For other models use Train Model and Score Model."
        )
    try:
        prep = data["preprocessing"]
        spec = ModelSpec(
            network=str(flavor["class"]),
            init_params=dict(flavor["init_params"]),
            preprocessing=Preprocessing(
                _three(prep["mean"]), _three(prep["std"]), _edge(prep.get("resize")), _edge(prep.get("crop"))
            ),
            num_classes=int(data["num_classes"]) if "num_classes" in data else None,
            image_size=(int(data["image_size"][0]), int(data["image_size"][1])) if "image_size" in data else None,
            training=dict(data.get("training") or {}),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidModelDirectoryError(f"{folder}: {SPEC} is damaged: {error!r}. Make the model again.") from error
    if is_trained and spec.num_classes is None:
        raise UntrainedModelError(
            f"{folder} holds a network that is not trained yet. Connect the output of Train PyTorch Model."
        )
    return spec


def write_state(folder: str, state: dict[str, Any]) -> None:
    import torch

    path = os.path.join(folder, STATE)
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)


def read_state(folder: str) -> Optional[dict[str, Any]]:
    """The weights, or None where there are none. Never runs code from the file.

    Raises:
        UnableToDeserializeModelError: the file cannot be read as plain weights.
    """
    import torch

    path = os.path.join(folder, STATE)
    if not os.path.exists(path):
        return None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise UnableToDeserializeModelError(f"{path} cannot be read as weights: {error}.") from error
    if not isinstance(state, dict):
        raise UnableToDeserializeModelError(f"{path} holds {type(state).__name__}, not a state dict.")
    return state


def write_labels(folder: str, categories: list[str]) -> None:
    with open(os.path.join(folder, LABELS), "w", newline="", encoding="utf-8") as f:
        rows = csv.writer(f)
        rows.writerow(("index", "label"))
        rows.writerows(enumerate(categories))


def read_labels(folder: str) -> list[str]:
    """The categories, in the order of the network's outputs."""
    try:
        with open(os.path.join(folder, LABELS), newline="", encoding="utf-8") as f:
            rows = list(csv.reader(f))[1:]
        return [label for _, label in sorted((int(index), label) for index, label in rows)]
    except (OSError, ValueError) as error:
        raise InvalidModelDirectoryError(
            f"{folder}: {LABELS} cannot be read: {error}. Train the model again."
        ) from error


def _edge(value: Any) -> Optional[int]:
    return None if value is None else int(value)


def _three(values: Any) -> tuple[float, float, float]:
    a, b, c = (float(v) for v in values)
    return a, b, c
