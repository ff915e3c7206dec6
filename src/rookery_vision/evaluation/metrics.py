"""The documented metrics of every kind of score. Pure arithmetic on lists."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "area_under_curve",
    "binary",
    "clustering",
    "confusion_matrix",
    "multi_class",
    "positive_label",
    "regression",
]


def multi_class(actual: Sequence[Any], scored: Sequence[Any]) -> dict[str, float]:
    """Macro values are means over the categories that occur; one that is never predicted has precision 0."""
    pairs = Counter(zip(actual, scored))
    known = sorted({*actual, *scored}, key=str)
    right = sum(pairs[(c, c)] for c in known)
    of_actual, of_scored = Counter(actual), Counter(scored)
    precision = [pairs[(c, c)] / of_scored[c] if of_scored[c] else 0.0 for c in known]
    recall = [pairs[(c, c)] / of_actual[c] if of_actual[c] else 0.0 for c in known]
    accuracy = right / len(actual)
    return {
        "Overall_Accuracy": accuracy,
        "Micro_Precision": accuracy,
        "Macro_Precision": math.fsum(precision) / len(known),
        "Micro_Recall": accuracy,
        "Macro_Recall": math.fsum(recall) / len(known),
    }


def confusion_matrix(actual: Sequence[Any], scored: Sequence[Any], categories: Sequence[Any]) -> list[list[int]]:
    """Rows are what a picture shows, columns what was said."""
    pairs = Counter(zip(actual, scored))
    return [[pairs[(a, s)] for s in categories] for a in categories]


def binary(actual: Sequence[Any], scored: Sequence[Any], probabilities: Sequence[float]) -> dict[str, float]:
    positive = positive_label(actual, scored)
    truth, said = [a == positive for a in actual], [s == positive for s in scored]
    hits = sum(t and s for t, s in zip(truth, said))
    precision = hits / sum(said) if any(said) else 0.0
    recall = hits / sum(truth) if any(truth) else 0.0
    both = precision + recall
    return {
        "Accuracy": sum(t == s for t, s in zip(truth, said)) / len(truth),
        "Precision": precision,
        "Recall": recall,
        "F1": 2 * precision * recall / both if both else 0.0,
        "AUC": area_under_curve(truth, probabilities),
    }


def positive_label(actual: Sequence[Any], scored: Sequence[Any]) -> Any:
    """The later of the two labels in order."""
    return max({*actual, *scored}, key=str)


def area_under_curve(truth: Sequence[bool], probabilities: Sequence[float]) -> float:
    """How often a positive one is given more than a negative one; a tie counts half. NaN without both kinds."""
    ordered = sorted(zip(probabilities, truth))
    positives = sum(truth)
    negatives = len(ordered) - positives
    if not positives or not negatives:
        return math.nan
    total, place = 0.0, 0
    while place < len(ordered):
        end = place
        while end < len(ordered) and ordered[end][0] == ordered[place][0]:
            end += 1
        middle = (place + 1 + end) / 2
        total += middle * sum(t for _, t in ordered[place:end])
        place = end
    return (total - positives * (positives + 1) / 2) / (positives * negatives)


def regression(actual: Sequence[float], scored: Sequence[float]) -> dict[str, float]:
    mean = math.fsum(actual) / len(actual)
    off = [s - a for a, s in zip(actual, scored)]
    absolute, squared = math.fsum(abs(o) for o in off), math.fsum(o * o for o in off)
    spread, spread2 = math.fsum(abs(a - mean) for a in actual), math.fsum((a - mean) ** 2 for a in actual)
    return {
        "Mean_Absolute_Error": absolute / len(off),
        "Root_Mean_Squared_Error": math.sqrt(squared / len(off)),
        "Relative_Absolute_Error": absolute / spread if spread else math.nan,
        "Relative_Squared_Error": squared / spread2 if spread2 else math.nan,
        "Coefficient_of_Determination": 1 - squared / spread2 if spread2 else math.nan,
    }


def clustering(assignments: Sequence[Any], distances: Mapping[Any, Sequence[float]]) -> list[dict[str, Any]]:
    """A row for each cluster, and one for all. `distances`: of every point to each cluster's centre."""
    rows: list[dict[str, Any]] = []
    for name in [*sorted(set(assignments), key=str), None]:
        mine = [i for i, a in enumerate(assignments) if name is None or a == name]
        own = [distances[assignments[i]][i] for i in mine]
        others = [min(d[i] for k, d in distances.items() if k != assignments[i]) for i in mine if len(distances) > 1]
        rows.append(
            {
                "Result Description": "Combined Evaluation" if name is None else f"Evaluation For Cluster No.{name}",
                "Average Distance to Other Center": math.fsum(others) / len(others) if others else math.nan,
                "Average Distance to Cluster Center": math.fsum(own) / len(own),
                "Number of Points": len(mine),
                "Maximal Distance to Cluster Center": max(own),
            }
        )
    return rows
