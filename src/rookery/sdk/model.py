"""Model: a named, versioned file or folder, and where it came from."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import ModelNotFoundError, NotFoundError, UnsupportedError, UserError
from rookery.sdk.filters import given, key_values, texts
from rookery.sdk.model_files import collect_files, download_model, find_model_path, upload_files
from rookery.sdk.unsupported import later
from rookery.spec.names import check_model_name
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.sdk.run import Run
    from rookery.sdk.workspace import Workspace

__all__ = ["Model"]


class Model:
    """One version of a registered model.

    The constructor looks it up: by `id` ("name:version"), or the newest that matches name, version, tags,
    properties, run_id and model_framework. `ModelNotFoundError` when there is none.
    """

    class Framework:
        """Names that `model_framework` may have; others are kept as they are."""

        CUSTOM = "Custom"
        TENSORFLOW = "TensorFlow"
        SCIKITLEARN = "ScikitLearn"
        ONNX = "Onnx"
        TFKERAS = "TfKeras"
        PYTORCH = "PyTorch"
        MULTI = "Multi"

    def __init__(
        self,
        workspace: Workspace,
        name: Optional[str] = None,
        id: Optional[str] = None,
        tags: Any = None,
        properties: Any = None,
        version: Optional[int] = None,
        run_id: Optional[str] = None,
        model_framework: Optional[str] = None,
        expand: bool = True,
        *,
        _data: Optional[dict[str, Any]] = None,
        **kwargs: Any,
    ) -> None:
        self.workspace = workspace
        self._set(_data or _find(workspace, name, id, tags, properties, version, run_id, model_framework))

    @staticmethod
    def register(
        workspace: Workspace,
        model_path: str,
        model_name: str,
        tags: Any = None,
        properties: Any = None,
        description: Optional[str] = None,
        datasets: Any = None,
        model_framework: Optional[str] = None,
        model_framework_version: Optional[str] = None,
        child_paths: Optional[builtins.list[str]] = None,
        sample_input_dataset: Any = None,
        sample_output_dataset: Any = None,
        resource_configuration: Any = None,
    ) -> Model:
        """Store a local file or folder under a name; the next version of it when the name exists.

        `child_paths`: of a folder, only these files and folders (relative to it). Bytes that are stored
        already do not travel.
        """
        check_model_name(model_name)
        files = collect_files(model_path, child_paths)
        client = workspace.client
        body = model_body(
            model_name,
            tags,
            properties,
            description,
            datasets,
            model_framework,
            model_framework_version,
            sample_input_dataset,
            sample_output_dataset,
            resource_configuration,
        )
        body["entries"] = upload_files(client, files)
        return Model(workspace, _data=client.request("POST", "/models", body=body))

    @staticmethod
    def list(
        workspace: Workspace,
        name: Optional[str] = None,
        tags: Any = None,
        properties: Any = None,
        run_id: Optional[str] = None,
        latest: bool = False,
        dataset_id: Optional[str] = None,
        expand: bool = True,
        page_count: int = 255,
        model_framework: Optional[str] = None,
    ) -> builtins.list[Model]:
        """All models that match, newest first; `latest` keeps one version of each name."""
        if dataset_id is not None:
            raise UnsupportedError(
                "Model.list(dataset_id=…) needs datasets, which this version does not have yet. Filter by tags instead."
            )
        query = _filters(name, tags, properties, run_id, model_framework)
        if latest:
            query["latest"] = "true"
        found = workspace.client.request("GET", "/models", query=query)["models"]
        return [Model(workspace, _data=data) for data in found]

    @staticmethod
    def get_model_path(model_name: str, version: Optional[int] = None, _workspace: Optional[Workspace] = None) -> str:
        """Where the model's file or folder lies: deployed beside us, in the current folder, or downloaded
        inside a run."""
        return find_model_path(model_name, version, _workspace)

    def download(self, target_dir: str = ".", exist_ok: bool = False, exists_ok: Optional[bool] = None) -> str:
        """Fetch the model into `target_dir`; the path of its file or folder. An existing one is an error
        unless `exist_ok`."""
        return download_model(
            self.workspace.client, self._data, target_dir, exist_ok if exists_ok is None else exists_ok
        )

    @property
    def run(self) -> Optional[Run]:
        """The run that made it: `model.run.get_snapshot_id()` leads to the code. None for a local file."""
        from rookery.sdk.run import Run

        return Run.get(self.workspace, self.run_id) if self.run_id else None

    def update(
        self,
        tags: Any = None,
        description: Optional[str] = None,
        sample_input_dataset: Any = None,
        sample_output_dataset: Any = None,
        resource_configuration: Any = None,
    ) -> None:
        """Replace what is given; `tags` replaces all tags."""
        changes: dict[str, Any] = {}
        if tags is not None:
            changes["tags"] = texts(tags)
            changes["remove_tags"] = [key for key in self.tags if key not in tags]
        changes.update(
            given(
                description=description,
                sample_input=_plain(sample_input_dataset),
                sample_output=_plain(sample_output_dataset),
                resource=_plain(resource_configuration),
            )
        )
        self._patch(changes)

    def update_tags_properties(self, add_tags: Any = None, remove_tags: Any = None, add_properties: Any = None) -> None:
        """Properties can be added and never changed."""
        changes = given(
            tags=texts(add_tags),
            remove_tags=_keys(remove_tags) if remove_tags is not None else None,
            properties=texts(add_properties),
        )
        self._patch(changes)

    def add_tags(self, tags: Any) -> None:
        self.update_tags_properties(add_tags=tags)

    def remove_tags(self, tags: Any) -> None:
        self.update_tags_properties(remove_tags=tags)

    def add_properties(self, properties: Any) -> None:
        self.update_tags_properties(add_properties=properties)

    def delete(self) -> None:
        """Forget this version. Its bytes stay for as long as a run or another model has them."""
        self.workspace.client.request("DELETE", self._path())

    def serialize(self) -> dict[str, Any]:
        """JSON data, for printing and for `deserialize`."""
        return {
            "createdTime": self.created_time,
            "createdBy": self.created_by,
            "description": self.description,
            "id": self.id,
            "name": self.name,
            "version": self.version,
            "framework": self.model_framework,
            "frameworkVersion": self.model_framework_version,
            "tags": self.tags,
            "properties": self.properties,
            "experimentName": self.experiment_name,
            "runId": self.run_id,
            "unpack": self.unpack,
            "url": self.url,
            "mimeType": self.mime_type,
            "files": [file["path"] for file in self._data["files"]],
        }

    @staticmethod
    def deserialize(workspace: Workspace, model_payload: dict[str, Any]) -> Model:
        """The model that `serialize` described, as it is now."""
        if "id" not in model_payload:
            raise UserError("The payload names no 'id'. Give what model.serialize() returned.")
        return Model(workspace, id=model_payload["id"])

    @staticmethod
    def deploy(
        workspace: Workspace,
        name: str,
        models: Any,
        inference_config: Any = None,
        deployment_config: Any = None,
        deployment_target: Any = None,
        overwrite: bool = False,
        show_output: bool = False,
    ) -> Any:
        """Put models behind an address; a Webservice, at once. Without `inference_config` the model's framework and files
        decide how it is scored (ONNX, PyTorch, scikit-learn).

        Raises:
            ModelError: the name is taken and `overwrite` is off, or what was given cannot be.
        """
        from rookery.sdk.deploy import deploy_model

        return deploy_model(
            workspace, name, models, inference_config, deployment_config, deployment_target, overwrite, show_output
        )

    @staticmethod
    def package(
        workspace: Workspace,
        models: Any,
        inference_config: Any = None,
        generate_dockerfile: bool = False,
        image_name: Optional[str] = None,
        image_label: Optional[str] = None,
    ) -> Any:
        """Models, code and the scoring program as a folder with a Dockerfile; a ModelPackage."""
        from rookery.sdk.model_package import package_model

        return package_model(workspace, models, inference_config, generate_dockerfile, image_name, image_label)

    @staticmethod
    def profile(
        workspace: Workspace,
        profile_name: str,
        models: Any,
        inference_config: Any,
        input_dataset: Any,
        cpu: Optional[float] = None,
        memory_in_gb: Optional[float] = None,
        description: Optional[str] = None,
    ) -> Any:
        """Find out how quick a model answers on the keeper's machine; a ModelProfile, which goes on."""
        from rookery.sdk.model_profile import profile_model

        return profile_model(
            workspace, profile_name, models, inference_config, input_dataset, cpu, memory_in_gb, description
        )

    @staticmethod
    def print_configuration(models: Any, inference_config: Any, deployment_config: Any, deployment_target: Any) -> None:
        """Print what `deploy` would be given."""
        from rookery.sdk.deploy import print_configuration

        print_configuration(models, inference_config, deployment_config, deployment_target)

    add_dataset_references = later("Model.add_dataset_references")
    get_sas_urls = later("Model.get_sas_urls")

    def __repr__(self) -> str:
        return (
            f"Model(workspace={self.workspace!r}, name={self.name}, id={self.id}, version={self.version}, "
            f"tags={self.tags}, properties={self.properties})"
        )

    def _set(self, data: dict[str, Any]) -> None:
        self._data = data
        self.name: str = data["name"]
        self.version: int = data["version"]
        self.id: str = data["id"]
        self.created_by = data["created_by"]
        self.created_time = data["created_utc"]
        self.description = data["description"]
        self.tags: dict[str, Any] = dict(data["tags"])
        self.properties: dict[str, Any] = dict(data["properties"])
        self.model_framework = data["framework"]
        self.model_framework_version = data["framework_version"]
        self.run_id: Optional[str] = data["run_id"]
        self.experiment_name = data["experiment"]
        self.datasets = data["datasets"] or {}
        self.sample_input_dataset = data["sample_input"]
        self.sample_output_dataset = data["sample_output"]
        self.resource_configuration = data["resource"]
        self.unpack = data["is_folder"]
        self.url = f"rookery://models/{self.name}/{self.version}"
        self.mime_type = "application/x-folder" if data["is_folder"] else "application/octet-stream"

    def _patch(self, changes: dict[str, Any]) -> None:
        if changes:
            self._set(self.workspace.client.request("PATCH", self._path(), body=changes))

    def _path(self) -> str:
        return f"/models/{quote_path(self.name)}/{self.version}"


def model_body(
    name: str,
    tags: Any,
    properties: Any,
    description: Optional[str],
    datasets: Any,
    framework: Optional[str],
    framework_version: Optional[str],
    sample_input: Any,
    sample_output: Any,
    resource: Any,
) -> dict[str, Any]:
    """What POST /models wants, apart from where the bytes are."""
    return {
        "name": name,
        "tags": texts(tags) or {},
        "properties": texts(properties) or {},
        "description": description or "",
        "framework": framework,
        "framework_version": framework_version,
        "datasets": _plain(datasets) or {},
        "resource": _plain(resource),
        "sample_input": _plain(sample_input),
        "sample_output": _plain(sample_output),
    }


def _find(
    workspace: Workspace,
    name: Optional[str],
    id: Optional[str],
    tags: Any,
    properties: Any,
    version: Optional[int],
    run_id: Optional[str],
    framework: Optional[str],
) -> dict[str, Any]:
    if id is not None:
        name, separator, number = str(id).rpartition(":")
        if not separator or not number.isdigit():
            raise UserError(f"{id!r} is not a valid model id. It looks like 'name:version', for instance 'birds:3'.")
        version = int(number)
    if name is None and not (tags or properties or run_id or framework):
        raise UserError(
            "Say which model: its name or id, or what to look for: tags, properties, run_id, model_framework."
        )
    client = workspace.client
    query = _filters(name, tags, properties, run_id, framework)
    try:
        found = client.request("GET", "/models", query=query)["models"]
    except NotFoundError:
        found = []
    if version is not None:
        found = [data for data in found if data["version"] == int(version)]
    if found:
        return (
            max(found, key=lambda data: data["created_utc"])
            if name is None
            else max(found, key=lambda data: data["version"])
        )
    raise _not_found(client, name, query, version)


def _not_found(client: Any, name: Optional[str], query: dict[str, Any], version: Optional[int]) -> ModelNotFoundError:
    asked = [f"{key} {value}" for key, value in query.items() if key != "name"]
    what = f"Model '{name}'" if name else "A model"
    if version is not None:
        what += f" of version {version}"
    if asked:
        what += " with " + ", ".join(asked)
    known = sorted({data["name"] for data in client.request("GET", "/models", query={"latest": "true"})["models"]})
    return ModelNotFoundError(
        f"{what} does not exist. Known models: {', '.join(known) or 'none'}. "
        "Register one with run.register_model(…) or Model.register(…)."
    )


def _filters(name: Any, tags: Any, properties: Any, run_id: Any, framework: Any) -> dict[str, Any]:
    return given(
        name=name,
        tag=key_values(tags) or None,
        property=key_values(properties) or None,
        run_id=run_id,
        framework=framework,
    )


def _keys(names: Any) -> builtins.list[str]:
    return [names] if isinstance(names, str) else [str(name) for name in names]


def _plain(value: Any) -> Any:
    """JSON data for what v1 passes as objects (ResourceConfiguration, datasets)."""
    if hasattr(value, "serialize"):
        return value.serialize()
    if isinstance(value, (builtins.list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool, dict)):
        return value
    return str(value)
