"""Model.deploy: models, code and options become an endpoint at the keeper."""

from __future__ import annotations

import sys
from typing import Any, Optional

from rookery.errors import ConflictError, ModelError
from rookery.sdk.deployment_config import (
    AciServiceDeploymentConfiguration,
    AksEndpointDeploymentConfiguration,
    AksServiceDeploymentConfiguration,
    WebserviceDeploymentConfiguration,
)
from rookery.sdk.inference_config import InferenceConfig
from rookery.sdk.webservice import KIND_PROPERTY, service_from

__all__ = ["deploy_model", "inference_body", "model_bodies", "post_endpoint", "print_configuration"]

_CLOUD = {"aci": "AciWebservice", "aks": "AksWebservice"}
_said: set[str] = set()


def deploy_model(
    workspace: Any,
    name: str,
    models: Any,
    inference_config: Optional[InferenceConfig] = None,
    deployment_config: Optional[WebserviceDeploymentConfiguration] = None,
    deployment_target: Any = None,
    overwrite: bool = False,
    show_output: bool = False,
) -> Any:
    """Ask the keeper for a service; it is returned at once, `wait_for_deployment` waits.

    Without `inference_config` the model's framework and files decide how it is scored.

    Raises:
        ModelError: the name is taken and `overwrite` is off, or what was given cannot be.
    """
    config = _deployment(deployment_config, deployment_target, inference_config, models)
    body = {
        **config.to_body(),
        "name": name,
        "models": model_bodies(models),
        "inference": None if inference_config is None else inference_body(workspace, inference_config),
        "overwrite": bool(overwrite),
    }
    if isinstance(config, AksEndpointDeploymentConfiguration):
        body["properties"] = {**body.get("properties", {}), KIND_PROPERTY: "AksEndpoint"}
    _say_where(config.kind)
    if show_output:
        print_configuration(models, inference_config, config, deployment_target)
    service = post_endpoint(workspace, body)
    if show_output:
        service.wait_for_deployment(show_output=True)
    return service


def post_endpoint(workspace: Any, body: dict[str, Any]) -> Any:
    """The service; ModelError where the name is taken."""
    try:
        data = workspace.client.request("POST", "/endpoints", body=body)
    except ConflictError as error:
        raise ModelError(
            f"Error, there is already a service with name {body['name']} found in workspace {workspace.name}. Give "
            "overwrite=True to replace it without a pause, or another name.",
            error,
            status_code=409,
        ) from error
    return service_from(workspace, data)


def model_bodies(models: Any) -> list[dict[str, Any]]:
    """[{"name", "version"}] of Model objects, ids ("birds:3") or names (the newest version)."""
    if models is None or isinstance(models, (str, dict)) or not hasattr(models, "__iter__"):
        models = [] if models is None else [models]
    return [_model_body(model) for model in models]


def _model_body(model: Any) -> dict[str, Any]:
    if hasattr(model, "name") and hasattr(model, "version"):
        return {"name": model.name, "version": int(model.version)}
    if isinstance(model, str):
        name, colon, version = model.partition(":")
        if not colon or version.isdigit():
            return {"name": name, **({"version": int(version)} if version else {})}
    raise ModelError(f"models holds {model!r:.100}. Give Model objects, such as Model(ws, 'birds'), or ids: 'birds:3'.")


def inference_body(workspace: Any, inference_config: Any) -> dict[str, Any]:
    """What the keeper takes for an InferenceConfig; its code is sent."""
    if not isinstance(inference_config, InferenceConfig):
        raise ModelError(f"inference_config is {type(inference_config).__name__}. Give an InferenceConfig.")
    return inference_config.to_body(workspace)


def print_configuration(models: Any, inference_config: Any, deployment_config: Any, deployment_target: Any) -> None:
    """Print what would be deployed."""
    names = [f"{m['name']}:{m['version']}" if "version" in m else m["name"] for m in model_bodies(models)]
    print(f"Models: {', '.join(names) or 'none'}")
    if inference_config is not None:
        print(f"Entry script: {inference_config.entry_script}")
        if inference_config.source_directory:
            print(f"Source directory: {inference_config.source_directory}")
        if inference_config.environment is not None:
            print(f"Environment: {inference_config.environment.name}")
    if deployment_config is not None:
        deployment_config.print_deploy_configuration()
    if deployment_target is not None:
        print(f"Deployment target: {deployment_target.name}, which stands for the keeper's machine")


def _deployment(config: Any, target: Any, inference: Any, models: Any) -> WebserviceDeploymentConfiguration:
    if config is None:
        is_cluster = getattr(target, "type", None) == "AKS"
        config = AksServiceDeploymentConfiguration() if is_cluster else _default(models)
    if not isinstance(config, WebserviceDeploymentConfiguration):
        raise ModelError(
            f"deployment_config is {type(config).__name__}. Use LocalWebservice.deploy_configuration(…), AciWebservice's or "
            "AksWebservice's."
        )
    config.validate_configuration()
    return config


def _default(models: Any) -> AciServiceDeploymentConfiguration:
    """v1 deploys to a container instance, as large as the model says."""
    for model in models if isinstance(models, (list, tuple)) else [models]:
        wanted = getattr(model, "resource_configuration", None)
        if wanted:
            get = wanted.get if isinstance(wanted, dict) else lambda key, w=wanted: getattr(w, key, None)
            return AciServiceDeploymentConfiguration(get("cpu"), get("memoryInGB") or get("memory_in_gb"))
    return AciServiceDeploymentConfiguration()


def _say_where(kind: str) -> None:
    """Once for each kind in a process: there is no cloud here."""
    if kind in _CLOUD and kind not in _said:
        _said.add(kind)
        print(
            f"{_CLOUD[kind]}: there is no cloud here, the service runs on the machine of the workspace's keeper.",
            file=sys.stderr,
        )
