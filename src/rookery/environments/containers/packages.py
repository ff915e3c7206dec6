"""Packages for an image: installed by uv inside a container of it, into a folder beside the other environments.

The image stays as it is. The key has the image's id in it (as part of the interpreter's build), so the same lock
in another image is another environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from rookery.environments.building.build import remove_folder
from rookery.environments.building.build_log import BuildLog
from rookery.environments.building.flocks import BuildLock, hold_lock
from rookery.environments.building.folders import (
    EnvironmentFolder,
    read_json,
    request_path,
    uv_cache_folder,
    write_json,
)
from rookery.environments.building.import_check import HOOK, PROBE, check_imports
from rookery.environments.building.lock import Lock
from rookery.environments.building.plan import Plan, plan_names
from rookery.environments.building.policy import Policy
from rookery.environments.building.reasons import explain
from rookery.environments.building.resolve import Work, resolve
from rookery.environments.containers.image_python import inside
from rookery.environments.containers.images import Unavailable
from rookery.environments.containers.runtimes import caller_limits, remove_container
from rookery.environments.python.interpreters import Choice, Interpreter, choose, installed
from rookery.environments.python.managed_python import obtain_python
from rookery.environments.python.pip_config import read_pip_config
from rookery.environments.python.torch_choice import TorchPins, pin_torch
from rookery.environments.python.uv_program import Finished, find_uv, run_program
from rookery.environments.python.versions import exact, release
from rookery.environments.specification.requirement import mask
from rookery.environments.specification.wanted import Wanted
from rookery.errors import EnvironmentBuildError
from rookery.settings import rookery_home
from rookery.spec.container import ContainerSpec, Mount, Runtime, run_command
from rookery.spec.run import EnvironmentSpec

__all__ = ["Packages", "install_inside"]

BUILDING = "rookery-build-"
UV_INSIDE = "/run/rookery-uv"


@dataclass(frozen=True)
class Packages:
    """Where they are: the same paths inside and outside. key: by which the store knows them."""

    key: str
    python: str
    bin_dir: str
    mounts: tuple[Mount, ...]
    variables: dict[str, str]
    deviations: tuple[str, ...] = ()


def install_inside(
    spec: EnvironmentSpec, container: ContainerSpec, policy: Policy, log: Callable[[bytes], None], deadline: float
) -> Packages:
    """The packages of a specification for the image's Python, installed once.

    Raises:
        UserError: the specification is refused.
        Unavailable: the image has no Python that fits and none is to be had.
        EnvironmentBuildError: they cannot be installed; the message names the package and the reason.
    """
    wanted = plan_names(spec, policy)
    if wanted.conda:
        return _from_conda(spec, log)
    plan = _plan(wanted, container, policy, log, deadline)
    python_mounts = _mounts_of(plan.choice.interpreter)
    with hold_lock("request-" + plan.request, deadline) as held:
        known = _known(plan)
        if known is not None:
            return _packages(known, python_mounts)
        build_log = BuildLog(request_path(plan.request, ".log"), log)
        try:
            work = InsideWork(
                plan, build_log, held, deadline, policy.timeout_s, replace(container, mounts=python_mounts)
            )
            remove_container(container, work.name)  # of a builder that was killed: it would write beside us
            lock = _install(resolve(work), work)
        except BaseException:
            remove_container(container, f"{BUILDING}{plan.request}")
            raise
        finally:
            build_log.close()
        write_json(request_path(plan.request), {"lock": lock.to_data()})
        return _packages(lock, python_mounts)


@dataclass(frozen=True)
class InsideWork(Work):
    """Work whose programs run inside a container of the image."""

    container: ContainerSpec

    @property
    def name(self) -> str:
        """The same for whoever builds the same: under the lock there is one."""
        return BUILDING + self.plan.request

    def uv(self, *arguments: str, held: BuildLock | None = None) -> Finished:
        environment = {
            k: v
            for k, v in self.plan.config.environment(os.environ).items()
            if k.startswith(("UV_", "SSL_")) or k.lower().endswith("_proxy")
        }
        environment.update(
            {
                "UV_CACHE_DIR": uv_cache_folder(),
                "UV_LINK_MODE": "hardlink",
                "UV_PYTHON_DOWNLOADS": "never",
                "UV_NO_PROGRESS": "1",
            }
        )
        folders = [
            *self.plan.config.find_links_folders(),
            *(environment.get(n, "") for n in ("SSL_CERT_FILE", "SSL_CERT_DIR")),
        ]
        # One mount for cache and environments: hard links do not cross mounts.
        mounts = [Mount(rookery_home()), Mount(find_uv(), True, UV_INSIDE)]
        mounts += [Mount(os.path.realpath(f), True, f) for f in dict.fromkeys(folders) if f and os.path.exists(f)]
        command = [UV_INSIDE, "--no-config", "--color", "never", *arguments]
        return self.run(command, mounts, environment, held)

    def run(
        self,
        command: Sequence[str],
        mounts: Sequence[Mount],
        environment: dict[str, str] | None = None,
        held: BuildLock | None = None,
    ) -> Finished:
        """Run something inside. Values of variables come from our own process, so that none is on a command line."""
        lock = held or self.held
        outer = {**os.environ, **(environment or {})}
        if self.container.runtime == Runtime.APPTAINER:
            names: list[str] = []
            outer.update({f"APPTAINERENV_{name}": value for name, value in (environment or {}).items()})
        else:
            names = [word for name in sorted(environment or {}) for word in ("--env", name)]
            names += ["--env", "HOME=/tmp"]  # a user id that the image does not know has none
        container = replace(self.container, arguments=tuple(names))
        line = run_command(container, command, self.name, mounts, caller_limits())
        return run_program(line, outer, self.log, self.deadline, self.timeout_s, lock.started, [lock.fd])


def _from_conda(spec: EnvironmentSpec, log: Callable[[bytes], None]) -> Packages:
    """conda's packages bring their own Python and libraries: what is built on this machine runs in any image with glibc."""
    from rookery.environments.building import builder

    built = builder.build(spec, log)
    root = EnvironmentFolder(built.key).root
    if not os.path.realpath(built.python).startswith(os.path.realpath(root) + os.sep):
        raise Unavailable("its conda packages were built for this machine's own Python, which is not in the image")
    return Packages(built.key, built.python, built.bin_dir, (Mount(root),), dict(built.variables), built.deviations)


def _plan(
    wanted: Wanted, container: ContainerSpec, policy: Policy, log: Callable[[bytes], None], deadline: float
) -> Plan:
    choice = _choose(wanted, container, policy, log, deadline)
    config = read_pip_config().with_options(wanted.options)
    pins = TorchPins() if wanted.locked else pin_torch(wanted.pip, config.find_links_folders(), choice.interpreter)
    values = {
        "image": container.image,
        "python": asdict(choice),
        "pip": [mask(r.text) for r in wanted.pip],
        "constraints": wanted.constraints,
        "said": wanted.deviations + wanted.notes,
        "config": config.fingerprint(os.environ),
        "pins": pins.constraints,
    }
    request = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]
    return Plan(wanted, choice, config, pins, request, wanted.name)


def _choose(
    wanted: Wanted, container: ContainerSpec, policy: Policy, log: Callable[[bytes], None], deadline: float
) -> Choice:
    """The image's interpreter that fits; else one of uv's own builds, which run in any image with glibc."""
    found = inside(container)
    try:
        best: Choice | None = choose(wanted.python, found, policy.allow_python_drift)
    except EnvironmentBuildError:
        best = None
    if best is not None and best.is_exact:
        return best
    version = exact(wanted.python or "")
    try:
        movable = choose(wanted.python, _movable(container), False)
    except EnvironmentBuildError:
        movable = None
    if (
        (movable is None or not movable.is_exact)
        and len(release(version)) >= 2
        and obtain_python(version, log, deadline)
    ):
        movable = choose(wanted.python, _movable(container), False)
    for one in (movable if movable and movable.is_exact else None, best, movable):
        if one is not None:
            return replace(one, deviation=one.deviation.replace("on this machine", "in the image"))
    have = ", ".join(one.version for one in found) or "no Python"
    raise Unavailable(
        f"Python {wanted.python or '3'} was asked for, image '{container.image_name}' has {have}, and uv has none"
    )


def _movable(container: ContainerSpec) -> list[Interpreter]:
    """uv's own builds on this machine, as seen inside."""
    return [replace(i, build=f"{i.build} in {container.image}") for i in installed() if _is_movable(i.path)]


def _is_movable(path: str) -> bool:
    return f"{os.sep}uv{os.sep}python{os.sep}" in path


def _mounts_of(python: Interpreter) -> tuple[Mount, ...]:
    return (Mount(os.path.dirname(os.path.dirname(python.path)), True),) if _is_movable(python.path) else ()


def _known(plan: Plan) -> Lock | None:
    data = read_json(request_path(plan.request)) or {}
    try:
        lock = Lock.from_data(data["lock"]) if "lock" in data else None
    except ValueError:
        return None
    if lock is None or not EnvironmentFolder(lock.key).is_built():
        return None
    os.utime(EnvironmentFolder(lock.key).marker)  # the time of last use
    return lock


def _install(lock: Lock, work: InsideWork) -> Lock:
    folder = EnvironmentFolder(lock.key)
    with hold_lock(lock.key, work.deadline) as held:
        if folder.is_built():
            return lock
        remove_folder(folder.root)
        os.makedirs(folder.root, mode=0o700)
        work.log.also_to(folder.log)
        began = time.monotonic()
        with open(folder.image, "w", encoding="utf-8") as file:
            file.write(f"{work.container.image_name}\n{work.container.image}\n")
        with open(folder.requirements, "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(lock.packages)
        work.log.say(
            f"Building environment {lock.key} in a container: {lock.num_packages} packages, Python {lock.python_version}"
        )
        _must(
            work.uv(
                "venv", "-q", "--no-project", "--allow-existing", "--python", lock.python_path, folder.env, held=held
            ),
            lock,
            work,
        )
        arguments = ["pip", "install", "--python", folder.python, "--no-deps", "-r", folder.requirements]
        if lock.num_packages:
            _must(work.uv(*arguments, *work.plan.config.arguments(), held=held), lock, work)
        lock = _import(lock, folder, work, held)
        write_json(folder.lock, lock.to_data())
        write_json(
            folder.marker,
            {
                "key": lock.key,
                "name": work.plan.name,
                "built": time.time(),
                "seconds": time.monotonic() - began,
                "python": lock.python_path,
                "python_version": lock.python_version,
                "num_packages": lock.num_packages,
                "image": work.container.image_name,
            },
        )
        return lock


def _import(lock: Lock, folder: EnvironmentFolder, work: InsideWork, held: BuildLock) -> Lock:
    work.log.say("Importing what was asked for")

    def run(command: list[str]) -> Finished:
        results = os.path.dirname(command[command.index(PROBE) + 1])
        return work.run(command, [Mount(folder.root), Mount(PROBE, True), Mount(HOOK, True), Mount(results)], held=held)

    report = check_imports(folder.python, lock.asked, run, work.log.say)
    return replace(lock, deviations=lock.deviations + report.deviations, notes=lock.notes + report.notes)


def _must(finished: Finished, lock: Lock, work: InsideWork) -> None:
    if finished.code != 0:
        raise EnvironmentBuildError(explain(finished.output, work.plan.name, lock.asked), details={"step": "install"})


def _packages(lock: Lock, python_mounts: tuple[Mount, ...]) -> Packages:
    folder = EnvironmentFolder(lock.key)
    mounts = (Mount(folder.root), *python_mounts)
    return Packages(lock.key, folder.python, folder.bin_dir, mounts, {"VIRTUAL_ENV": folder.env}, lock.deviations)
