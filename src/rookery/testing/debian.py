"""Programs that tests need from Debian: found, or installed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Mapping

__all__ = ["ensure_programs"]

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


def _install(missing: list[str], install: str) -> None:
    # RUNLEVEL: services that a package would start have no place here, which invoke-rc.d understands.
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    os.makedirs(os.path.dirname(_LOCK), exist_ok=True)
    with open(_LOCK, "w") as lock:  # two test runs at a time must not fight for dpkg's own lock
        fcntl.flock(lock, fcntl.LOCK_EX)
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
