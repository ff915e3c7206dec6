"""The seam of environments: specification in, something to run with out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Optional

from rookery.environments.interpreter import find_interpreter, known_interpreter, try_interpreter
from rookery.spec.container import ContainerSpec
from rookery.spec.run import EnvironmentSpec

if TYPE_CHECKING:
    from rookery.environments.building.builder import Built
    from rookery.record import Record

__all__ = ["BuiltEnvironment", "check", "prepare", "prepared", "resolve_for_node"]


@dataclass(frozen=True)
class BuiltEnvironment:
    """What a run is started with.

    python: absolute path of its interpreter, not resolved (a virtual environment is known by the path, not by
    its target).
    bin_dir: goes first on PATH, so that `python` in a command is that interpreter.
    variables: set before the run's own.
    deviations: what differs from the specification, in sentences; each becomes a warning of the run.
    container: the run lives in one, and `python` and `bin_dir` are paths inside it.
    key: of the store of environments, where it is kept there; whoever runs in it holds it by this.
    on_node: it is built on the node instead, from this (`resolve_for_node`); `python` and `bin_dir` are then placeholders.
    """

    python: str
    bin_dir: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    deviations: tuple[str, ...] = ()
    container: Optional[ContainerSpec] = None
    key: str = ""
    on_node: Optional[dict[str, Any]] = None


def check(spec: EnvironmentSpec) -> None:
    """Refuse at submit what can never be prepared, whatever the machine.

    Raises:
        UserError: the specification is refused.
        EnvironmentBuildError: it asks for what only conda has and conda may not be used.
    """
    if _is_to_be_built(spec):
        from rookery.environments.building import builder  # loaded when first needed: the keeper starts without it

        builder.check(spec)
    if spec.docker:
        from rookery.environments.containers import contained

        contained.is_contained(spec)


def prepared(spec: EnvironmentSpec) -> Optional[BuiltEnvironment]:
    """The environment if it is at hand now, without starting anything; else None, and `prepare` finds out."""
    if spec.docker:
        from rookery.environments.containers import contained

        if contained.is_contained(spec):
            return contained.prepared_contained(spec, _prepared)
    return _prepared(spec)


def _prepared(spec: EnvironmentSpec) -> Optional[BuiltEnvironment]:
    if _is_to_be_built(spec):
        from rookery.environments.building import builder

        known = builder.known(spec)
        return _from_builder(known, spec) if known else None
    path = find_interpreter(spec.python)
    return _built(path, spec) if path and known_interpreter(path) else None


def prepare(
    spec: EnvironmentSpec, log: Callable[[bytes], None], again: bool = False, record: Optional[Record] = None
) -> BuiltEnvironment:
    """Get an environment ready. May take long; safe to call from several threads and again.

    Args:
        log: takes bytes for the build log, called only when there is something worth saying.
        again: try once more although a failure is remembered.
        record: the workspace's, which holds build contexts of images.

    Raises:
        UserError: see check.
        EnvironmentBuildError: it cannot be had; the message names what is at fault and why.
    """
    if spec.docker:
        from rookery.environments.containers import contained

        if contained.is_contained(spec):
            return contained.prepare_contained(spec, log, partial(_prepare, again=again), record, again)
    return _prepare(spec, log, again)


def resolve_for_node(
    spec: EnvironmentSpec, log: Callable[[bytes], None], again: bool = False, workspace_root: Optional[str] = None
) -> dict[str, Any]:
    """What a machine that does not see ours needs to prepare the environment itself (building/node.py): plain data.

    `{"kind": "interpreter", "name", "python", "variables", "deviations"}`, or `{"kind": "build", …}` with a lock.

    Raises:
        UserError: see check.
        EnvironmentBuildError: it cannot be resolved; or it asks for a container, and the setting containers says strict.
    """
    deviations: tuple[str, ...] = ()
    if spec.docker:
        from rookery.environments.containers import contained

        if contained.is_contained(spec):
            deviations = (contained.no_container_on_nodes(spec, workspace_root),)
            log(f"{deviations[0]}\n".encode())
    if _is_to_be_built(spec):
        from rookery.environments.building.for_nodes import build_data

        data = build_data(spec, log, workspace_root, again)
    else:
        data = {"kind": "interpreter", "name": spec.name, "python": spec.python or "python3"}
        data.update({"variables": dict(spec.variables), "deviations": []})
    return {**data, "deviations": [*deviations, *data["deviations"]]}


def _prepare(spec: EnvironmentSpec, log: Callable[[bytes], None], again: bool) -> BuiltEnvironment:
    if _is_to_be_built(spec):
        from rookery.environments.building import builder

        return _from_builder(builder.build(spec, log, again=again), spec)
    path = find_interpreter(spec.python)
    try_interpreter(path, spec.python, spec.name, log)
    assert path is not None
    return _built(path, spec)


def _is_to_be_built(spec: EnvironmentSpec) -> bool:
    return spec.conda is not None and not spec.user_managed


def _from_builder(built: Built, spec: EnvironmentSpec) -> BuiltEnvironment:
    return BuiltEnvironment(
        python=built.python,
        bin_dir=built.bin_dir,
        variables={**built.variables, **spec.variables},
        deviations=built.deviations,
        key=built.key,
    )


def _built(path: str, spec: EnvironmentSpec) -> BuiltEnvironment:
    return BuiltEnvironment(python=path, bin_dir=path.rpartition("/")[0], variables=dict(spec.variables))
