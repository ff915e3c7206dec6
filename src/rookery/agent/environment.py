"""The environment of a run on a node that builds it itself: a child with the kit's builder, its log the run's build log.

It happens before the ranks start and before the agent has threads, so the main thread itself ships the log and beats meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional

from rookery.agent.content_cache import ContentCache
from rookery.agent.disk import read_json, write_json
from rookery.agent.node import NodeFacts, node_facts
from rookery.agent.process import die_with_parent
from rookery.errors import RookeryError
from rookery.spec.job import NODE_BIN, NODE_PYTHON, Job, RankJob
from rookery.spec.logs import BUILD_LOG
from rookery.worker.copying import copy_file

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["EnvironmentProblem", "prepare_environment", "replaced"]

LOOK_S = 0.1
_START = (
    "import sys, runpy; sys.path.append({source!r}); sys.path += {more!r}; sys.argv[:] = ['node', *sys.argv[1:]]; "
    "runpy.run_module('rookery.environments.building.node', run_name='__main__', alter_sys=False)"
)


class EnvironmentProblem(Exception):
    """The environment cannot be had on this node; the text says why."""


def prepare_environment(agent: Agent) -> None:
    """Build what the job asks for (or find it built) and put its places into the ranks. Returns early when the run is stopped.

    Raises:
        EnvironmentProblem: it cannot be had.
    """
    wanted, facts = agent.job.environment, node_facts(agent.job)
    if not wanted:
        return
    if facts is None:
        raise EnvironmentProblem("The job asks for an environment to be built here, but not where it is to be kept.")
    try:
        answer = _tried_before(wanted, facts) or _build(agent, wanted, facts)
    except (OSError, RookeryError) as error:
        raise EnvironmentProblem(
            f"Environment '{wanted.get('name', '')}' could not be prepared on node {agent.job.node} ({facts.shown}): {error}"
        ) from error
    if answer is None:
        return
    if "error" in answer:
        raise EnvironmentProblem(f"On node {agent.job.node} ({facts.shown}): {answer['error']}")
    for text in answer.get("deviations") or ():
        agent.warn(f"Node {agent.job.node} ({facts.shown}): {text}")
    if answer.get("lease"):
        agent.at_end.append(lambda: _forget(answer["lease"]))
    if wanted["kind"] == "interpreter":
        _note_tried(answer["python"], facts)
    agent.job = replaced(agent.job, answer)


def replaced(job: Job, answer: dict[str, Any]) -> Job:
    """The job with the environment's places in it; its variables come before the run's own."""

    def fill(text: str) -> str:
        return text.replace(NODE_PYTHON, answer["python"]).replace(NODE_BIN, answer["bin_dir"])

    def fill_rank(rank: RankJob) -> RankJob:
        variables = {**(answer.get("variables") or {}), **{k: fill(v) for k, v in rank.variables.items()}}
        return replace(rank, argv=tuple(map(fill, rank.argv)), shell=fill(rank.shell), variables=variables)

    return replace(job, ranks=tuple(map(fill_rank, job.ranks)))


def _tried_before(wanted: dict[str, Any], facts: NodeFacts) -> Optional[dict[str, Any]]:
    """The answer for an interpreter that people look after, where it has been tried on this machine and is still the same: to
    try it again takes two more interpreters."""
    if wanted["kind"] != "interpreter":
        return None
    given = wanted["python"]
    path = os.path.abspath(os.path.expanduser(given)) if os.path.dirname(given) else shutil.which(given)
    if not path or not os.path.exists(_tried_mark(path, facts)):
        return None
    path = os.path.abspath(path)
    return {"python": path, "bin_dir": os.path.dirname(path), "variables": {}, "deviations": [], "key": ""}


def _note_tried(path: str, facts: NodeFacts) -> None:
    mark = _tried_mark(path, facts)
    with contextlib.suppress(OSError):
        if mark and not os.path.exists(mark):
            os.makedirs(os.path.dirname(mark), mode=0o700, exist_ok=True)
            with open(mark, "w", encoding="utf-8") as f:
                f.write(path)


def _tried_mark(path: str, facts: NodeFacts) -> str:
    """A file that is there when this very interpreter was tried; empty where there is none."""
    try:
        about = os.stat(path)
    except OSError:
        return ""
    name = f"{os.path.abspath(path)}\0{about.st_mtime_ns}\0{about.st_size}\0{about.st_ino}"
    return os.path.join(facts.home, "interpreters", hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest())


def log_name(node: int) -> str:
    return BUILD_LOG if node == 0 else BUILD_LOG.replace(".txt", f"_{node}.txt")


def _build(agent: Agent, wanted: dict[str, Any], facts: NodeFacts) -> Optional[dict[str, Any]]:
    """The builder's answer; None when the run was stopped meanwhile."""
    job, root = agent.job, agent.paths.root
    cache = ContentCache(agent.keeper, facts.content, facts.cache_bytes)
    files = os.path.join(root, "wheels")
    request = {
        "environment": wanted,
        "folder": files,
        "run_id": job.run_id,
        "pid": os.getpid(),
        "holder": f"{job.attempt}-{job.node}",
        "node": facts.shown,
    }
    asked, answered = os.path.join(root, "environment.json"), os.path.join(root, "built.json")
    try:
        _lay_out(cache, wanted, files)
        more, variables = _tools(cache, wanted, facts)
        write_json(asked, request)
        os.chmod(asked, 0o600)  # an index's address may hold a password
        if not _run(agent, [asked, answered], more, {**variables, **_settings(wanted)}, facts):
            return None
        answer = read_json(answered)
        return answer if answer is not None else {"error": f"The builder died: {_last_words(agent)}"}
    finally:
        for path in (asked, answered):
            with contextlib.suppress(OSError):
                os.unlink(path)
        shutil.rmtree(files, ignore_errors=True)


def _lay_out(cache: ContentCache, wanted: dict[str, Any], folder: str) -> None:
    """The archives that only the keeper's machine has, each under its own name in a folder of its hash."""
    for one in wanted.get("files") or ():
        place = os.path.join(folder, one["sha256"])
        os.makedirs(place, mode=0o700, exist_ok=True)
        target = os.path.join(place, os.path.basename(one["name"]))
        if not os.path.exists(target):
            copy_file(cache.get(one["sha256"]), target)


def _tools(cache: ContentCache, wanted: dict[str, Any], facts: NodeFacts) -> tuple[list[str], dict[str, str]]:
    """More for the builder's path, and its variables: the programs that came with the job, where they fit this machine."""
    tools = wanted.get("tools") or {}
    more, variables = [], {}
    if tools.get("uv") and not os.environ.get("ROOKERY_UV") and tools.get("machine") == platform.machine():
        folder = _once(facts, "uv-" + tools["uv"][:24])
        if not os.path.isdir(folder):
            partial = _partial(folder)
            copy_file(cache.get(tools["uv"]), os.path.join(partial, "uv"))
            os.chmod(os.path.join(partial, "uv"), 0o755)
            _move(partial, folder)
        variables["ROOKERY_UV"] = os.path.join(folder, "uv")
    if tools.get("rattler") and tools.get("machine") == platform.machine():
        folder = _once(facts, "rattler-" + tools["rattler"][:24])
        if not os.path.isdir(folder):
            partial = _partial(folder)
            with zipfile.ZipFile(cache.get(tools["rattler"])) as zipped:
                zipped.extractall(partial)  # packed by the keeper, checked by its hash
            _move(partial, folder)
        more.append(folder)
        variables["ROOKERY_RATTLER"] = folder
    return more, variables


def _once(facts: NodeFacts, name: str) -> str:
    folder = os.path.join(facts.home, "tools", name)
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
    with contextlib.suppress(OSError):
        os.utime(folder)
    return folder


def _partial(folder: str) -> str:
    """A new folder beside it. Not by the process number: machines that share a node's home have the same ones."""
    return tempfile.mkdtemp(prefix=".partial-", dir=os.path.dirname(folder))


def _move(partial: str, folder: str) -> None:
    try:
        os.rename(partial, folder)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        if not os.path.isdir(folder):
            raise


def _settings(wanted: dict[str, Any]) -> dict[str, str]:
    return {"ROOKERY_" + name.upper(): str(value) for name, value in (wanted.get("settings") or {}).items()}


def _run(agent: Agent, words: list[str], more: list[str], variables: dict[str, str], facts: NodeFacts) -> bool:
    """Run the builder to its end, shipping what it says. False when the run was stopped."""
    job = agent.job
    log = os.path.join(agent.paths.root, "build.txt")
    name = log_name(job.node)
    outer = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    mine = {
        "ROOKERY_HOME": facts.home,
        "ROOKERY_ATTEMPT_KEY": agent.key,  # so that leftovers are found like any of this attempt
        "ROOKERY_NODE": str(job.node),
    }
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(log, "ab") as output:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START.format(source=source, more=more), *words],
            cwd="/",
            env={**outer, **mine, **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=die_with_parent(),
        )
    try:
        while child.poll() is None:
            if os.path.getsize(log):
                agent.ship_file(name, log)
            agent.pulse()
            if agent.cancel_grace_s is not None or agent.wake.terminated:
                return False
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(LOOK_S)
        if os.path.getsize(log):  # nothing is written where there is nothing worth reading
            agent.ship_file(name, log)
        return True
    finally:
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # uv has a group of its own: stopped with the attempt's leftovers
            child.wait()


def _forget(lease: str) -> None:
    """It counts no more when we are gone, but thousands of them would be read at every look."""
    with contextlib.suppress(OSError):
        os.unlink(lease)


def _last_words(agent: Agent) -> str:
    from rookery.agent.logs import tail

    lines = tail(os.path.join(agent.paths.root, "build.txt")).strip().splitlines()
    return lines[-1] if lines else "it said nothing"
