"""What a new service shall be like: v1's deployment configurations, as the keeper wants them.

Their signatures are v1's. What only a cloud has (networks, certificates, probes) is checked, kept with the endpoint and not acted on.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Optional

from rookery.errors import ModelError
from rookery.sdk.filters import given, texts

__all__ = [
    "AciServiceDeploymentConfiguration",
    "AksEndpointDeploymentConfiguration",
    "AksServiceDeploymentConfiguration",
    "LocalWebserviceDeploymentConfiguration",
    "WebserviceDeploymentConfiguration",
    "keeper_config",
]

# Not part of the version's configuration: these have fields of their own in what the keeper takes.
_OWN_FIELDS = (
    "description", "tags", "properties", "primary_key", "secondary_key", "auth_enabled", "token_auth_enabled", "port",
    "version_name", "traffic_percentile",
)  # fmt: skip
_SECRET_FILES = ("ssl_cert_pem_file", "ssl_key_pem_file")
_POSITIVE = (
    "cpu_cores", "memory_gb", "gpu_cores", "num_replicas", "autoscale_min_replicas", "autoscale_max_replicas",
    "autoscale_refresh_seconds", "scoring_timeout_ms", "replica_max_concurrent_requests", "max_request_wait_time",
    "period_seconds", "timeout_seconds", "success_threshold", "failure_threshold", "cpu_cores_limit", "memory_gb_limit",
)  # fmt: skip


class WebserviceDeploymentConfiguration:
    """What all of them share."""

    kind: ClassVar[str] = "local"
    _called: ClassVar[str] = "Local"

    def validate_configuration(self) -> None:
        """ModelError that names what is not allowed."""
        values = vars(self)
        for name in _POSITIVE:
            value = values.get(name)
            if value is not None and not (
                isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
            ):
                raise ModelError(f"{name}={value!r} is not allowed. Give a number above 0, or leave it out.")

    def print_deploy_configuration(self) -> None:
        """Print what was set."""
        set_here = {k: v for k, v in vars(self).items() if v is not None and k not in ("primary_key", "secondary_key")}
        print("\n".join(f"{name}: {value}" for name, value in set_here.items()) or f"{self._called}: all defaults")

    @classmethod
    def validate_image(cls, image: Any) -> None:
        """Nothing to check: there are no images here."""

    def to_body(self) -> dict[str, Any]:
        """The fields of POST /endpoints that come from here."""
        values = vars(self)
        body = given(
            kind=self.kind,
            description=values.get("description"),
            tags=texts(values.get("tags")),
            properties=texts(values.get("properties")),
            auth_enabled=values.get("auth_enabled"),
            token_auth_enabled=values.get("token_auth_enabled"),
            port=values.get("port"),
            primary_key=values.get("primary_key"),
            secondary_key=values.get("secondary_key"),
            version_name=values.get("version_name"),
            traffic=values.get("traffic_percentile"),
        )
        return {**body, "config": keeper_config(values)}


def keeper_config(options: dict[str, Any]) -> dict[str, Any]:
    """v1's options of a version in the keeper's words; what it has no word for stays as it is."""
    config = {k: v for k, v in options.items() if v is not None and k not in (*_OWN_FIELDS, *_SECRET_FILES)}
    if "max_request_wait_time" in config:
        config["max_request_wait_ms"] = config.pop("max_request_wait_time")
    if "autoscale_min_replicas" in config:
        config.setdefault("num_replicas", config["autoscale_min_replicas"])
    if "num_replicas" in config:
        config["num_replicas"] = int(config["num_replicas"])
    return config


@dataclass
class LocalWebserviceDeploymentConfiguration(WebserviceDeploymentConfiguration):
    """A port of one's own, or any that is free."""

    port: Optional[int] = None

    def __post_init__(self) -> None:
        self.validate_configuration()

    def validate_configuration(self) -> None:
        port = self.port
        if port is not None and (isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535):
            raise ModelError(f"port={port!r} is not allowed. Give a number from 1 to 65535, or leave it out.")


@dataclass
class AciServiceDeploymentConfiguration(WebserviceDeploymentConfiguration):
    """v1's container instance. Differs: served by the keeper's machine; `cpu_cores` is threads, `memory_gb` a limit."""

    kind: ClassVar[str] = "aci"
    _called: ClassVar[str] = "ACI"

    cpu_cores: Optional[float] = None
    memory_gb: Optional[float] = None
    tags: Optional[dict[str, str]] = None
    properties: Optional[dict[str, str]] = None
    description: Optional[str] = None
    location: Optional[str] = None
    auth_enabled: Optional[bool] = None
    ssl_enabled: Optional[bool] = None
    enable_app_insights: Optional[bool] = None
    ssl_cert_pem_file: Optional[str] = None
    ssl_key_pem_file: Optional[str] = None
    ssl_cname: Optional[str] = None
    dns_name_label: Optional[str] = None
    primary_key: Optional[str] = None
    secondary_key: Optional[str] = None
    collect_model_data: Optional[bool] = None
    cmk_vault_base_url: Optional[str] = None
    cmk_key_name: Optional[str] = None
    cmk_key_version: Optional[str] = None
    vnet_name: Optional[str] = None
    subnet_name: Optional[str] = None

    def __post_init__(self) -> None:
        self.validate_configuration()

    def validate_configuration(self) -> None:
        super().validate_configuration()
        if self.ssl_enabled and not (self.ssl_cert_pem_file and self.ssl_key_pem_file and self.ssl_cname):
            raise ModelError("ssl_enabled needs ssl_cert_pem_file, ssl_key_pem_file and ssl_cname.")
        if bool(self.vnet_name) != bool(self.subnet_name):
            raise ModelError("Give both vnet_name and subnet_name, or none of them.")
        encryption = (self.cmk_vault_base_url, self.cmk_key_name, self.cmk_key_version)
        if any(encryption) and not all(encryption):
            raise ModelError("Encryption needs all of cmk_vault_base_url, cmk_key_name and cmk_key_version.")


@dataclass
class _AksConfiguration(WebserviceDeploymentConfiguration):
    """What both kinds of services on a cluster take, in v1's order."""

    kind: ClassVar[str] = "aks"
    _called: ClassVar[str] = "AKS"

    autoscale_enabled: Optional[bool] = None
    autoscale_min_replicas: Optional[int] = None
    autoscale_max_replicas: Optional[int] = None
    autoscale_refresh_seconds: Optional[int] = None
    autoscale_target_utilization: Optional[int] = None
    collect_model_data: Optional[bool] = None
    auth_enabled: Optional[bool] = None
    cpu_cores: Optional[float] = None
    memory_gb: Optional[float] = None
    enable_app_insights: Optional[bool] = None
    scoring_timeout_ms: Optional[int] = None
    replica_max_concurrent_requests: Optional[int] = None
    max_request_wait_time: Optional[int] = None
    num_replicas: Optional[int] = None
    primary_key: Optional[str] = None
    secondary_key: Optional[str] = None
    tags: Optional[dict[str, str]] = None
    properties: Optional[dict[str, str]] = None
    description: Optional[str] = None
    gpu_cores: Optional[int] = None
    period_seconds: Optional[int] = None
    initial_delay_seconds: Optional[int] = None
    timeout_seconds: Optional[int] = None
    success_threshold: Optional[int] = None
    failure_threshold: Optional[int] = None
    namespace: Optional[str] = None
    token_auth_enabled: Optional[bool] = None

    def __post_init__(self) -> None:
        self.validate_configuration()

    def validate_configuration(self) -> None:
        super().validate_configuration()
        check_aks_options(vars(self))


@dataclass
class AksServiceDeploymentConfiguration(_AksConfiguration):
    """v1's service on a cluster. Differs: served by processes on the keeper's machine; by load where `autoscale_enabled` is True."""

    compute_target_name: Optional[str] = None
    cpu_cores_limit: Optional[float] = None
    memory_gb_limit: Optional[float] = None
    blobfuse_enabled: Optional[bool] = None


@dataclass
class AksEndpointDeploymentConfiguration(_AksConfiguration):
    """v1's endpoint with versions that share the traffic; this one is the first of them."""

    version_name: Optional[str] = None
    traffic_percentile: Optional[float] = None
    compute_target_name: Optional[str] = None
    cpu_cores_limit: Optional[float] = None
    memory_gb_limit: Optional[float] = None

    def validate_endpoint_configuration(self) -> None:
        self.validate_configuration()


def check_aks_options(options: dict[str, Any]) -> None:
    """ModelError for options of AKS that contradict each other."""
    get = options.get
    if get("auth_enabled") and get("token_auth_enabled"):
        raise ModelError("auth_enabled and token_auth_enabled are both on. Choose keys or tokens.")
    if get("autoscale_enabled") and get("num_replicas"):
        raise ModelError(
            "num_replicas was given with autoscale_enabled. Give autoscale_min_replicas and _max_replicas."
        )
    low, high = get("autoscale_min_replicas"), get("autoscale_max_replicas")
    if low and high and low > high:
        raise ModelError(f"autoscale_min_replicas={low} is more than autoscale_max_replicas={high}.")
    share = get("autoscale_target_utilization")
    if share is not None and not 0 < share <= 100:
        raise ModelError(f"autoscale_target_utilization={share!r} is not allowed. Give percent: above 0, up to 100.")
    traffic = get("traffic_percentile")
    if traffic is not None and not 0 <= traffic <= 100:
        raise ModelError(f"traffic_percentile={traffic!r} is not allowed. Give 0 to 100.")
    for most, least in (("cpu_cores_limit", "cpu_cores"), ("memory_gb_limit", "memory_gb")):
        limit, wanted = get(most), get(least)
        if limit is not None and wanted is not None and limit < wanted:
            raise ModelError(f"{most}={limit} is less than {least}={wanted}.")


# The options that create_version, update_version and update take, each checked by name.
AKS_OPTIONS = tuple(field.name for field in dataclasses.fields(AksEndpointDeploymentConfiguration))
ACI_OPTIONS = tuple(field.name for field in dataclasses.fields(AciServiceDeploymentConfiguration))
