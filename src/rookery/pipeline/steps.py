"""From a node to the run that it becomes: a RunSpec, and what its result depends on."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import io
import sys
from dataclasses import dataclass
from typing import Any, Optional

from rookery.errors import RookeryError, RunConfigError, UserError
from rookery.pipeline.arguments import check_arguments, written_arguments
from rookery.pipeline.catalog import BUILT_IN, Card, built_in_code, card_of, unknown_module
from rookery.pipeline.reuse import key_parts, reuse_key
from rookery.pipeline.sources import Content
from rookery.record import Record
from rookery.settings import get_setting
from rookery.spec.data import INPUT_VARIABLE, OUTPUT_VARIABLE, DataInput, DataOutput
from rookery.spec.launch import Launcher
from rookery.spec.pipeline import NodeKind, is_parameter, node_map, step_name, substitute
from rookery.spec.plain import from_plain
from rookery.spec.run import EnvironmentSpec, RunKind, RunSpec, check_run_spec
from rookery.spec.snapshot import snapshot_id

__all__ = ["OUTPUT_PATH", "Step", "check_body", "make_step"]

OUTPUT_PATH = "azureml/{run-id}/{output-name}"
STEP_TYPE, REUSED_TYPE = "azureml.StepRun", "azureml.ReusedStepRun"
MODULE_SCRIPT = "run_module.py"
_MODULE_CODE = b"import sys\n\nfrom rookery_vision.__main__ import main\n\nsys.exit(main())\n"
_FOREIGN = ("types", "label", "pipeline_output")  # what ports of a script node say to people
_FIELDS = {field.name for field in dataclasses.fields(RunSpec)}
_NOT_SAID = (
    "run_id",
    "experiment",
    "parent_id",
    "kind",
    "target",
    "watched",
    "secrets",
)  # nobody writes these into a file
_OURS = ("run_id", "experiment", "parent_id", "display_name", "kind", "inputs", "outputs", "tags", "properties")


@dataclass(frozen=True)
class Step:
    """A run to be made; its id is filled in when it is decided."""

    spec: RunSpec
    parts: dict[str, Any]

    @property
    def key(self) -> str:
        return reuse_key(self.parts)


def make_step(
    record: Record,
    parent: dict[str, Any],
    graph: dict[str, Any],
    key: str,
    cards: dict[str, Card],
    contents: dict[str, Content],
    parameters: dict[str, Any],
) -> Step:
    """The run of a node.

    Args:
        parent: the pipeline's Run.
        contents: of every input.
        parameters: of the pipeline, as they were given.

    Raises:
        RookeryError: it cannot be; the words say why.
    """
    node = node_map(graph)[key]
    used = {name: parameters.get(name) for name in _used(node)}
    filled = substitute(node, parameters)
    if node.get("kind") == NodeKind.MODULE:
        spec, code, values = _module(record, graph, filled, cards, contents, parameters)
    else:
        spec, code, values = _script(record, graph, filled, contents), {"kind": str(node.get("kind"))}, {}
    variables = {f"AZUREML_PARAMETER_{name}": _text(value) for name, value in used.items() if name.isidentifier()}
    spec = dataclasses.replace(
        spec,
        run_id="step",
        experiment=parent["experiment"],
        parent_id=parent["id"],
        display_name=step_name(key, node),
        variables={**variables, **spec.variables},
        target=spec.compute,
        properties={
            **spec.properties,
            "rookery.run_type": STEP_TYPE,
            "azureml.pipelinerunid": parent["id"],
            "azureml.nodeid": key,
            "StepType": str(filled.get("step_type") or ("Module" if node.get("kind") == NodeKind.MODULE else "Script")),
        },
    )
    check_run_spec(spec)
    fingerprints = {port: content.fingerprint for port, content in contents.items()}
    given = filled.get("hash_paths")
    files = [str(each) for each in given] if isinstance(given, list) and given else None
    return Step(spec, key_parts(spec, code, values, fingerprints, files, record.snapshots.entries))


def check_body(node: dict[str, Any]) -> list[tuple[str, str]]:
    """(field, what is wrong) of what a script node says of its run: keys and the kind of each value, all of them; where these are
    right, what a submit would say."""
    try:
        inputs = tuple(DataInput(port, "x") for port in node.get("inputs") or {})
        check_run_spec(
            dataclasses.replace(_body(node, inputs), run_id="step", experiment="pipeline", parent_id="pipeline")
        )
        return []
    except RookeryError as error:
        whole = error.message
    found = []
    for key, value in node["run"].items():
        if key not in _FIELDS:
            found.append((key, _unknown_field(key)))
        elif key not in _OURS:
            try:
                _body({"kind": node.get("kind"), "run": {key: value}}, ())
            except RookeryError as error:
                found.append((key, error.message))
    return found or [("run", whole)]


def _unknown_field(key: Any) -> str:
    known = sorted(_FIELDS - set(_NOT_SAID))
    near = difflib.get_close_matches(str(key), known, 1, 0.6)
    hint = f"Did you mean '{near[0]}'?" if near else f"Known: {', '.join(known)}."
    return f"`run` has '{key!s:.80}', which no run has. {hint}"


def _module(
    record: Record,
    graph: dict[str, Any],
    node: dict[str, Any],
    cards: dict[str, Card],
    contents: dict[str, Content],
    parameters: dict[str, Any],
) -> tuple[RunSpec, dict[str, str], dict[str, Any]]:
    card = card_of(node, cards)
    if card is None:
        raise UserError(unknown_module(node.get("module"), cards, node.get("version")))
    given = {name: value for name, value in (node.get("parameters") or {}).items() if value is not None}
    values = {name: card.parameters[name].check(value) for name, value in given.items()}
    for name, parameter in card.parameters.items():
        if name not in values and not parameter.is_required:
            values[name] = parameter.default  # so that giving the default changes no key
    settings = node.get("run_settings") or {}
    nodes, processes = int(settings.get("node_count") or 1), int(settings.get("process_count_per_node") or 1)
    environment = settings.get("environment") or card.environment or substitute(graph.get("environment"), parameters)
    in_words = bool(node.get("arguments") or card.arguments)
    spec = RunSpec(
        run_id="step",
        experiment="",
        snapshot_id=card.snapshot_id or module_snapshot(record),
        script=card.script or MODULE_SCRIPT,
        arguments=_module_arguments(card, node, contents, values, list(given)),
        compute=str(settings.get("compute") or substitute(graph.get("default_compute"), parameters) or "local"),
        node_count=nodes,
        processes_per_node=processes,
        launcher=Launcher.PER_PROCESS if nodes * processes > 1 else Launcher.NONE,
        launcher_options={"backend": "gloo"} if nodes * processes > 1 else {},
        environment=environment_of(record, environment),
        inputs=tuple(_input(port, content) for port, content in contents.items()),
        outputs=tuple(
            DataOutput(port["name"], datastore=str(graph.get("default_datastore") or ""), path=OUTPUT_PATH)
            for port in card.outputs
        ),
        variables={f"AML_PARAMETER_{name}": _text(value) for name, value in values.items()} if in_words else {},
        properties={"azureml.moduleid": card.name, "azureml.moduleversion": card.version},
    )
    code = {"module": card.name, "code": built_in_code(card.code) if card.source == BUILT_IN else card.code}
    return spec, {**code, "arguments": "given"} if in_words else code, values


def _module_arguments(
    card: Card, node: dict[str, Any], contents: dict[str, Content], values: dict[str, Any], given: list[str]
) -> tuple[str, ...]:
    """Every port and parameter by its name; in v1's way where the node, or else the card, says what is given."""
    inputs = {port: f"${INPUT_VARIABLE}{port}" for port in contents}
    outputs = {port["name"]: f"${OUTPUT_VARIABLE}{port['name']}" for port in card.outputs}
    if node.get("arguments"):
        names = [port["name"] for port in card.inputs]
        words = check_arguments(f"module '{card.name}'", node["arguments"], names, outputs, card.parameters)
        return tuple(written_arguments(words, inputs, outputs, values))
    return tuple(card.words(inputs, outputs, values if card.arguments else {name: values[name] for name in given}))


def _script(record: Record, graph: dict[str, Any], node: dict[str, Any], contents: dict[str, Content]) -> RunSpec:
    about = node.get("inputs") or {}
    inputs = tuple(_input(port, content, about.get(port) or {}) for port, content in contents.items())
    spec = _body(node, inputs, str(graph.get("default_datastore") or ""))
    run = node["run"]
    if not run.get("compute") and graph.get("default_compute"):
        spec = dataclasses.replace(spec, compute=str(graph["default_compute"]))
    if not isinstance(run.get("environment"), dict):
        wanted = run.get("environment") or graph.get("environment")
        spec = dataclasses.replace(spec, environment=environment_of(record, wanted))
    return spec


def _body(node: dict[str, Any], inputs: tuple[DataInput, ...], datastore: str = "") -> RunSpec:
    """`run` of a node as a RunSpec, with the node's own inputs and outputs beside those that it names itself."""
    run = dict(node.get("run") or {})
    if run.get("secrets"):
        raise RunConfigError(
            f"Variable '{run['secrets'][0]}' is secret. Steps of a pipeline get secret values from a registered "
            "environment: set it there, and name that environment."
        )
    own_inputs = tuple(from_plain(DataInput, each) for each in run.pop("inputs", None) or ())
    own_outputs = tuple(from_plain(DataOutput, each) for each in run.pop("outputs", None) or ())
    outputs = tuple(_output(port, about, datastore) for port, about in (node.get("outputs") or {}).items())
    if isinstance(run.get("arguments"), list):
        run["arguments"] = [_text(each) for each in run["arguments"]]
    if isinstance(run.get("variables"), dict):
        run["variables"] = {name: _text(value) for name, value in run["variables"].items()}
    if run.get("environment") is None or isinstance(run.get("environment"), str):
        run["environment"] = {"python": sys.executable}
    if run.get("compute") is None:
        run.pop("compute", None)
    properties = {str(k): str(v) for k, v in (run.get("properties") or {}).items()}
    plain = {name: value for name, value in run.items() if name not in _OURS}
    kind = RunKind.TUNE if node.get("kind") == NodeKind.TUNE else RunKind.SCRIPT
    spec = from_plain(RunSpec, {**plain, "run_id": "step", "experiment": "pipeline", "kind": kind})
    taken = {each.name for each in inputs}
    return dataclasses.replace(
        spec,
        inputs=(*inputs, *(each for each in own_inputs if each.name not in taken)),
        outputs=(*outputs, *own_outputs),
        properties=properties,
    )


def _input(port: str, content: Content, about: Optional[dict[str, Any]] = None) -> DataInput:
    about = about or {}
    return DataInput(
        name=port,
        definition_id=content.definition_id,
        mode=str(about.get("mode") or "mount"),
        path_on_compute=str(about.get("path_on_compute") or ""),
        data_name=content.data_name,
        data_version=content.data_version,
        is_reference=bool(about.get("is_reference")),
    )


def _output(port: str, about: Any, datastore: str) -> DataOutput:
    given = {key: value for key, value in (about or {}).items() if key not in _FOREIGN and value is not None}
    if given.get("datastore", "") == "":
        given["datastore"] = datastore
    given.setdefault("path", OUTPUT_PATH)
    return from_plain(DataOutput, {**given, "name": port})


def environment_of(record: Record, wanted: Any) -> EnvironmentSpec:
    """The software of a step: what is given, a registered environment by its name (`name:version`), or the Python that has
    the modules."""
    if isinstance(wanted, dict):
        return from_plain(EnvironmentSpec, {"python": sys.executable, **wanted})
    if not wanted:
        python = str(get_setting("modules_python", record.paths.root)) or sys.executable
        return EnvironmentSpec(name="pipeline-modules", user_managed=True, python=python)
    name, _, version = str(wanted).partition(":")
    found = record.environments.get(name, version or None)
    definition = found["definition"]
    section = definition.get("python") or {}
    managed = bool(section.get("userManagedDependencies"))
    interpreter = str(section.get("interpreterPath") or "python")
    return EnvironmentSpec(
        name=found["name"],
        version=found["version"],
        user_managed=managed,
        python=interpreter if managed and interpreter != "python" else sys.executable,
        conda=None if managed else section.get("condaDependencies"),
        docker=definition.get("docker") or None,
        variables={str(k): str(v) for k, v in (definition.get("environmentVariables") or {}).items()},
    )


def module_snapshot(record: Record) -> str:
    """The snapshot of the few lines that start a module; made when it is not there."""
    sha = hashlib.sha256(_MODULE_CODE).hexdigest()
    entry = {"path": MODULE_SCRIPT, "sha256": sha, "size": len(_MODULE_CODE), "mode": 0o644, "link": None}
    found = snapshot_id([entry])
    if not record.snapshots.exists(found):
        record.content.put(io.BytesIO(_MODULE_CODE))
        found = str(record.snapshots.create([entry])["id"])
    return found


def _used(value: Any) -> dict[str, None]:
    """The parameters of the pipeline that a node refers to."""
    if is_parameter(value):
        return {value["pipeline_parameter"]: None}
    found: dict[str, None] = {}
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found.update(_used(each))
    return found


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)
