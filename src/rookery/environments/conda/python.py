"""An interpreter from a conda channel, for specifications that ask for a Python this machine does not have."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence

from rookery.environments.building.flocks import hold_lock
from rookery.environments.building.folders import write_json
from rookery.environments.conda.install import install_conda
from rookery.environments.conda.program import conda_pythons_folder, find_conda_python, plain_runner
from rookery.environments.conda.solve import conda_mode, solve_conda
from rookery.environments.specification.wanted import Wanted
from rookery.errors import RookeryError

__all__ = ["conda_pythons", "from_conda_channel", "python_from_channel"]

MARKER = "built.json"


def python_from_channel(
    version: str, channels: Sequence[str], log: Callable[[bytes], None], deadline: float
) -> str | None:
    """The path of an interpreter of this version, made from a channel's package; None where none can be had.

    Not an error then: other sources come after this one. The log says why.

    Args:
        channels: names or addresses; none means the .condarc's, else conda's defaults.
        deadline: time.monotonic() at which the attempt ends.
    """
    try:
        find_conda_python()
        run = plain_runner(log, deadline)
        log(f"Python {version} is not on this machine; asking the conda channels for it\n".encode())
        wanted = Wanted(python=version, channels=tuple(channels), name=f"Python {version}")
        lock = solve_conda(wanted, log, run)
        key = hashlib.sha256("\n".join(lock.to_lines()).encode()).hexdigest()[:12]
        prefix = os.path.join(conda_pythons_folder(), f"{lock.python_version}-{key}")
        with hold_lock(f"conda-python-{lock.python_version}-{key}", deadline):
            if not os.path.exists(os.path.join(prefix, MARKER)):
                shutil.rmtree(prefix, ignore_errors=True)  # what a build that died left
                install_conda(lock, prefix, log, run, wanted)
                about = {"version": lock.python_version, "packages": lock.specs(), "built": time.time()}
                write_json(os.path.join(prefix, MARKER), about)
    except (RookeryError, OSError) as error:
        log(f"No Python {version} from a conda channel: {error}\n".encode("utf-8", "replace"))
        return None
    path = os.path.join(prefix, "bin", "python")
    return path if os.path.exists(path) else None


def from_conda_channel(version: str, log: Callable[[bytes], None], deadline: float) -> bool:
    """A `PythonSource`: the user's channels are asked, unless conda is switched off or py-rattler is not here."""
    try:
        if conda_mode() == "never":
            return False
        find_conda_python()
    except RookeryError:
        return False
    return python_from_channel(version, (), log, deadline) is not None


def conda_pythons() -> Iterable[str]:
    """Paths of the interpreters made so far, for the search of installed ones."""
    folder = conda_pythons_folder()
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if os.path.exists(os.path.join(folder, name, MARKER)):
            yield os.path.join(folder, name, "bin", "python")
