"""The learning rate at a point of the training: linear warm-up, then polynomial decay."""

from __future__ import annotations

from rookery_vision.classification.presets import END_RATE, POWER, START_RATE

__all__ = ["rate_at"]


def rate_at(epochs_done: float, epochs: int, warmup: int, peak: float) -> float:
    """The rate after `epochs_done` epochs, fractions included. `peak` is the learning rate times the world size."""
    if epochs_done < warmup:
        start = min(START_RATE, peak)
        return start + (peak - start) * epochs_done / warmup
    end = min(END_RATE, peak)
    left = 1.0 - (epochs_done - warmup) / max(epochs - warmup, 1e-9)
    return end + (peak - end) * min(max(left, 0.0), 1.0) ** POWER
