"""The front: a specification in, a built environment out. Known ones cost a few milliseconds and start
nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from rookery.environments.building.build import build_environment
from rookery.environments.building.build_log import BuildLog, LogFollower
from rookery.environments.building.flocks import hold_lock
from rookery.environments.building.folders import (
    EnvironmentFolder,
    environments_folder,
    read_json,
    request_path,
    write_json,
)
from rookery.environments.building.lock import Lock
from rookery.environments.building.plan import Plan, make_plan, plan_names
from rookery.environments.building.policy import Policy
from rookery.environments.building.resolve import Work, resolve
from rookery.environments.conda.build import resolve_conda
from rookery.environments.conda.choice import uses_conda
from rookery.environments.conda.solve import needs_conda, require_conda
from rookery.environments.conda.variables import conda_variables
from rookery.environments.python.managed_python import obtain_python
from rookery.environments.python.uv_program import find_uv
from rookery.environments.python.versions import exact, release
from rookery.environments.specification.wanted import Wanted
from rookery.errors import EnvironmentBuildError, RookeryError
from rookery.spec.run import EnvironmentSpec

__all__ = ["Built", "as_built", "build", "check", "forget", "known", "resolve_only"]


@dataclass(frozen=True)
class Built:
    """What a run is started with. deviations: each becomes a warning of the run; notes: for the log and
    `rookery env show`.
    """

    key: str
    python: str
    bin_dir: str
    variables: dict[str, str]
    deviations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check(spec: Wanted | EnvironmentSpec, workspace_root: str | None = None) -> None:
    """Refuse at submit what can never be built, whatever the machine: costs nothing and starts nothing.

    Raises:
        UserError: the specification is refused.
        EnvironmentBuildError: it asks for packages that only conda has, and conda is switched off or not installed.
    """
    policy = Policy.read(workspace_root)
    wanted = plan_names(spec, policy)
    if needs_conda(wanted, policy.conda):
        require_conda(wanted, workspace_root)


def known(spec: Wanted | EnvironmentSpec, workspace_root: str | None = None) -> Built | None:
    """The environment if it is built already. Starts no process, waits for none and never raises: `build`
    says what is wrong.
    """
    if not os.path.isdir(os.path.dirname(request_path(""))):
        return None
    try:
        return _known(make_plan(spec, Policy.read(workspace_root), probe=False))
    except RookeryError:
        return None


def forget(spec: Wanted | EnvironmentSpec, workspace_root: str | None = None) -> None:
    """Forget what a specification came to: the next build resolves it anew, with what the indexes have by then. What was
    built stays.

    Raises:
        UserError, EnvironmentBuildError: see check.
    """
    try:
        os.unlink(request_path(make_plan(spec, Policy.read(workspace_root)).request))
    except FileNotFoundError:
        pass


def build(
    spec: Wanted | EnvironmentSpec,
    log: Callable[[bytes], None],
    workspace_root: str | None = None,
    again: bool = False,
) -> Built:
    """The environment, built if need be. Safe to call from any number of threads and processes: one builds,
    the others wait and hear the log.

    Args:
        log: takes the build log's bytes as they come.
        again: build anew although a failure is remembered.

    Raises:
        UserError: the specification is refused.
        EnvironmentBuildError: it cannot be built; the message names the package at fault and the reason.
            Remembered for `environment_retry_s`.
    """
    try:
        return _build(spec, log, workspace_root, again)
    except OSError as error:  # a full or read-only disk is no property of the specification: not remembered
        if isinstance(error, RookeryError):
            raise
        raise EnvironmentBuildError(
            f"Environments cannot be kept in {environments_folder()}: {error}. Free some space with "
            "`rookery env prune`, "
            "or set ROOKERY_HOME to a folder that you may write to."
        ) from error


def resolve_only(
    spec: Wanted | EnvironmentSpec,
    log: Callable[[bytes], None],
    workspace_root: str | None = None,
    again: bool = False,
) -> tuple[Plan, Lock]:
    """What it comes to, without building it: for machines that build it themselves. Remembered like a build's.

    Raises:
        UserError, EnvironmentBuildError: see build.
    """
    policy = Policy.read(workspace_root)
    find_uv()
    plan = _plan(spec, policy, log, time.monotonic() + policy.timeout_s)
    lock = _remembered_lock(plan)
    if lock is not None:
        return plan, lock
    try:
        return plan, _under_lock(plan, policy, log, workspace_root, again, _resolve)
    except OSError as error:
        if isinstance(error, RookeryError):
            raise
        raise EnvironmentBuildError(f"Environments cannot be resolved in {environments_folder()}: {error}.") from error


def _build(
    spec: Wanted | EnvironmentSpec, log: Callable[[bytes], None], workspace_root: str | None, again: bool
) -> Built:
    policy = Policy.read(workspace_root)
    deadline = time.monotonic() + policy.timeout_s
    built = known(spec, workspace_root)
    if built is not None:
        return built
    find_uv()  # a missing program is no property of the specification: not remembered
    plan = _plan(spec, policy, log, deadline)

    def work_on(work: Work) -> Lock:
        return build_environment(_remembered_lock(plan) or _resolve(work), work)

    lock = _under_lock(plan, policy, log, workspace_root, again, work_on, lambda: _known(plan) is not None)
    return as_built(lock)


def _under_lock(
    plan: Plan,
    policy: Policy,
    log: Callable[[bytes], None],
    workspace_root: str | None,
    again: bool,
    work_on: Callable[[Work], Lock],
    is_done: Callable[[], bool] | None = None,
) -> Lock:
    """The lock that one of all who want the same makes; kept, as a failure is. The others wait and hear the log."""
    if uses_conda(plan.choice):
        require_conda(plan.wanted, workspace_root)  # a missing program is no property of the specification either
    follower = LogFollower(request_path(plan.request, ".log"), log)
    # Whoever waits does so for another's whole time limit, then has its own.
    with hold_lock("request-" + plan.request, time.monotonic() + policy.timeout_s + 30, follower) as held:
        follower.finish()
        remembered = _remembered_lock(plan)
        if remembered is not None and (is_done is None or is_done()):
            return remembered
        if not again:
            _raise_remembered(plan, policy)
        build_log = BuildLog(request_path(plan.request, ".log"), log)
        work = Work(plan, build_log, held, time.monotonic() + policy.timeout_s, policy.timeout_s)
        try:
            lock = work_on(work)
        except EnvironmentBuildError as error:
            raise _remember(plan, error)  # noqa: B904  the same error
        finally:
            build_log.close()
        write_json(request_path(plan.request), {"lock": lock.to_data()})
        return lock


def _plan(spec: Wanted | EnvironmentSpec, policy: Policy, log: Callable[[bytes], None], deadline: float) -> Plan:
    """The plan; where the exact interpreter is missing, after every source of interpreters was asked for it."""
    try:
        plan: Plan | None = make_plan(spec, policy)
        requested = plan.wanted.python if plan and not plan.choice.is_exact else ""
        missing: EnvironmentBuildError | None = None
    except EnvironmentBuildError as error:
        plan, missing, requested = None, error, str(error.details.get("requested") or "")
    version = exact(requested or "") if requested else ""
    if len(release(version)) >= 2 and obtain_python(version, log, deadline):
        return make_plan(spec, policy)
    if missing is not None:
        raise missing
    assert plan is not None
    return plan


def _resolve(work: Work) -> Lock:
    return resolve_conda(work) if uses_conda(work.plan.choice) else resolve(work)


def _known(plan: Plan) -> Built | None:
    lock = _remembered_lock(plan)
    if lock is None:
        return None
    folder = EnvironmentFolder(lock.key)
    if not folder.is_built():
        return None
    try:
        os.utime(folder.marker)  # the time of last use
    except OSError:
        return None  # pruned this very moment
    return as_built(lock)


def _remembered_lock(plan: Plan) -> Lock | None:
    data = read_json(request_path(plan.request)) or {}
    try:
        return Lock.from_data(data["lock"]) if "lock" in data else None
    except ValueError:
        return None


def _remember(plan: Plan, error: EnvironmentBuildError) -> EnvironmentBuildError:
    """Keep a failure for those who want the same. A full disk must not hide the error itself."""
    try:
        write_json(
            request_path(plan.request),
            {"failed": time.time(), "message": error.message, "details": error.details},
        )
    except OSError:
        pass
    return error


def _raise_remembered(plan: Plan, policy: Policy) -> None:
    data = read_json(request_path(plan.request)) or {}
    age = time.time() - float(data.get("failed") or 0)
    if "failed" not in data or not 0 <= age < policy.retry_s:
        return
    raise EnvironmentBuildError(
        f"{data.get('message', '')} (That was {age:.0f} s ago; it is tried again after "
        f"environment_retry_s={policy.retry_s:g} s, or at once by `rookery env build`.)",
        details={**(data.get("details") or {}), "remembered": True},
    )


def as_built(lock: Lock) -> Built:
    """What a run in the environment of this lock is started with."""
    folder = EnvironmentFolder(lock.key)
    variables = conda_variables(folder.env) if lock.conda else {"VIRTUAL_ENV": folder.env}
    return Built(lock.key, folder.python, folder.bin_dir, variables, lock.deviations, lock.notes)
