"""Score Model: what a trained model says of the rows of a table, as Evaluate Model takes it."""

from __future__ import annotations

import functools
import os
from typing import Any

from rookery_tabular.frames import Frame, read_frame, write_frame
from rookery_tabular.learning.features import to_matrix
from rookery_tabular.learning.model_files import Trained, read_model
from rookery_vision.formats.model_directory import SPEC

__all__ = ["score", "score_frame"]

LABELS, PROBABILITIES = "Scored Labels", "Scored Probabilities"


def score(model: str, dataset: str, output: str, append: bool) -> None:
    trained = _opened(model, _stamp(model))
    frame = score_frame(trained, read_frame(dataset))
    if not append:
        kept = [n for n in frame.data.columns if n in frame.roles]
        frame = frame.with_data(frame.data[kept])
    write_frame(output, frame)


@functools.lru_cache(maxsize=4)
def _opened(folder: str, _stamp: int) -> Trained:
    """A service scores again and again with the same model."""
    return read_model(folder)


def _stamp(folder: str) -> int:
    try:
        return os.stat(os.path.join(folder, SPEC)).st_mtime_ns
    except OSError:
        return 0  # reading it says what is wrong


def score_frame(model: Trained, frame: Frame) -> Frame:
    """The table with its scores behind it; scores of another model before are replaced."""
    import numpy

    old = [n for n, role in frame.roles.items() if role.startswith("scored_") or n.startswith((LABELS, PROBABILITIES))]
    data = frame.data.drop(columns=[*old, *(n for n in (LABELS, PROBABILITIES) if n in frame.data and n not in old)])
    roles: dict[str, str] = {model.label: "label"} if model.label in data.columns else {}
    categories: dict[str, str] = {}
    matrix = to_matrix(data, model.features, model.is_scaled)
    made: dict[str, Any] = {}
    if model.classes is None:
        made[LABELS] = model.estimator.predict(matrix) if len(data) else numpy.zeros(0)
    else:
        count = len(model.classes)
        shares = model.estimator.predict_proba(matrix) if len(data) else numpy.zeros((0, count))
        best = shares.argmax(axis=1)
        made[LABELS] = [model.classes[i] for i in best]
        if model.learner.task == "BinaryClassification":
            made[PROBABILITIES] = shares[:, 1]
            categories[PROBABILITIES] = str(model.classes[1])
        else:
            for place, name in enumerate(model.classes):
                made[f"{PROBABILITIES}_{name}"] = shares[:, place]
                categories[f"{PROBABILITIES}_{name}"] = str(name)
    roles.update({n: "scored_labels" if n == LABELS else "scored_probabilities" for n in made})
    data = data.drop(columns=[n for n in made if n in data.columns])
    return Frame(data.assign(**made), roles, categories, model.learner.task)
