"""Train Model."""

from __future__ import annotations

from typing import Any

from rookery_tabular.frames import as_json, kind_of, read_frame
from rookery_tabular.learning.features import learn_features, to_matrix
from rookery_tabular.learning.learners import Learner, build, read_learner
from rookery_tabular.learning.model_files import Trained, write_model
from rookery_tabular.selecting import choose_one
from rookery_vision.errors import (
    InvalidTrainingDatasetError,
    LabelColumnDoesNotHaveLabeledPointsError,
    TooFewRowsInDatasetError,
    by_id,
)

__all__ = ["train"]

MOST_CLASSES = 1000
NUM_SAMPLES = 3


def train(untrained: str, dataset: str, output: str, label_column: str) -> None:
    """
    Raises:
        ModuleError: the table does not say what is to be learned.
    """
    learner = read_learner(untrained)
    frame = read_frame(dataset)
    label = choose_one(frame, label_column, "Label column")
    known = frame.data[frame.data[label].notna()]
    if len(known) == 0:
        raise LabelColumnDoesNotHaveLabeledPointsError(
            f"Every value of the label column '{label:.200}' is missing. At least two rows need one."
        )
    if len(known) < len(frame.data):
        print(f"{len(frame.data) - len(known)} rows without a label are left out", flush=True)
    if len(known) < 2:
        raise TooFewRowsInDatasetError("One row has a label. At least two are needed.")
    # Scores of another model are no features: they would teach it to repeat them.
    scores = [n for n, role in frame.roles.items() if role.startswith("scored_")]
    known = known.drop(columns=[n for n in scores if n != label])
    classes, wanted = _targets(learner, known[label], label)
    features = learn_features(known, label)
    matrix = to_matrix(known, features, learner.kind == "linear")
    estimator = build(learner).fit(matrix, wanted)
    model = Trained(learner, estimator, features, label, classes)
    write_model(output, model, len(known), _samples(known.drop(columns=[label])))
    print(f"Trained on {len(known)} rows and {len(features)} columns ({matrix.shape[1]} numbers a row)", flush=True)
    _keep(output)


def _targets(learner: Learner, values: Any, label: str) -> tuple[Any, Any]:
    """(the classes in order, or None; a number for each row)"""
    import numpy

    if learner.task == "Regression":
        if kind_of(values) != "number":
            raise by_id("InvalidColumnType")(
                f"A regression finds out numbers, and the label column '{label:.200}' is a {kind_of(values)}. Use a classifier."
            )
        numbers = values.to_numpy(dtype="float64")
        if not numpy.isfinite(numbers).all():
            raise InvalidTrainingDatasetError(f"The label column '{label:.200}' has an infinite value. Clean it first.")
        return None, numbers
    classes = _classes(values)
    if len(classes) < 2:
        raise InvalidTrainingDatasetError(
            f"The label column '{label:.200}' has one value only ({classes[0]!r:.100}). Two classes are needed to tell apart."
        )
    if learner.task == "BinaryClassification" and len(classes) > 2:
        raise by_id("ColumnUniqueValuesExceeded")(
            f"The label column '{label:.200}' has {len(classes)} values; a two-class algorithm takes 2. Use a multiclass one."
        )
    if len(classes) > MOST_CLASSES:
        raise by_id("ColumnUniqueValuesExceeded")(
            f"The label column '{label:.200}' has {len(classes)} values; {MOST_CLASSES} are allowed. Is it a regression?"
        )
    place = {c: i for i, c in enumerate(classes)}
    return classes, numpy.array([place[_plain(v)] for v in values], dtype="int64")


def _classes(values: Any) -> list[Any]:
    found = {_plain(v) for v in values}
    return sorted(found, key=lambda v: (isinstance(v, str), v))


def _plain(value: Any) -> Any:
    """A class as JSON has it."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _samples(data: Any) -> list[dict[str, Any]]:
    return [dict(zip(data.columns, map(as_json, row))) for row in data.head(NUM_SAMPLES).itertuples(index=False)]


def _keep(folder: str) -> None:
    """In a run the model is among its files too, as that of Train PyTorch Model is."""
    from rookery.worker import Run, find_context

    if find_context() is not None:
        Run.get_context().upload_folder("trained_model_outputs", folder)
