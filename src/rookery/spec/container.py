"""A run in a container: what an agent is told, and the command lines that follow from it. Pure.

Everything is mounted at the path it has outside, so variables, arguments and tracebacks mean the same on both sides. The
host's processes and network are shared: a container here brings software, it is no wall. So signals reach the user's
process directly, process ids in journals and error files are the real ones, and nobody has to be process 1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "ContainerSpec",
    "Mount",
    "Runtime",
    "build_command",
    "container_limits",
    "container_name",
    "remove_command",
    "run_command",
]

MAX_NAME = 120


class Runtime:
    """Programs that run containers."""

    PODMAN = "podman"
    DOCKER = "docker"
    APPTAINER = "apptainer"  # singularity is the same program under its older name
    ALL = (PODMAN, DOCKER, APPTAINER)


@dataclass(frozen=True)
class Mount:
    """A file or folder of the machine, at the same path inside unless `target` says another."""

    source: str
    read_only: bool = False
    target: str = ""


@dataclass(frozen=True)
class ContainerSpec:
    """Where a rank's process is to live.

    image: the id (of apptainer: the file) it was resolved to, so that a tag that moves changes nothing.
    flags: go between the program and its verb (setting container_flags).
    python: the interpreter inside. bin_dir goes first on the PATH inside.
    user: uid:gid inside such that what it writes belongs to whoever submitted.
    arguments: what the environment's docker section says, for `run`.
    """

    runtime: str
    program: str
    image: str
    image_name: str = ""
    flags: tuple[str, ...] = ()
    python: str = "python3"
    bin_dir: str = ""
    user: str = ""
    is_rootless: bool = False
    arguments: tuple[str, ...] = ()
    shm_size: str = ""
    gpus: bool = False
    mounts: tuple[Mount, ...] = ()
    network: str = "host"


def container_name(run_id: str, attempt: int, node: int, rank: int) -> str:
    """`rookery-<run>-<attempt>-<node>-<rank>`: found again by whoever cleans up."""
    end = f"-{attempt}-{node}-{rank}"
    start = "rookery-" + re.sub(r"[^A-Za-z0-9_.-]", "_", run_id)
    if len(start) + len(end) > MAX_NAME:
        start = f"{start[: MAX_NAME - len(end) - 17]}-{hashlib.sha256(run_id.encode()).hexdigest()[:16]}"
    return start + end


def container_limits(nofile: tuple[int, int], nproc: tuple[int, int], pid_max: int) -> dict[str, tuple[int, int]]:
    """The caller's own limits (soft and hard), for a container: runtimes ask for larger ones by default, which not everybody
    may grant. podman lowers its nproc to pid_max, and cannot give more than it has."""
    limits = {"nofile": nofile, "nproc": (_at_most(nproc[0], pid_max), _at_most(nproc[1], pid_max))}
    return {name: pair for name, pair in limits.items() if min(pair) >= 0}  # -1: no limit


def run_command(
    spec: ContainerSpec,
    command: Sequence[str],
    name: str = "",
    mounts: Iterable[Mount] = (),
    limits: Mapping[str, tuple[int, int]] | None = None,
    cpus: Sequence[int] = (),
    folder: str = "",
) -> list[str]:
    """The command line that runs `command` inside and removes the container afterwards.

    Args:
        mounts: beside those of the spec.
        limits: resource limits by their short name (nofile, nproc), soft and hard. Without them runtimes ask for more
            than an unprivileged caller may give.
        cpus: cores to keep to, where the runtime is allowed to say so.
    """
    start = [spec.program, *spec.flags]
    bound = [word for mount in (*spec.mounts, *mounts) for word in ("--mount", _mount(mount))]
    if spec.runtime == Runtime.APPTAINER:
        words = ["exec", "--cleanenv", "--no-home", "--writable-tmpfs", *(["--nv"] if spec.gpus else []), *bound]
        return [*start, *words, *(["--pwd", folder] if folder else []), *spec.arguments, spec.image, *command]
    words = ["run", "--rm", "--pull=never", "--pid", "host", "--network", spec.network]
    words += ["--log-driver", "none", "--security-opt", "label=disable"]
    words += ["--name", name, "--label", f"rookery={name}"] if name else []
    words += ["--user", spec.user] if spec.user else []
    for limit, (soft, hard) in sorted((limits or {}).items()):
        words += ["--ulimit", f"{limit}={soft}:{hard}"]
    if spec.shm_size and not any(a.startswith("--ipc") for a in spec.arguments):
        words += ["--shm-size", spec.shm_size]
    if cpus and not spec.is_rootless:  # a rootless runtime rarely may; there the caller's own cores are inherited
        words += ["--cpuset-cpus", ",".join(map(str, cpus))]
    if spec.gpus:
        words += ["--gpus", "all"] if spec.runtime == Runtime.DOCKER else ["--device", "nvidia.com/gpu=all"]
    words += ["--workdir", folder] if folder else []
    return [*start, *words, *bound, *spec.arguments, "--entrypoint", command[0], spec.image, *command[1:]]


def remove_command(spec: ContainerSpec, names: Sequence[str]) -> list[str]:
    """The command line that ends and removes containers, whether they are there or not. Empty: nothing outlives its
    parent."""
    if spec.runtime == Runtime.APPTAINER:
        return []
    at_once = ["--time", "0", "--ignore"] if spec.runtime == Runtime.PODMAN else []
    return [spec.program, *spec.flags, "rm", "--force", *at_once, *names]


def build_command(
    spec: ContainerSpec, tag: str, dockerfile: str, context: str, limits: Mapping[str, tuple[int, int]]
) -> list[str]:
    """The command line that builds an image. `dockerfile` empty: the one in the context."""
    words = [spec.program, *spec.flags, "build", "--network", spec.network, "--tag", tag]
    for limit, (soft, hard) in sorted(limits.items()):
        words += ["--ulimit", f"{limit}={soft}:{hard}"]
    return [*words, *(["--file", dockerfile] if dockerfile else []), context]


def _at_most(value: int, most: int) -> int:
    return most if value < 0 else min(value, most)


def _mount(mount: Mount) -> str:
    """Comma separated, as CSV: what holds a comma or a quote is quoted."""
    fields = ["type=bind", f"src={mount.source}", f"dst={mount.target or mount.source}"]
    fields += ["ro"] if mount.read_only else []
    return ",".join('"' + f.replace('"', '""') + '"' if set(f) & set(',"') else f for f in fields)
