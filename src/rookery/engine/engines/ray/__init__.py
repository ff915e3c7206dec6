"""Nodes of a running Ray cluster. Ray itself lives in a bridge process (bridge/), never in the keeper."""

from __future__ import annotations

from rookery.engine.engines.ray.engine import RayEngine

__all__ = ["RayEngine"]
