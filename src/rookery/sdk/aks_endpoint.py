"""AksEndpoint: several versions behind one address that share its traffic."""

from __future__ import annotations

import enum
from typing import Any, Optional

from rookery.errors import ModelError
from rookery.sdk.deployment_config import (
    AKS_OPTIONS,
    AksEndpointDeploymentConfiguration,
    check_aks_options,
    keeper_config,
)
from rookery.sdk.filters import given, texts
from rookery.sdk.webservice_kinds import AksWebservice, check_names, new_code
from rookery.worker.http import quote_path

__all__ = ["AksEndpoint", "EndpointVersion"]

_VERSION_OPTIONS = tuple(
    name
    for name in AKS_OPTIONS
    if name not in ("primary_key", "secondary_key", "auth_enabled", "token_auth_enabled", "version_name")
)


class EndpointVersion:
    """One version of an endpoint, as last seen."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.name: str = data["name"]
        self.traffic_percentile: float = data["traffic"]
        self.is_default: bool = data["is_default"]
        self.version_type = "Control" if (data["properties"] or {}).get("control") == "true" else "Treatment"
        self.state: str = data["state"]
        self.error = data["error"]
        self.description: str = data["description"]
        self.tags: dict[str, Any] = dict(data["tags"])
        self.properties: dict[str, Any] = dict(data["properties"])
        self.model_ids = [f"{model['name']}:{model['version']}" for model in data["models"]]

    def __repr__(self) -> str:
        return (
            f"EndpointVersion(name={self.name!r}, traffic_percentile={self.traffic_percentile}, state={self.state!r})"
        )


class AksEndpoint(AksWebservice):
    """An endpoint with versions. Each request goes to one of them, by their shares."""

    class VersionType(enum.Enum):
        control = "Control"
        treatment = "Treatment"

    compute_type = "AKSENDPOINT"

    deploy_configuration = staticmethod(AksEndpointDeploymentConfiguration)  # type: ignore[assignment]

    @property
    def versions(self) -> dict[str, EndpointVersion]:
        """Name → version, as last seen."""
        return {data["name"]: EndpointVersion(data) for data in self._data["versions"]}

    def create_version(
        self, version_name: str, *, models: Any = None, inference_config: Any = None, **options: Any
    ) -> None:
        """Add a version. `traffic_percentile` is its share; what all shares leave over is the default version's."""
        if version_name in self.versions:
            raise ModelError(f"Endpoint '{self.name}' has a version '{version_name}' already. Use update_version.")
        if models is None:
            raise ModelError(f"Version '{version_name}' needs models.")
        self._put("create_version", version_name, models, inference_config, options)

    def update_version(
        self, version_name: str, *, models: Any = None, inference_config: Any = None, **options: Any
    ) -> None:
        """Change a version; what is None stays. Drained: no request fails meanwhile."""
        self._known(version_name)
        self._put("update_version", version_name, models, inference_config, options)

    def delete_version(self, version_name: str) -> None:
        """Remove a version; its share is the default version's then."""
        from rookery.errors import ConflictError

        self._known(version_name)
        try:
            answer = self.workspace.client.request("DELETE", self._version_path(version_name))
        except ConflictError as error:
            raise ModelError(error.message, error) from error
        self._load(self.workspace, answer)

    def serialize(self) -> dict[str, Any]:
        told = super().serialize()
        told["versions"] = {
            name: {
                "trafficPercentile": each.traffic_percentile,
                "isDefault": each.is_default,
                "state": each.state,
                "modelIds": each.model_ids,
            }
            for name, each in self.versions.items()
        }
        return told

    def _put(self, verb: str, name: str, models: Any, inference_config: Any, options: dict[str, Any]) -> None:
        is_control: Optional[bool] = options.pop("is_control_version_type", None)
        is_default: Optional[bool] = options.pop("is_default", None)
        check_names(f"AksEndpoint.{verb}", (*_VERSION_OPTIONS, "is_default", "is_control_version_type"), options)
        check_aks_options(options)
        properties = texts(options.get("properties"))
        if is_control is not None:
            properties = {**(properties or {}), "control": "true" if is_control else "false"}
        body = new_code(self, models, inference_config)
        body.update(
            given(
                traffic=options.get("traffic_percentile"),
                is_default=is_default,
                description=options.get("description"),
                tags=texts(options.get("tags")),
                properties=properties,
                config=keeper_config(options) or None,
            )
        )
        self._load(self.workspace, self.workspace.client.request("PUT", self._version_path(name), body=body))

    def _known(self, name: str) -> None:
        if name not in self.versions:
            raise ModelError(f"Endpoint '{self.name}' has no version '{name}'. Known: {', '.join(self.versions)}.")

    def _version_path(self, name: str) -> str:
        return self._path(f"/versions/{quote_path(name)}")
