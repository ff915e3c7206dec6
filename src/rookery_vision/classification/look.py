"""Pictures that a training leaves to look at: samples, augmented samples, the worst mistakes, the confusion matrix."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any, Optional

import numpy

from rookery_vision.classification.network import to_input
from rookery_vision.stack import torch

__all__ = ["confusion", "samples", "sheet", "worst"]

NUM_SHOWN = 24
COLUMNS = 8
TILE = 112
LINE = 14
MATRIX_LIMIT = 200  # beyond so many categories the numbers are kept, not logged as a chart


def samples(run: Any, name: str, trainer: Any, epoch: Optional[int]) -> None:
    """A sheet of training pictures as the network gets them."""
    pictures = trainer.train_set
    places = numpy.linspace(0, len(pictures) - 1, min(NUM_SHOWN, len(pictures))).astype(int)
    names = [trainer.data.categories[pictures.labels[i]] for i in places]
    _log(run, name, sheet([pictures.picture(int(i), epoch) for i in places], names))


@torch.no_grad()
def worst(run: Any, trainer: Any, best: Any) -> None:
    """The validation pictures that the model is surest about and wrong; nothing where there is none."""
    network, data, pictures = trainer.network, trainer.data, trainer.valid_set
    network.load_state_dict(best.weights)
    network.eval()
    found: list[tuple[float, int, int]] = []
    groups = [list(range(i, min(i + 32, len(pictures)))) for i in range(0, len(pictures), 32)]
    for group, batch in zip(groups, pictures.batches(groups)):
        with trainer.amp.autocast():
            scores = network(to_input(batch.batch_NHWC, data.prep, trainer.ranks.device))
        surest, guess = scores.float().softmax(1).cpu().max(1)
        wrong = (guess.numpy() != batch.labels).nonzero()[0]
        found += [(float(surest[i]), group[i], int(guess[i])) for i in wrong]
    if not found:
        return
    found = sorted(found, reverse=True)[:NUM_SHOWN]
    told = [f"{data.categories[guess]} {p:.0%}\nis {data.categories[pictures.labels[i]]}" for p, i, guess in found]
    _log(run, "Worst mistakes", sheet([pictures.picture(i) for _, i, _ in found], told))


def confusion(run: Any, name: str, categories: Sequence[str], matrix: list[list[int]]) -> None:
    """As a logged matrix, in v1's shape, and as a picture."""
    if len(categories) <= MATRIX_LIMIT:
        data = {"class_labels": list(categories), "matrix": matrix}
        run.log_confusion_matrix(name, {"schema_type": "confusion_matrix", "schema_version": "1.0.0", "data": data})
    from rookery_vision.evaluation.looking import PICTURE_LIMIT, draw_confusion

    if len(categories) < PICTURE_LIMIT:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, _file_name(name))
            draw_confusion(categories, matrix, path)
            run.log_image(name + ", drawn", path=path)


def sheet(pictures: Sequence[Any], captions: Sequence[str]) -> Any:
    """Pictures in rows, each filling its tile, with its caption's lines below it."""
    from PIL import Image, ImageDraw

    columns = min(COLUMNS, max(1, len(pictures)))
    height = TILE + 4 + LINE * max((c.count("\n") + 1 for c in captions), default=0)
    rows = -(-len(pictures) // columns)
    whole = Image.new("RGB", (columns * (TILE + 6) + 6, rows * (height + 4) + 6), (250, 250, 250))
    draw = ImageDraw.Draw(whole)
    for place, (picture, caption) in enumerate(zip(pictures, captions)):
        x, y = 6 + place % columns * (TILE + 6), 6 + place // columns * (height + 4)
        tile = Image.fromarray(numpy.ascontiguousarray(picture))
        scale = TILE / max(tile.size)
        tile = tile.resize((max(1, round(tile.width * scale)), max(1, round(tile.height * scale))))
        whole.paste(tile, (x + (TILE - tile.width) // 2, y + (TILE - tile.height) // 2))
        for number, line in enumerate(caption.split("\n")):
            draw.text((x, y + TILE + 2 + number * LINE), _fitting(line, TILE, draw), fill=(40, 40, 40))
    return whole


def _fitting(text: str, width: int, draw: Any) -> str:
    text = text.encode("latin-1", "replace").decode("latin-1")  # what Pillow's own font has
    while text and draw.textlength(text) > width:
        text = text[:-1]
    return text


def _log(run: Any, name: str, picture: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, _file_name(name))
        picture.save(path)
        run.log_image(name, path=path)


def _file_name(name: str) -> str:
    return name.lower().replace(",", "").replace(" ", "_") + ".png"
