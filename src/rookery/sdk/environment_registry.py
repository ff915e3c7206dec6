"""Environments at the keeper: registered, found, labelled, built; and private wheels."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import ConflictError, UnsupportedError, UserError
from rookery.sdk.environment_spec import check_variables, environment_spec
from rookery.sdk.image_build import DockerImageDetails, ImageBuildDetails
from rookery.sdk.secret import Secret, secret_values
from rookery.spec.names import check_environment_name
from rookery.spec.plain import to_plain
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.sdk.environment import Environment

__all__ = [
    "add_wheel",
    "build_environment",
    "environment_of",
    "find_environment",
    "image_details",
    "label_environment",
    "list_environments",
    "register_environment",
]


def register_environment(environment: Environment, workspace: Any) -> Environment:
    """The registered version, with the secrets that are known here."""
    check_environment_name(environment.name, own=True)
    check_variables(environment.environment_variables, "environment.environment_variables")
    definition = environment.to_dict()
    registry = definition.get("docker", {}).get("baseImageRegistry")
    if isinstance(registry, dict):
        registry["password"] = None
    variables = environment.environment_variables or {}
    definition["environmentVariables"] = check_variables(variables, "environment.environment_variables")
    body: dict[str, Any] = {"definition": definition}
    values = secret_values(variables)
    if values:
        body["secret_values"] = values
    made = environment_of(workspace.client.request("POST", "/environments", body=body))
    for name, value in variables.items():
        if isinstance(value, Secret):
            made.environment_variables[name] = value
    return made


def find_environment(
    workspace: Any, name: str, version: Optional[Any] = None, label: Optional[str] = None
) -> Environment:
    if version is not None and label is not None:
        raise UserError(f"version={version!r} and label={label!r} were given; only one of them is allowed.")
    query = {key: str(value) for key, value in (("version", version), ("label", label)) if value is not None}
    path = f"/environments/{quote_path(check_environment_name(name))}"
    return environment_of(workspace.client.request("GET", path, query=query))


def list_environments(workspace: Any) -> dict[str, Any]:
    """The keeper's data of the latest version of each, by name; curated ones included."""
    found = workspace.client.request("GET", "/environments")["environments"]
    return {data["name"]: data for data in found}


def label_environment(workspace: Any, name: str, version: Any, labels: Any) -> None:
    names = [labels] if isinstance(labels, str) else list(labels or [])
    path = f"/environments/{quote_path(check_environment_name(name))}/labels"
    workspace.client.request("POST", path, body={"version": str(version), "labels": names})


def build_environment(environment: Environment, workspace: Any) -> ImageBuildDetails:
    """Starts the build, or joins the one that is under way."""
    spec = to_plain(environment_spec(environment))
    data = workspace.client.request("POST", "/environments/builds", body={"spec": spec})
    return ImageBuildDetails(workspace.client, data["id"], f"{workspace._base_url}/api/v1")


def image_details(environment: Environment, workspace: Any) -> DockerImageDetails:
    spec = environment_spec(environment)
    told = workspace.client.request("POST", "/environments/prepared", body={"spec": to_plain(spec)})["built"]
    return DockerImageDetails.of(spec, told)


def add_wheel(workspace: Any, file_path: Any, exist_ok: bool = False) -> str:
    """Store a wheel; the address for pip requirements."""
    from rookery.sdk.model_files import upload_files

    path = os.path.abspath(os.path.expanduser(os.fspath(file_path)))
    if not os.path.isfile(path) or not path.endswith(".whl"):
        raise UserError(f"{os.fspath(file_path)!r} is no wheel. Give the path of a file that ends in .whl.")
    if workspace.root is None:
        raise UnsupportedError(
            "Private wheels are kept in the workspace's own folder; a server's workspace has no such yet."
        )
    entry = upload_files(workspace.client, {os.path.basename(path): path})[0]
    body = {"name": entry["path"], "sha256": entry["sha256"], "exist_ok": bool(exist_ok)}
    try:
        return str(workspace.client.request("POST", "/wheels", body=body)["url"])
    except ConflictError as error:
        raise UserError(error.message, error) from error


def environment_of(data: dict[str, Any]) -> Environment:
    """The keeper's Environment as the SDK's."""
    from rookery.sdk.environment import Environment

    environment = Environment.from_dict(data["definition"])
    environment.version = data["version"]
    environment.asset_id = f"azureml:{data['name']}:{data['version']}"
    environment._maps_to = data.get("maps_to") or ""
    return environment
