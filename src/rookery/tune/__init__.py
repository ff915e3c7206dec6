"""Tuning: runs with hyperparameters that are drawn, watched and stopped early, made below one run."""

from __future__ import annotations

from rookery.tune.driver import TuneDriver

__all__ = ["TuneDriver"]
