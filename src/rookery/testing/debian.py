"""Programs that tests need from Debian: found, or installed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping

__all__ = ["apt_alone", "ensure_programs"]

_LOCK = "/run/lock/rookery-testing-apt"
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def ensure_programs(packages: Mapping[str, str]) -> dict[str, str]:
    """The paths of programs, given as {program: Debian package}; installed with apt-get where they are missing.

    Raises:
        RuntimeError: one is missing and cannot be installed here.
    """
    missing = sorted({package for program, package in packages.items() if not _find(program)})
    if missing:
        install = f"apt-get install --no-install-recommends {' '.join(missing)}"
        if not shutil.which("apt-get") or os.getuid() != 0:
            raise RuntimeError(f"Programs are missing. Install them with `{install}`.")
        _install(missing, install)
    return {program: _find(program) or program for program in packages}


@contextlib.contextmanager
def apt_alone() -> Iterator[None]:
    """Inside it no other test run of this machine uses apt-get: they would fight for its locks."""
    os.makedirs(os.path.dirname(_LOCK), exist_ok=True)
    with open(_LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(missing: list[str], install: str) -> None:
    # RUNLEVEL: services that a package would start have no place here, which invoke-rc.d understands.
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    with apt_alone():
        # A fresh machine has no lists of packages, and a mirror may fail once.
        patient = ["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=3"]
        said = ""
        for words in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
            command = ["apt-get", *patient, *words]
            done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600, check=False)
            said += done.stderr[-800:]
    if done.returncode:
        raise RuntimeError(f"`{install}` failed: {said}")


def _find(program: str) -> str:
    """As shutil.which, also where a user's PATH does not name the system's folders."""
    return shutil.which(program) or shutil.which(program, path=_SYSTEM_PATH) or ""
