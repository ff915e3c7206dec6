"""The two places where a build with conda packages differs: the lock is solved in the channels first, and the empty
environment is a conda prefix instead of a virtual environment. pip's packages go on top with uv, as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rookery.environments.building.flocks import BuildLock
from rookery.environments.building.folders import EnvironmentFolder
from rookery.environments.building.lock import Lock
from rookery.environments.building.resolve import Work, resolve
from rookery.environments.conda.choice import CONDA_CHOICE
from rookery.environments.conda.install import install_conda
from rookery.environments.conda.lock import CondaLock
from rookery.environments.conda.program import Runner
from rookery.environments.conda.python import python_from_channel
from rookery.environments.conda.solve import solve_conda
from rookery.environments.python.interpreters import Choice, Interpreter, installed
from rookery.environments.python.torch_choice import TorchPins, pin_torch
from rookery.environments.python.uv_program import Finished, run_program
from rookery.environments.specification.requirement import normal_name
from rookery.environments.specification.wanted import Wanted
from rookery.errors import EnvironmentBuildError

__all__ = ["install_conda_base", "resolve_conda"]


def resolve_conda(work: Work) -> Lock:
    """The lock of a plan whose Python and packages come from conda channels.

    The index's packages are resolved for that Python, and told what conda has already: those versions are kept and not
    installed a second time. Where that cannot be met, pip's own go over conda's, as with `pip` in a conda environment.

    Raises:
        EnvironmentBuildError: nothing fits, a channel cannot be reached, or py-rattler is not here.
    """
    plan = work.plan
    work.log.say(f"Solving {len(plan.wanted.conda)} conda packages and Python {plan.wanted.python or 'of any version'}")
    solved = solve_conda(plan.wanted, work.log, _runner(work, work.held))
    interpreter = _interpreter(solved, plan.wanted, work)
    given = solved.pip_names()
    torch = pin_torch(plan.wanted.pip, plan.config.find_links_folders(), interpreter) if "torch" not in given else None
    pins = torch or TorchPins()
    both = TorchPins((*pins.constraints, *(f"{n}=={v}" for n, v in sorted(given.items()))), pins.note)
    lock = resolve(replace(work, plan=replace(plan, choice=Choice(interpreter), pins=both)))
    asked = {normal_name(n) for n in given} & {_index_name(d.name, solved) for d in plan.wanted.conda}
    return replace(
        lock,
        python_path=CONDA_CHOICE.interpreter.path,
        python_build="conda",
        conda=solved.to_lines(),
        packages=without_given(lock.packages, given),
        asked=tuple(sorted({*lock.asked, *asked})),
        notes=tuple(n for n in lock.notes if n),
    )


def install_conda_base(lock: Lock, folder: EnvironmentFolder, work: Work, held: BuildLock) -> tuple[str, ...]:
    """The prefix with its interpreter and all conda packages. Returns sentences for the lock's notes.

    Raises:
        EnvironmentBuildError: a package cannot be had.
    """
    packages = CondaLock.from_lines(lock.conda)
    work.log.say(f"Installing {len(packages.packages)} conda packages")
    notes = install_conda(packages, folder.env, work.log, _runner(work, held), work.plan.wanted)
    for note in notes:
        work.log.say(note)
    return notes


def without_given(packages: str, given: Mapping[str, str]) -> str:
    """A requirements text without what conda installs in the very version."""
    names = {normal_name(n) + "==" + v for n, v in given.items()}
    kept: list[str] = []
    is_kept = True
    for line in packages.splitlines(keepends=True):
        found = re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", line)
        if not line[:1].isspace():
            is_kept = found is None or normal_name(found[1]) + "==" + found[2] not in names
        if is_kept:
            kept.append(line)
    return "".join(kept)


def _runner(work: Work, held: BuildLock) -> Runner:
    def run(command: Sequence[str], environment: Mapping[str, str]) -> Finished:
        return run_program(command, environment, work.log, work.deadline, work.timeout_s, held.started, [held.fd])

    return run


def _interpreter(solved: CondaLock, wanted: Wanted, work: Work) -> Interpreter:
    """One of the solved version to resolve the index's packages with: of this machine, else from the channel."""
    version = solved.python_version
    for look in (True, False):
        found = next((one for one in installed() if one.version == version), None)
        if found is not None:
            return found
        if look and python_from_channel(version, wanted.channels, work.log, work.deadline) is None:
            break
    raise EnvironmentBuildError(
        f"Environment '{work.plan.name}' could not be built: Python {version} of the conda channels could not be "
        "started on this machine. Ask for another version of Python.",
        details={"step": "conda", "package": "python"},
    )


def _index_name(name: str, solved: CondaLock) -> str:
    return normal_name(next((index for index, own in solved.both_names() if own == name), name))
