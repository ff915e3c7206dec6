"""Lock → built environment, once per machine.

It is made in its final place (scripts hold absolute paths) and counts only when its marker is there, which
is written last. Whatever a
builder that died left behind has no marker and is removed by the next one, under the lock.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import replace

from rookery.environments.building.bytecode import share_bytecode
from rookery.environments.building.flocks import BuildLock, hold_lock
from rookery.environments.building.folders import EnvironmentFolder, environments_folder, read_json, write_json
from rookery.environments.building.import_check import ImportReport, check_imports
from rookery.environments.building.lock import Lock
from rookery.environments.building.reasons import explain
from rookery.environments.building.resolve import Work
from rookery.environments.conda.build import install_conda_base
from rookery.environments.python.uv_program import Finished, run_program
from rookery.environments.specification.requirement import normal_name
from rookery.errors import EnvironmentBuildError

__all__ = ["build_environment", "remove_folder"]

MAX_DONORS = 5


def build_environment(lock: Lock, work: Work) -> Lock:
    """Build it unless it is built. Returns the lock with what the imports showed.

    Raises:
        EnvironmentBuildError: it cannot be built; nothing that looks built is left.
    """
    folder = EnvironmentFolder(lock.key)
    with hold_lock(lock.key, work.deadline) as held:
        if folder.is_built():
            return _built_lock(folder, lock)
        remove_folder(folder.root)
        os.makedirs(folder.root, mode=0o700)
        work.log.also_to(folder.log)
        try:
            return _build(lock, folder, work, held)
        except BaseException as error:
            if isinstance(error, EnvironmentBuildError):
                work.log.say(str(error))
            remove_folder(folder.env)
            raise


def remove_folder(path: str) -> None:
    """Remove what a build made. The marker goes first, so that a half-removed environment never looks built."""
    try:
        os.unlink(os.path.join(path, "built.json"))
    except FileNotFoundError:
        pass
    shutil.rmtree(path, ignore_errors=True)
    if os.path.isdir(path):
        shutil.rmtree(path)  # once more, this time with the reason


def _build(lock: Lock, folder: EnvironmentFolder, work: Work, held: BuildLock) -> Lock:
    began = time.monotonic()
    write_json(folder.lock, lock.to_data())
    with open(folder.requirements, "w", encoding="utf-8") as f:
        f.write(lock.packages)
    os.chmod(folder.requirements, 0o600)  # an address in it may hold a password
    work.log.say(f"Building environment {lock.key}: {lock.num_packages} packages, Python {lock.python_version}")
    base_notes = _make_base(lock, folder, work, held)
    if lock.num_packages:
        # --no-deps: the lock is whole, and its author may have left something out on purpose
        words = ["pip", "install", "--python", folder.python, "--no-deps", "-r", folder.requirements]
        words += ["--break-system-packages"] if lock.conda else []  # a prefix of ours, whatever its python says
        _must(work.uv(*words, *work.plan.config.arguments(), held=held), lock, work)
    shared = share_bytecode(folder.env, _donors(lock))
    if shared:
        work.log.say(f"Shared the bytecode of {shared} files with environments built before")
    report = _check(lock, folder, work, held)
    notes = (*base_notes, *report.notes)
    done = _with_imports(lock, report.deviations, notes)
    write_json(folder.lock, done.to_data())
    seconds = time.monotonic() - began
    work.log.say(f"Built in {seconds:.1f} s")
    write_json(
        folder.marker,
        {
            "key": lock.key,
            "name": work.plan.name,
            "built": time.time(),
            "seconds": seconds,
            "python": lock.python_path,
            "python_version": lock.python_version,
            "num_packages": lock.num_packages,
            "import_deviations": report.deviations,
            "import_notes": notes,
        },
    )
    return done


def _make_base(lock: Lock, folder: EnvironmentFolder, work: Work, held: BuildLock) -> tuple[str, ...]:
    """The environment with its interpreter, and with all that comes from conda. Returns notes."""
    if lock.conda:
        return install_conda_base(lock, folder, work, held)
    words = ["venv", "-q", "--no-project", "--allow-existing", "--python", lock.python_path, "--prompt", "rookery"]
    _must(work.uv(*words, folder.env, held=held), lock, work)
    return ()


def _check(lock: Lock, folder: EnvironmentFolder, work: Work, held: BuildLock) -> ImportReport:
    work.log.say("Importing what was asked for")
    # What a run's own process would have, without Python's variables: a PYTHONPATH of ours must not help,
    # nor PYTHONDONTWRITEBYTECODE slow it down.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["PATH"] = folder.bin_dir + os.pathsep + environment.get("PATH", "")

    def run(command: list[str]) -> Finished:
        return run_program(command, environment, work.log, work.deadline, work.timeout_s, held.started, [held.fd])

    try:
        return check_imports(folder.python, lock.asked, run, work.log.say)
    except EnvironmentBuildError as error:
        raise EnvironmentBuildError(
            f"Environment '{work.plan.name}' could not be built: {error.message}", details=error.details
        ) from error


def _must(finished: Finished, lock: Lock, work: Work) -> None:
    if finished.code != 0:
        raise EnvironmentBuildError(explain(finished.output, work.plan.name, lock.asked), details={"step": "install"})


def _built_lock(folder: EnvironmentFolder, lock: Lock) -> Lock:
    marker = read_json(folder.marker) or {}
    return _with_imports(lock, marker.get("import_deviations", ()), marker.get("import_notes", ()))


def _with_imports(lock: Lock, deviations: Iterable[str], notes: Iterable[str]) -> Lock:
    """The lock with what the imports showed, each said once: a remembered lock has it already."""
    return replace(
        lock,
        deviations=tuple(dict.fromkeys([*lock.deviations, *deviations])),
        notes=tuple(dict.fromkeys([*lock.notes, *notes])),
    )


def _donors(lock: Lock) -> list[str]:
    """Built environments of the same interpreter that share a package with this one, newest first."""
    packages = _pins(lock.packages)
    found: list[tuple[float, str]] = []
    for entry in os.scandir(environments_folder()):
        other = EnvironmentFolder(entry.name)
        marker = read_json(other.marker) if entry.name != lock.key else None
        if marker is None or marker.get("python") != lock.python_path:
            continue
        theirs = read_json(other.lock) or {}
        if packages & _pins(str(theirs.get("packages", ""))):
            found.append((float(marker.get("built", 0)), other.env))
    return [path for _, path in sorted(found, reverse=True)[:MAX_DONORS]]


def _pins(packages: str) -> set[str]:
    lines = [line.split(" ")[0] for line in packages.splitlines() if "==" in line]
    return {normal_name(name) + "==" + version for name, _, version in (line.partition("==") for line in lines)}
