"""A described network → a torch module with as many outputs as there are categories."""

from __future__ import annotations

from typing import Any, Optional

from rookery_vision.errors import InvalidModelDirectoryError
from rookery_vision.formats.model_directory import ModelSpec
from rookery_vision.networks.names import NETWORKS

__all__ = ["HEADS", "build", "fitting", "load"]

HEADS = {"DenseNet": "classifier", "ResNet": "fc"}  # the last layer
_OPTIONS = {"DenseNet": "memory_efficient", "ResNet": "zero_init_residual"}


def build(spec: ModelSpec, num_classes: int) -> Any:
    """The network with fresh weights, its state dict that of torchvision's network of that name.

    Raises:
        InvalidModelDirectoryError: it is none of ours.
    """
    from rookery_vision.stack import models

    names = NETWORKS.get(spec.network, ())
    if spec.model_name not in names:
        known = ", ".join(n for group in NETWORKS.values() for n in group)
        raise InvalidModelDirectoryError(f"The model is {spec.network} {spec.model_name!r}. Supported: {known}.")
    option = _OPTIONS[spec.network]
    return models.get_model(
        spec.model_name, weights=None, num_classes=num_classes, **{option: bool(spec.init_params.get(option))}
    )


def load(network: Any, spec: ModelSpec, state: Optional[dict[str, Any]]) -> Any:
    """Put weights in; None leaves the fresh ones.

    Raises:
        InvalidModelDirectoryError: the weights are another network's.
    """
    if state is not None:
        network.load_state_dict(fitting(network, spec, state), strict=False)
    return network


def fitting(network: Any, spec: ModelSpec, state: dict[str, Any]) -> dict[str, Any]:
    """The weights that go in: a head of another number of classes is left out, so that the new one keeps its fresh weights.

    Raises:
        InvalidModelDirectoryError: the weights are another network's.
    """
    own, head = network.state_dict(), HEADS[spec.network] + "."
    kept = {
        name: value
        for name, value in state.items()
        if not (name.startswith(head) and name in own and own[name].shape != value.shape)
    }
    missing = [n for n in own if n not in kept and not n.startswith(head) and not n.endswith("num_batches_tracked")]
    strange = [n for n, value in kept.items() if n not in own or own[n].shape != value.shape]
    if missing or strange:
        first = (missing or strange)[0]
        raise InvalidModelDirectoryError(
            f"The weights are not those of {spec.model_name}: {len(missing)} of its tensors are missing and {len(strange)} do not fit "
            f"({first} is the first)."
        )
    return kept
