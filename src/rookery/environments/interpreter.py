"""Finding an interpreter and making sure that it runs, once per path and modification time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Optional

from rookery.errors import EnvironmentBuildError

__all__ = ["find_interpreter", "known_interpreter", "try_interpreter"]

OLDEST = (3, 6)
TIMEOUT_S = 60.0
_PROBE = "import sys; sys.stdout.write('%d.%d.%d' % sys.version_info[:3])"

_lock = threading.Lock()
_known: set[tuple[str, int]] = set()


def find_interpreter(name: str) -> Optional[str]:
    """The absolute path of an interpreter given by path or, when it is a bare name, found on PATH. None:
    there is none."""
    if not name:
        return None
    if os.path.dirname(name):
        path = os.path.abspath(os.path.expanduser(name))
        return path if os.path.exists(path) else None
    found = shutil.which(name)
    return os.path.abspath(found) if found else None


def known_interpreter(path: str) -> bool:
    """Whether it has been tried already and has not changed since. Ours needs no trial."""
    if path == sys.executable:
        return True
    mark = _mark(path)
    with _lock:
        return mark is not None and mark in _known


def try_interpreter(path: Optional[str], given: str, environment: str, log: Callable[[bytes], None]) -> None:
    """Run it once.

    Raises:
        EnvironmentBuildError: it is not there, does not run, or is older than Python 3.6.
    """
    where = f"Environment '{environment}': interpreter '{given}'"
    if path is None:
        looked = "does not exist" if os.path.dirname(given) else f"is not on PATH ({os.environ.get('PATH', '')})"
        raise EnvironmentBuildError(
            f"{where} {looked}. Set `env.python.interpreter_path` to the full path of a Python 3.6 or newer."
        )
    if known_interpreter(path):
        return
    mark = _mark(path)
    version = _ask_version(path, where)
    if version < OLDEST:
        shown = ".".join(map(str, version))
        raise EnvironmentBuildError(f"{where} ({path}) is Python {shown}; runs need 3.6 or newer. Name another one.")
    if path != given:
        log(f"Interpreter '{given}' is {path} (Python {'.'.join(map(str, version))}).\n".encode())
    with _lock:
        if mark is not None:
            _known.add(mark)


def _ask_version(path: str, where: str) -> tuple[int, ...]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    try:
        done = subprocess.run(
            [path, "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EnvironmentBuildError(
            f"{where} ({path}) did not answer within {TIMEOUT_S:.0f} s. Try it by hand: {path} -c 'print(1)'"
        ) from None
    except OSError as error:
        raise EnvironmentBuildError(
            f"{where} ({path}) cannot be started: {error.strerror or error}. Is it an executable Python?"
        ) from error
    answer = done.stdout.decode("utf-8", "replace").strip()
    parts = answer.split(".")
    if done.returncode != 0 or len(parts) != 3 or not all(p.isdigit() for p in parts):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise EnvironmentBuildError(
            f"{where} ({path}) does not work as a Python: exit code {done.returncode}, "
            f"{said[-1] if said else answer!r}."
        )
    return tuple(int(p) for p in parts)


def _mark(path: str) -> Optional[tuple[str, int]]:
    try:
        return path, os.stat(path).st_mtime_ns
    except OSError:
        return None
