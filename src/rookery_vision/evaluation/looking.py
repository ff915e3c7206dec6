"""Evaluations as pictures: the confusion matrix, and the curves of a two-class score."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from rookery_vision.evaluation import curves
from rookery_vision.evaluation.metrics import positive_label
from rookery_vision.evaluation.scored import Scored

__all__ = ["PICTURE_LIMIT", "draw_confusion", "show_curves"]

CURVES = {"roc_curve": curves.roc, "precision_recall_curve": curves.precision_recall, "lift_curve": curves.lift}
PICTURE_LIMIT = 30  # categories; with more nothing can be read in a confusion matrix
NUM_POINTS = 1000  # logged and kept of a curve; a picture shows no more


def show_curves(side: str, one: Scored, output: str, run: Any) -> None:
    """ROC, precision and recall, lift: each as `<side>_port_<name>.png`, and all with the bins in `<side>_port_curves.json`; in a run
    also as logged pictures and tables.
    """
    positive = positive_label(one.actual, one.labels)
    truth = [a == positive for a in one.actual]
    found: dict[str, Any] = {"positive_label": str(positive)}
    for name, make in CURVES.items():
        table = _thinned(make(truth, one.probabilities))
        found[name] = table
        path = os.path.join(output, f"{side}_port_{name}.png")
        _draw_curve(name, table, truth, path)
        if run is not None:
            run.log_image(f"{side}_port_{name}", path=path)
            run.log_table(f"{side}_port_{name}_data", table)
    bins = curves.binned(truth, one.probabilities)
    found["scored_bins"] = bins
    if run is not None:
        run.log_table(f"{side}_port_scored_bins", {name: [row[name] for row in bins] for name in bins[0]})
    with open(os.path.join(output, f"{side}_port_curves.json"), "w", encoding="utf-8") as f:
        json.dump(found, f)


def draw_confusion(categories: Sequence[str], matrix: Sequence[Sequence[int]], path: str) -> None:
    """Every row in parts of its sum: what became of the pictures of one category."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shares = [[n / max(1, sum(row)) for n in row] for row in matrix]
    edge = max(3.2, 0.45 * len(categories) + 2)
    figure = Figure(figsize=(edge + 0.6, edge), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    shown = [c.replace("$", r"\$") if len(c) <= 18 else c[:17].replace("$", r"\$") + "…" for c in categories]
    axes.set_xticks(range(len(shown)), shown, rotation=45, ha="right")
    axes.set_yticks(range(len(shown)), shown)
    axes.set_xlabel("said")
    axes.set_ylabel("shown")
    for y, row in enumerate(shares):
        for x, share in enumerate(row):
            axes.text(
                x, y, f"{share:.0%}", ha="center", va="center", color="white" if share > 0.5 else "black", fontsize=8
            )
    figure.savefig(path, dpi=100)


def _draw_curve(name: str, table: dict[str, list[float]], truth: Sequence[bool], path: str) -> None:
    """With the line of a score that knows nothing, where there is one."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    (x_name, x), (y_name, y) = table.items()
    axes.plot(x, y, color="tab:blue")
    if name != "precision_recall_curve":
        axes.plot((0, 1), (0, max(1.0, y[-1])), color="grey", linestyle="--", linewidth=1)
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(bottom=-0.02)
    figure.savefig(path, dpi=100)


def _thinned(table: dict[str, list[float]]) -> dict[str, list[float]]:
    count = len(next(iter(table.values())))
    if count <= NUM_POINTS:
        return table
    places = sorted({round(i * (count - 1) / (NUM_POINTS - 1)) for i in range(NUM_POINTS)})
    return {name: [values[i] for i in places] for name, values in table.items()}
