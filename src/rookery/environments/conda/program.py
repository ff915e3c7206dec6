"""The program that does conda's work: which interpreter has py-rattler, and one call of it."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rookery.environments.building.folders import cache_folder
from rookery.environments.python.uv_program import Finished, run_program
from rookery.errors import EnvironmentBuildError
from rookery.settings import get_setting, rookery_home

__all__ = [
    "Runner",
    "call_child",
    "conda_cache_folder",
    "conda_pythons_folder",
    "find_conda_python",
    "plain_runner",
    "prune_conda_cache",
    "rattler_folder",
]

# Runs a command with these variables, its words going to the build's log. The builder gives one that holds its locks.
Runner = Callable[[Sequence[str], Mapping[str, str]], Finished]

_CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")
# Not `-m`: that would import this package, and with it what only the keeper's environment has. Not the bare path: that
# would put this folder's names before the standard library's.
_START = "import runpy, sys; sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"


def conda_cache_folder() -> str:
    """Downloaded packages and package lists; on the file system of the environments, for hard links."""
    return os.path.join(cache_folder(), "conda")


def prune_conda_cache() -> None:
    """Remove downloaded packages and package lists. Files that environments share stay theirs.

    Raises:
        EnvironmentBuildError: a build is using it.
    """
    folder = conda_cache_folder()
    if not os.path.isdir(folder):
        return
    with open(os.path.join(folder, "in-use"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EnvironmentBuildError(
                f"The cache in {folder} cannot be removed now: an environment is being built. Try again when it is done."
            ) from None
        for name in os.listdir(folder):
            if name != "in-use":  # the lock itself stays, so that nobody locks a ghost
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def conda_pythons_folder() -> str:
    """Interpreters that came from a channel, one folder each."""
    return os.path.join(rookery_home(), "pythons")


def find_conda_python(workspace_root: str | None = None) -> str:
    """An interpreter that has py-rattler: ours, else the one of the setting `conda_python`.

    Raises:
        EnvironmentBuildError: there is none.
    """
    if _is_beside_us():
        return sys.executable
    given = str(get_setting("conda_python", workspace_root))
    if not given:
        raise EnvironmentBuildError(missing_words(), details={"step": "conda", "missing": "py-rattler"})
    path = os.path.expanduser(given)
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        raise EnvironmentBuildError(
            f"conda_python={given} is not an executable file. Set it to the Python that has py-rattler, or unset it and "
            "`pip install 'rookery[conda]'`.",
            details={"step": "conda", "missing": "py-rattler"},
        )
    return path


def rattler_folder(workspace_root: str | None = None) -> str:
    """Where the interpreter of `find_conda_python` has the package, for machines that have none.

    Raises:
        EnvironmentBuildError: there is none.
    """
    python = find_conda_python(workspace_root)
    if python == sys.executable:
        found = importlib.util.find_spec("rattler")
        folder = found.submodule_search_locations[0] if found and found.submodule_search_locations else ""
    else:
        ask = [python, "-c", "import rattler; print(rattler.__path__[0])"]
        folder = subprocess.run(ask, capture_output=True, text=True, timeout=60, check=False).stdout.strip()
    if not os.path.isdir(folder):
        raise EnvironmentBuildError(missing_words(python), details={"step": "conda", "missing": "py-rattler"})
    return folder


def _is_beside_us() -> bool:
    return importlib.util.find_spec("rattler") is not None  # looks, and imports nothing


def missing_words(given: str = "") -> str:
    tried = f" conda_python={given} does not have it." if given else ""
    return (
        f"conda packages are installed by py-rattler, which is not here.{tried} Install it beside Rookery: "
        "`pip install 'rookery[conda]'`, or set conda_python (ROOKERY_CONDA_PYTHON) to an interpreter that has it."
    )


def plain_runner(log: Callable[[bytes], None], deadline: float | None = None) -> Runner:
    """A runner for a call outside a build: no locks."""
    timeout_s = float(get_setting("environment_build_timeout_s"))
    until = time.monotonic() + timeout_s if deadline is None else deadline

    def run(command: Sequence[str], environment: Mapping[str, str]) -> Finished:
        return run_program(command, environment, log, until, timeout_s)

    return run


def call_child(
    request: dict[str, Any], environment: Mapping[str, str], run: Runner, workspace_root: str | None = None
) -> dict[str, Any]:
    """One request, one answer; {"error": …} in it where the child says no.

    Raises:
        EnvironmentBuildError: py-rattler is not to be found, the child died without an answer, or took too long.
    """
    python = find_conda_python(workspace_root)
    os.makedirs(conda_cache_folder(), exist_ok=True)
    full = {
        **request,
        "cache": conda_cache_folder(),
        "reach_s": float(get_setting("conda_channel_timeout_s", workspace_root)),
    }
    if os.environ.get("ROOKERY_RATTLER"):  # on a node: it came with the job
        environment = {**environment, "PYTHONPATH": os.environ["ROOKERY_RATTLER"]}
    # The folder is ours alone: a channel's address may hold a password.
    with tempfile.TemporaryDirectory(prefix="conda-", dir=cache_folder()) as folder:
        asked, answered = os.path.join(folder, "request.json"), os.path.join(folder, "answer.json")
        with open(asked, "w", encoding="utf-8") as f:
            json.dump(full, f)
        finished = run([python, "-c", _START, _CHILD, asked, answered], environment)
        try:
            with open(answered, encoding="utf-8") as f:
                answer: dict[str, Any] = json.load(f)
        except (OSError, ValueError):
            last = " ".join(finished.output.split())[-500:] or "nothing"
            raise EnvironmentBuildError(
                f"The program that installs conda packages ended without an answer (exit code {finished.code}); its last "
                f"words: {last}. Try `{python} -c 'import rattler'`.",
                details={"step": "conda"},
            ) from None
    if answer.get("error", {}).get("kind") == "missing":
        given = str(get_setting("conda_python", workspace_root)) if python != sys.executable else ""
        raise EnvironmentBuildError(missing_words(given), details={"step": "conda", "missing": "py-rattler"})
    return answer
