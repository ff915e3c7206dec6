"""Webservice: a model behind an address. The kinds of it are in webservice_kinds.py, deploying in deploy.py."""

from __future__ import annotations

import builtins
import datetime
import io
import os
from typing import Any, Callable, ClassVar, Optional

from rookery.errors import ModelError, NotFoundError
from rookery.sdk.deployment_wait import wait_for_operation
from rookery.sdk.filters import key_values, texts
from rookery.sdk.scoring import ask_service, decode_answer
from rookery.worker.http import quote_path

__all__ = ["KIND_PROPERTY", "Webservice", "list_services", "service_from"]

# The property by which an endpoint with versions is known from one without.
KIND_PROPERTY = "rookery.webservice"


class Webservice:
    """A service. `Webservice(workspace, name)` gives the service's own class; ModelError (v1's WebserviceException) if there
    is none.

    Attributes are those of the last look; `update_deployment_state` looks again.
    """

    workspace: Any
    state: str
    _data: dict[str, Any]
    _known_key: Optional[str] = None
    compute_type: ClassVar[str] = ""
    _kind: ClassVar[Optional[str]] = None  # the keeper's word for it

    def __new__(cls, workspace: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        found = service_from(workspace, fetch_service(workspace, name))
        if cls._kind is not None and not isinstance(found, cls):
            raise ModelError(
                f"Webservice '{name}' is of kind {found.compute_type}, not {cls.compute_type}. Open it with Webservice(ws, name)."
            )
        return found

    def __init__(self, workspace: Any, name: str) -> None:
        """Everything is done in `__new__`, which decides the class."""

    # -- making and listing them

    @staticmethod
    def deploy(
        workspace: Any,
        name: str,
        model_paths: Any,
        image_config: Any,
        deployment_config: Any = None,
        deployment_target: Any = None,
        overwrite: bool = False,
    ) -> Any:
        """v1's older way: register the files, then deploy them."""
        from rookery.sdk.model import Model

        models = [Model.register(workspace, path, _model_name(path)) for path in model_paths]
        return Webservice.deploy_from_model(
            workspace, name, models, image_config, deployment_config, deployment_target, overwrite
        )

    @staticmethod
    def deploy_from_model(
        workspace: Any,
        name: str,
        models: Any,
        image_config: Any,
        deployment_config: Any = None,
        deployment_target: Any = None,
        overwrite: bool = False,
    ) -> Any:
        """v1's older way: an image's configuration says what an InferenceConfig says."""
        from rookery.sdk.deploy import deploy_model

        return deploy_model(
            workspace, name, models, _inference(image_config), deployment_config, deployment_target, overwrite
        )

    @staticmethod
    def deploy_local_from_model(
        workspace: Any, name: str, models: Any, image_config: Any, deployment_config: Any = None, wait: bool = False
    ) -> Any:
        from rookery.sdk.deployment_config import LocalWebserviceDeploymentConfiguration

        service = Webservice.deploy_from_model(
            workspace, name, models, image_config, deployment_config or LocalWebserviceDeploymentConfiguration()
        )
        if wait:
            service.wait_for_deployment()
        return service

    @staticmethod
    def deploy_from_image(
        workspace: Any,
        name: str,
        image: Any,
        deployment_config: Any = None,
        deployment_target: Any = None,
        overwrite: bool = False,
    ) -> Any:
        from rookery.errors import UnsupportedError

        raise UnsupportedError(
            "Webservice.deploy_from_image is not available in Rookery: services run without images. Use Model.deploy(ws, name, "
            "models, inference_config, deployment_config)."
        )

    @staticmethod
    def check_for_existing_webservice(
        workspace: Any,
        name: str,
        overwrite: bool = False,
        request_func: Optional[Callable[..., Any]] = None,
        check_func: Optional[Callable[..., Any]] = None,
    ) -> None:
        """ModelError where the name is taken and `overwrite` is off."""
        if not overwrite and name in list_services(workspace):
            raise ModelError(f"Error, there is already a service with name {name} found in workspace {workspace.name}.")

    @staticmethod
    def list(
        workspace: Any,
        compute_type: Optional[str] = None,
        image_name: Optional[str] = None,
        image_id: Optional[str] = None,
        model_name: Optional[str] = None,
        model_id: Optional[str] = None,
        tags: Any = None,
        properties: Any = None,
        image_digest: Optional[str] = None,
    ) -> builtins.list[Any]:
        """The services that match, by name. There are no images, so asking for one's services gives none."""
        if image_name or image_id or image_digest:
            return []
        query: dict[str, Any] = {"tag": key_values(tags) or None, "model": model_name}
        if compute_type is not None:
            query["kind"] = _kind_of(compute_type)
        if model_id is not None:
            query["model"], _, query["model_version"] = str(model_id).partition(":")
        query = {key: value for key, value in query.items() if value}
        services = [service_from(workspace, data) for data in list_services(workspace, query).values()]
        wanted = [pair.partition("=") for pair in key_values(properties, "properties")]
        return [s for s in services if all(_has(s.properties, key, equals, value) for key, equals, value in wanted)]

    # -- how it is

    def update_deployment_state(self) -> None:
        """Look again. A service that is gone has the state 'Deleted' then."""
        try:
            self._load(self.workspace, self.workspace.client.request("GET", self._path()))
        except NotFoundError:
            self.state = "Deleted"

    def wait_for_deployment(self, show_output: bool = False, timeout_sec: Optional[float] = None) -> None:
        """Return when the last thing that was asked of it (deploy, update, reload) is done.

        Raises:
            ModelError: it failed, with the reason and the last lines of its log; or `timeout_sec` has passed.
        """
        wait_for_operation(self, show_output, timeout_sec)

    def get_logs(self, num_lines: int = 5000, init: bool = False) -> str:
        """What its processes wrote, the last `num_lines` lines."""
        target = io.BytesIO()
        self.workspace.client.download(self._path("/logs"), target, query={"lines": int(num_lines)})
        return target.getvalue().decode("utf-8", "replace")

    def run(self, input: Any = None, *, input_data: Any = None) -> Any:
        """Score: what the script's `run` returned. `input` (v1's kinds call it `input_data`) is text (JSON), or bytes: a
        picture, for instance.

        Raises:
            ModelError: the service refused or failed; `status_code` says how.
        """
        given = input if input is not None else input_data
        if not isinstance(given, (str, bytes, bytearray)):
            raise ModelError(
                f"The input is {type(given).__name__}. Give text, such as json.dumps({{'data': …}}), or the bytes of a picture."
            )
        answer = ask_service(self.workspace, self._data, given, key=self._key)
        if answer[0] == 401:
            self._known_key = None  # somebody has made it anew
            answer = ask_service(self.workspace, self._data, given, key=self._key)
        return decode_answer(self.name, answer)

    # -- who may ask it

    def get_keys(self) -> tuple[str, str]:
        """(primary, secondary): `Authorization: Bearer <key>`."""
        keys = self.workspace.client.request("GET", self._path("/keys"))
        return keys["primary"], keys["secondary"]

    def regen_key(self, key: str, set_key: Optional[str] = None) -> None:
        """Make the 'Primary' or 'Secondary' key anew; the old one is void at once."""
        word = str(key).capitalize()
        if word not in ("Primary", "Secondary"):
            raise ModelError(f"key={key!r} does not exist. Known: Primary, Secondary.")
        body = {"key": word, **({"value": set_key} if set_key else {})}
        self.workspace.client.request("POST", self._path("/keys"), body=body)
        self._known_key = None

    def get_token(self) -> tuple[str, datetime.datetime]:
        """(token, when to ask for the next one). ModelError where the service does not take tokens."""
        token = self._token()
        return token["access_token"], datetime.datetime.fromtimestamp(token["refresh_after"])

    # -- changing it

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Of the kinds: what is given is changed, the rest stays. Drained: no request fails meanwhile."""
        raise NotImplementedError

    def delete(self) -> None:
        """Take it down; nothing answers at its address any more."""
        try:
            self.workspace.client.request("DELETE", self._path())
        except NotFoundError:
            pass
        self.state = "Deleted"

    def add_tags(self, tags: Any) -> None:
        self._patch({"tags": texts(tags) or {}})

    def remove_tags(self, tags: Any) -> None:
        self._patch({"remove_tags": [tags] if isinstance(tags, str) else [str(tag) for tag in tags]})

    def add_properties(self, properties: Any) -> None:
        self._patch({"properties": texts(properties) or {}})

    # -- as data

    def serialize(self) -> dict[str, Any]:
        """JSON data, for printing."""
        config = self._version["config"]
        return {
            "name": self.name,
            "id": self.name,
            "description": self.description,
            "tags": self.tags,
            "properties": self.properties,
            "state": self.state,
            "createdTime": self.created_time,
            "updatedTime": self.updated_time,
            "error": self.error,
            "computeType": self.compute_type,
            "modelIds": [model["id"] for model in self.models_data],
            "workspaceName": self.workspace.name,
            "authEnabled": self.auth_enabled,
            "scoringUri": self.scoring_uri,
            "swaggerUri": self.swagger_uri,
            "containerResourceRequirements": {"cpu": config.get("cpu_cores"), "memoryInGB": config.get("memory_gb")},
        }

    @classmethod
    def deserialize(cls, workspace: Any, webservice_payload: dict[str, Any]) -> Any:
        """The service that `serialize` described, as it is now."""
        if "name" not in webservice_payload:
            raise ModelError("The payload names no 'name'. Give what service.serialize() returned.")
        return Webservice(workspace, webservice_payload["name"])

    @property
    def models(self) -> builtins.list[Any]:
        """Its models, as Model objects."""
        from rookery.sdk.model import Model

        return [Model(self.workspace, id=model["id"]) for model in self.models_data]

    @property
    def portal_url(self) -> str:
        """Its page in the studio. Ours, not v1's."""
        return f"{self.workspace._base_url}/endpoints/{quote_path(self.name)}"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(workspace={self.workspace!r}, name={self.name}, compute_type={self.compute_type}, "
            f"state={self.state}, scoring_uri={self.scoring_uri}, tags={self.tags}, properties={self.properties})"
        )

    # -- for the kinds

    def _load(self, workspace: Any, data: dict[str, Any]) -> None:
        self.workspace = workspace
        self._data = data
        self.name: str = data["name"]
        self.state = self._state(data)
        self.error: Any = data["error"] or (data["operation"] or {}).get("error")
        self.description: str = data["description"]
        self.tags: dict[str, Any] = dict(data["tags"])
        self.properties = {k: v for k, v in data["properties"].items() if k != KIND_PROPERTY}
        self.created_time, self.updated_time = data["created_utc"], data["updated_utc"]
        self.auth_enabled: bool = data["auth_enabled"]
        self.token_auth_enabled: bool = data["token_auth_enabled"]
        self.scoring_uri: str = data["scoring_uri"]
        self.swagger_uri: str = data["swagger_uri"]
        versions = data["versions"]
        self._version: dict[str, Any] = next((v for v in versions if v["is_default"]), versions[0])
        self.models_data = [{**m, "id": f"{m['name']}:{m['version']}"} for m in self._version["models"]]
        self.image_id = self.image = None
        inference = self._version["inference"] or {}
        self.environment = inference.get("environment")

    def _state(self, data: dict[str, Any]) -> str:
        return str(data["state"])

    def _path(self, rest: str = "") -> str:
        return f"/endpoints/{quote_path(self.name)}{rest}"

    def _patch(self, changes: dict[str, Any]) -> None:
        if changes:
            self._load(self.workspace, self.workspace.client.request("PATCH", self._path(), body=changes))

    def _token(self) -> dict[str, Any]:
        from rookery.errors import ConflictError

        try:
            token: dict[str, Any] = self.workspace.client.request("POST", self._path("/token"))
        except ConflictError as error:
            raise ModelError(error.message, error) from error
        return token

    def _key(self) -> Optional[str]:
        """What opens it; asked for once."""
        if not (self.auth_enabled or self.token_auth_enabled):
            return None
        if self._known_key is None:
            self._known_key = self._token()["access_token"] if self.token_auth_enabled else Webservice.get_keys(self)[0]
        return self._known_key


def fetch_service(workspace: Any, name: str) -> dict[str, Any]:
    """The endpoint as the keeper tells it; ModelError with the names that there are."""
    try:
        found: dict[str, Any] = workspace.client.request("GET", f"/endpoints/{quote_path(str(name))}")
        return found
    except NotFoundError as error:
        known = ", ".join(list_services(workspace)) or "none"
        raise ModelError(
            f"WebserviceNotFound: Webservice with name {name} not found in workspace {workspace.name}. Known: {known}. Deploy "
            "one with Model.deploy(…) or `rookery deploy MODEL`.",
            error,
            status_code=404,
        ) from None


def list_services(workspace: Any, query: Optional[dict[str, Any]] = None) -> dict[str, dict[str, Any]]:
    """Name → endpoint as the keeper tells it."""
    return {data["name"]: data for data in workspace.client.request("GET", "/endpoints", query=query)["endpoints"]}


def service_from(workspace: Any, data: dict[str, Any]) -> Any:
    """The service of its own class, from what the keeper tells."""
    from rookery.sdk.aks_endpoint import AksEndpoint
    from rookery.sdk.webservice_kinds import AciWebservice, AksWebservice, LocalWebservice

    classes: dict[str, Any] = {"local": LocalWebservice, "aci": AciWebservice, "aks": AksWebservice}
    cls = classes.get(data["kind"], LocalWebservice)
    if data["kind"] == "aks" and (data["properties"].get(KIND_PROPERTY) == "AksEndpoint" or len(data["versions"]) > 1):
        cls = AksEndpoint
    service = object.__new__(cls)
    service._load(workspace, data)
    return service


def _kind_of(compute_type: str) -> str:
    kinds = {"local": "local", "aci": "aci", "aks": "aks", "aksendpoint": "aks"}
    if str(compute_type).lower() not in kinds:
        raise ModelError(f"compute_type={compute_type!r} does not exist. Known: Local, ACI, AKS, AKSENDPOINT.")
    return kinds[str(compute_type).lower()]


def _has(properties: dict[str, Any], key: str, equals: str, value: str) -> bool:
    return key in properties and (not equals or properties[key] == value)


def _model_name(path: str) -> str:
    return os.path.basename(os.path.normpath(path)) or "model"


def _inference(image_config: Any) -> Any:
    """An InferenceConfig of what an image's configuration says; one is taken as it is."""
    convert = getattr(image_config, "to_inference_config", None)
    return convert() if convert is not None else image_config
