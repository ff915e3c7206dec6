"""Modules of the palette, and scripts that are published as modules, in versions."""

from __future__ import annotations

import builtins
from typing import Any, Optional

from rookery.errors import NotFoundError, UnsupportedError, UserError
from rookery.sdk.environment_spec import environment_spec
from rookery.sdk.graph_parts import InputPortDef, OutputPortDef, ParamDef
from rookery.sdk.pipeline_data import PipelineParameter
from rookery.sdk.snapshots import snapshot_folder
from rookery.sdk.unsupported import later
from rookery.spec.plain import to_plain
from rookery.worker.http import quote_path

__all__ = ["Module", "ModuleInterface", "ModuleVersion", "ModuleVersionDescriptor", "module_environment"]

_ELSEWHERE = "Rookery runs scripts: publish_python_script."


class ModuleVersionDescriptor:
    """Which version it is, and its id."""

    def __init__(self, version: str, module_version_id: str) -> None:
        self.version, self.module_version_id = version, module_version_id

    def __repr__(self) -> str:
        return f"ModuleVersionDescriptor({self.version!r}, {self.module_version_id!r})"


class ModuleInterface:
    """The ports and parameters of a version."""

    def __init__(self, card: dict[str, Any]) -> None:
        self.inputs = [
            InputPortDef(port["name"], port["types"], port["optional"], port["label"]) for port in card["inputs"]
        ]
        self.outputs = [OutputPortDef(port["name"], port["types"][0], port["label"]) for port in card["outputs"]]
        self.params = [ParamDef(each["name"], each["default"], not each["required"]) for each in card["parameters"]]


class ModuleVersion:
    """A version of a module: what it does never changes, its description and status may."""

    def __init__(
        self, workspace: Any, module_entity: Module, version: str, _module_version_provider: Any = None
    ) -> None:
        self._workspace, self._module, self.version = workspace, module_entity, version

    @staticmethod
    def get(workspace: Any, module_version_id: Optional[str] = None, _workflow_provider: Any = None) -> ModuleVersion:
        name, _, version = str(module_version_id).partition(":")
        return Module.get(workspace, name).resolve(version)

    @property
    def module_id(self) -> str:
        return self._module.id

    @property
    def module_version_id(self) -> str:
        return f"{self._module.id}:{self.version}"

    @property
    def description(self) -> str:
        return str(self._data["description"])

    @property
    def status(self) -> str:
        """Active, Deprecated or Disabled."""
        return str(self._data["status"])

    @property
    def category(self) -> str:
        return str(self._data["card"]["category"])

    @property
    def interface(self) -> ModuleInterface:
        return ModuleInterface(self._data["card"])

    runconfig = None  # what a version was published with is part of it, and no object any more

    def module(self, _workflow_provider: Any = None) -> Module:
        return self._module

    def set_description(self, description: str) -> None:
        self._module._change(version=self.version, description=description)

    def enable(self) -> None:
        self._module._change(version=self.version, status="Active")

    def disable(self) -> None:
        """No pipeline that names it can be submitted."""
        self._module._change(version=self.version, status="Disabled")

    def deprecate(self) -> None:
        self._module._change(version=self.version, status="Deprecated")

    def __repr__(self) -> str:
        return f"ModuleVersion({self.module_version_id!r})"

    @property
    def _data(self) -> dict[str, Any]:
        return self._module._version(self.version)


class Module:
    """A module of the palette: one of those that come with Rookery, or one of one's own. `id` is its name as the keeper has it."""

    def __init__(self, workspace: Any, about: dict[str, Any], title: str = "") -> None:
        self._workspace, self._about = workspace, about
        self.id, self.name = str(about["name"]), title or str(about["name"])

    @property
    def description(self) -> str:
        return str(self._about["description"])

    @property
    def status(self) -> str:
        return str(self._about["status"])

    @property
    def default_version(self) -> Optional[str]:
        """The one that was made the default; None: none was."""
        found = self._about["default_version"]
        return None if found is None else str(found)

    @staticmethod
    def create(workspace: Any, name: str, description: str, _workflow_provider: Any = None) -> Module:
        """A name; `publish_python_script` gives it something to run."""
        path = f"/modules/{quote_path(_plain(name))}"
        return Module(workspace, workspace.client.request("PUT", path, body={"description": description or ""}), name)

    @staticmethod
    def get(
        workspace: Any, module_id: Optional[str] = None, name: Optional[str] = None, _workflow_provider: Any = None
    ) -> Module:
        """By its id, name or title."""
        wanted = str(module_id or name)
        cards = workspace.client.request("GET", "/modules")["modules"]
        card = next((card for card in cards if wanted in (card["name"], card["title"])), None)
        try:
            path = f"/modules/{quote_path(card['name'] if card else _plain(wanted))}/versions"
            return Module(workspace, workspace.client.request("GET", path), card["title"] if card else wanted)
        except NotFoundError:
            raise UserError(
                f"There is no module '{wanted}' here. `rookery module list` names those that are."
            ) from None

    @staticmethod
    def get_versions(
        workspace: Any, name: str, _workflow_provider: Any = None
    ) -> builtins.list[ModuleVersionDescriptor]:
        return Module.get(workspace, name=name).module_version_list()

    process_source_directory = staticmethod(later("Module.process_source_directory", _ELSEWHERE))
    module_def_builder = staticmethod(later("Module.module_def_builder", _ELSEWHERE))
    publish = later("Module.publish", _ELSEWHERE)
    publish_adla_script = later("Module.publish_adla_script", _ELSEWHERE)
    publish_azure_batch = later("Module.publish_azure_batch", _ELSEWHERE)

    def module_version_list(self) -> builtins.list[ModuleVersionDescriptor]:
        """Oldest first."""
        return [ModuleVersionDescriptor(each, f"{self.id}:{each}") for each in self._labels()]

    def publish_python_script(
        self,
        script_name: str,
        description: str,
        inputs: Any,
        outputs: Any,
        params: Optional[dict[str, Any]] = None,
        create_sequencing_ports: bool = True,
        version: Optional[str] = None,
        is_default: bool = False,
        source_directory: Optional[str] = None,
        hash_paths: Any = None,
        category: Optional[str] = None,
        arguments: Any = None,
        runconfig: Any = None,
    ) -> ModuleVersion:
        """A script as a version of the module.

        Without `arguments`, here or in the ModuleStep, the script is given its ports and parameters as `--name=value`. Arguments are
        text, ports (as in `inputs` and `outputs`) or PipelineParameters of the names in `params`. What is the same as the newest
        version is that version, where no label is given.
        """
        ports = {"input": [_port(each) for each in inputs or ()], "output": [_port(each) for each in outputs or ()]}
        snapshot = snapshot_folder(self._workspace.client, source_directory or ".")
        card: dict[str, Any] = {
            "name": self.id,
            "title": self.name,
            "category": category or "My modules",
            "help": description or "",
            "script": script_name,
            "inputs": [
                {"name": _port(each), "optional": bool(getattr(each, "is_optional", False))} for each in inputs or ()
            ],
            "outputs": [{"name": _port(each)} for each in outputs or ()],
            "parameters": [
                {"name": name, "kind": _kind(value), "default": _default(value)}
                for name, value in (params or {}).items()
            ],
        }
        if arguments:
            card["arguments"] = [_argument(each, ports, params or {}) for each in arguments]
        environment = module_environment(runconfig)
        if environment is not None:
            card["environment"] = environment
        body = {
            "card": card,
            "snapshot_id": snapshot.id,
            "version": None if version is None else str(version),
            "make_default": bool(is_default),
        }
        made = self._workspace.client.request("POST", "/modules", body=body)
        self._refresh()
        return ModuleVersion(self._workspace, self, str(made["version"]))

    def resolve(self, version: Optional[str] = None) -> ModuleVersion:
        """The version of that label; without one the default, else the highest number, else the newest."""
        label = self._about["current"] if version is None else str(version)
        if label is None or label not in self._labels():
            self._refresh()
            label = self._about["current"] if version is None else str(version)
        self._version(str(label))
        return ModuleVersion(self._workspace, self, str(label))

    def get_default(self) -> ModuleVersion:
        return self.resolve()

    def get_default_version(self) -> Optional[str]:
        return self.default_version

    def set_default_version(self, version_id: str) -> None:
        """By its label, or its id."""
        self._change(default_version=str(version_id).rpartition(":")[2])

    def set_description(self, description: str) -> None:
        self._change(description=description)

    def set_name(self, name: str) -> None:
        raise UnsupportedError(
            f"A module keeps its name, by which pipelines find it. Create '{name}', and publish its script there."
        )

    def enable(self) -> None:
        self._change(status="Active")

    def disable(self) -> None:
        """No pipeline that has it, and names no version, can be submitted."""
        self._change(status="Disabled")

    def deprecate(self) -> None:
        self._change(status="Deprecated")

    def delete(self) -> None:
        """Takes one's own module away, with all versions. Ours, not v1's."""
        self._workspace.client.request("DELETE", f"/modules/{quote_path(self.id)}")

    def __repr__(self) -> str:
        return f"Module({self.name!r}, versions: {', '.join(self._labels()) or 'none'})"

    def _labels(self) -> builtins.list[str]:
        return [str(each["version"]) for each in self._about["versions"]]

    def _version(self, label: str) -> dict[str, Any]:
        for each in self._about["versions"]:
            if each["version"] == label:
                return dict(each)
        known = ", ".join(self._labels()) or "none: publish_python_script makes one"
        raise UserError(f"Module '{self.name}' has no version {label}. It has: {known}.")

    def _change(self, **change: Any) -> None:
        self._about = self._workspace.client.request("PATCH", f"/modules/{quote_path(self.id)}", body=change)

    def _refresh(self) -> None:
        self._about = self._workspace.client.request("GET", f"/modules/{quote_path(self.id)}/versions")


def module_environment(runconfig: Any) -> Any:
    """The software that a RunConfiguration asks for, as a card and a node have it; None: it says nothing about it."""
    if runconfig is None:
        return None
    found = environment_spec(runconfig.environment, runconfig.docker)
    says_nothing = not found.user_managed and found.conda is None and found.docker is None and not found.variables
    return None if says_nothing else to_plain(found)


def _port(given: Any) -> str:
    return str(getattr(given, "name", given))


def _argument(given: Any, ports: dict[str, builtins.list[str]], params: dict[str, Any]) -> Any:
    """As a card has it: text, or what stands for a port or parameter."""
    if isinstance(given, (PipelineParameter, ParamDef)):
        return {"parameter": given.name}
    if isinstance(given, (str, int, float, bool)) or given is None:
        return str(given)
    name = _port(given)
    for kind, names in ports.items():
        if name in names:
            return {kind: name}
    raise UserError(
        f"arguments has {type(given).__name__} '{name}', which is none of the module's ports and parameters: "
        f"{', '.join([*ports['input'], *ports['output'], *params])}."
    )


def _default(value: Any) -> Any:
    return value.default_value if isinstance(value, PipelineParameter) else value


def _kind(value: Any) -> str:
    kinds = ((bool, "Boolean"), (int, "Integer"), (float, "Float"))
    return next((word for kind, word in kinds if isinstance(_default(value), kind)), "String")


def _plain(name: str) -> str:
    made = "".join(c if c.isalnum() else "_" for c in str(name).strip()).lower()
    return made if made[:1].isalpha() or made[:1] == "_" else f"m_{made}"
