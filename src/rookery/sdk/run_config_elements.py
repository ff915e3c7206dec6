"""The plain elements of a RunConfiguration: history, docker, spark, targets. The data ones are in
run_config_data."""

from __future__ import annotations

from typing import Any, Optional

from rookery.sdk.container_registry import ContainerRegistry
from rookery.sdk.element import Element
from rookery.sdk.environment_sections import DEFAULT_SHM_SIZE

__all__ = [
    "AmlComputeConfiguration",
    "ApplicationEndpointConfiguration",
    "AzureContainerRegistry",
    "DockerConfiguration",
    "HdiConfiguration",
    "HistoryConfiguration",
    "KubernetesComputeConfiguration",
    "Retries",
    "SparkConfiguration",
]


class AzureContainerRegistry(ContainerRegistry):
    """The older name of ContainerRegistry."""


class HistoryConfiguration(Element):
    """output_collection: ./outputs is stored at the end. directories_to_watch: folders whose files are shown
    live."""

    def __init__(self) -> None:
        self.output_collection = True
        self.snapshot_project = True
        self.directories_to_watch: Optional[list[str]] = ["logs"]


class DockerConfiguration(Element):
    """Whether and how a run is in a container of its environment's image. Without a runtime it runs in the built environment, and
    says so."""

    def __init__(
        self,
        use_docker: bool = False,
        shared_volumes: bool = True,
        arguments: Any = None,
        shm_size: str = DEFAULT_SHM_SIZE,
    ) -> None:
        self.use_docker = use_docker
        self.shared_volumes = shared_volumes
        self.arguments: list[str] = list(arguments or [])
        self.shm_size = shm_size


class HdiConfiguration(Element):
    def __init__(self) -> None:
        self.yarn_deploy_mode = "cluster"


class SparkConfiguration(Element):
    def __init__(self) -> None:
        self.configuration: dict[str, str] = {}


class AmlComputeConfiguration(Element):
    def __init__(self) -> None:
        self.vm_size: Optional[str] = None
        self.vm_priority: Optional[str] = None


class KubernetesComputeConfiguration(Element):
    def __init__(self) -> None:
        self.instance_type: Optional[str] = None


class ApplicationEndpointConfiguration(Element):
    def __init__(
        self,
        type: Optional[str] = None,
        port: Optional[int] = None,
        properties: Optional[dict[str, str]] = None,
    ) -> None:
        self.type = type
        self.port = port
        self.properties = properties


class Retries(Element):
    """How often a run is tried again, apart for a lost or preempted node and for an error of its own code. Rookery's own; v1
    had nothing of the kind.

    Args:
        lost_node: None leaves it to the target: 3 on a low-priority cluster, 0 on a dedicated one.
        user_error: how often after the script failed.
        min_nodes: after a lost node this many are enough to go on, when all cannot be had in time (elastic_wait_s).
    """

    def __init__(self, lost_node: Optional[int] = None, user_error: int = 0, min_nodes: Optional[int] = None) -> None:
        self.lost_node = lost_node
        self.user_error = user_error
        self.min_nodes = min_nodes
