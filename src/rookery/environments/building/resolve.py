"""Specification → lock: one call of `uv pip compile`, or none where a whole lock was given."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass

from rookery.environments.building.build_log import BuildLog
from rookery.environments.building.flocks import BuildLock
from rookery.environments.building.folders import cache_folder, uv_cache_folder
from rookery.environments.building.lock import Lock
from rookery.environments.building.plan import Plan
from rookery.environments.building.reasons import explain
from rookery.environments.python.uv_program import Finished, find_uv, run_program
from rookery.environments.specification.requirement import normal_name
from rookery.errors import EnvironmentBuildError

__all__ = ["Work", "resolve"]

# What an environment of conda or `python -m venv` holds besides what was asked for. Left out where it cannot
# be had.
BASE = ("pip",)
BASE_BEFORE_312 = ("pip", "setuptools", "wheel")
# The last setuptools with pkg_resources, which older packages import without saying so. Given up where it
# does not fit.
KEEP_PKG_RESOURCES = "setuptools<81"


@dataclass(frozen=True)
class Work:
    """What every step of one build needs."""

    plan: Plan
    log: BuildLog
    held: BuildLock
    deadline: float
    timeout_s: float

    def uv(self, *arguments: str, held: BuildLock | None = None) -> Finished:
        """Call uv with pip's settings, under the lock."""
        lock = held or self.held
        environment = self.plan.config.environment(os.environ)
        environment.update(
            {
                "UV_CACHE_DIR": uv_cache_folder(),
                "UV_LINK_MODE": "hardlink",
                "UV_PYTHON_DOWNLOADS": "never",
                "UV_NO_PROGRESS": "1",
            }
        )
        command = [find_uv(), "--no-config", "--color", "never", *arguments]
        return run_program(command, environment, self.log, self.deadline, self.timeout_s, lock.started, [lock.fd])


def resolve(work: Work) -> Lock:
    """The lock of a plan.

    Raises:
        EnvironmentBuildError: nothing fits; the message names the package and the reason.
    """
    plan = work.plan
    work.log.say(
        f"Resolving {len(plan.wanted.pip)} requirements for Python {plan.choice.interpreter.version} "
        f"({plan.choice.interpreter.path})"
    )
    for text in (*plan.deviations, *plan.wanted.notes):
        work.log.say(f"  {text}")
    if plan.wanted.locked:
        return _lock(plan, "".join(r.text.replace(" --hash", " \\\n    --hash") + "\n" for r in plan.wanted.pip), ())
    base = BASE if plan.choice.interpreter.minor >= (3, 12) else BASE_BEFORE_312
    soft = (*plan.pins.constraints, KEEP_PKG_RESOURCES)
    packages, finished = _compile(work, base, soft)
    if packages is None and "No solution found" in finished.output and _is_about(finished.output, base):
        packages, finished = _compile(work, (), soft)
    if packages is None and "No solution found" in finished.output:  # a second try mends no network
        work.log.say("Trying again without preferred versions")
        packages, finished = _compile(work, (), ())
        if packages is not None:
            return _lock(plan, packages, ())
    if packages is None:
        raise EnvironmentBuildError(
            explain(finished.output, plan.name, [r.name for r in plan.wanted.pip]),
            details={"step": "resolve"},
        )
    return _lock(plan, packages, (plan.pins.note,) if _holds_pin(packages, plan) else ())


def _compile(work: Work, base: tuple[str, ...], soft: tuple[str, ...]) -> tuple[str | None, Finished]:
    plan = work.plan
    os.makedirs(cache_folder(), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="resolve-", dir=cache_folder()) as folder:
        asked = {normal_name(r.name) for r in plan.wanted.pip}
        wanted = [r.text for r in plan.wanted.pip] + [b for b in base if b not in asked]
        source = _write(folder, "requirements.in", wanted)
        constraints = _write(
            folder, "constraints.txt", [*plan.wanted.constraints, *soft, plan.config.constraint_text()]
        )
        target = os.path.join(folder, "requirements.txt")
        finished = work.uv(
            "pip",
            "compile",
            source,
            "-o",
            target,
            "-c",
            constraints,
            "--python",
            plan.choice.interpreter.path,
            "--generate-hashes",
            "--no-header",
            "--no-annotate",
            "--no-strip-extras",
            *plan.config.arguments(),
        )
        if finished.code != 0:
            return None, finished
        with open(target, encoding="utf-8") as f:
            return f.read(), finished


def _write(folder: str, name: str, lines: list[str]) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return path


def _lock(plan: Plan, packages: str, notes: tuple[str, ...]) -> Lock:
    asked = tuple(sorted({normal_name(r.name) for r in plan.wanted.pip}))
    return Lock.of(
        plan.choice.interpreter,
        python_requested=plan.wanted.python or "",
        packages=packages,
        asked=asked,
        deviations=plan.deviations,
        notes=plan.wanted.notes + notes,
        name=plan.name,
    )


def _is_about(output: str, names: tuple[str, ...]) -> bool:
    return any(re.search(rf"(?<![\w.-]){name}(?![\w.-])", output) for name in names)


def _holds_pin(packages: str, plan: Plan) -> bool:
    return bool(plan.pins.constraints) and any(
        line.startswith(plan.pins.constraints[0]) for line in packages.splitlines()
    )
