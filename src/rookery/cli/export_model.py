"""`rookery models export`: a registered image model for another runtime, checked, and registered beside it."""

from __future__ import annotations

import base64
import contextlib
import json as json_
import os
import sys
import tempfile
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_model
from rookery.cli.pairs import parse_model
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import next_step, print_json, say
from rookery.errors import ModelError

__all__ = ["export_model"]


def export_model(
    model: Annotated[
        str,
        typer.Argument(metavar="NAME[:VERSION]", help="A model of Train PyTorch Model.", autocompletion=complete_model),
    ],
    onnx: Annotated[bool, typer.Option("--onnx", help="For ONNX Runtime; the only one so far.")] = False,
    pictures: Annotated[
        Optional[str],
        typer.Option(
            "--pictures", metavar="PATH", help="A folder or archive to compare the two on; default: its own samples."
        ),
    ] = None,
    name: Annotated[
        Optional[str], typer.Option("--name", metavar="NAME", help="What to register it as; default: NAME-onnx.")
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Exports a registered image model, compares it with the original on pictures, and registers it."""
    if not onnx:
        raise typer.BadParameter("Say for what to export it: --onnx.")
    from rookery.sdk import Model
    from rookery_vision import convert_to_image_directory, export_to_onnx
    from rookery_vision.errors import ModuleError

    wanted, version = parse_model(model)
    ws = session.sdk_workspace()
    found = Model(ws, wanted, version=version)
    with tempfile.TemporaryDirectory(prefix="rookery-export-") as folder:
        trained = found.download(folder)
        source = pictures or _samples(trained, os.path.join(folder, "samples"))
        try:
            with contextlib.redirect_stdout(sys.stderr):  # what the modules tell is talk, not the answer
                directory = convert_to_image_directory(source, os.path.join(folder, "pictures"))
                exported = export_to_onnx(trained, directory, os.path.join(folder, "onnx"))
        except ModuleError as error:
            raise ModelError(f"{found.id} cannot be exported: error {error.code} {error.error_id}: {error}") from error
        with open(os.path.join(str(exported), "onnx_check.json"), encoding="utf-8") as f:
            check: dict[str, Any] = json_.load(f)
        made = Model.register(
            ws,
            str(exported),
            name or wanted + "-onnx",
            tags={"exported_from": found.id},
            properties={"onnx_check." + key: str(value) for key, value in check.items()},
            model_framework="Onnx",
        )
    if session.current().json:
        print_json({"model": made.id, "check": check})
        return
    say(made.id)
    next_step(f"rookery models download {made.id}")


def _samples(trained: str, target: str) -> str:
    """The pictures that the model keeps as examples of what it takes."""
    try:
        with open(os.path.join(trained, "_samples.json"), encoding="utf-8") as f:
            rows = json_.load(f)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The model is not one of Train PyTorch Model: {error}. Give --pictures, or train it there."
        ) from error
    os.makedirs(target)
    for number, row in enumerate(rows):
        with open(os.path.join(target, f"{number}.png"), "wb") as f:
            f.write(base64.b64decode(row["image"]))
    return target
