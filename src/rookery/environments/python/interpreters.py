"""The interpreters of this machine: which there are, of exactly which version, and which one a specification
gets.
"""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from rookery.environments.building.folders import cache_folder, write_json
from rookery.environments.conda.python import conda_pythons
from rookery.environments.python.versions import allows, exact, is_condition, release
from rookery.errors import EnvironmentBuildError, UserError

__all__ = ["Choice", "Interpreter", "choose", "installed"]

OLDEST = (3, 6)
PROBE_TIMEOUT_S = 30.0
_PROBE = (
    "import sys, sysconfig, platform, json;"
    "print(json.dumps({'version': platform.python_version(), 'build': sys.version.replace(chr(10), ' '),"
    "'platform': sysconfig.get_platform(), 'tag': sys.implementation.cache_tag, 'flags': getattr(sys, "
    "'abiflags', '')}))"
)
_lock = threading.Lock()
_probed: dict[str, dict[str, str]] = {}  # path → answer with its stamp; the file holds the same for other processes


@dataclass(frozen=True)
class Interpreter:
    """A base interpreter (never a virtual environment's). `stamp` changes when the file does."""

    path: str
    version: str
    build: str = ""
    platform: str = ""
    tag: str = ""
    flags: str = ""
    stamp: str = ""

    @property
    def minor(self) -> tuple[int, ...]:
        return release(self.version)[:2]


@dataclass(frozen=True)
class Choice:
    """`is_exact` is False where a better one may still be obtained from elsewhere; `deviation` says how it
    differs.
    """

    interpreter: Interpreter
    is_exact: bool = True
    deviation: str = ""


def installed(probe: bool = True) -> list[Interpreter]:
    """Every CPython from 3.6 on, best place first. Each file is asked once for its version, until it changes.

    Args:
        probe: start those that are not known yet; else leave them out, and start nothing.
    """
    stamps = _stamps(_candidates())
    with _lock:
        known = dict(_probed)
    if any(known.get(path, {}).get("stamp") != stamp for path, stamp in stamps.items()):
        known.update(_read_cache())
    unknown = [path for path, stamp in stamps.items() if known.get(path, {}).get("stamp") != stamp]
    if unknown and probe:
        with ThreadPoolExecutor(4) as pool:
            for path, answer in zip(unknown, pool.map(_ask, unknown)):
                known[path] = {**answer, "stamp": stamps[path]}
        write_json(_cache_path(), known)
    with _lock:
        _probed.update(known)
    found = [
        _interpreter(path, known[path]) for path, stamp in stamps.items() if known.get(path, {}).get("stamp") == stamp
    ]
    return [one for one in found if one is not None]


def choose(requested: str | None, found: Sequence[Interpreter], allow_drift: bool = False) -> Choice:
    """The interpreter for a specification.

    The exact version; else the newest patch of the same minor version, with a deviation; else, only where
    drift is allowed,
    the nearest minor version, with a deviation.

    Raises:
        UserError: the request is not a version.
        EnvironmentBuildError: there is none; the message names those there are.
    """
    requested = (requested or "").strip()
    if not is_condition(requested):
        raise UserError(f"python={requested[:40]!r} is not a version. Allowed: like 3.8, 3.6.2 or >=3.9,<3.12.")
    version = exact(requested) if requested else ""
    condition = f"={version}" if version else requested
    fitting = [one for one in found if allows(condition, one.version)]
    if fitting:
        return Choice(_preferred(fitting))
    minor = release(version)[:2]
    same_minor = [one for one in found if len(minor) == 2 and one.minor == minor]
    if same_minor:
        best = _newest(same_minor)
        return Choice(
            best,
            False,
            f"python: requested {version}, used {best.version} (same minor version; {version} is not on this machine).",
        )
    if allow_drift and found:
        best = _nearest(minor or release(re.sub(r"^\D+", "", requested)), found)
        return Choice(
            best,
            False,
            f"python: requested {requested}, used {best.version} (the nearest here; allow_python_drift is on).",
        )
    have = ", ".join(sorted({one.version for one in found}, key=release)) or "none"
    raise EnvironmentBuildError(
        f"Python {requested or '3'} was asked for and this machine has: {have}. Install it (pyenv, conda, "
        "uv or your system's packages), "
        "ask for one of these, or set allow_python_drift (ROOKERY_ALLOW_PYTHON_DRIFT=1) to take the nearest.",
        details={"requested": requested, "installed": have},
    )


def _preferred(fitting: Sequence[Interpreter]) -> Interpreter:
    """The version that runs Rookery where it fits (people test with what they have), else the newest."""
    ours = [one for one in fitting if release(one.version) == sys.version_info[:3]]
    same_minor = [one for one in fitting if one.minor == sys.version_info[:2]]
    return ours[0] if ours else _newest(same_minor or fitting)


def _newest(some: Sequence[Interpreter]) -> Interpreter:
    return max(some, key=lambda one: release(one.version))  # max keeps the first of equals: the best place


def _nearest(minor: tuple[int, ...], found: Sequence[Interpreter]) -> Interpreter:
    major, second = (*minor, 0, 0)[:2]
    want = major * 100 + second
    return min(
        found,
        key=lambda one: (
            abs(one.minor[0] * 100 + one.minor[1] - want),
            tuple(-n for n in release(one.version)),
        ),
    )


def _candidates() -> Iterable[str]:
    """Paths that may be interpreters, best place first. pyenv's shims are scripts that fail without a chosen
    version: left out.
    """
    home = os.path.expanduser("~")
    pyenv = os.environ.get("PYENV_ROOT") or os.path.join(home, ".pyenv")
    yield from sorted(glob.glob(os.path.join(glob.escape(pyenv), "versions", "*", "bin", "python")))
    managed = os.environ.get("UV_PYTHON_INSTALL_DIR") or os.path.join(
        os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local/share"), "uv/python"
    )
    yield from sorted(glob.glob(os.path.join(glob.escape(managed), "*", "bin", "python3")))
    yield from conda_pythons()
    yield os.path.realpath(sys.executable)
    for folder in ["/usr/local/bin", "/usr/bin", *os.environ.get("PATH", "").split(os.pathsep)]:
        if os.path.isabs(folder) and not folder.rstrip("/").endswith("/shims"):
            yield from sorted(_pythons(folder))
    for root in [
        os.environ.get("CONDA_PREFIX", ""),
        *(os.path.join(home, n) for n in ("miniconda3", "anaconda3", "miniforge3", "mambaforge")),
        "/opt/conda",
    ]:
        if root:
            yield os.path.join(root, "bin", "python")
            yield from sorted(glob.glob(os.path.join(glob.escape(root), "envs", "*", "bin", "python")))
    try:
        with open(os.path.join(home, ".conda", "environments.txt"), encoding="utf-8") as f:
            yield from (os.path.join(line.strip(), "bin", "python") for line in f if line.strip())
    except (OSError, UnicodeDecodeError):
        pass


def _pythons(folder: str) -> Iterable[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    yield from (os.path.join(folder, n) for n in names if re.fullmatch(r"python(3(\.\d+)?)?", n))


def _stamps(paths: Iterable[str]) -> dict[str, str]:
    """Real path → stamp. Following links makes a virtual environment's interpreter the one it was made from."""
    found: dict[str, str] = {}
    for path in paths:
        path = os.path.realpath(path)
        if path in found:
            continue
        try:
            about = os.stat(path)
        except OSError:
            continue
        found[path] = f"{about.st_mtime_ns}:{about.st_size}"
    return found


def _ask(path: str) -> dict[str, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYENV_"))}
    try:
        done = subprocess.run(
            [path, "-I", "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
            env=environment,
            check=False,
            cwd="/",
        )
        answer = json.loads(done.stdout)
        return {str(k): str(v) for k, v in answer.items()}
    except (OSError, ValueError, AttributeError, subprocess.TimeoutExpired):
        return {"version": ""}  # kept too, so that a broken one is not started again and again


def _interpreter(path: str, answer: dict[str, str]) -> Interpreter | None:
    if (
        release(answer.get("version", "")) < OLDEST
        or not answer.get("tag", "").startswith("cpython-")
        or "t" in answer.get("flags", "")
    ):
        return None
    names = asdict(Interpreter("", ""))
    return Interpreter(**{**{k: v for k, v in answer.items() if k in names}, "path": path})


def _cache_path() -> str:
    return os.path.join(cache_folder(), "interpreters.json")


def _read_cache() -> dict[str, dict[str, str]]:
    try:
        with open(_cache_path(), encoding="utf-8") as f:
            return {str(k): dict(v) for k, v in json.load(f).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
