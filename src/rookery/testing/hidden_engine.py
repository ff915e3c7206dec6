"""An engine whose machines see nothing of ours (hidden_node.py): agents get there by the boot program alone, as on any
engine. For tests of the way from keeper to node; it takes the place of a real engine in a keeper started by
`python -m rookery.testing.hidden_engine --workspace …`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Optional

from rookery.engine.engines import registry
from rookery.engine.engines.base import Capacity, Death, Engine, NodeAnswer, NodeInfo, Place
from rookery.engine.engines.deathwatch import DeathWatch
from rookery.engine.processes import is_running, kill_process, start_ticks
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import SLURM
from rookery.testing.hidden_node import HiddenNode, marked

__all__ = ["HiddenEngine"]

MACHINES = "ROOKERY_TEST_MACHINES"  # a folder: each machine's home is in it
HIDDEN = "ROOKERY_TEST_HIDDEN"  # folders, apart by colons, that no machine sees


class HiddenEngine(Engine):
    """Machines barn-0, barn-1 …; node n of a run is on the n-th of those that can be reached: whose home has no file `cut`.
    See Engine for the promises."""

    name = "hidden"

    def __init__(self, name: str, spec: ClusterSpec, boot: Callable[[Sequence[Place]], str], state_folder: str) -> None:
        self._boot, self._spec = boot, spec
        self._noted = os.path.join(state_folder, "agents.json")
        self._on_death: Callable[[Death], None] = lambda death: None
        self._watch = DeathWatch(self._ended)
        self._python = spec.reach.python or sys.executable
        self._processes: dict[int, subprocess.Popen[str]] = {}

    def start(self, on_death: Callable[[Death], None]) -> None:
        self._on_death = on_death
        self._watch.start()

    def stop(self) -> None:
        self._watch.stop()

    def capacity(self) -> Optional[Capacity]:
        return Capacity((), ())

    def when_counted(self, callback: Callable[[], None]) -> None:
        callback()

    def check(self, node_count: int, spec: ClusterSpec) -> None:
        pass

    def place(self, gang: Sequence[Place]) -> None:
        text = self._boot(gang)
        names = [node.name for node in self.nodes() if node.state != "down"]
        for place in gang:
            machine = place.on or names[place.node]
            variables = {"ROOKERY_NODE_NAME": machine, "ROOKERY_NODE_ADDRESS": "127.0.0.1", "ROOKERY_NODE_CPUS": "2"}
            process = _machine(machine).boot(text, place.node, self._python, **variables)
            self._processes[process.pid] = process
            self._note(place, process.pid, machine)
            self._watch.watch(place, process.pid, start_ticks(process.pid) or 0)

    def adopt(self, places: Iterable[Place]) -> set[Place]:
        noted, alive = self._read(), set()
        for place in places:
            found = noted.get(_key(place))
            if found and is_running(*found[:2]) and not _is_cut(found[2]):
                self._watch.watch(place, *found[:2])
                alive.add(place)
        return alive

    def is_alive(self, place: Place) -> bool:
        found = self._watch.process(place)
        return found is not None and is_running(*found)

    def kill(self, place: Place) -> None:
        found = self._read().get(_key(place))
        if found and not _is_cut(found[2]):
            kill_process(*found[:2])

    def sweep(self, place: Place) -> list[int]:
        if _is_cut(self.machine(place)):
            return []
        return [
            pid
            for pid in marked(f"{place.run_id}/{place.attempt}", place.node)
            if kill_process(pid, start_ticks(pid) or -1)
        ]

    def machine(self, place: Place) -> str:
        return self._read().get(_key(place), (0, 0, ""))[2]

    def nodes(self) -> list[NodeInfo]:
        return [
            NodeInfo(
                f"barn-{i}",
                "127.0.0.1",
                "down" if _is_cut(f"barn-{i}") else "idle",
                cpus=2,
                free_cpus=2,
                memory_bytes=2**30,
            )
            for i in range(self._spec.max_nodes)
        ]

    def run_on_node(self, program: str, timeout_s: float) -> NodeAnswer:
        node = _machine("barn-0")
        done = subprocess.run(
            node.command([self._python, "-I", "-"]),
            input=program,
            env=node.variables(),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return NodeAnswer("barn-0", done.returncode, done.stdout)

    def _ended(self, place: Place, exit_code: Optional[int], signal_name: Optional[str]) -> None:
        pid = self._read().get(_key(place), (0, 0, ""))[0]
        process, said = self._processes.pop(pid, None), ""
        if process is not None and process.stderr is not None and process.stdout is not None:
            said = process.stderr.read().strip().rpartition("\n")[2]
            process.stderr.close()
            process.stdout.close()
        self._on_death(Death(place, exit_code, signal_name, said if exit_code else ""))

    def _note(self, place: Place, pid: int, machine: str) -> None:
        noted = {**self._read(), _key(place): (pid, start_ticks(pid) or 0, machine)}
        with open(self._noted + ".new", "w", encoding="utf-8") as f:
            json.dump(noted, f)
        os.replace(self._noted + ".new", self._noted)

    def _read(self) -> dict[str, tuple[int, int, str]]:
        try:
            with open(self._noted, encoding="utf-8") as f:
                return {key: (pid, ticks, machine) for key, (pid, ticks, machine) in json.load(f).items()}
        except FileNotFoundError:
            return {}


def _machine(name: str) -> HiddenNode:
    return HiddenNode(
        os.path.join(os.environ[MACHINES], name), [folder for folder in os.environ[HIDDEN].split(":") if folder]
    )


def _is_cut(machine: str) -> bool:
    return os.path.exists(os.path.join(os.environ[MACHINES], machine, "cut"))


def _key(place: Place) -> str:
    return f"{place.run_id}/{place.attempt}/{place.node}"


if __name__ == "__main__":
    from rookery.server.__main__ import main

    registry._CLASSES[SLURM] = ("rookery.testing.hidden_engine", "HiddenEngine")
    sys.exit(main(sys.argv[1:]))
