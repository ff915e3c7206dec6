"""Small data of v1's web services: what a deployment asks for, as objects that can be printed and read back."""

from __future__ import annotations

import datetime
from typing import Any, Optional

__all__ = [
    "AksServiceAccessToken",
    "AutoScaler",
    "ContainerResourceRequirements",
    "DataCollection",
    "EncryptionProperties",
    "LivenessProbeRequirements",
    "VnetConfiguration",
    "WebServiceAccessToken",
]


class _Part:
    """Attributes by name, each under v1's key when it is data."""

    _keys: dict[str, str] = {}

    def serialize(self) -> dict[str, Any]:
        return {key: getattr(self, name) for name, key in self._keys.items()}

    @classmethod
    def deserialize(cls, payload_obj: Optional[dict[str, Any]]) -> Any:
        """None for nothing."""
        if payload_obj is None:
            return None
        return cls(**{name: payload_obj.get(key) for name, key in cls._keys.items()})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._keys)})"


class ContainerResourceRequirements(_Part):
    _keys = {
        "cpu": "cpu",
        "memory_in_gb": "memoryInGB",
        "gpu": "gpu",
        "cpu_limit": "cpuLimit",
        "memory_in_gb_limit": "memoryInGBLimit",
    }

    def __init__(
        self, cpu: Any, memory_in_gb: Any, gpu: Any = None, cpu_limit: Any = None, memory_in_gb_limit: Any = None
    ) -> None:
        self.cpu, self.memory_in_gb, self.gpu = cpu, memory_in_gb, gpu
        self.cpu_limit, self.memory_in_gb_limit = cpu_limit, memory_in_gb_limit


class LivenessProbeRequirements(_Part):
    _keys = {
        "period_seconds": "periodSeconds",
        "initial_delay_seconds": "initialDelaySeconds",
        "timeout_seconds": "timeoutSeconds",
        "success_threshold": "successThreshold",
        "failure_threshold": "failureThreshold",
    }

    def __init__(
        self,
        period_seconds: Any,
        initial_delay_seconds: Any,
        timeout_seconds: Any,
        success_threshold: Any,
        failure_threshold: Any,
    ) -> None:
        self.period_seconds, self.timeout_seconds = period_seconds, timeout_seconds
        self.initial_delay_seconds = initial_delay_seconds
        self.failure_threshold, self.success_threshold = failure_threshold, success_threshold


class AutoScaler(_Part):
    _keys = {
        "autoscale_enabled": "autoscaleEnabled",
        "max_replicas": "maxReplicas",
        "min_replicas": "minReplicas",
        "refresh_period_seconds": "refreshPeriodInSeconds",
        "target_utilization": "targetUtilization",
    }

    def __init__(
        self,
        autoscale_enabled: Any,
        max_replicas: Any,
        min_replicas: Any,
        refresh_period_seconds: Any,
        target_utilization: Any,
    ) -> None:
        self.autoscale_enabled, self.max_replicas, self.min_replicas = autoscale_enabled, max_replicas, min_replicas
        self.refresh_period_seconds, self.target_utilization = refresh_period_seconds, target_utilization


class DataCollection(_Part):
    _keys = {"event_hub_enabled": "eventHubEnabled", "storage_enabled": "storageEnabled"}

    def __init__(self, event_hub_enabled: Any, storage_enabled: Any) -> None:
        self.event_hub_enabled, self.storage_enabled = event_hub_enabled, storage_enabled


class EncryptionProperties(_Part):
    _keys = {"cmk_vault_base_url": "vaultBaseUrl", "cmk_key_name": "keyName", "cmk_key_version": "keyVersion"}

    def __init__(self, cmk_vault_base_url: Any, cmk_key_name: Any, cmk_key_version: Any) -> None:
        self.cmk_vault_base_url = cmk_vault_base_url
        self.cmk_key_name, self.cmk_key_version = cmk_key_name, cmk_key_version


class VnetConfiguration(_Part):
    _keys = {"vnet_name": "vnetName", "subnet_name": "subnetName"}

    def __init__(self, vnet_name: Any, subnet_name: Any) -> None:
        self.vnet_name, self.subnet_name = vnet_name, subnet_name


class WebServiceAccessToken:
    """A token that opens a service for a while. Times given are unix seconds."""

    def __init__(self, access_token: str, token_type: str, refresh_after: float, expiry_on: float) -> None:
        self.access_token, self.token_type = access_token, token_type
        self.refresh_after = datetime.datetime.fromtimestamp(refresh_after)
        self.expiry_on = datetime.datetime.fromtimestamp(expiry_on)

    def serialize(self) -> dict[str, Any]:
        return {
            "accessToken": self.access_token,
            "tokenType": self.token_type,
            "refreshAfter": self.refresh_after.timestamp(),
            "expiryOn": self.expiry_on.timestamp(),
        }

    @classmethod
    def deserialize(cls, payload_obj: Optional[dict[str, Any]]) -> Any:
        if payload_obj is None:
            return None
        get = payload_obj.get
        return cls(
            str(get("accessToken")), str(get("tokenType")), float(get("refreshAfter") or 0), float(get("expiryOn") or 0)
        )


class AksServiceAccessToken(WebServiceAccessToken):
    """The same, of a service on a cluster."""
