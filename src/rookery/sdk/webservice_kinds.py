"""The kinds of services: LocalWebservice, AciWebservice, AksWebservice. All of them run on the keeper's machine."""

from __future__ import annotations

import builtins
from typing import Any, NoReturn, Optional

from rookery.errors import ModelError, UnsupportedError
from rookery.sdk.deployment_config import (
    ACI_OPTIONS,
    AKS_OPTIONS,
    AciServiceDeploymentConfiguration,
    AksServiceDeploymentConfiguration,
    LocalWebserviceDeploymentConfiguration,
    check_aks_options,
    keeper_config,
)
from rookery.sdk.filters import given, texts
from rookery.sdk.webservice import Webservice
from rookery.sdk.webservice_parts import AksServiceAccessToken

__all__ = ["AciWebservice", "AksWebservice", "LocalWebservice", "check_names", "new_code"]

_LOCAL_STATES = {"Transitioning": "deploying", "Healthy": "running", "Unhealthy": "failed", "Failed": "failed"}


class LocalWebservice(Webservice):
    """A service for trying things. Differs: no Docker; it is there until it is deleted, like the other kinds."""

    NETWORK_NAME = "azureml-local"
    STATE_DELETED = "deleted"
    STATE_DEPLOYING = "deploying"
    STATE_FAILED = "failed"
    STATE_RUNNING = "running"
    STATE_UNKNOWN = "unknown"

    compute_type = "Local"
    _kind = "local"

    def __new__(cls, workspace: Any, name: str, must_exist: bool = True) -> Any:
        return super().__new__(cls, workspace, name)

    def __init__(self, workspace: Any, name: str, must_exist: bool = True) -> None:
        """Everything is done in `__new__`."""

    deploy_configuration = staticmethod(LocalWebserviceDeploymentConfiguration)

    @property
    def port(self) -> int:
        return int(self._data["port"])

    @staticmethod
    def list(  # type: ignore[override]
        workspace: Any, model_name: Optional[str] = None, model_id: Optional[str] = None, all: Any = None
    ) -> builtins.list[Any]:
        """The local services that match."""
        return Webservice.list(workspace, "Local", model_name=model_name, model_id=model_id)

    def update(
        self,
        models: Any = None,
        image_config: Any = None,
        deployment_config: Any = None,
        wait: bool = False,
        inference_config: Any = None,
    ) -> None:
        """New models, code or port. Drained: no request fails meanwhile."""
        changes = new_code(self, models, inference_config or image_config)
        if deployment_config is not None and deployment_config.port is not None:
            changes["port"] = deployment_config.port
        self._patch(changes)
        if wait:
            self.wait_for_deployment()

    def reload(self, wait: bool = False) -> None:
        """Start its processes anew, with the same code: `init()` runs again. Drained."""
        self._load(self.workspace, self.workspace.client.request("POST", self._path("/reload")))
        if wait:
            self.wait_for_deployment()

    def deploy_to_cloud(
        self, name: Optional[str] = None, deployment_config: Any = None, deployment_target: Any = None
    ) -> Any:
        """The same models and code as a service of another kind."""
        from rookery.sdk.deploy import post_endpoint

        config = deployment_config or AciServiceDeploymentConfiguration()
        body = {"models": self._version["models"], "inference": self._version["inference"], **config.to_body()}
        return post_endpoint(self.workspace, {**body, "name": name or self.name + "-cloud"})

    def delete(self, delete_cache: bool = True, delete_image: bool = False, delete_volume: bool = True) -> None:
        """Take it down. There is no image and no volume to keep or to remove."""
        super().delete()
        self.state = self.STATE_DELETED

    def update_deployment_state(self, must_exist: bool = False) -> None:
        super().update_deployment_state()
        if self.state == "Deleted":
            self.state = self.STATE_DELETED
            if must_exist:
                raise ModelError(f"Webservice '{self.name}' is gone: somebody has deleted it.", status_code=404)

    def wait_for_deployment(self, show_output: bool = False, timeout_sec: Optional[float] = None) -> None:
        super().wait_for_deployment(show_output, timeout_sec)

    def get_logs(self, num_lines: int = 5000, raw: bool = False) -> Any:
        """What its processes wrote; bytes with `raw`."""
        text = super().get_logs(num_lines)
        return text.encode("utf-8") if raw else text

    def get_keys(self) -> NoReturn:
        raise UnsupportedError("A LocalWebservice has no keys: whoever is on this machine may ask it, as in v1.")

    def regen_key(self, key: str, set_key: Optional[str] = None) -> NoReturn:
        raise UnsupportedError("A LocalWebservice has no keys: whoever is on this machine may ask it, as in v1.")

    def get_token(self) -> NoReturn:
        raise UnsupportedError("A LocalWebservice takes no tokens: whoever is on this machine may ask it, as in v1.")

    def _state(self, data: dict[str, Any]) -> str:
        return _LOCAL_STATES.get(data["state"], self.STATE_UNKNOWN)


class AciWebservice(Webservice):
    """v1's service on a container instance. Differs: on the keeper's machine; certificates and networks are not used."""

    compute_type = "ACI"
    _kind = "aci"

    deploy_configuration = staticmethod(AciServiceDeploymentConfiguration)

    def update(self, image: Any = None, *, models: Any = None, inference_config: Any = None, **options: Any) -> None:
        """New models, code or options; what is None stays. Drained: no request fails meanwhile."""
        _refuse_image(image)
        _update(self, ACI_OPTIONS, models, inference_config, options)

    def get_token(self) -> NoReturn:
        raise UnsupportedError("AciWebservice takes no tokens, as in v1. Use get_keys(), with auth_enabled=True.")


class AksWebservice(Webservice):
    """v1's service on a cluster. Differs: on the keeper's machine, with `num_replicas` processes."""

    compute_type = "AKS"
    _kind = "aks"

    deploy_configuration = staticmethod(AksServiceDeploymentConfiguration)

    def update(self, image: Any = None, *, models: Any = None, inference_config: Any = None, **options: Any) -> None:
        """New models, code or options; what is None stays. Drained: no request fails meanwhile."""
        _refuse_image(image)
        _update(self, AKS_OPTIONS, models, inference_config, options)

    def get_access_token(self) -> AksServiceAccessToken:
        """A token with its times."""
        token = self._token()
        return AksServiceAccessToken(
            token["access_token"], token["token_type"], token["refresh_after"], token["expiry_on"]
        )

    @property
    def num_replicas(self) -> int:
        return int(self._version["config"].get("num_replicas") or 1)


def _update(
    service: Webservice, known: tuple[str, ...], models: Any, inference_config: Any, options: dict[str, Any]
) -> None:
    check_names(type(service).__name__ + ".update", known, options)
    check_aks_options({**_merged(service), **options})
    changes = new_code(service, models, inference_config)
    changes.update(
        given(
            auth_enabled=options.get("auth_enabled"),
            token_auth_enabled=options.get("token_auth_enabled"),
            description=options.get("description"),
            tags=texts(options.get("tags")),
            properties=texts(options.get("properties")),
            config=keeper_config(options) or None,
        )
    )
    if changes.get("tags") is not None:
        changes["remove_tags"] = [key for key in service.tags if key not in changes["tags"]]
    service._patch(changes)


def _merged(service: Webservice) -> dict[str, Any]:
    """What the service has now, as far as options may contradict it. A switch of how it is opened turns the other one off."""
    config = service._version["config"]
    return {name: config[name] for name in ("cpu_cores", "memory_gb") if config.get(name) is not None}


def new_code(service: Webservice, models: Any, inference_config: Any) -> dict[str, Any]:
    from rookery.sdk.deploy import inference_body, model_bodies

    changes: dict[str, Any] = {}
    if models is not None:
        changes["models"] = model_bodies(models)
    if inference_config is not None:
        changes["inference"] = inference_body(service.workspace, inference_config)
    return changes


def check_names(what: str, known: tuple[str, ...], options: dict[str, Any]) -> None:
    """TypeError that lists the options there are."""
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"{what} has no {unknown[0]!r}. It has: {', '.join(('models', 'inference_config', *known))}.")


def _refuse_image(image: Any) -> None:
    if image is not None:
        raise UnsupportedError("Services run without images here. Give models and inference_config instead of image.")
