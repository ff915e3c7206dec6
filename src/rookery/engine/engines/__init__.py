"""Where a compute target's nodes come from: one file per engine, one interface."""

from __future__ import annotations

from rookery.engine.engines.base import Capacity, Death, Engine, NodeAnswer, NodeInfo, Place
from rookery.engine.engines.embedded import EmbeddedEngine

__all__ = ["Capacity", "Death", "EmbeddedEngine", "Engine", "NodeAnswer", "NodeInfo", "Place"]
