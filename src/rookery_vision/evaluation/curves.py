"""How a two-class score does at every threshold: ROC, precision and recall, lift, and scores in bins. Pure arithmetic on lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["BINS", "Point", "binned", "lift", "precision_recall", "roc", "thresholds"]

BINS = 10


class Point(NamedTuple):
    """What is true when all scores of at least this threshold are taken for positive."""

    threshold: float
    true_positives: int
    false_positives: int


def thresholds(truth: Sequence[bool], probabilities: Sequence[float]) -> list[Point]:
    """A point for every score that occurs, the highest first; equal scores cannot be told apart and make one point."""
    points: list[Point] = []
    hits = misses = 0
    ordered = sorted(zip(probabilities, truth), reverse=True)
    for place, (score, is_positive) in enumerate(ordered):
        hits, misses = hits + is_positive, misses + (not is_positive)
        if place + 1 == len(ordered) or ordered[place + 1][0] != score:
            points.append(Point(score, hits, misses))
    return points


def roc(truth: Sequence[bool], probabilities: Sequence[float]) -> dict[str, list[float]]:
    """From (0, 0) to (1, 1). A kind that does not occur has a rate of 0."""
    positives, negatives = sum(truth), len(truth) - sum(truth)
    points = thresholds(truth, probabilities)
    return {
        "False positive rate": [0.0, *(p.false_positives / max(1, negatives) for p in points)],
        "True positive rate": [0.0, *(p.true_positives / max(1, positives) for p in points)],
    }


def precision_recall(truth: Sequence[bool], probabilities: Sequence[float]) -> dict[str, list[float]]:
    positives, points = sum(truth), thresholds(truth, probabilities)
    return {
        "Recall": [p.true_positives / max(1, positives) for p in points],
        "Precision": [p.true_positives / (p.true_positives + p.false_positives) for p in points],
    }


def lift(truth: Sequence[bool], probabilities: Sequence[float]) -> dict[str, list[float]]:
    """How many positives are found among the share of rows with the highest scores."""
    points, count = thresholds(truth, probabilities), max(1, len(truth))
    return {
        "Positive rate": [0.0, *((p.true_positives + p.false_positives) / count for p in points)],
        "True positives": [0.0, *(float(p.true_positives) for p in points)],
    }


def binned(truth: Sequence[bool], probabilities: Sequence[float], num_bins: int = BINS) -> list[dict[str, float]]:
    """Rows by their score, the highest bin first, each with what is true down to it."""
    positives, negatives = sum(truth), len(truth) - sum(truth)
    places = [min(num_bins - 1, max(0, int(p * num_bins))) for p in probabilities]
    rows, hits, misses = [], 0, 0
    for number in range(num_bins - 1, -1, -1):
        here = [t for t, place in zip(truth, places) if place == number]
        hits, misses = hits + sum(here), misses + len(here) - sum(here)
        taken = hits + misses
        precision, recall = hits / taken if taken else 0.0, hits / positives if positives else 0.0
        rows.append(
            {
                "Score bin from": number / num_bins,
                "Score bin to": (number + 1) / num_bins,
                "Positive examples": sum(here),
                "Negative examples": len(here) - sum(here),
                "Fraction above threshold": taken / len(truth),
                "Accuracy": (hits + negatives - misses) / len(truth),
                "F1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
                "Precision": precision,
                "Recall": recall,
                "Negative precision": (negatives - misses) / (len(truth) - taken) if taken < len(truth) else 0.0,
                "Negative recall": (negatives - misses) / negatives if negatives else 0.0,
            }
        )
    return rows
