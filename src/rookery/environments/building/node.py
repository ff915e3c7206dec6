"""The builder on a node: `python -m rookery.environments.building.node <request.json> <answer.json>`.

The agent starts it as a child. It has no keeper and no record: the lock and the files are in the request, words go to standard
output, the answer is a file. What it builds is kept in the node's own store (ROOKERY_HOME is set to the node's folder) and held
for the agent's process, so that nobody prunes it meanwhile.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import fields, replace
from typing import Any

from rookery.environments.building.build import build_environment
from rookery.environments.building.build_log import BuildLog, LogFollower
from rookery.environments.building.builder import Built, as_built
from rookery.environments.building.flocks import hold_lock
from rookery.environments.building.folders import EnvironmentFolder, request_path, write_json
from rookery.environments.building.leases import hold, lease_path
from rookery.environments.building.lock import Lock, platform_tag
from rookery.environments.building.plan import Plan
from rookery.environments.building.resolve import Work
from rookery.environments.conda.choice import CONDA_CHOICE
from rookery.environments.interpreter import find_interpreter, try_interpreter
from rookery.environments.python.interpreters import Choice, Interpreter, choose, installed
from rookery.environments.python.managed_python import obtain_python
from rookery.environments.python.pip_config import PipConfig, read_pip_config
from rookery.environments.python.torch_choice import TorchPins
from rookery.environments.python.versions import allows, exact
from rookery.environments.specification.conda_spec import parse_conda_dependency
from rookery.environments.specification.wanted import Wanted
from rookery.errors import EnvironmentBuildError, RookeryError
from rookery.settings import get_setting

__all__ = ["main", "prepare_on_node"]

HOLD_TRIES = 3


def main(argv: list[str]) -> int:
    """0 with an answer, also where the answer is an error; 2 without."""
    if len(argv) == 3 and argv[1] == "prune":
        from rookery.environments.building.store import prune

        prune(unused_for_s=float(argv[2]))
        return 0
    if len(argv) != 3:
        sys.stderr.write("usage: python -m rookery.environments.building.node REQUEST ANSWER | prune SECONDS\n")
        return 2
    with open(argv[1], encoding="utf-8") as f:
        request = json.load(f)
    try:
        answer = prepare_on_node(request, _say)
    except RookeryError as error:
        answer = {"error": error.message, "details": error.details}
    except OSError as error:
        answer = {"error": f"Environments cannot be kept in {os.environ.get('ROOKERY_HOME')}: {error}.", "details": {}}
    write_json(argv[2], answer)
    return 0


def prepare_on_node(request: dict[str, Any], log: Any) -> dict[str, Any]:
    """`{"python", "bin_dir", "variables", "deviations", "key", "lease"}`; the last is the file that holds it.

    Args:
        request: `environment` (environments.resolve_for_node), `files` {sha256: path here}, `folder` (of the files, private),
            `run_id`, `pid` (who uses it), `holder`, `node` (the machine's name for people).

    Raises:
        EnvironmentBuildError: it cannot be had here.
    """
    data = request["environment"]
    if data["kind"] == "interpreter":
        return _interpreter(data, request["node"], log)
    for _ in range(HOLD_TRIES):
        built = _build(data, request, log)
        if hold(built.key, request["run_id"], request["pid"], request["holder"]):
            return {
                "python": built.python,
                "bin_dir": built.bin_dir,
                "variables": built.variables,
                "deviations": [d for d in built.deviations if d not in data["deviations"]],
                "key": built.key,
                "lease": lease_path(built.key, request["run_id"], request["holder"]),
            }
    raise EnvironmentBuildError(f"Environment '{data['name']}' was pruned on {request['node']} again and again.")


def _interpreter(data: dict[str, Any], node: str, log: Any) -> dict[str, Any]:
    """One that is there already: the person looks after it, on every node."""
    given = data["python"]
    path = find_interpreter(given)
    if path is None and os.path.dirname(given):
        raise EnvironmentBuildError(
            f"Environment '{data['name']}': interpreter '{given}' does not exist on node {node}, which does not see the files "
            "of the machine that submits. Install it there under the same path, or let Rookery build the environment: list "
            "its packages (Environment.from_pip_requirements, CondaDependencies) instead of naming an interpreter."
        )
    try_interpreter(path, given, data["name"], log)
    assert path is not None
    return {"python": path, "bin_dir": os.path.dirname(path), "variables": {}, "deviations": [], "key": ""}


def _build(data: dict[str, Any], request: dict[str, Any], log: Any) -> Built:
    timeout_s = float(get_setting("environment_build_timeout_s"))
    deadline = time.monotonic() + timeout_s
    given = Lock.from_data(data["lock"])
    choice = CONDA_CHOICE if given.conda else _choose(given, log, deadline)
    lock = _as_here(given, choice, data, request)
    conda = tuple(parse_conda_dependency(text) for text in data["conda"])
    wanted = Wanted(python=given.python_requested, conda=conda, channels=tuple(data["channels"]), name=data["name"])
    plan = Plan(wanted, choice, _config(data, request["folder"]), TorchPins(), lock.key, data["name"])
    follower = LogFollower(request_path(lock.key, ".log"), log)
    with hold_lock("request-" + lock.key, time.monotonic() + timeout_s + 30, follower) as held:
        follower.finish()
        folder = EnvironmentFolder(lock.key)
        if folder.is_built():
            os.utime(folder.marker)  # the time of last use
        else:
            log(f"Environment '{data['name']}' is built on node {request['node']}\n".encode())
        build_log = BuildLog(request_path(lock.key, ".log"), log)
        try:
            return as_built(build_environment(lock, Work(plan, build_log, held, deadline, timeout_s)))
        finally:
            build_log.close()


def _as_here(lock: Lock, choice: Choice, data: dict[str, Any], request: dict[str, Any]) -> Lock:
    """The lock with this machine's interpreter, platform and paths. Hashes stay: they are of all platforms' archives."""
    packages = lock.packages
    for one in data["files"]:
        if one.get("url"):
            packages = packages.replace(
                one["url"], "file://" + os.path.join(request["folder"], one["sha256"], one["name"])
            )
    deviations = lock.deviations + ((choice.deviation,) if choice.deviation else ())
    if lock.conda:
        return replace(lock, packages=packages, platform=platform_tag(), deviations=deviations)
    python = choice.interpreter
    return replace(
        lock,
        packages=packages,
        platform=platform_tag(),
        python_version=python.version,
        python_path=python.path,
        python_build=python.build,
        deviations=deviations,
    )


def _choose(lock: Lock, log: Any, deadline: float) -> Choice:
    """The version that it was resolved for; else another patch of the same minor version, which the same packages fit."""
    found = installed()
    same = _exactly(lock, found) or _allowed(lock, found)
    if same is not None:
        return Choice(same)
    if obtain_python(lock.python_version, log, deadline):
        got = _exactly(lock, installed())
        if got is not None:
            return Choice(got)
    minor = ".".join(lock.python_version.split(".")[:2])
    near = [one for one in installed() if ".".join(map(str, one.minor)) == minor]
    return choose(lock.python_version, near or installed())


def _exactly(lock: Lock, found: list[Interpreter]) -> Interpreter | None:
    return next((one for one in found if one.version == lock.python_version), None)


def _allowed(lock: Lock, found: list[Interpreter]) -> Interpreter | None:
    minor = lock.python_version.split(".")[:2]
    asked = lock.python_requested
    condition = f"={exact(asked)}" if asked and exact(asked) else asked
    fitting = [
        one for one in found if [str(n) for n in one.minor] == minor and (not asked or allows(condition, one.version))
    ]
    return max(fitting, key=lambda one: [int(n) for n in one.version.split(".") if n.isdigit()], default=None)


def _config(data: dict[str, Any], folder: str) -> PipConfig:
    """Where packages come from: this machine's own indexes where pip is told of some here, else the keeper's."""
    names = {f.name for f in fields(PipConfig)}
    given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data["config"].items() if k in names}
    keeper, here = PipConfig(**given), read_pip_config()
    has_own = bool(here.index_url or here.no_index)
    for name, value in data["uv"].items():
        if not has_own and name != "UV_FIND_LINKS":
            os.environ.setdefault(name, value)
    source = here if has_own else keeper
    links = [link for link in keeper.find_links if "://" in link and not link.startswith("file://")]
    return replace(
        here,
        index_url=source.index_url,
        no_index=source.no_index,
        extra_index_urls=source.extra_index_urls,
        trusted_hosts=source.trusted_hosts,
        proxy=source.proxy,
        find_links=(*here.find_links, *links, *_folders(data, folder)),
        only_binary=keeper.only_binary,
        no_binary=keeper.no_binary,
        constraints=(),
        pre=keeper.pre,
    )


def _folders(data: dict[str, Any], folder: str) -> list[str]:
    return sorted({os.path.join(folder, one["sha256"]) for one in data["files"] if not one.get("url")})


def _say(data: bytes) -> None:
    os.write(1, data)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
