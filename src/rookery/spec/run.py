"""What a user asks for: the RunSpec. What becomes of it, `spec.job`, is derived from it by pure code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.errors import RunConfigError
from rookery.spec.data import DataInput, DataOutput, check_inputs, check_outputs
from rookery.spec.names import check_experiment_name, check_run_id

__all__ = ["MASK", "EnvironmentSpec", "RunKind", "RunSpec", "WatchedProcess", "check_run_spec"]

DEFAULT_DURATION_S = 2592000
MASK = "***"  # stands where the value of a secret variable would


class RunKind:
    """Who owns the process of a run."""

    SCRIPT = "script"  # submitted: an agent starts its ranks
    INTERACTIVE = "interactive"  # start_logging: an agent watches the user's process
    CHILD = "child"  # a branch of another run's process; its status is what that process says, and ends with it
    EXTERNAL = "external"  # of a program that only tells us about it; its status is what that program says
    TUNE = "tune"  # no process: a driver in the keeper makes runs below it, each with other hyperparameters
    PIPELINE = "pipeline"  # no process: a driver in the keeper makes a run of every step
    DRIVEN = (TUNE, PIPELINE)
    ALL = (SCRIPT, INTERACTIVE, CHILD, EXTERNAL, TUNE, PIPELINE)


@dataclass(frozen=True)
class EnvironmentSpec:
    """The software of a run. `conda` and `docker` are kept as given; building them is `rookery.environments`' work.

    python: path of an interpreter. For a user-managed environment the one it names; else the one that submits.
    """

    name: str = "default-environment"
    version: Optional[str] = None
    user_managed: bool = False
    python: str = ""
    conda: Optional[dict[str, Any]] = None
    docker: Optional[dict[str, Any]] = None
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class WatchedProcess:
    """The user's own process, for interactive runs. `start_ticks` (field 22 of /proc/<pid>/stat) tells a reused pid apart.

    `visits`: the keeper is a server elsewhere and cannot see the process; its client starts the agent, beside it.
    """

    pid: int
    start_ticks: int
    host: str
    visits: bool = False


@dataclass(frozen=True)
class RunSpec:
    """One run as asked for. Exactly one of `script` and `command` is set when kind is 'script'."""

    run_id: str
    experiment: str
    kind: str = RunKind.SCRIPT
    parent_id: Optional[str] = None
    display_name: str = ""
    description: str = ""
    snapshot_id: Optional[str] = None
    script: Optional[str] = None
    arguments: tuple[str, ...] = ()
    command: Optional[str] = None
    compute: str = "local"
    node_count: int = 1
    min_node_count: Optional[int] = None  # after a lost node it may go on with this many; None: with all only
    processes_per_node: int = 1
    launcher: str = "none"  # one of spec.launch.LAUNCHERS
    launcher_options: dict[str, Any] = field(default_factory=dict)
    environment: EnvironmentSpec = field(default_factory=EnvironmentSpec)
    variables: dict[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()  # variables whose value is kept apart, encrypted; here they are MASK
    max_duration_s: Optional[int] = DEFAULT_DURATION_S
    cancel_grace_s: Optional[float] = None  # None: the setting cancel_grace_s
    collect_outputs: bool = True
    watch_folders: tuple[str, ...] = ("logs",)
    watched: Optional[WatchedProcess] = None
    target: str = ""  # what get_details()["target"] says; the compute's name, or "sdk" for interactive runs
    tags: dict[str, Optional[str]] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    retries_lost_node: Optional[int] = None  # None: what the target gives (low priority 3, else 0)
    retries_user_error: int = 0
    inputs: tuple[DataInput, ...] = ()
    outputs: tuple[DataOutput, ...] = ()
    plan: Optional[dict[str, Any]] = None  # of driven kinds: what their driver is to do; it checks it


def check_run_spec(spec: RunSpec) -> RunSpec:
    """The same spec, or RunConfigError/UserError that says what contradicts what."""
    check_run_id(spec.run_id)
    check_experiment_name(spec.experiment)
    if spec.kind not in RunKind.ALL:
        raise RunConfigError(f"Run kind {spec.kind!r} does not exist. Known: {', '.join(RunKind.ALL)}.")
    if spec.kind == RunKind.SCRIPT:
        if bool(spec.script) == bool(spec.command):
            raise RunConfigError("Give either a script (with arguments) or a command, not both and not neither.")
        if not spec.environment.python:
            raise RunConfigError("The run names no Python interpreter. Set environment.python.interpreter_path.")
    if (spec.plan is not None) != (spec.kind in RunKind.DRIVEN):
        raise RunConfigError(
            f"A run of kind {spec.kind} {'needs' if spec.plan is None else 'has no'} plan: only those of the kinds "
            f"{', '.join(RunKind.DRIVEN)} have one."
        )
    if spec.kind == RunKind.INTERACTIVE and spec.watched is None:
        raise RunConfigError("An interactive run must name the process to watch.")
    if spec.kind == RunKind.CHILD and not spec.parent_id:
        raise RunConfigError("A child run must name its parent.")
    for name in spec.secrets:
        if spec.variables.get(name) != MASK:
            raise RunConfigError(
                f"Variable '{name}' is secret, so its value travels apart; the run's must say {MASK!r}."
            )
    if spec.node_count < 1 or spec.processes_per_node < 1:
        raise RunConfigError(
            f"node_count={spec.node_count} and processes_per_node={spec.processes_per_node}: both must be at least 1."
        )
    if spec.min_node_count is not None and not 1 <= spec.min_node_count <= spec.node_count:
        raise RunConfigError(
            f"min_nodes={spec.min_node_count} must be between 1 and node_count={spec.node_count}: it is how many nodes "
            "are enough to go on after one was lost."
        )
    for name, count in (("lost_node", spec.retries_lost_node), ("user_error", spec.retries_user_error)):
        if count is not None and count < 0:
            raise RunConfigError(f"retries.{name}={count} must not be negative. 0 means: never tried again.")
    if spec.max_duration_s is not None and spec.max_duration_s <= 0:
        raise RunConfigError(f"max_run_duration_seconds={spec.max_duration_s} must be positive, or None for no limit.")
    if spec.cancel_grace_s is not None and spec.cancel_grace_s < 0:
        raise RunConfigError(f"cancel_grace_s={spec.cancel_grace_s} must not be negative.")
    check_inputs(spec.inputs)
    check_outputs(spec.outputs, [each.name for each in spec.inputs])
    return spec
