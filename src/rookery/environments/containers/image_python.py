"""The interpreters inside an image: asked once, then known by the image's id."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import uuid
from dataclasses import asdict

from rookery.environments.building.folders import cache_folder, read_json, write_json
from rookery.environments.containers.images import Unavailable
from rookery.environments.containers.runtimes import caller_limits, remove_container
from rookery.environments.python.interpreters import OLDEST, Interpreter
from rookery.environments.python.versions import release
from rookery.spec.container import ContainerSpec, run_command

__all__ = ["inside"]

PROBE_S = 120.0
_COMMON = (
    "python",
    "python3",
    *(f"python3.{minor}" for minor in range(14, 5, -1)),
    "/opt/conda/bin/python",
    "/opt/miniconda/bin/python",
    "/usr/local/bin/python3",
)
_ASK = (
    "import sys, sysconfig, platform, json;"
    "print(json.dumps({'path': sys.argv[1], 'version': platform.python_version(), 'platform': sysconfig.get_platform(),"
    "'build': sys.version.replace(chr(10), ' '), 'tag': sys.implementation.cache_tag, 'flags': getattr(sys, 'abiflags', '')}))"
)
# Nothing but a shell is needed in the image.
_SCRIPT = 'ask=$1; shift; for p in "$@"; do f=$(command -v "$p") && "$f" -I -c "$ask" "$f"; done; echo done'


def inside(container: ContainerSpec, given: str = "") -> list[Interpreter]:
    """The interpreters of an image from Python 3.6 on, in the order python, python3, then by version.

    Args:
        given: the one that was named; then only that one, or for a plain 'python' the first there is.

    Raises:
        Unavailable: the image cannot be started here.
    """
    names = _COMMON if given in ("", "python") else (given,)
    key = hashlib.sha256(json.dumps([container.image, names]).encode()).hexdigest()[:32]
    path = os.path.join(cache_folder(), "images", key + ".json")
    known = read_json(path)
    if known is None:
        known = {"found": [asdict(one) for one in _ask(container, names)]}
        write_json(path, known)
    return [Interpreter(**one) for one in known["found"]]


def _ask(container: ContainerSpec, names: tuple[str, ...]) -> list[Interpreter]:
    name = f"rookery-probe-{uuid.uuid4().hex}"
    command = run_command(container, ["/bin/sh", "-c", _SCRIPT, "sh", _ASK, *names], name, limits=caller_limits())
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_S, check=False, cwd="/"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        remove_container(container, name)
        raise Unavailable(f"a container of image '{container.image_name}' cannot be started: {error}") from error
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    if "done" not in lines[-1:]:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise Unavailable(f"a container of image '{container.image_name}' cannot be started: {said[-1][:300]}")
    found: dict[tuple[str, str], Interpreter] = {}
    for line in lines:
        if not line.startswith("{"):
            continue
        said_of_it = json.loads(line)
        # The image is part of what an interpreter is: the same version in another image is another one.
        one = Interpreter(**{**said_of_it, "build": f"{said_of_it['build']} in {container.image}"})
        if release(one.version) >= OLDEST:
            found.setdefault((one.version, os.path.basename(one.path)), one)
    return list(found.values())
