"""The status of a cluster, as the object that user code prints with `get_status().serialize()`."""

from __future__ import annotations

from typing import Any, Optional

__all__ = ["AmlComputeNodeStateCounts", "AmlComputeStatus", "ScaleSettings", "status_of"]

_PRIORITIES = {"dedicated": "Dedicated", "lowpriority": "LowPriority"}


class ScaleSettings:
    def __init__(self, minimum_node_count: Any, maximum_node_count: Any, idle_seconds_before_scaledown: Any) -> None:
        self.minimum_node_count = minimum_node_count
        self.maximum_node_count = maximum_node_count
        self.idle_seconds_before_scaledown = idle_seconds_before_scaledown

    def serialize(self) -> dict[str, Any]:
        return {
            "minNodeCount": self.minimum_node_count,
            "maxNodeCount": self.maximum_node_count,
            "nodeIdleTimeBeforeScaleDown": f"PT{self.idle_seconds_before_scaledown}S",
        }

    @staticmethod
    def deserialize(object_dict: dict[str, Any]) -> ScaleSettings:
        idle = str(object_dict["nodeIdleTimeBeforeScaleDown"])
        return ScaleSettings(object_dict["minNodeCount"], object_dict["maxNodeCount"], int(idle.strip("PTS")))


class AmlComputeNodeStateCounts:
    def __init__(
        self,
        idle_node_count: int,
        leaving_node_count: int,
        preempted_node_count: int,
        preparing_node_count: int,
        running_node_count: int,
        unusable_node_count: int,
    ) -> None:
        self.idle_node_count = idle_node_count
        self.leaving_node_count = leaving_node_count
        self.preempted_node_count = preempted_node_count
        self.preparing_node_count = preparing_node_count
        self.running_node_count = running_node_count
        self.unusable_node_count = unusable_node_count

    def serialize(self) -> dict[str, int]:
        return {
            "preparingNodeCount": self.preparing_node_count,
            "runningNodeCount": self.running_node_count,
            "idleNodeCount": self.idle_node_count,
            "unusableNodeCount": self.unusable_node_count,
            "leavingNodeCount": self.leaving_node_count,
            "preemptedNodeCount": self.preempted_node_count,
        }

    @staticmethod
    def deserialize(object_dict: dict[str, int]) -> AmlComputeNodeStateCounts:
        return AmlComputeNodeStateCounts(
            *(
                object_dict[f"{s}NodeCount"]
                for s in ("idle", "leaving", "preempted", "preparing", "running", "unusable")
            )
        )


class AmlComputeStatus:
    def __init__(
        self,
        allocation_state: str,
        allocation_state_transition_time: Optional[str],
        creation_time: Optional[str],
        current_node_count: int,
        errors: Optional[list[Any]],
        modified_time: Optional[str],
        node_state_counts: AmlComputeNodeStateCounts,
        provisioning_state: str,
        provisioning_state_transition_time: Optional[str],
        scale_settings: ScaleSettings,
        target_node_count: int,
        vm_priority: str,
        vm_size: str,
    ) -> None:
        self.allocation_state = allocation_state
        self.allocation_state_transition_time = allocation_state_transition_time
        self.creation_time = creation_time
        self.current_node_count = current_node_count
        self.errors = errors
        self.modified_time = modified_time
        self.node_state_counts = node_state_counts
        self.provisioning_state = provisioning_state
        self.provisioning_state_transition_time = provisioning_state_transition_time
        self.scale_settings = scale_settings
        self.target_node_count = target_node_count
        self.vm_priority = vm_priority
        self.vm_size = vm_size

    def serialize(self) -> dict[str, Any]:
        return {
            "currentNodeCount": self.current_node_count,
            "targetNodeCount": self.target_node_count,
            "nodeStateCounts": self.node_state_counts.serialize(),
            "allocationState": self.allocation_state,
            "allocationStateTransitionTime": self.allocation_state_transition_time,
            "errors": self.errors,
            "creationTime": self.creation_time,
            "modifiedTime": self.modified_time,
            "provisioningState": self.provisioning_state,
            "provisioningStateTransitionTime": self.provisioning_state_transition_time,
            "scaleSettings": self.scale_settings.serialize(),
            "vmPriority": self.vm_priority,
            "vmSize": self.vm_size,
        }

    @staticmethod
    def deserialize(object_dict: dict[str, Any]) -> AmlComputeStatus:
        return AmlComputeStatus(
            object_dict["allocationState"],
            object_dict["allocationStateTransitionTime"],
            object_dict["creationTime"],
            object_dict["currentNodeCount"],
            object_dict["errors"],
            object_dict["modifiedTime"],
            AmlComputeNodeStateCounts.deserialize(object_dict["nodeStateCounts"]),
            object_dict["provisioningState"],
            object_dict["provisioningStateTransitionTime"],
            ScaleSettings.deserialize(object_dict["scaleSettings"]),
            object_dict["targetNodeCount"],
            object_dict["vmPriority"],
            object_dict["vmSize"],
        )

    def __repr__(self) -> str:
        return f"AmlComputeStatus({self.serialize()!r})"


def status_of(data: dict[str, Any]) -> AmlComputeStatus:
    """The status in what the keeper tells of a target."""
    spec, counts = data["spec"], data["node_states"]
    states = ("idle", "leaving", "preempted", "preparing", "running", "unusable")
    return AmlComputeStatus(
        allocation_state=data["allocation_state"],
        allocation_state_transition_time=data["modified_utc"],
        creation_time=data["created_utc"],
        current_node_count=data["current_nodes"],
        errors=None,
        modified_time=data["modified_utc"],
        node_state_counts=AmlComputeNodeStateCounts(*(counts.get(state, 0) for state in states)),
        provisioning_state=data["provisioning_state"],
        provisioning_state_transition_time=None,
        scale_settings=ScaleSettings(spec["min_nodes"], spec["max_nodes"], spec["idle_seconds_before_scaledown"]),
        target_node_count=data["target_nodes"],
        vm_priority=_PRIORITIES.get(spec["vm_priority"], spec["vm_priority"]),
        vm_size=spec["vm_size"],
    )
