"""Pretrained weights: from a file, a registered model, the torch cache, or the network."""

from __future__ import annotations

import os
import re
import tempfile
import time
from typing import Any, Optional
from urllib.parse import quote, urlsplit

from rookery_vision.errors import FailedToDownloadFilesError, UnableToDeserializeModelError

__all__ = ["pretrained"]

TRIES = 3
PAUSE_S = 3.0
REGISTERED = "model:"
_OLD_DENSENET = re.compile(
    r"^(.*denselayer\d+\.(?:norm|relu|conv))\.((?:[12])\.(?:weight|bias|running_mean|running_var|num_batches_tracked))$"
)


def pretrained(model_name: str, source: str = "") -> dict[str, Any]:
    """The state dict of the 1000-way network.

    Args:
        source: a file; `model:NAME` or `model:NAME:VERSION` for a registered model; empty for the torch cache, and where that has
            nothing the network.

    Raises:
        FailedToDownloadFilesError: they cannot be had; the message says how to provide them.
        UnableToDeserializeModelError: what is there is not a file of weights.
    """
    if source.startswith(REGISTERED):
        return _registered(source)
    if source:
        if not os.path.isfile(source):
            raise FailedToDownloadFilesError(f"The weights file {source} does not exist. {_advice(model_name)}")
        return _read(source)
    urls = _urls(model_name)
    folder = _cache()
    for url in urls:
        path = os.path.join(folder, os.path.basename(urlsplit(url).path))
        if os.path.isfile(path):
            print(f"pretrained weights from {path}", flush=True)
            return _read(path)
    return _download(model_name, urls[0], folder)


def _cache() -> str:
    from rookery_vision.stack import torch

    return os.path.join(torch.hub.get_dir(), "checkpoints")


def _urls(model_name: str) -> list[str]:
    """Where torchvision has them, the best first."""
    from rookery_vision.stack import models

    weights = models.get_model_weights(model_name)
    best = weights.DEFAULT
    return [best.url, *(w.url for w in weights if w is not best)]


def _download(model_name: str, url: str, folder: str) -> dict[str, Any]:
    from rookery_vision.stack import torch

    error: Optional[BaseException] = None
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, os.path.basename(urlsplit(url).path))
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE_S)
        try:
            digest = re.search(r"-([0-9a-f]{8,})\.", os.path.basename(path))
            torch.hub.download_url_to_file(url, path, digest.group(1) if digest else None, progress=False)
            return _read(path)
        except (OSError, RuntimeError) as failed:
            error = failed
    raise FailedToDownloadFilesError(
        f"The pretrained weights of {model_name} could not be downloaded in {TRIES} tries: {error}. {_advice(model_name)}"
    ) from error


def _advice(model_name: str) -> str:
    names = [os.path.basename(urlsplit(url).path) for url in _urls(model_name)]
    return (
        f"Provide them in one of these ways: put {' or '.join(names)} into {_cache()}; give the file as the parameter 'Weights'; register "
        "it and give 'model:NAME'; or set 'Pretrained' to False to train from scratch."
    )


def _registered(source: str) -> dict[str, Any]:
    """From the workspace, through the run's agent."""
    from rookery.worker import find_context

    context = find_context()
    if context is None:
        raise FailedToDownloadFilesError(
            f"Weights {source!r}: a registered model can be read inside a run only. Download it, and give the file."
        )
    name, _, version = source[len(REGISTERED) :].partition(":")
    client = context.client()
    try:
        model = client.request("GET", "/models/" + quote(name, safe=""), query={"version": version or None})
        files = [f["path"] for f in model["files"] if f["path"].endswith((".pt", ".pth"))]
        if len(files) != 1:
            raise FailedToDownloadFilesError(
                f"Weights {source!r}: the model has {len(files)} files that end in .pt or .pth. It must have exactly one."
            )
        where = f"/models/{quote(name, safe='')}/{model['version']}/files/{quote(files[0])}"
        with tempfile.NamedTemporaryFile(suffix=".pt") as f:
            client.download(where, f)
            f.flush()
            return _read(f.name)
    except FailedToDownloadFilesError:
        raise
    except (LookupError, OSError) as error:
        raise FailedToDownloadFilesError(f"Weights {source!r} could not be fetched: {error}.") from error


def _read(path: str) -> dict[str, Any]:
    from rookery_vision.stack import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise UnableToDeserializeModelError(
            f"{path} cannot be read as weights: {error}. Save a state dict with torch.save."
        ) from error
    for inner in ("state_dict", "model"):  # how checkpoints of others wrap it
        if isinstance(state, dict) and isinstance(state.get(inner), dict):
            state = state[inner]
    if not isinstance(state, dict) or not all(isinstance(v, torch.Tensor) for v in state.values()):
        raise UnableToDeserializeModelError(
            f"{path} does not hold a state dict. Save one with torch.save(net.state_dict(), …)."
        )
    return {_renamed(name): value for name, value in state.items()}


def _renamed(name: str) -> str:
    """Without DDP's prefix, and DenseNet's as it was named in its published files."""
    if name.startswith("module."):
        name = name[len("module.") :]
    old = _OLD_DENSENET.match(name)
    return old.group(1) + old.group(2) if old else name
