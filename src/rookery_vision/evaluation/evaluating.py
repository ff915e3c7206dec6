"""Evaluate Model: one or two scored tables → their metrics, as a table, in the run, and as a picture."""

from __future__ import annotations

import math
import os
from typing import Any, Optional

from rookery_vision.errors import LearnerTypesNotCompatibleError
from rookery_vision.evaluation import metrics
from rookery_vision.evaluation.looking import PICTURE_LIMIT, draw_confusion, show_curves
from rookery_vision.evaluation.scored import Scored, scored
from rookery_vision.formats.table import Column, read_table, write_table

__all__ = ["evaluate"]


def evaluate(left: str, right: Optional[str], output: str) -> None:
    """
    Raises:
        LearnerTypesNotCompatibleError: the two are scores of different kinds.
    """
    inputs = [("left", scored(read_table(left), left))]
    if right is not None:
        inputs.append(("right", scored(read_table(right), right)))
    tasks = [one.task for _, one in inputs]
    if len(set(tasks)) > 1:
        raise LearnerTypesNotCompatibleError(
            f"The left input is scored for {tasks[0]}, the right one for {tasks[1]}. Compare models of the same kind."
        )
    rows: list[dict[str, Any]] = []
    for side, one in inputs:
        found = _metrics(one)
        rows += found
        _log(found[-1], f" ({side} port)" if right is not None else "")
        if one.task in ("MultiClassification", "BinaryClassification"):
            _confusion(side, one, output)
        if one.task == "BinaryClassification":
            show_curves(side, one, output, _run())
    write_table(output, [Column(name, [row[name] for row in rows]) for name in rows[0]])
    for name in rows[0]:
        print(f"{name}: {', '.join(_short(row[name]) for row in rows)}", flush=True)


def _metrics(one: Scored) -> list[dict[str, Any]]:
    if one.task == "MultiClassification":
        return [dict(metrics.multi_class(one.actual, one.labels))]
    if one.task == "BinaryClassification":
        return [dict(metrics.binary(one.actual, one.labels, one.probabilities))]
    if one.task == "Regression":
        return [dict(metrics.regression(one.actual, one.labels))]
    return metrics.clustering(one.labels, one.distances)


def _log(values: dict[str, Any], suffix: str) -> None:
    run = _run()
    if run is not None:
        for name, value in values.items():
            if isinstance(value, (int, float)) and not math.isnan(value):
                run.log(name + suffix, float(value))


def _confusion(side: str, one: Scored, output: str) -> None:
    categories = sorted({*one.actual, *one.labels}, key=str)
    matrix = metrics.confusion_matrix(one.actual, one.labels, categories)
    run, name = _run(), f"{side}_port_confusion_matrix"
    if run is not None:
        data = {"class_labels": [str(c) for c in categories], "matrix": matrix}
        run.log_confusion_matrix(
            name + "_data", {"schema_type": "confusion_matrix", "schema_version": "1.0.0", "data": data}
        )
    if len(categories) < PICTURE_LIMIT:
        path = os.path.join(output, name + ".png")
        draw_confusion([str(c) for c in categories], matrix, path)
        if run is not None:
            run.log_image(name, path=path)


def _run() -> Any:
    from rookery.worker import Run, find_context

    return Run.get_context() if find_context() is not None else None


def _short(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
