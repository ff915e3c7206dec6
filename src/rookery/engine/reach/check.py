"""Checks a target on other machines from end to end: does its engine answer, what does a node see, does it reach the keeper."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Optional
from urllib.parse import urlsplit

from rookery.engine.engines.base import Engine, NodeInfo
from rookery.engine.reach.closed import what_to_open, why_closed
from rookery.engine.reach.probe import Questions, probe_program, read_answer
from rookery.errors import RookeryError
from rookery.spec.compute import ClusterSpec, Reach
from rookery.spec.paths import WorkspacePaths
from rookery.spec.plain import to_plain

__all__ = ["FATAL", "Check", "Surroundings", "as_plain", "check_reach"]

PROBE_S = 60.0
MAX_SKEW_S = 5.0
MIN_FREE_BYTES = 1024**3
FATAL = ("engine", "node", "python", "keeper", "disk")  # without these no run can be started


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `advice` says what to do where it is not ok."""

    check: str
    ok: bool
    words: str
    advice: str = ""


@dataclass(frozen=True)
class Surroundings:
    """What the check must know of the keeper.

    open_listener: opens the listener for agents on the address that faces a machine, and tells where it is.
    environments: the folder of built environments.
    """

    paths: WorkspacePaths
    workspace_id: str
    open_listener: Optional[Callable[[str], str]] = None
    certificate: str = ""
    environments: str = ""


def check_reach(name: str, spec: ClusterSpec, engine: Engine, around: Surroundings) -> tuple[list[Check], Reach]:
    """What was found, and the target's reach with everything in it that had been left open. May take a minute."""
    try:
        machines = engine.nodes()
    except RookeryError as error:
        return [
            Check("engine", False, error.message, f"See that the engine of '{name}' runs, then try again.")
        ], spec.reach
    usable = [n for n in machines if n.state in ("idle", "running")]
    words = f"{spec.engine} answers: {len(machines)} machine{'s' if len(machines) != 1 else ''}, {len(usable)} usable."
    found = [Check("engine", bool(usable), words, "" if usable else f"No machine of '{name}' can be used now.")]
    url, problem = _open(spec.reach, usable or machines, around)
    if around.environments:
        with contextlib.suppress(OSError):
            os.makedirs(around.environments, exist_ok=True)  # the first environment may be built long after this
    with _mark(around.paths.root) as mark, _mark(around.environments) as environments:
        marks = {"workspace": mark, **({"environments": environments} if environments[0] else {})}
        questions = Questions(
            marks,
            (url,) if url else (),
            around.certificate,
            spec.reach.node_home,
            programs=(sys.executable,),
            writable=("workspace",),
        )
        before = time.time()
        try:
            answer = engine.run_on_node(probe_program(questions), PROBE_S)
            told = read_answer(answer.output)
        except RookeryError as error:
            advice = f"See that {spec.reach.python} can be started on the nodes (reach.python)."
            return [*found, Check("node", False, error.message, advice)], spec.reach
        middle = (before + time.time()) / 2
    node = answer.node or told["hostname"]
    found.append(Check("node", True, f"A program ran on {node} (user {told['user']}, {told['executable']})."))
    found.append(_python(node, told, spec.reach))
    files = _files(node, told, spec.reach, around)
    keeper, reach = _keeper(node, told, url, problem, files, spec.reach, around)
    found += [files, keeper, _clock(node, told, url, middle), _disk(node, told), *_machine(node, told)]
    return found, replace(
        reach,
        shared_files=_sees(told, "workspace") if reach.shared_files is None else reach.shared_files,
        shared_environments=_sees_environments(told)
        if reach.shared_environments is None
        else reach.shared_environments,
    )


def as_plain(checks: list[Check]) -> list[dict[str, Any]]:
    return [to_plain(check) for check in checks]


# -- before the node is asked --------------------------------------------------------------------------------


def _open(reach: Reach, machines: list[NodeInfo], around: Surroundings) -> tuple[str, str]:
    """Where the keeper listens for these machines, and why it does not."""
    if around.open_listener is None or reach.transport == "spool":
        return reach.keeper_url, ""
    facing = [n.address or n.name for n in machines] or [urlsplit(reach.keeper_url).hostname or ""]
    problem = ""
    for address in facing[:3]:
        try:
            url = around.open_listener(address)
            return reach.keeper_url or url, ""
        except RookeryError as error:
            problem = error.message
    return reach.keeper_url, problem


@contextlib.contextmanager
def _mark(folder: str) -> Iterator[tuple[str, ...]]:
    """A file that nobody else can have: whoever sees it sees our folder."""
    if not folder or not os.path.isdir(folder):
        yield ("", "")
        return
    path, text = os.path.join(folder, f".reach-{secrets.token_hex(8)}"), secrets.token_hex(16)
    with open(path, "w", encoding="ascii", opener=lambda p, flags: os.open(p, flags | os.O_EXCL, 0o600)) as f:
        f.write(text)
    try:
        yield (path, text)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


# -- what its answer means -----------------------------------------------------------------------------------


def _python(node: str, told: dict[str, Any], reach: Reach) -> Check:
    version = ".".join(map(str, told["python"]))
    if tuple(told["python"]) >= (3, 9):
        return Check("python", True, f"{reach.python} on {node} is Python {version}.")
    advice = "Name a newer one for the target (python), for example a path of one that you install on the nodes."
    return Check(
        "python", False, f"{reach.python} on {node} is Python {version}; the agent needs 3.9 or newer.", advice
    )


def _sees(told: dict[str, Any], mark: str) -> bool:
    return told["marks"].get(mark) == ""


def _sees_environments(told: dict[str, Any]) -> bool:
    return _sees(told, "environments") and _sees(told, "workspace") and all(told["programs"].values())


def _files(node: str, told: dict[str, Any], reach: Reach, around: Surroundings) -> Check:
    sees = _sees(told, "workspace")
    if reach.shared_files and not sees:
        why = told["marks"].get("workspace")
        advice = "Share that folder with the nodes under the same path, or attach without shared_files."
        return Check("files", False, f"{node} does not see the workspace {around.paths.root}: {why}.", advice)
    if sees:
        more = "" if _sees_environments(told) else ", but not what is built here: environments are built on the nodes"
        return Check("files", True, f"{node} sees the workspace's folder{more}.")
    return Check("files", True, f"{node} does not see the workspace's folder: code and files are sent to it.")


def _keeper(
    node: str, told: dict[str, Any], url: str, problem: str, files: Check, reach: Reach, around: Surroundings
) -> tuple[Check, Reach]:
    shared = _sees(told, "workspace")
    if reach.transport == "spool":
        if shared:
            return Check("keeper", True, "Agents talk to the keeper through the shared folder (spool)."), reach
        advice = "Share the workspace's folder with the nodes, or attach with transport http."
        return Check("keeper", False, f"transport is spool, but {node} does not see the workspace.", advice), reach
    answer = told["urls"].get(url) if url else None
    words = ""
    if answer is None:
        words = f"The keeper has no address for {node}: {problem or 'no listener could be opened'}"
    elif "problem" in answer:
        words = f"{node} cannot reach the keeper at {url}: {why_closed(url, answer)}."
    elif (answer["hello"].get("workspace") or {}).get("id") != around.workspace_id:
        words = f"{node} finds something else than this keeper at {url}."
    if not words:
        return Check("keeper", True, f"{node} reaches the keeper at {url}."), replace(
            reach, transport="http", keeper_url=url
        )
    advice = what_to_open(node, url, answer or {}, told.get("addresses") or [])
    if shared and reach.transport != "http":
        words += " Agents talk to it through the shared folder instead (spool), which is slower."
        return Check("keeper", True, words, advice), replace(reach, transport="spool")
    return Check("keeper", False, words, advice), reach


def _clock(node: str, told: dict[str, Any], url: str, middle: float) -> Check:
    """By the keeper's own hello where it was reached: the node's time and ours in one answer."""
    answer = told["urls"].get(url) or {}
    ours = (answer.get("hello") or {}).get("time")
    if isinstance(ours, (int, float)):
        skew_s = (answer["began"] + answer["ended"]) / 2 - ours
    else:
        skew_s = told["time"] - middle
        if abs(skew_s) < PROBE_S / 2:
            skew_s = 0.0  # the program waited somewhere; that is no clock
    if abs(skew_s) <= MAX_SKEW_S:
        return Check("clock", True, f"The clock of {node} agrees with the keeper's.")
    words = f"The clock of {node} is {abs(skew_s):.0f} s {'ahead of' if skew_s > 0 else 'behind'} the keeper's."
    return Check(
        "clock", False, words, "Set the clocks by the network (chrony, systemd-timesyncd): times of logs and metrics."
    )


def _disk(node: str, told: dict[str, Any]) -> Check:
    home = told["home"]
    if not home["writable"]:
        advice = "Give a folder that may be written there (node_home)."
        return Check("disk", False, f"{home['path']} on {node} cannot be written.", advice)
    if home.get("noexec"):
        advice = "Environments lie there and must be run: give a folder on another file system (node_home)."
        return Check("disk", False, f"{home['path']} on {node} is on a file system that is mounted noexec.", advice)
    gigabytes = home["free_bytes"] / 1024**3
    words = f"{gigabytes:.1f} GB are free for {home['path']} on {node}."
    if home["free_bytes"] >= MIN_FREE_BYTES:
        return Check("disk", True, words)
    return Check("disk", False, words, "Make room, or give a folder on a larger disk (node_home).")


def _machine(node: str, told: dict[str, Any]) -> list[Check]:
    machine, gpus = told.get("machine"), told.get("gpus") or []
    if not machine:
        return []
    kinds = ", ".join(sorted({str(gpu["name"]) for gpu in gpus}))
    words = (
        f"{node} has {machine['cores']} of {machine['all_cores']} cores, {machine['memory_bytes'] / 1024**3:.0f} GB of memory, "
        f"{f'{len(gpus)} GPUs ({kinds})' if gpus else 'no GPU'}."
    )
    here = os.uname()
    if (machine["system"], machine["arch"]) == (here.sysname, here.machine):
        return [Check("machine", True, words)]
    words += f" It is {machine['system']} {machine['arch']}, and the keeper's machine {here.sysname} {here.machine}."
    return [Check("machine", False, words, "Environments are resolved for the keeper's kind of machine.")]
