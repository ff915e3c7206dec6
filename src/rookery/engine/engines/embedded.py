"""The engine that is always there: agents are detached processes of this machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Optional

import rookery
from rookery.engine.engines.base import Capacity, Death, Engine, NodeAnswer, NodeInfo, Place
from rookery.engine.engines.deathwatch import DeathWatch
from rookery.engine.machine import GpuCount, list_cpus
from rookery.engine.processes import (
    all_pids,
    command_line,
    environment_of,
    is_of_another_machine,
    is_of_this_machine,
    is_running,
    kill_process,
    start_ticks,
)
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec

__all__ = ["EmbeddedEngine", "agent_command"]

SWEEP_ROUNDS = 5
# Without site (-S) no .pth file is read, whatever is installed beside us: an agent needs the standard library
# and us only. Most of its start is its own imports.
_BOOT = (
    "import sys, runpy; sys.path.append({source!r}); sys.argv[:] = ['rookery.agent', *sys.argv[1:]]; "
    "runpy.run_module('rookery.agent', run_name='__main__', alter_sys=False)"
)
# What a keeper that was itself started from inside a run must not hand on, and what would slow every import
# down.
_DROPPED = (
    "AZUREML_",
    "ROOKERY_RUN_",
    "ROOKERY_AGENT_",
    "ROOKERY_JOURNAL_",
    "ROOKERY_UPLOADS_",
    "ROOKERY_ERRORS_",
)
_DROPPED_NAMES = frozenset(
    {
        "PYTHONDONTWRITEBYTECODE",
        "ROOKERY_ATTEMPT_KEY",
        "ROOKERY_ATTEMPT",
        "ROOKERY_NODE",
        "ROOKERY_RANK",
        "ROOKERY_WORLD_SIZE",
        "ROOKERY_EXPERIMENT",
        "ROOKERY_WORKSPACE",
        "ROOKERY_PAYLOAD",
        "ROOKERY_RESUME_DIR",
        "ROOKERY_STOP_FILE",
    }
)


def agent_command(root: str) -> list[str]:
    """What starts an agent, from an editable install and from a wheel alike."""
    source = os.path.dirname(os.path.dirname(os.path.abspath(rookery.__file__)))
    return [sys.executable, "-I", "-S", "-c", _BOOT.format(source=source), root]


class EmbeddedEngine(Engine):
    """See Engine for the promises. `command` makes the argument list for a place; tests put their own agent
    there."""

    name = "embedded"
    is_here = True

    def __init__(self, command: Callable[[str], list[str]] = agent_command) -> None:
        self._command = command
        self._gpu_count = GpuCount()
        self._cpus = list_cpus()
        self._on_death: Callable[[Death], None] = lambda death: None
        self._watch = DeathWatch(self._ended)
        self._stopped = threading.Event()

    def start(self, on_death: Callable[[Death], None]) -> None:
        self._on_death = on_death
        self._watch.start()

    def stop(self) -> None:
        self._stopped.set()
        self._watch.stop()

    def capacity(self) -> Optional[Capacity]:
        gpus = self._gpu_count.gpus
        return None if gpus is None else Capacity(self._cpus, gpus)

    def when_counted(self, callback: Callable[[], None]) -> None:
        self._gpu_count.when_counted(callback)

    def check(self, node_count: int, spec: ClusterSpec) -> None:
        if spec.cpus_per_node is not None and spec.cpus_per_node > len(self._cpus):
            raise ComputeError(
                f"cpus_per_node={spec.cpus_per_node}, but this machine has {len(self._cpus)} cores. "
                f"At most {len(self._cpus)} fit."
            )
        gpus = self._gpu_count.gpus
        if spec.gpus_per_node and gpus is not None and spec.gpus_per_node > len(gpus):
            raise ComputeError(
                f"gpus_per_node={spec.gpus_per_node}, but this machine has {len(gpus)} GPUs. At most {len(gpus)} fit."
            )
        if node_count > spec.max_nodes:
            raise ComputeError(f"{node_count} nodes were requested, but at most {spec.max_nodes} fit.")

    def place(self, gang: Sequence[Place]) -> None:
        started: list[tuple[Place, int]] = []
        try:
            for place in gang:
                started.append((place, self._spawn(place)))
        except OSError as error:
            for _place, pid in started:
                kill_process(pid, 0)
                os.waitpid(pid, 0)
            raise ComputeError(f"An agent could not be started: {error.strerror or error}.") from error
        for place, pid in started:
            self._watch.watch(place, pid, start_ticks(pid) or 0)

    def _spawn(self, place: Place) -> int:
        command = self._command(place.root)
        os.makedirs(place.root, exist_ok=True)
        log = os.open(place.paths.agent_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            return os.posix_spawn(
                command[0],
                command,
                _clean_environment(),
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, log, 1),
                    (os.POSIX_SPAWN_DUP2, log, 2),
                ],
                setsid=True,
                setsigmask=[],
                setsigdef=[signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
            )
        finally:
            os.close(log)

    def adopt(self, places: Iterable[Place]) -> set[Place]:
        alive, missing = set(), {}
        for place in places:
            found = self._watch.process(place) or _recorded(place.paths.agent)
            if found and is_running(*found):
                self._watch.watch(place, *found)
                alive.add(place)
            else:
                missing[place.root] = place
        for root, pid in _agents_of(missing) if missing else ():
            self._watch.watch(missing[root], pid, start_ticks(pid) or 0)
            alive.add(missing[root])
        return alive

    def is_alive(self, place: Place) -> bool:
        found = self._watch.process(place)
        return found is not None and is_running(*found)

    def kill(self, place: Place) -> None:
        found = self._watch.process(place)
        if found:
            kill_process(*found)

    def sweep(self, place: Place) -> list[int]:
        killed: list[int] = []
        for pid, ticks in _recorded_ranks(place):
            if kill_process(pid, ticks):
                killed.append(pid)
        for _round in range(SWEEP_ROUNDS):  # what forks while we look is found in the next round
            found = [pid for pid in _marked(place) if kill_process(pid, start_ticks(pid) or -1)]
            if not found:
                break
            killed += [pid for pid in found if pid not in killed]
        return killed

    def nodes(self) -> list[NodeInfo]:
        gpus = len(self._gpu_count.gpus or ())
        cpus, name = len(self._cpus), socket.gethostname()
        return [NodeInfo(name, "127.0.0.1", "running", cpus, gpus, _memory_bytes(), cpus, gpus, "this machine")]

    def run_on_node(self, program: str, timeout_s: float) -> NodeAnswer:
        command = [sys.executable, "-I", "-"]
        try:
            answer = subprocess.run(
                command,
                input=program,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ComputeError(f"A program on this machine did not end within {timeout_s:g} s.") from error
        except OSError as error:
            raise ComputeError(f"{sys.executable} could not be started: {error.strerror or error}.") from error
        return NodeAnswer(socket.gethostname(), answer.returncode, answer.stdout)

    def _ended(self, place: Place, exit_code: Optional[int], signal_name: Optional[str]) -> None:
        if not self._stopped.is_set():
            self._on_death(Death(place, exit_code, signal_name))


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _clean_environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(_DROPPED) and k not in _DROPPED_NAMES}


def _agents_of(places: dict[str, Place]) -> Iterable[tuple[str, int]]:
    """Agents that run for these folders, by their command line: how one is found that was started and not yet
    noted."""
    for pid in all_pids():
        line = command_line(pid)
        if len(line) > 1 and line[-1] in places and start_ticks(pid) is not None and is_of_this_machine(pid):
            yield line[-1], pid


def _marked(place: Place) -> Iterable[int]:
    """Processes of this node of this attempt. A keeper that a rank has started is not one of them."""
    key = f"ROOKERY_ATTEMPT_KEY={place.run_id}/{place.attempt}".encode()
    node = f"ROOKERY_NODE={place.node}".encode()
    for pid in all_pids():
        found = environment_of(pid)
        if (
            key in found
            and node in found
            and "rookery.server" not in command_line(pid)
            and start_ticks(pid) is not None
            and not is_of_another_machine(pid)
        ):
            yield pid


def _recorded_ranks(place: Place) -> Iterable[tuple[int, int]]:
    try:
        names = os.listdir(place.root)
    except OSError:
        return
    for name in names:
        if name.startswith("rank-") and name[5:].isdigit():
            found = _recorded(place.paths.rank(int(name[5:])).process)
            if found and found[1]:
                yield found


def _recorded(path: str) -> Optional[tuple[int, int]]:
    """pid and start ticks from agent.json or process.json; None when it is missing or half written."""
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        return int(data["pid"]), int(data["start_ticks"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
