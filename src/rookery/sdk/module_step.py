"""A module of the palette as a step."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.graph_parts import InputPortDef, OutputPortDef, ParamDef
from rookery.sdk.module import Module, ModuleVersion, module_environment
from rookery.sdk.pipeline_data import PipelineParameter
from rookery.sdk.pipeline_steps import PipelineStep
from rookery.sdk.run_configuration import compute_name
from rookery.spec.pipeline import NodeKind

__all__ = ["ModuleStep"]


class ModuleStep(PipelineStep):
    """A module with its inputs, outputs and parameters by name.

    inputs_map: port → PipelineData, a data set, or another step's output; outputs_map: port → PipelineData. With `arguments` the
    script of a published module is given just these: text, what is in the maps, PipelineParameters.
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
            named, title = found.id, found.name
            if module_version is None:
                found.resolve(version)  # says which there are, where this one is not
        else:
            raise UserError(f"module is {type(found).__name__}. Give a Module, or the name of one.")
        self._version = module_version.version if module_version is not None else version
        self._inputs_map, self._outputs_map = dict(inputs_map or {}), dict(outputs_map or {})
        super().__init__(name or title, list(self._inputs_map.values()), list(self._outputs_map.values()))
        for port, output in self._outputs_map.items():
            output._output_name = port
        self._module, self._params = named, dict(params or {})
        self._compute_target, self._run_config = compute_target, runconfig
        self._words, self._run_params = list(arguments or ()), dict(runconfig_pipeline_params or {})

    def node(self, build: Any) -> dict[str, Any]:
        node: dict[str, Any] = {"kind": NodeKind.MODULE, "module": self._module, "parameters": {}, "inputs": {}}
        if self._version is not None:
            node["version"] = str(self._version)
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
        if self._words:
            node["arguments"] = [self._argument(build, each) for each in self._words]
        node["run_settings"] = self._run_settings(build)
        return node

    def _argument(self, build: Any, given: Any) -> Any:
        for kind, ports in (("input", self._inputs_map), ("output", self._outputs_map)):
            for port, value in ports.items():
                if given is value or (kind == "input" and getattr(value, "bind_object", None) is given):
                    return {kind: port}
        if isinstance(given, InputPortDef):
            return {"input": given.name}
        if isinstance(given, OutputPortDef):
            return {"output": given.name}
        if isinstance(given, ParamDef):
            return {"parameter": given.name}
        if isinstance(given, PipelineParameter):
            return build.parameter(given)
        return build.value(given, self)

    def _run_settings(self, build: Any) -> dict[str, Any]:
        config = self._run_config
        target = self._compute_target if self._compute_target is not None else getattr(config, "target", None)
        found: dict[str, Any] = {
            "compute": None if target is None else compute_name(target),
            "node_count": int(getattr(config, "node_count", None) or 1),
            "process_count_per_node": 1,
        }
        environment = module_environment(config)
        if environment is not None:
            found["environment"] = environment
        for name, value in self._run_params.items():
            if name not in ("node_count",):
                raise UserError(
                    f"runconfig_pipeline_params of step '{self.name}' has '{name}'. Allowed for a ModuleStep: node_count."
                )
            found[name] = build.parameter(value) if isinstance(value, PipelineParameter) else value
        return found
