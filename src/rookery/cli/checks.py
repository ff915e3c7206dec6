"""What `rookery doctor` looks at. Each check returns its answer and never raises."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

from rookery.cli import session
from rookery.cli.torch_check import check_torch
from rookery.cli.verdict import BROKEN, INFO, MISSING, OK, Check
from rookery.cli.words import size
from rookery.errors import RookeryError

__all__ = ["BROKEN", "INFO", "MISSING", "OK", "Check", "examine"]

NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "fsspec", "yaml", "typer", "rich")
LEAST_DISK_BYTES = 200 * 1000 * 1000


@dataclass(frozen=True)
class _Program:
    """A program that some feature can use."""

    name: str
    commands: tuple[str, ...]
    use: str
    get: str


PROGRAMS = (
    _Program("git", ("git",), "records commit and branch of a run", "apt-get install git"),
    _Program(
        "container runtime",
        ("docker", "podman", "apptainer"),
        "environments from Docker images",
        "apt-get install podman",
    ),
    _Program("Open MPI", ("mpirun", "mpiexec"), "MPI jobs", "apt-get install openmpi-bin"),
    _Program("Slurm", ("sbatch",), "sending runs to a Slurm cluster", "ask the cluster's operator for a login node"),
    _Program("Ray", ("ray",), "several machines through Ray", "pip install ray"),
    _Program("Node.js", ("node",), "building the studio from source", "apt-get install nodejs npm"),
    _Program(
        "Chromium",
        ("chromium", "chromium-browser", "google-chrome"),
        "browser tests of the studio",
        "apt-get install chromium",
    ),
)


def examine(python: Optional[str] = None) -> list[Check]:
    """Every check, in the order to read them."""
    looks: list[tuple[str, Callable[[], list[Check]]]] = [
        ("Python", _python),
        ("packages", _packages),
        ("machine", _machine),
        ("GPUs", _gpus),
        ("disk", _disk),
        ("torch", lambda: check_torch(python or sys.executable)),
        ("programs", lambda: [_program(p) for p in PROGRAMS]),
        ("workspace", _workspace),
    ]
    found = []
    for name, look in looks:
        try:
            found += look()
        except Exception as error:  # a check that fails is an answer, not the end of the examination
            found.append(Check(name, MISSING, f"could not be examined: {type(error).__name__}: {error}"))
    return found


def _python() -> list[Check]:
    text = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info[:2] < (3, 10):
        return [Check("Python", BROKEN, f"{text}; 3.10 or newer is needed", "install Python 3.11")]
    return [Check("Python", OK, text)]


def _packages() -> list[Check]:
    from importlib.util import find_spec

    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        return [
            Check(
                "packages",
                BROKEN,
                f"not installed: {', '.join(missing)}",
                f"{sys.executable} -m pip install rookery",
            )
        ]
    return [Check("packages", OK, "all that Rookery itself needs")]


def _machine() -> list[Check]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return [
        Check(
            "cores",
            OK,
            f"{cores} of {os.cpu_count()}, {platform.machine()}, {platform.system()} {platform.release()}",
        ),
        Check("memory", OK, _memory()),
    ]


def _memory() -> str:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        with open("/proc/meminfo", encoding="ascii") as f:
            rows = dict(line.split(":", 1) for line in f)
        return f"{size(total)}, {size(int(rows['MemAvailable'].split()[0]) * 1024)} of it free"
    except (OSError, KeyError, ValueError):
        return size(total)


def _gpus() -> list[Check]:
    if not shutil.which("nvidia-smi"):
        return [Check("GPUs", INFO, "none found (no nvidia-smi); runs use the CPU")]
    fields = "--query-gpu=name,memory.total,driver_version"
    done = subprocess.run(
        ["nvidia-smi", fields, "--format=csv,noheader"],
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if done.returncode or not lines:
        return [Check("GPUs", MISSING, "nvidia-smi is there but names no GPU", "nvidia-smi, and mend what it says")]
    return [Check("GPUs", OK, f"{len(lines)}: {'; '.join(lines)}")]


def _disk() -> list[Check]:
    from rookery.settings import rookery_home

    try:
        folder = session.workspace_root()
    except (RookeryError, OSError):
        folder = rookery_home()
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free
    text = f"{size(free)} free at {folder}"
    if not os.access(folder, os.W_OK):
        return [Check("disk", BROKEN, f"{folder} cannot be written", "set ROOKERY_HOME to a folder that is yours")]
    if free < LEAST_DISK_BYTES:
        return [
            Check(
                "disk",
                BROKEN,
                f"{text}; runs need room for snapshots and outputs",
                "free some space, or set ROOKERY_HOME to another disk",
            )
        ]
    return [Check("disk", OK, text)]


def _program(program: _Program) -> Check:
    # Beside our own interpreter too: Ray, for one, lies there, and that folder is not always on PATH.
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), os.path.dirname(sys.executable)])
    for command in program.commands:
        found = shutil.which(command, path=places)
        if found:
            return Check(program.name, OK, f"{_first_line(found)} at {found}")
    return Check(program.name, INFO, f"not found; for: {program.use}", program.get)


def _first_line(program: str) -> str:
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "does not answer --version"
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip() if lines else os.path.basename(program)


def _workspace() -> list[Check]:
    try:
        where = session.describe_workspace()
        client = session.client()
        keeper = client.request("GET", "/keeper")
        detail = client.request("GET", "/workspace")
        client.request("GET", "/runs", query={"limit": 1})
    except RookeryError as error:
        return [
            Check(
                "workspace",
                BROKEN,
                f"{error.code}: {error.message}",
                "mend what it says, then `rookery doctor` again",
            )
        ]
    text = f"pid {keeper['pid']}, {size(keeper['memory_bytes'])}, {keeper['live_runs']} live runs"
    return [Check("workspace", OK, f"{where}, {size(detail.get('disk_bytes'))}"), Check("keeper", OK, text)]
