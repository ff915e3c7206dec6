"""Stand-ins for agents, and what an engine's exam must know of the machines behind it.

The agents are tiny programs that write agent.json like real ones do, start a marked child on request, and then wait.
"""

from __future__ import annotations

import abc
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rookery.engine.engines.base import Engine, Place
from rookery.engine.processes import is_running
from rookery.spec.compute import ClusterSpec

__all__ = ["SECRET", "TIMEOUT_S", "ClusterUnderTest", "stand_in_boot", "stand_in_command", "wait_for"]

TIMEOUT_S = 90.0  # two pieces of the tests share two cores
PAUSES_S = (0.005, 0.05)  # between two looks: the first, and the longest
SECRET = "rkr_the-secret-of-the-exam"  # in every boot program, and nowhere to be seen

# `root` is the node's folder. job.json may say: note (write agent.json, default), child (start a marked rank), exit (code).
_STAND_IN = """
import json, os, signal, subprocess, sys, time
job = json.load(open(os.path.join(root, "job.json")))
ticks = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19])
def write(name, data):
    with open(os.path.join(root, name + ".new"), "w") as f:
        json.dump(data, f)
    os.rename(os.path.join(root, name + ".new"), os.path.join(root, name))
if job.get("child"):
    variables = dict(os.environ, ROOKERY_ATTEMPT_KEY=job["key"], ROOKERY_NODE=str(job["node"]))
    command = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(command, env=variables, start_new_session=True)
    write("child.json", {"pid": child.pid, "host": os.uname().nodename})
if job.get("note", True):
    write("agent.json", {"pid": os.getpid(), "start_ticks": ticks, "socket": ""})
up = {"pid": os.getpid(), "start_ticks": ticks, "host": os.uname().nodename}
write("up.json", dict(up, sid=os.getsid(0), env=dict(os.environ)))
if "exit" in job:
    sys.exit(job["exit"])
time.sleep(600)
"""


def stand_in_command(root: str) -> list[str]:
    """Starts the stand-in agent for a folder: for engines whose agents are processes of this machine."""
    return [sys.executable, "-I", "-S", "-c", "import sys; root = sys.argv[1]\n" + _STAND_IN, root]


def stand_in_boot(gang: Sequence[Place]) -> str:
    """The boot program of stand-in agents: for engines that start a program of one text on every node of a gang."""
    roots = {str(place.node): place.root for place in gang}
    return f"import os\nsecret = {SECRET!r}\nroot = {roots!r}[os.environ['ROOKERY_NODE']]\n{_STAND_IN}"


def wait_for(condition: Callable[[], Any], what: str, timeout_s: float = TIMEOUT_S) -> Any:
    """The first true answer of `condition`; an error that names `what` when it takes too long."""
    until, (pause_s, longest_s) = time.monotonic() + timeout_s, PAUSES_S
    while True:
        is_last = time.monotonic() >= until  # looked at once more: whoever waits may have been the one that was slow
        answer = condition()
        if answer:
            return answer
        if is_last:
            raise AssertionError(f"{what}: not within {timeout_s:.0f} s")
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.3, longest_s)


class ClusterUnderTest(abc.ABC):
    """The machines behind the engine that sits the exam. Its nodes may be namespaces of this machine: then the files
    and processes of agents are this machine's, and the methods here that look at them do as they are."""

    name = "exam"  # the compute target's
    num_nodes = 1  # machines; each must have room for two agents as `spec` asks for them
    knows_exit_codes = True  # whether the engine learns how an agent ended
    start_s = TIMEOUT_S  # within this time an agent is up
    death_s = TIMEOUT_S  # within this time a dead agent is told
    node_death_s = TIMEOUT_S  # within this time a dead node is told

    @abc.abstractmethod
    def make_engine(self) -> Engine:
        """A new engine over the same machines, as a new keeper would make it; its agents are stand-ins."""

    @property
    def gang_size(self) -> int:
        """How many agents can be placed together."""
        return self.num_nodes

    @property
    def spec(self) -> ClusterSpec:
        """What the engine was made with."""
        return ClusterSpec(max_nodes=self.num_nodes)

    def make_full_engine(self) -> Engine:
        """As make_engine, but each agent takes a whole node: how the queue is filled. For QueueExam."""
        raise NotImplementedError

    def read(self, place: Place, name: str) -> Any:
        """A JSON file that a stand-in wrote into its folder, or None."""
        try:
            return json.loads((Path(place.root) / name).read_text())
        except (OSError, ValueError):
            return None

    def is_running(self, process: dict[str, Any]) -> bool:
        """Whether the process of an up.json or child.json still runs."""
        return is_running(process["pid"], process.get("start_ticks", 0))

    def kill_process(self, process: dict[str, Any]) -> None:
        """SIGKILL to the process of an up.json or child.json, past the engine."""
        try:
            os.kill(process["pid"], signal.SIGKILL)
        except ProcessLookupError:
            return
        try:
            os.waitpid(process["pid"], 0)
        except ChildProcessError:
            pass

    def kill_node(self, name: str) -> None:
        """Let a machine die with everything on it. `name` is NodeInfo.name. For DeadNodeExam."""
        raise NotImplementedError

    def revive_node(self, name: str) -> None:
        """Bring it back; returns when the engine may use it again."""
        raise NotImplementedError
