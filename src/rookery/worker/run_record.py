"""Tags, properties and names of a run; models made from it."""

from rookery.errors import UserError
from rookery.worker.artifact_names import check_artifact_name
from rookery.worker.run_files import FilesPart
from rookery.worker.values import plain_tags

__all__ = ["RecordPart", "RegisteredModel"]


class RecordPart(FilesPart):
    def tag(self, key, value=None):
        self._sink.append(["g", None, plain_tags({key: value})])

    def set_tags(self, tags):
        self._sink.append(["g", None, plain_tags(tags)])

    def remove_tags(self, tags):
        keys = [tags] if isinstance(tags, str) else [str(key) for key in tags]
        self._sink.append(["-g", None, keys])

    def get_tags(self):
        self._drain()
        return dict(self._refresh()["tags"])

    @property
    def tags(self):
        return self.get_tags()

    def add_properties(self, properties):
        """Facts that are written once: a key that exists keeps its value, and giving another is an error."""
        properties = {k: "" if v is None else v for k, v in plain_tags(properties, "properties").items()}
        if not self._uploads_folder():
            # Outside of a run the keeper answers at once, and says so when a key exists.
            self._ask("PATCH", body={"properties": properties})
            return
        for key, value in properties.items():
            if self._added_properties.get(key, value) != value:
                raise UserError(
                    "Property '{}' of run {} exists and cannot be changed from {!r} to {!r}: properties "
                    "are written once. "
                    "Use a tag.".format(key, self.id, self._added_properties[key], value)
                )
        self._added_properties.update(properties)
        self._sink.append(["p", None, properties])

    def get_properties(self):
        self._drain()
        return dict(self._refresh()["properties"])

    @property
    def properties(self):
        return self.get_properties()

    @property
    def display_name(self):
        self._drain()
        return self._refresh()["display_name"]

    @display_name.setter
    def display_name(self, text):
        self._sink.append(["n", None, {"display_name": str(text)}])

    @property
    def description(self):
        self._drain()
        return self._refresh()["description"]

    @description.setter
    def description(self, text):
        self._sink.append(["n", None, {"description": str(text)}])

    def register_model(
        self,
        model_name,
        model_path=None,
        tags=None,
        properties=None,
        model_framework=None,
        model_framework_version=None,
        description=None,
        datasets=None,
        sample_input_dataset=None,
        sample_output_dataset=None,
        resource_configuration=None,
        **kwargs,
    ):
        """Register a file or folder of this run as a model. `model_path` is the name it has in the run."""
        path = check_artifact_name(model_path or model_name)
        self._drain()
        if self._in_run:
            self._upload_where_missing(path)
        body = {
            "name": model_name,
            "run_id": self.id,
            "path": path,
            "tags": plain_tags(tags or {}),
            "properties": plain_tags(properties or {}, "properties"),
            "description": description or "",
            "framework": model_framework,
            "framework_version": model_framework_version,
            "datasets": _plain_datasets(datasets),
            "sample_input": _plain_dataset(sample_input_dataset),
            "sample_output": _plain_dataset(sample_output_dataset),
            "resource": _plain_resource(resource_configuration),
        }
        return self._make_model(self._client.request("POST", "/models", body=body))

    def _make_model(self, data):
        """The object for a registered model. Subclasses return one of their own class."""
        return RegisteredModel(data)

    def _upload_where_missing(self, path):
        """./outputs is stored when the run ends; a model that is registered before needs its files now."""
        import os

        names = [a["name"] for a in self._ask(path="/artifacts", query={"prefix": path})["artifacts"]]
        if any(name == path or name.startswith(path + "/") for name in names):
            return
        if os.path.isdir(path):
            self.upload_folder(path, path)
        elif os.path.isfile(path):
            self.upload_file(path, path)
        else:
            return
        self._drain()


class RegisteredModel(object):
    """What the keeper answered: name, version, id, tags, files …, as attributes."""

    def __init__(self, data):
        self.__dict__.update(data)

    def __repr__(self):
        return "Model(name={}, version={}, id={})".format(
            self.__dict__.get("name"), self.__dict__.get("version"), self.__dict__.get("id")
        )


def _plain_datasets(datasets):
    found = []
    for item in datasets or []:
        if isinstance(item, (list, tuple)) and len(item) == 2:
            found.append([str(item[0]), _plain_dataset(item[1])])
        else:
            found.append(["", _plain_dataset(item)])
    return found


def _plain_dataset(dataset):
    if dataset is None or isinstance(dataset, str):
        return dataset
    return str(getattr(dataset, "id", None) or getattr(dataset, "name", None) or dataset)


def _plain_resource(resource):
    if resource is None or isinstance(resource, dict):
        return resource
    return {key: value for key, value in vars(resource).items() if not key.startswith("_")}
