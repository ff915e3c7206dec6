"""The seam of environments: specification in, something to run with out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Optional

from rookery.environments.interpreter import find_interpreter, known_interpreter, try_interpreter
from rookery.errors import UnsupportedError
from rookery.spec.run import EnvironmentSpec

__all__ = ["BuiltEnvironment", "check", "prepare", "prepared"]


@dataclass(frozen=True)
class BuiltEnvironment:
    """What a run is started with.

    python: absolute path of its interpreter, not resolved (a virtual environment is known by the path, not by
    its target).
    bin_dir: goes first on PATH, so that `python` in a command is that interpreter.
    variables: set before the run's own.
    deviations: what differs from the specification, in sentences; each becomes a warning of the run.
    """

    python: str
    bin_dir: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    deviations: tuple[str, ...] = ()


def check(spec: EnvironmentSpec) -> None:
    """Refuse at submit what no environment of this version can be.

    Raises:
        UnsupportedError: it would have to be built.
    """
    if spec.conda is not None and not spec.user_managed:
        raise UnsupportedError(
            f"Environment '{spec.name}' lists conda or pip packages. Environments are built in a "
            "later version of Rookery; meanwhile "
            "install the packages yourself and set `env.python.user_managed_dependencies = True` "
            "(with `interpreter_path` where it is another Python)."
        )


def prepared(spec: EnvironmentSpec) -> Optional[BuiltEnvironment]:
    """The environment if it is at hand now, without starting anything; else None, and `prepare` finds out."""
    path = find_interpreter(spec.python)
    return _built(path, spec) if path and known_interpreter(path) else None


def prepare(spec: EnvironmentSpec, log: Callable[[bytes], None]) -> BuiltEnvironment:
    """Get an environment ready. May take long; safe to call from several threads and again.

    Args:
        log: takes bytes for the build log, called only when there is something worth saying.

    Raises:
        UnsupportedError: see check.
        EnvironmentBuildError: it cannot be had; the message names the path that was tried.
    """
    check(spec)
    path = find_interpreter(spec.python)
    try_interpreter(path, spec.python, spec.name, log)
    assert path is not None
    return _built(path, spec)


def _built(path: str, spec: EnvironmentSpec) -> BuiltEnvironment:
    return BuiltEnvironment(python=path, bin_dir=path.rpartition("/")[0], variables=dict(spec.variables))
