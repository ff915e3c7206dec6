"""Where a compute target's nodes come from: one file per engine, one interface."""

from __future__ import annotations

from rookery.engine.engines.base import Capacity, Death, Engine, Place
from rookery.engine.engines.embedded import EmbeddedEngine

__all__ = ["Capacity", "Death", "EmbeddedEngine", "Engine", "Place"]
