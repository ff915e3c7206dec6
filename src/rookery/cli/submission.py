"""From the options of `rookery run` to what is submitted, and the plan that --dry-run prints."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.cli import session
from rookery.cli.environment_choice import choose_environment
from rookery.cli.fields import field as print_field
from rookery.cli.fields import heading
from rookery.cli.table import Column, print_table
from rookery.cli.terminal import next_step, note, print_json, say
from rookery.cli.words import duration, size
from rookery.errors import UserError

__all__ = ["Request", "build_config", "plan_manifests", "print_plan", "source_and_script"]


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    folder: str
    script: Optional[str]
    arguments: tuple[str, ...] = ()
    command: Optional[str] = None
    compute: str = "local"
    experiment: Optional[str] = None
    name: Optional[str] = None
    python: Optional[str] = None
    env: Optional[str] = None
    variables: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    tags: dict[str, str] = field(default_factory=dict)
    max_seconds: Optional[int] = None
    retries: int = 0
    lost_node_retries: Optional[int] = None
    nodes: int = 1
    processes_per_node: int = 1

    @property
    def experiment_name(self) -> str:
        """The one given, else the script's stem with everything that a name may not hold replaced."""
        if self.experiment:
            return self.experiment
        stem = os.path.splitext(os.path.basename(self.script or (self.command or "").split(None, 1)[0]))[0]
        return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_")[:100] or "run"


def source_and_script(script: Optional[str], source: Optional[str]) -> tuple[str, Optional[str]]:
    """The folder to take, and the script's path inside it.

    Raises:
        UserError: the script or folder is not there, or the script is not in the folder.
    """
    here = os.getcwd()
    folder = os.path.abspath(os.path.expanduser(source)) if source else here
    if source and not os.path.isdir(folder):
        raise UserError(f"--source {source!r} is not a folder.")
    if script is None:
        return folder, None
    path = os.path.abspath(os.path.expanduser(script))
    if source and not os.path.exists(path):
        path = os.path.join(folder, script)  # named as it is inside the source folder
    if not os.path.isfile(path):
        what = "is a folder, not a script" if os.path.isdir(path) else "does not exist"
        raise UserError(f"The script {script!r} {what}. {_near(path)}".rstrip())
    # As named, so that a link in the folder stays in it; then as it is, for a folder reached by a link.
    for as_seen in (os.path.abspath, os.path.realpath):
        inside = os.path.relpath(as_seen(path), as_seen(folder))
        if not inside.startswith(os.pardir + os.sep):
            return folder, inside
    if source:
        raise UserError(
            f"The script {script!r} is not inside --source {source!r}. Only that folder travels with the run."
        )
    return os.path.dirname(path), os.path.basename(path)


def build_config(request: Request) -> Any:
    """The SDK's ScriptRunConfig for it."""
    from rookery.sdk import Environment, Retries, ScriptRunConfig
    from rookery.sdk.secret import Secret

    environment = choose_environment(request.env) if request.env else None
    if request.python:
        environment = Environment("user-managed")
        environment.python.user_managed_dependencies = True
        environment.python.interpreter_path = _interpreter(request.python)
    limits = {"max_run_duration_seconds": request.max_seconds} if request.max_seconds else {}
    config = ScriptRunConfig(
        source_directory=request.folder,
        script=request.script,
        arguments=list(request.arguments) or None,
        command=request.command,
        compute_target=request.compute,
        environment=environment,
        distributed_job_config=_distribution(request),
        **limits,
    )
    config.run_config.retries = Retries(lost_node=request.lost_node_retries, user_error=request.retries)
    if request.variables or request.secrets:
        secrets = {key: Secret(value) for key, value in request.secrets.items()}
        config.run_config.environment_variables = {**request.variables, **secrets}
    return config


def _distribution(request: Request) -> Any:
    """A script is started for every process, a shell line once per node."""
    from rookery.sdk import PyTorchConfiguration

    if request.nodes == 1 and request.processes_per_node == 1:
        return None
    if request.command and request.processes_per_node > 1:
        raise UserError(
            "--processes-per-node is for a SCRIPT. A shell line is started once per node: let it start the others, "
            "as in --command 'torchrun --nproc_per_node 2 … train.py'."
        )
    count = None if request.command else request.nodes * request.processes_per_node
    return PyTorchConfiguration(process_count=count, node_count=request.nodes)


def plan_manifests(request: Request, options: dict[str, Any], reach: dict[str, str]) -> list[dict[str, Any]]:
    """The run as Kubernetes would be given it."""
    from rookery.spec.engine_options import KubernetesOptions, read_options
    from rookery.spec.jobset import make_manifests

    read = read_options("kubernetes", options)
    assert isinstance(read, KubernetesOptions)
    return make_manifests(_spec(request), read, reach.get("keeper_url", ""), reach.get("python", "python3"))


def print_plan(request: Request) -> None:
    """What would be submitted, and every file that the snapshot would take."""
    from rookery.cli.show import describe_command
    from rookery.spec.plain import to_plain

    spec = to_plain(_spec(request))
    files = _files(request.folder)
    total = sum(f["size"] for f in files)
    if session.current().json:
        print_json({"spec": spec, "source": request.folder, "files": files, "bytes": total})
        return
    say("Nothing is submitted. This is what would be:")
    print_field("experiment", spec["experiment"])
    print_field("name", spec["display_name"])
    print_field("command", describe_command(spec))
    nodes, each = spec["node_count"], spec["processes_per_node"]
    print_field(
        "compute", f"{spec['compute']}, {_count(nodes, 'node')}, {_count(each, 'process')}{' each' * (nodes > 1)}"
    )
    print_field("environment", _describe_environment(spec["environment"]))
    print_field("variables", ", ".join(f"{k}={v}" for k, v in spec["variables"].items()))
    print_field("tags", ", ".join(f"{k}={v}" for k, v in spec["tags"].items()))
    print_field("time limit", duration(spec["max_duration_s"]) if spec["max_duration_s"] else "none")
    print_field("retries", _describe_retries(spec))
    print_field("source", request.folder)
    heading(f"Snapshot: {len(files)} files, {size(total)}")
    print_table((Column("FILE"), Column("SIZE", right=True)), [(f["path"], size(f["size"])) for f in files], indent=2)
    next_step("the same command without --dry-run")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}{'es' if word.endswith('s') else 's'}"


def _describe_retries(spec: dict[str, Any]) -> str:
    lost = spec["retries_lost_node"]
    return (
        f"{spec['retries_user_error']} after an error of the script, "
        f"{'as many as the target gives' if lost is None else lost} after a lost node"
    )


def _describe_environment(environment: dict[str, Any]) -> str:
    if environment["conda"] is None or environment["user_managed"]:
        return f"{environment['name']} ({environment['python'] or sys.executable})"
    listed = environment["conda"].get("dependencies") or []
    texts = [text for one in listed for text in (one.get("pip") or [] if isinstance(one, dict) else [one])]
    return f"{environment['name']}: {', '.join(map(str, texts))}"


def _spec(request: Request) -> Any:
    import dataclasses

    from rookery.sdk.submission import build_run_spec, check_submission
    from rookery.spec.names import check_experiment_name, new_run_id
    from rookery.spec.run import check_run_spec

    config = build_config(request)
    check_submission(config)
    experiment = check_experiment_name(request.experiment_name)
    spec = build_run_spec(
        config,
        run_id=new_run_id(experiment),
        experiment=experiment,
        parent_id=None,
        snapshot_id=None,
        tags=dict(request.tags),
        properties={},
    )
    return check_run_spec(dataclasses.replace(spec, display_name=request.name or spec.display_name))


def _files(folder: str) -> list[dict[str, Any]]:
    from rookery.submit import walk

    found = walk(folder, lambda text: note(f"warning: {text}"))
    return sorted(({"path": f.path, "size": f.stat.st_size} for f in found), key=lambda f: str(f["path"]))


def _interpreter(python: str) -> str:
    import shutil

    found = shutil.which(os.path.expanduser(python))
    if not found:
        raise UserError(f"--python {python!r} is not a program that can be run. Give the path of a Python interpreter.")
    # Links are kept: following a virtual environment's python would lose the environment.
    return os.path.abspath(found)


def _near(path: str) -> str:
    import difflib

    try:
        names = [n for n in os.listdir(os.path.dirname(path)) if not n.startswith(".")]
    except OSError:
        return f"There is no folder {os.path.dirname(path)!r}."
    near = difflib.get_close_matches(os.path.basename(path), names, n=2)
    scripts = [n for n in sorted(names) if n.endswith(".py")][:5]
    if near:
        return "Did you mean " + " or ".join(repr(n) for n in near) + "?"
    return "Scripts there: " + ", ".join(scripts) + "." if scripts else ""
