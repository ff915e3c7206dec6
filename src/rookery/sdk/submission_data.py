"""Data in what is submitted: found in arguments and the run configuration, saved at the keeper, named in the RunSpec."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from rookery.errors import DataError, RunConfigError, UserError
from rookery.sdk.data_delivery import save_definition
from rookery.spec.data import INPUT_VARIABLE, OUTPUT_VARIABLE, DataInput, DataMode, DataOutput

__all__ = ["DataPlan", "is_data", "placeholder_of", "plan_data"]

_ODD = re.compile(r"[^A-Za-z0-9_]")


@dataclass
class DataPlan:
    """What a run is given and what it gives, before definitions are saved."""

    inputs: dict[str, Any] = field(default_factory=dict)  # name → DatasetConsumptionConfig
    references: dict[str, Any] = field(default_factory=dict)  # name → DataReference
    outputs: dict[str, DataOutput] = field(default_factory=dict)

    def save(self, client: Any) -> tuple[tuple[DataInput, ...], tuple[DataOutput, ...]]:
        """(inputs, outputs) of the RunSpec; definitions are at the keeper then."""
        inputs = [_input(client, name, given) for name, given in self.inputs.items()]
        outputs = dict(self.outputs)
        for name, reference in self.references.items():
            made = _reference(client, name, reference)
            if isinstance(made, DataInput):
                inputs.append(made)
            else:
                outputs[name] = made
        return tuple(inputs), tuple(outputs.values())


def is_data(value: Any) -> bool:
    """Whether an argument stands for data. Asks nothing of the modules of data unless one is there."""
    return type(value).__module__ in (
        "rookery.sdk.dataset_consumption",
        "rookery.sdk.output_dataset",
        "rookery.sdk.data_reference",
    ) and not type(value).__name__.startswith("DataPath")


def placeholder_of(value: Any) -> str:
    """What stands in the arguments for a value of data: a variable that the agent sets."""
    if type(value).__name__ == "DataReference":
        name = _plain_name(value.data_reference_name)
        # Which of the two it is turns out when it is looked for; both variables are set for a reference.
        return f"${'ROOKERY_OUTPUT_' if value.mode == DataMode.UPLOAD else 'AZUREML_DATAREFERENCE_'}{name}"
    if hasattr(value, "to_data_output"):
        return f"${OUTPUT_VARIABLE}{value.name}"
    return f"${INPUT_VARIABLE}{value.name}"


def plan_data(config: Any) -> DataPlan:
    """From a ScriptRunConfig: its arguments or command, then its run_config."""
    plan = DataPlan()
    given = config.command if config.command else config.arguments
    for value in given if isinstance(given, (list, tuple)) else ():
        if is_data(value):
            _add(plan, value)
    run_config = config.run_config
    for name, value in (run_config.data or {}).items():
        _add_configured(plan, name, value)
    for name, value in (run_config.data_references or {}).items():
        _add_reference(plan, name, value)
    for name, value in (run_config.output_data or {}).items():
        _add_output(plan, name, value)
    return plan


def _add(plan: DataPlan, value: Any) -> None:
    if hasattr(value, "to_data_output"):
        output = value.to_data_output()
        if plan.outputs.setdefault(output.name, output) != output:
            raise RunConfigError(f"Two outputs are called '{output.name}'. Give each a name of its own.")
    elif type(value).__name__ == "DataReference":
        plan.references[_plain_name(value.data_reference_name)] = value
    else:
        known = plan.inputs.setdefault(value.name, value)
        same = (known.dataset.id, known.mode, known.path_on_compute) == (
            value.dataset.id,
            value.mode,
            value.path_on_compute,
        )
        if not same:
            raise RunConfigError(
                f"Two inputs are called '{value.name}'. Give each a name of its own with as_named_input."
            )


def _add_configured(plan: DataPlan, name: str, value: Any) -> None:
    """run_config.data: consumption configs, or v1's elements that name a registered data set."""
    if is_data(value):
        _add(plan, value)
        return
    location = getattr(value, "data_location", None)
    dataset = getattr(location, "dataset", None)
    if dataset is None or not (dataset.id or dataset.name):
        raise UserError(f"run_config.data[{name!r}] names no data set. Give dataset.as_named_input(…).as_mount().")
    plan.inputs[_plain_name(value.environment_variable_name or name)] = value


def _add_reference(plan: DataPlan, name: str, value: Any) -> None:
    plan.references[_plain_name(name)] = value


def _add_output(plan: DataPlan, name: str, value: Any) -> None:
    if is_data(value):
        _add(plan, value)
        return
    place = getattr(getattr(value, "output_location", None), "data_path", None)
    options = getattr(value, "additional_options", None)
    registration = getattr(options, "registration_options", None)
    plan.outputs[_plain_name(name)] = DataOutput(
        name=_plain_name(name),
        mode=DataMode.UPLOAD if value.mechanism == "upload" else DataMode.MOUNT,
        datastore=getattr(place, "datastore_name", None) or "",
        path=getattr(place, "relative_path", None) or DataOutput.path,
        source=getattr(options, "path_on_compute", None) or "",
        register_as=getattr(registration, "name", None) or "",
        description=getattr(registration, "description", None) or "",
        tags=dict(getattr(registration, "tags", None) or {}),
    )


def _input(client: Any, name: str, given: Any) -> DataInput:
    if not hasattr(given, "dataset"):
        return _configured_input(client, name, given)
    dataset = given.dataset
    return DataInput(
        name=name,
        definition_id=save_definition(client, dataset._definition),
        mode=given.mode,
        path_on_compute=given.path_on_compute or "",
        data_name=dataset.name or "",
        data_version=dataset.version,
    )


def _configured_input(client: Any, name: str, given: Any) -> DataInput:
    from rookery.worker.http import quote_path

    wanted = given.data_location.dataset
    data: dict[str, Any] = {"id": wanted.id, "name": "", "version": None}
    if wanted.name:
        query = {} if wanted.version in (None, "latest") else {"version": wanted.version}
        data = client.request("GET", f"/datasets/{quote_path(wanted.name)}", query)
    return DataInput(
        name=name,
        definition_id=str(data["id"]),
        mode=given.mechanism,
        path_on_compute=given.path_on_compute or "",
        data_name=data["name"],
        data_version=data["version"],
    )


def _reference(client: Any, name: str, given: Any) -> Any:
    """An input, where something lies at its place; else an output that fills it, as a mounted folder of v1 could be filled."""
    store = given.datastore.name if hasattr(given, "datastore") else given.data_store_name
    path = (given.path_on_datastore if hasattr(given, "datastore") else given.path_on_data_store) or ""
    if given.mode != DataMode.UPLOAD and _is_there(client, store, path):
        definition = {"kind": "file", "sources": [{"datastore": store, "path": path}]}
        saved = save_definition(client, definition)
        return DataInput(name, saved, given.mode, given.path_on_compute or "", is_reference=True)
    if given.mode == DataMode.DOWNLOAD:
        raise DataError(f"There is nothing at '{path}' on datastore '{store}', so it cannot be downloaded for the run.")
    return DataOutput(
        name=name,
        mode=DataMode.UPLOAD if given.mode == DataMode.UPLOAD else DataMode.MOUNT,
        datastore=store,
        path=path or DataOutput.path,
        source=given.path_on_compute or "",
        overwrite=bool(given.overwrite),
        is_reference=True,
    )


def _is_there(client: Any, store: str, path: str) -> bool:
    from rookery.worker.http import quote_path

    try:
        return bool(
            client.request("GET", f"/datastores/{quote_path(store)}/files", {"path": path, "limit": 1})["total"]
        )
    except DataError:
        return False


def _plain_name(name: Any) -> str:
    """A name as a variable can have it: names of datastores have '-'."""
    text = _ODD.sub("_", str(name))
    return f"_{text}" if text[:1].isdigit() else text
