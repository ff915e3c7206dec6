"""A table → what was scored, how, and what it should have been."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from rookery_vision.errors import (
    LabelColumnDoesNotHaveLabeledPointsError,
    NotLabeledDatasetError,
    NotScoredDatasetError,
)
from rookery_vision.formats.table import Table

__all__ = ["TASKS", "Scored", "scored"]

TASKS = ("MultiClassification", "BinaryClassification", "Regression", "Clustering")
_NAMES = {
    "Multi Class Scored Labels": "MultiClassification",
    "Binary Class Scored Labels": "BinaryClassification",
    "Regression Scored Labels": "Regression",
    "Assignments": "Clustering",
}
DISTANCE = "DistancesToClusterCenter no."


class Scored(NamedTuple):
    task: str
    actual: list[Any]
    labels: list[Any]
    probabilities: list[float]  # of the positive label; binary only
    distances: dict[Any, list[float]]  # clustering only


def scored(table: Table, where: str) -> Scored:
    """
    Raises:
        NotScoredDatasetError, NotLabeledDatasetError, LabelColumnDoesNotHaveLabeledPointsError: it cannot be evaluated.
    """
    task, labels = _scores(table, where)
    if task == "Clustering":
        distances = {_cluster(n): list(c.values) for n, c in table.columns.items() if n.startswith(DISTANCE)}
        assigned = [_cluster(str(a)) for a in labels]
        if not distances or any(a not in distances for a in assigned):
            raise NotScoredDatasetError(f"{where} has assignments to clusters without a column '{DISTANCE}X'.")
        return Scored(task, [], assigned, [], distances)
    actual = _actual(table, where)
    known = [i for i, value in enumerate(actual) if value is not None and value == value]
    if not known:
        raise LabelColumnDoesNotHaveLabeledPointsError(f"{where}: every label is missing. At least one row needs one.")
    probabilities = _probabilities(table, task, where)
    chosen = [[column[i] for i in known] if column else [] for column in (actual, list(labels), probabilities)]
    return Scored(task, chosen[0], chosen[1], chosen[2], {})


def _scores(table: Table, where: str) -> tuple[str, list[Any]]:
    by_role = table.with_role("scored_labels")
    if by_role and table.task in TASKS:
        return table.task, list(by_role[0].values)
    for name, task in _NAMES.items():
        if name in table.columns:
            return task, list(table.columns[name].values)
    raise NotScoredDatasetError(
        f"{where} has no scores: neither Score Image Model made it, nor has it one of the columns {', '.join(_NAMES)}."
    )


def _actual(table: Table, where: str) -> list[Any]:
    by_role = table.with_role("label")
    column = by_role[0] if by_role else table.columns.get("Labels")
    if column is None:
        raise NotLabeledDatasetError(
            f"{where} does not say what the pictures show. Score pictures that have categories."
        )
    return list(column.values)


def _probabilities(table: Table, task: str, where: str) -> list[float]:
    if task != "BinaryClassification":
        return []
    by_role = table.with_role("scored_probabilities")
    column: Optional[Any] = by_role[-1] if by_role else table.columns.get("Binary Class Scored Probabilities")
    if column is None:
        raise NotScoredDatasetError(f"{where} has labels but no column 'Binary Class Scored Probabilities'.")
    return list(column.values)


def _cluster(name: str) -> str:
    return name[len(DISTANCE) :] if name.startswith(DISTANCE) else name
