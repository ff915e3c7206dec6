"""The program of this machine that runs containers: which one there is, that it works, and what must be known to use it."""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rookery.errors import ConfigError
from rookery.settings import get_setting
from rookery.spec.container import ContainerSpec, Runtime, container_limits, remove_command

__all__ = ["ContainerPolicy", "Found", "caller_limits", "find_runtime", "remove_container"]

PROBE_S = 20.0
ABSENT_S = 30.0  # how long "there is none" is believed; one that works is believed as long as we live
MODES = ("auto", "strict", "never")
PROGRAMS = {"podman": Runtime.PODMAN, "docker": Runtime.DOCKER, "apptainer": Runtime.APPTAINER}
PROGRAMS["singularity"] = Runtime.APPTAINER

_lock = threading.Lock()
_found: dict[tuple[str, ...], tuple[float, Found]] = {}


@dataclass(frozen=True)
class ContainerPolicy:
    """The settings containers, container_runtime, container_flags and container_pull (docs/settings.md)."""

    mode: str = "auto"
    program: str = ""
    flags: tuple[str, ...] = ()
    pull: bool = True

    @classmethod
    def read(cls, workspace_root: str | None = None) -> ContainerPolicy:
        """The policy in force.

        Raises:
            ConfigError: a setting cannot be read.
        """
        mode = str(get_setting("containers", workspace_root)).strip().lower()
        if mode not in MODES:
            raise ConfigError(f"containers={mode!r} is not known. Known: {', '.join(MODES)}.")
        program = str(get_setting("container_runtime", workspace_root)).strip()
        if program and os.path.basename(program) not in PROGRAMS:
            raise ConfigError(
                f"container_runtime={program!r} is not known. Known: {', '.join(PROGRAMS)}, or the path of one of them."
            )
        try:
            flags = tuple(shlex.split(get_setting("container_flags", workspace_root)))
        except ValueError as error:
            raise ConfigError(f"container_flags cannot be read as words of a command line: {error}.") from error
        return cls(mode, program, flags, get_setting("container_pull", workspace_root))


@dataclass(frozen=True)
class Found:
    """A runtime that answers; or none, and `missing` says in words what was looked for."""

    runtime: str = ""
    program: str = ""
    is_rootless: bool = False
    missing: str = ""

    def container(self, policy: ContainerPolicy, image: str = "", image_name: str = "") -> ContainerSpec:
        """A container of an image, as this runtime must be told."""
        return ContainerSpec(
            runtime=self.runtime,
            program=self.program,
            image=image,
            image_name=image_name,
            flags=policy.flags,
            user=self._user(),
            is_rootless=self.is_rootless,
        )

    def _user(self) -> str:
        if self.runtime == Runtime.APPTAINER:
            return ""  # always whoever started it
        # Root of a rootless container is who started it. The image's own user would be somebody else, in both cases.
        return "0:0" if self.is_rootless else f"{os.getuid()}:{os.getgid()}"


def find_runtime(policy: ContainerPolicy) -> Found:
    """The runtime to use: the one that is set, else the first that works of podman, docker, apptainer, singularity."""
    key = (policy.program, *policy.flags, os.environ.get("PATH", ""), os.environ.get("DOCKER_HOST", ""))
    with _lock:  # held while asking: nineteen others would only ask the same
        until, found = _found.get(key, (0.0, Found()))
        if time.monotonic() < until:
            return found
        found = _look(policy)
        _found[key] = (float("inf") if found.runtime else time.monotonic() + ABSENT_S, found)
        return found


def caller_limits() -> dict[str, tuple[int, int]]:
    """Limits for containers of the keeper's own."""
    try:
        with open("/proc/sys/kernel/pid_max", encoding="ascii") as f:
            pid_max = int(f.read())
    except (OSError, ValueError):
        pid_max = 32768
    nofile, nproc = resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_NPROC)
    return container_limits(nofile, nproc, pid_max)


def remove_container(container: ContainerSpec, name: str) -> None:
    """End and remove one by name, if it is there: a client that was killed leaves its container running."""
    command = remove_command(container, [name])
    if command:
        _run(command)


def _look(policy: ContainerPolicy) -> Found:
    problems = []
    for name in [policy.program] if policy.program else list(PROGRAMS):
        program = shutil.which(name)
        if program is None:
            continue
        runtime = PROGRAMS[os.path.basename(name)]
        found, problem = _ASK[runtime](os.path.abspath(program), policy.flags)
        if found is not None:
            return found
        problems.append(f"{os.path.basename(name)} is installed but {problem}")
    looked = policy.program or "podman, docker or apptainer"
    return Found(missing="; ".join(problems) or f"{looked} is not installed")


def _ask_podman(program: str, flags: Sequence[str]) -> tuple[Found | None, str]:
    code, out, said = _run([program, *flags, "info", "--format", "{{.Host.Security.Rootless}}"])
    if code != 0:
        return None, f"does not work ({said})"
    return Found(Runtime.PODMAN, program, out == "true"), ""


def _ask_docker(program: str, flags: Sequence[str]) -> tuple[Found | None, str]:
    host = os.environ.get("DOCKER_HOST", "")
    if host and not host.startswith(("unix://", "/")):
        return None, f"its engine is on another machine (DOCKER_HOST={host.partition('://')[0]}://…)"
    code, out, said = _run([program, *flags, "info", "--format", "{{.ServerVersion}}|{{.SecurityOptions}}"])
    version, _, options = out.partition("|")
    if code != 0 or not version:  # a client without an engine exits with 0 in some versions
        return None, f"no engine answers it ({said or 'no words'})"
    return Found(Runtime.DOCKER, program, "rootless" in options), ""


def _ask_apptainer(program: str, flags: Sequence[str]) -> tuple[Found | None, str]:
    code, _, said = _run([program, *flags, "--version"])
    return (Found(Runtime.APPTAINER, program, True), "") if code == 0 else (None, f"does not work ({said})")


_ASK = {Runtime.PODMAN: _ask_podman, Runtime.DOCKER: _ask_docker, Runtime.APPTAINER: _ask_apptainer}


def _run(command: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, what it answered, and the last line of its complaints."""
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_S, check=False, cwd="/"
        )
    except subprocess.TimeoutExpired:
        return -1, "", f"no answer within {PROBE_S:.0f} s"
    except OSError as error:
        return -1, "", str(error.strerror or error)
    said = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return done.returncode, done.stdout.decode("utf-8", "replace").strip(), said[-1][:300] if said else ""
