"""Modules of the palette as steps, and scripts that are published as modules."""

from __future__ import annotations

import builtins
from typing import Any, Optional

from rookery.errors import UnsupportedError, UserError
from rookery.sdk.pipeline_data import InputPortBinding, PipelineParameter
from rookery.sdk.pipeline_steps import PipelineStep
from rookery.sdk.run_configuration import compute_name
from rookery.sdk.snapshots import snapshot_folder
from rookery.spec.pipeline import NodeKind
from rookery.worker.http import quote_path

__all__ = ["Module", "ModuleStep", "ModuleVersion", "ModuleVersionDescriptor"]


class ModuleVersionDescriptor:
    def __init__(self, version: str, module_version_id: str) -> None:
        self.version, self.module_version_id = version, module_version_id


class ModuleVersion:
    """A version of a module. Only the latest can be run: each addition replaces the one before."""

    def __init__(self, workspace: Any, module: Module, version: str) -> None:
        self._workspace, self._module, self.version = workspace, module, version

    @property
    def module_id(self) -> str:
        return self._module.id

    @property
    def module_version_id(self) -> str:
        return f"{self._module.id}:{self.version}"

    @property
    def description(self) -> str:
        return self._module.description

    @property
    def status(self) -> str:
        return self._module.status

    def module(self, _workflow_provider: Any = None) -> Module:
        return self._module


class Module:
    """A module of the palette: one of those that come with Rookery, or one of one's own."""

    def __init__(self, workspace: Any, card: Optional[dict[str, Any]], name: str, description: str = "") -> None:
        self._workspace, self._card = workspace, card
        self.name, self.description = name, description or str((card or {}).get("help") or "")
        self.id, self.status = name, "Active"

    @property
    def default_version(self) -> Optional[str]:
        return None if self._card is None else str(self._card["version"])

    @staticmethod
    def create(workspace: Any, name: str, description: str, _workflow_provider: Any = None) -> Module:
        """A name; `publish_python_script` gives it something to run."""
        return Module(workspace, None, _plain(name), description)

    @staticmethod
    def get(
        workspace: Any, module_id: Optional[str] = None, name: Optional[str] = None, _workflow_provider: Any = None
    ) -> Module:
        wanted = str(module_id or name)
        for card in workspace.client.request("GET", "/modules")["modules"]:
            if wanted in (card["name"], card["title"]):
                return Module(workspace, card, card["name"])
        raise UserError(f"There is no module '{wanted}' here. `rookery module list` names those that are.")

    @staticmethod
    def get_versions(
        workspace: Any, name: str, _workflow_provider: Any = None
    ) -> builtins.list[ModuleVersionDescriptor]:
        return Module.get(workspace, name=name).module_version_list()

    def module_version_list(self) -> builtins.list[ModuleVersionDescriptor]:
        return (
            []
            if self._card is None
            else [ModuleVersionDescriptor(str(self.default_version), f"{self.id}:{self.default_version}")]
        )

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
        """A script as a module: its ports and parameters are given to it as `--name value`."""
        if arguments:
            raise UnsupportedError(
                "arguments of publish_python_script are not available: a module's script gets each port and parameter as "
                "--name=value. Read them with argparse."
            )
        snapshot = snapshot_folder(self._workspace.client, source_directory or ".")
        card = {
            "name": self.name,
            "title": self.name,
            "category": category or "My modules",
            "help": description,
            "script": script_name,
            "inputs": [
                {"name": _port(each), "optional": bool(getattr(each, "is_optional", False))} for each in inputs or ()
            ],
            "outputs": [{"name": _port(each)} for each in outputs or ()],
            "parameters": [
                {"name": name, "kind": _kind(value), "default": value} for name, value in (params or {}).items()
            ],
        }
        body = {"card": card, "snapshot_id": snapshot.id}
        self._card = self._workspace.client.request("POST", "/modules", body=body)
        return ModuleVersion(self._workspace, self, str(self._card["version"]))

    def resolve(self, version: Optional[str] = None) -> ModuleVersion:
        if self._card is None or (version is not None and str(version) != self.default_version):
            raise UserError(f"Module '{self.name}' has no version {version}. It has: {self.default_version or 'none'}.")
        return ModuleVersion(self._workspace, self, str(self.default_version))

    def get_default(self) -> ModuleVersion:
        return self.resolve()

    def get_default_version(self) -> Optional[str]:
        return self.default_version

    def delete(self) -> None:
        """Takes one's own module away. Ours, not v1's."""
        self._workspace.client.request("DELETE", f"/modules/{quote_path(self.name)}")


class ModuleStep(PipelineStep):
    """A module with its inputs, outputs and parameters by name.

    inputs_map: port → PipelineData, a data set, or another step's output; outputs_map: port → PipelineData.
    """

    def __init__(
        self,
        module: Any = None,
        version: Optional[str] = None,
        module_version: Optional[ModuleVersion] = None,
        inputs_map: Optional[dict[str, Any]] = None,
        outputs_map: Optional[dict[str, Any]] = None,
        compute_target: Any = None,
        runconfig: Any = None,
        runconfig_pipeline_params: Optional[dict[str, Any]] = None,
        arguments: Any = None,
        params: Optional[dict[str, Any]] = None,
        name: Optional[str] = None,
        _workflow_provider: Any = None,
    ) -> None:
        found = module_version.module() if module_version is not None else module
        if isinstance(found, str):
            named, title = found, found
        elif isinstance(found, Module):
            named, title = found.name, str((found._card or {}).get("title") or found.name)
        else:
            raise UserError(f"module is {type(found).__name__}. Give a Module, or the name of one.")
        if arguments:
            raise UnsupportedError(
                "arguments of a ModuleStep are not available: ports and parameters are given by name."
            )
        self._inputs_map, self._outputs_map = dict(inputs_map or {}), dict(outputs_map or {})
        super().__init__(name or title, list(self._inputs_map.values()), list(self._outputs_map.values()))
        for port, output in self._outputs_map.items():
            output._output_name = port
        self._module, self._params, self._compute_target, self._run_config = (
            named,
            dict(params or {}),
            compute_target,
            runconfig,
        )

    def node(self, build: Any) -> dict[str, Any]:
        node: dict[str, Any] = {"kind": NodeKind.MODULE, "module": self._module, "parameters": {}, "inputs": {}}
        for port, value in self._inputs_map.items():
            probe: dict[str, Any] = {"inputs": {}, "outputs": {}}
            name = build._input(probe, self, value)
            if name is None or name not in probe["inputs"]:
                raise UserError(
                    f"Input '{port}' of step '{self.name}' is {type(value).__name__}. Give data, or another step's output."
                )
            node["inputs"][port] = {key: probe["inputs"][name][key] for key in ("node", "port")}
        for name, value in self._params.items():
            node["parameters"][name] = build.parameter(value) if isinstance(value, PipelineParameter) else value
        target = self._compute_target if self._compute_target is not None else getattr(self._run_config, "target", None)
        node["run_settings"] = {
            "compute": None if target is None else compute_name(target),
            "node_count": int(getattr(self._run_config, "node_count", None) or 1),
            "process_count_per_node": 1,
        }
        return node


def _port(given: Any) -> str:
    if isinstance(given, InputPortBinding):
        return given.name
    return str(getattr(given, "name", given))


def _kind(value: Any) -> str:
    return (
        "Boolean"
        if isinstance(value, bool)
        else "Integer"
        if isinstance(value, int)
        else "Float"
        if isinstance(value, float)
        else "String"
    )


def _plain(name: str) -> str:
    made = "".join(c if c.isalnum() else "_" for c in name.strip()).lower()
    return made if made[:1].isalpha() or made[:1] == "_" else f"m_{made}"
