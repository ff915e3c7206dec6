"""What a run is given and what it gives, as data: inputs and outputs of a RunSpec, and of the Job that an agent is told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.errors import RunConfigError, UserError
from rookery.spec.names import check_artifact_name

__all__ = [
    "DEFAULT_OUTPUT_PATH",
    "INPUT_VARIABLE",
    "OUTPUT_VARIABLE",
    "DataInput",
    "DataMode",
    "DataOutput",
    "InputJob",
    "OutputJob",
    "check_input_name",
    "check_inputs",
    "check_outputs",
    "data_variables",
    "input_job",
    "output_job",
    "output_path",
]

INPUT_VARIABLE = "ROOKERY_INPUT_"  # + name: in arguments this stands for the path (direct mode: the id) of an input
OUTPUT_VARIABLE = "ROOKERY_OUTPUT_"  # + name: the folder that an output is written to
REFERENCE_VARIABLE = "AZUREML_DATAREFERENCE_"
DEFAULT_OUTPUT_PATH = "dataset/{run-id}/{output-name}"
MAX_INPUTS, MAX_OUTPUTS = 200, 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}\Z")
# An input's name is a variable of its process: these mean something else to it.
_TAKEN = frozenset(
    [
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "SHELL",
        "TERM",
        "TMPDIR",
        "PWD",
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONUNBUFFERED",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "RANK",
        "WORLD_SIZE",
        "LOCAL_RANK",
        "NODE_RANK",
        "MASTER_ADDR",
        "MASTER_PORT",
        "OMP_NUM_THREADS",
        "CUDA_VISIBLE_DEVICES",
        "TF_CONFIG",
    ]
)


class DataMode:
    """How an input comes, or an output goes."""

    MOUNT = "mount"  # input: linked, read only by convention; output: written where it is to be
    DOWNLOAD = "download"  # input: a copy of the run's own
    DIRECT = "direct"  # input: the script is given the data set's id and reads it itself
    UPLOAD = "upload"  # output: sent when the run has completed
    INPUTS = (MOUNT, DOWNLOAD, DIRECT)
    OUTPUTS = (MOUNT, UPLOAD)


@dataclass(frozen=True)
class DataInput:
    """One input of a run."""

    name: str
    definition_id: str
    mode: str = DataMode.MOUNT
    path_on_compute: str = ""  # where the script expects it; relative paths are below the working folder
    data_name: str = ""  # the registered name and version that it came from, where it has one
    data_version: Optional[int] = None
    is_reference: bool = False  # a DataReference: AZUREML_DATAREFERENCE_<name>


@dataclass(frozen=True)
class DataOutput:
    """One output of a run: a folder that becomes a place on a datastore, and where asked for a version of a data set."""

    name: str
    mode: str = DataMode.MOUNT
    datastore: str = ""  # empty: the default one
    path: str = DEFAULT_OUTPUT_PATH  # with {run-id} and {output-name}
    source: str = ""  # the folder that the script writes to; empty: one that is made for it
    globs: tuple[str, ...] = ()  # of what is in it; empty: everything
    overwrite: bool = False
    register_as: str = ""  # the name of the data set that it becomes a version of
    description: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    definition: dict[str, Any] = field(
        default_factory=dict
    )  # how it is read: `kind`, `format`, `steps` of its definition
    is_reference: bool = False


@dataclass(frozen=True)
class InputJob:
    """What an agent is told of an input. `variables` get the path; in mode 'direct' `value`, and nothing is fetched."""

    name: str
    mode: str
    manifest_id: str = ""
    is_single: bool = False  # one file by name: the path is that of the file
    path_on_compute: str = ""
    variables: tuple[str, ...] = ()
    value: str = ""


@dataclass(frozen=True)
class OutputJob:
    """What an agent is told of an output. `folder` is the destination itself, where this node sees it."""

    name: str
    mode: str
    datastore: str = ""
    path: str = ""
    folder: str = ""
    source: str = ""
    globs: tuple[str, ...] = ()
    overwrite: bool = False
    variables: tuple[str, ...] = ()


def check_input_name(name: object, what: str = "input") -> str:
    """The name, or UserError: it becomes a variable of the run's processes."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise UserError(
            f"{name!r:.80} is not a valid name of an {what}. It has letters, digits and '_', and does not start with a digit."
        )
    if name in _TAKEN or name.startswith(("ROOKERY_", "AZUREML_", "LD_", "PYTHON")):
        raise UserError(
            f"An {what} cannot be called '{name}': its name becomes an environment variable, and that one has a meaning of "
            "its own. Choose another."
        )
    return name


def check_inputs(inputs: Iterable[DataInput]) -> None:
    """Raises RunConfigError or UserError."""
    seen = set()
    for each in inputs:
        check_input_name(each.name)
        if each.name in seen:
            raise RunConfigError(
                f"Two inputs are called '{each.name}'. Give each a name of its own with as_named_input."
            )
        seen.add(each.name)
        if each.mode not in DataMode.INPUTS:
            raise RunConfigError(f"Input '{each.name}': mode={each.mode!r}. Known: {', '.join(DataMode.INPUTS)}.")
        if not each.definition_id:
            raise RunConfigError(f"Input '{each.name}' names no data set.")
    if len(seen) > MAX_INPUTS:
        raise RunConfigError(f"The run has {len(seen)} inputs; {MAX_INPUTS} are allowed.")


def check_outputs(outputs: Iterable[DataOutput], taken: Iterable[str] = ()) -> None:
    """Raises RunConfigError, UserError or PathError. `taken` are the names of the inputs."""
    seen, inputs = set(), set(taken)
    for each in outputs:
        check_input_name(each.name, "output")
        if each.name in seen or each.name in inputs:
            raise RunConfigError(f"'{each.name}' is the name of two inputs or outputs. Give each one of its own.")
        seen.add(each.name)
        if each.mode not in DataMode.OUTPUTS:
            raise RunConfigError(f"Output '{each.name}': mode={each.mode!r}. Known: {', '.join(DataMode.OUTPUTS)}.")
        output_path(each, "run")
    if len(seen) > MAX_OUTPUTS:
        raise RunConfigError(f"The run has {len(seen)} outputs; {MAX_OUTPUTS} are allowed.")


def output_path(output: DataOutput, run_id: str) -> str:
    """Where on its datastore an output lies, placeholders filled in."""
    path = (output.path or DEFAULT_OUTPUT_PATH).replace("{run-id}", run_id).replace("{output-name}", output.name)
    return check_artifact_name(path.strip("/"))


def input_job(given: DataInput, manifest_id: str = "", is_single: bool = False) -> InputJob:
    """What an agent is told; `manifest_id` is what the input was resolved to (none in mode 'direct')."""
    variables = [INPUT_VARIABLE + given.name, given.name]
    if given.is_reference:
        variables.append(REFERENCE_VARIABLE + given.name)
    direct = given.mode == DataMode.DIRECT
    return InputJob(
        name=given.name,
        mode=given.mode,
        manifest_id="" if direct else manifest_id,
        is_single=is_single,
        path_on_compute=given.path_on_compute,
        variables=tuple(variables),
        value=given.definition_id if direct else "",
    )


def output_job(given: DataOutput, run_id: str, datastore: str, folder: str = "") -> OutputJob:
    """`folder` is where `datastore` lies for the node, as far as it sees it; empty: the output is sent at the end."""
    path = output_path(given, run_id)
    variables = [OUTPUT_VARIABLE + given.name, given.name]
    if given.is_reference:
        variables.append(REFERENCE_VARIABLE + given.name)
    direct = bool(folder) and given.mode == DataMode.MOUNT and not given.globs and not given.source
    return OutputJob(
        name=given.name,
        mode=given.mode,
        datastore=datastore,
        path=path,
        folder=f"{folder.rstrip('/')}/{path}" if direct else "",
        source=given.source,
        globs=given.globs,
        overwrite=given.overwrite,
        variables=tuple(variables),
    )


def data_variables(inputs: Iterable[DataInput], outputs: Iterable[DataOutput]) -> dict[str, str]:
    """The variables of a rank whose value does not depend on its node."""
    words = {DataMode.MOUNT: "Mount", DataMode.DOWNLOAD: "Download", DataMode.DIRECT: "Direct"}
    given = [f"{each.name}:{words[each.mode]}" for each in inputs if not each.is_reference]
    made = [each.name for each in outputs if not each.is_reference]
    variables = {}
    if given:
        variables["AZUREML_DATASET_ENVIRONMENT_VARS"] = ",".join(given)
    if made:
        variables["AZUREML_DATASET_FILE_OUTPUTS"] = ";".join(made)
    return variables
