"""Slurm as an engine, through its commands only. docs/inside/slurm.md."""

from __future__ import annotations

from rookery.engine.engines.slurm.engine import SlurmEngine

__all__ = ["SlurmEngine"]
