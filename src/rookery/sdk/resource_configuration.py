"""ResourceConfiguration: what a model needs when it is served."""

from __future__ import annotations

from typing import Any, Optional

__all__ = ["ResourceConfiguration"]


class ResourceConfiguration:
    def __init__(
        self, cpu: Optional[float] = None, memory_in_gb: Optional[float] = None, gpu: Optional[int] = None
    ) -> None:
        self.cpu = cpu
        self.memory_in_gb = memory_in_gb
        self.gpu = gpu

    def serialize(self) -> dict[str, Any]:
        return {"cpu": self.cpu, "memoryInGB": self.memory_in_gb, "gpu": self.gpu}

    @staticmethod
    def deserialize(payload_obj: Optional[dict[str, Any]]) -> Optional[ResourceConfiguration]:
        if payload_obj is None:
            return None
        return ResourceConfiguration(payload_obj.get("cpu"), payload_obj.get("memoryInGB"), payload_obj.get("gpu"))

    def __repr__(self) -> str:
        return f"ResourceConfiguration(cpu={self.cpu}, memory_in_gb={self.memory_in_gb}, gpu={self.gpu})"
