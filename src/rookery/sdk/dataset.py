"""Dataset: what files and tables share. `Dataset.File` and `Dataset.Tabular` make them; registering gives a name and versions.

A data set is its definition (docs/inside/data.md), and nothing is read before somebody asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

from rookery.errors import UserError
from rookery.sdk.collection import NamedCollection
from rookery.sdk.data_delivery import resolve, save_definition
from rookery.sdk.filters import texts
from rookery.spec.data_definition import TABULAR, check_definition, definition_id
from rookery.spec.manifest import Manifest
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.sdk.dataset_consumption import DatasetConsumptionConfig
    from rookery.sdk.workspace import Workspace

__all__ = ["AbstractDataset", "Dataset", "make_dataset"]

REGISTER_S = 3600.0


class _Factory:
    """`Dataset.File`, `Dataset.Tabular`: loaded when they are first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        from rookery.sdk import dataset_factory

        return getattr(dataset_factory, self._name)


class Dataset:
    """A data set: registered (with a name and a version) or not yet."""

    File = _Factory("FileDatasetFactory")
    Tabular = _Factory("TabularDatasetFactory")

    def __init__(
        self,
        _definition: Optional[dict[str, Any]] = None,
        _workspace: Optional[Workspace] = None,
        _data: Optional[dict[str, Any]] = None,
    ) -> None:
        if _definition is None:
            raise UserError(
                f"{type(self).__name__} is not made like this. Use Dataset.File.from_files, "
                "Dataset.Tabular.from_delimited_files or Dataset.get_by_name."
            )
        self._definition = check_definition(_definition)
        self._workspace_object = _workspace
        self._data = _data  # what the keeper tells of the registered version

    # -- what it is

    @property
    def id(self) -> str:
        """A GUID that follows from its definition."""
        return definition_id(self._definition)

    @property
    def name(self) -> Optional[str]:
        """The name it is registered under; None where it is not."""
        return self._data["name"] if self._data else None

    @property
    def version(self) -> Optional[int]:
        return self._data["version"] if self._data else None

    @property
    def description(self) -> Optional[str]:
        return self._data["description"] if self._data else None

    @property
    def tags(self) -> dict[str, Any]:
        return dict(self._data["tags"]) if self._data else {}

    @property
    def data_changed_time(self) -> Any:
        """When the newest version of it was registered; None where it is not."""
        from datetime import datetime, timezone

        if not self._data:
            return None
        moment = datetime.strptime(self._data["created_utc"], "%Y-%m-%dT%H:%M:%S.%fZ")
        return moment.replace(tzinfo=timezone.utc)

    @property
    def fingerprint(self) -> str:
        """The hash of the content that it has now. Not of v1."""
        return self._manifest().fingerprint

    @property
    def partition_keys(self) -> list[str]:
        """The columns that `partition_format` takes from the paths of files."""
        from rookery.sdk.partitions import partition_names

        return partition_names(self._definition.get("partition_format") or "")

    # -- finding

    @staticmethod
    def get_by_name(workspace: Workspace, name: str, version: Any = "latest", **kwargs: Any) -> Any:
        """A registered data set; DatasetNotFoundError where there is none of that name or version."""
        query = {} if version in (None, "latest") else {"version": _version(version)}
        data = _client(workspace).request("GET", f"/datasets/{quote_path(_text(name, 'name'))}", query)
        return make_dataset(workspace, data["definition"], data)

    @staticmethod
    def get_by_id(workspace: Workspace, id: str, **kwargs: Any) -> Any:
        """By the id of its definition, registered or not."""
        found = _client(workspace).request("GET", f"/data/definitions/{quote_path(_text(id, 'id'))}")
        return make_dataset(workspace, found["definition"])

    @staticmethod
    def get_all(workspace: Workspace) -> NamedCollection:
        """The latest version of each, by name."""

        def names() -> dict[str, Any]:
            return {each["name"]: each for each in _client(workspace).request("GET", "/datasets")["datasets"]}

        return NamedCollection("data set", names, lambda data: make_dataset(workspace, data["definition"], data))

    # -- registering

    def register(
        self,
        workspace: Workspace,
        name: str,
        description: Optional[str] = None,
        tags: Optional[dict[str, Any]] = None,
        create_new_version: bool = False,
    ) -> Any:
        """Give it a name. The same definition with the same content is the version that has it already.

        Raises:
            ConflictError: the name is taken by another one, and create_new_version is not set.
            DataError: its files are not there.
        """
        body = {
            "name": name,
            "definition": self._definition,
            "description": description,
            "tags": texts(tags) or {},
            "create_new_version": bool(create_new_version),
        }
        data = workspace.client.request("POST", "/datasets", body=body, timeout_s=REGISTER_S)
        return make_dataset(workspace, data["definition"], data)

    def update(self, description: Optional[str] = None, tags: Optional[dict[str, Any]] = None) -> Any:
        """Change the description, or replace the tags."""
        body: dict[str, Any] = {} if description is None else {"description": description}
        if tags is not None:
            body.update(tags=texts(tags), replace_tags=True)
        return self._change(body)

    def add_tags(self, tags: Optional[dict[str, Any]] = None) -> Any:
        return self._change({"tags": texts(tags) or {}})

    def remove_tags(self, tags: Optional[list[str]] = None) -> Any:
        return self._change({"remove_tags": list(tags or ())})

    def unregister_all_versions(self) -> None:
        """Forget its name with all versions; files stay."""
        data = self._registered()
        self._workspace().client.request("DELETE", f"/datasets/{quote_path(data['name'])}")
        self._data = None

    # -- for runs

    def as_named_input(self, name: str) -> DatasetConsumptionConfig:
        """As an input of a run under this name. Tables are given as they are (direct); files want as_mount or as_download."""
        from rookery.sdk.dataset_consumption import DatasetConsumptionConfig

        return DatasetConsumptionConfig(name, self)

    def get_partition_key_values(self, partition_keys: Optional[list[str]] = None) -> list[dict[str, Any]]:
        """The combinations of values that the partition keys have, each once."""
        from rookery.sdk.partitions import partition_values

        wanted = partition_keys or self.partition_keys
        found = []
        for entry in self._manifest().entries:
            values = partition_values(self._definition.get("partition_format") or "", "/" + entry.path) or {}
            row = {key: values.get(key) for key in wanted}
            if not entry.is_folder and row not in found:
                found.append(row)
        return found

    def __repr__(self) -> str:
        what = f'"{self.name}", version {self.version}' if self._data else "not registered"
        sources = [s.get("url") or f"{s['datastore']}/{s['path']}" for s in self._definition["sources"][:3]]
        more = "" if len(self._definition["sources"]) <= 3 else " …"
        return f"{type(self).__name__}({what}, source=[{', '.join(sources)}{more}])"

    # -- for the rest of the SDK

    def _workspace(self) -> Workspace:
        """Where it is looked up: its own, else the one that this code works in."""
        if self._workspace_object is None:
            from rookery.sdk.workspace import Workspace

            self._workspace_object = Workspace.from_config()
        return self._workspace_object

    def _save(self, workspace: Optional[Workspace] = None) -> str:
        return save_definition((workspace or self._workspace()).client, self._definition)

    def _manifest(self) -> Manifest:
        return resolve(self._workspace().client, self._save())

    def _with(self, **changes: Any) -> Any:
        """Another one, whose definition differs in this."""
        return type(self)({**self._definition, **changes}, self._workspace_object)

    def _step(self, op: str, **values: Any) -> Any:
        return self._with(steps=[*self._definition.get("steps", ()), {"op": op, **values}])

    def _registered(self) -> dict[str, Any]:
        if self._data is None:
            raise UserError("This data set is not registered. Call register(workspace, name) first.")
        return self._data

    def _change(self, body: dict[str, Any]) -> Any:
        data = self._registered()
        route = f"/datasets/{quote_path(data['name'])}/{data['version']}"
        self._data = self._workspace().client.request("PATCH", route, body=body)
        return self


AbstractDataset = Dataset  # v1 has both names


def make_dataset(
    workspace: Optional[Workspace], definition: dict[str, Any], data: Optional[dict[str, Any]] = None
) -> Any:
    """A FileDataset or a TabularDataset."""
    from rookery.sdk.file_dataset import FileDataset
    from rookery.sdk.tabular_dataset import TabularDataset

    return (TabularDataset if definition["kind"] == TABULAR else FileDataset)(definition, workspace, data)


def _client(workspace: Any) -> Any:
    """
    Raises:
        UserError: it is no workspace; None is what most people have when there is none.
    """
    if not hasattr(workspace, "client"):
        raise UserError(
            f"workspace={workspace!r:.80} is no Workspace. Give one: `Workspace.from_config()`, or in a run "
            "`Run.get_context().experiment.workspace`."
        )
    return workspace.client


def _version(version: Union[int, str]) -> int:
    try:
        return int(version)
    except (TypeError, ValueError):
        raise UserError(f"version={version!r} of a data set. Give a number, or 'latest'.") from None


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise UserError(f"{what} is {value!r}. Give a text.")
    return value
