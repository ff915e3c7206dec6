"""The exam that every Engine sits. Subclass `EngineExam` in a test module and give it a fixture
`engine_maker`.

The agents are tiny programs that write agent.json like real ones do, start a marked child on request, and
then wait.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rookery.engine.engines.base import Death, Engine, Place
from rookery.engine.processes import all_pids, command_line, is_running
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec

__all__ = ["Deaths", "EngineExam", "stand_in_command", "wait_for"]

TIMEOUT_S = 30.0

# argv[1] is the node's folder. job.json may say: note (write agent.json, default), child (start a marked
# rank), exit (code).
_STAND_IN = """
import json, os, signal, subprocess, sys, time
root = sys.argv[1]
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
    write("child.json", {"pid": child.pid})
if job.get("note", True):
    write("agent.json", {"pid": os.getpid(), "start_ticks": ticks, "socket": ""})
write("up.json", {"pid": os.getpid(), "start_ticks": ticks, "sid": os.getsid(0), "env": dict(os.environ)})
if "exit" in job:
    sys.exit(job["exit"])
time.sleep(600)
"""


def stand_in_command(root: str) -> list[str]:
    """Starts the stand-in agent for a folder."""
    return [sys.executable, "-I", "-S", "-c", _STAND_IN, root]


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """The first true answer of `condition`; an error that names `what` when it takes too long."""
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.005)
    raise AssertionError(f"{what}: not within {TIMEOUT_S:.0f} s")


class Deaths:
    """Collects what an engine tells."""

    def __init__(self) -> None:
        self.seen: list[Death] = []
        self.threads: list[threading.Thread] = []

    def __call__(self, death: Death) -> None:
        self.seen.append(death)
        self.threads.append(threading.current_thread())

    def of(self, place: Place) -> list[Death]:
        return [d for d in self.seen if d.place == place]


class EngineExam:
    """What base.Engine promises, as tests."""

    @pytest.fixture
    def engine_maker(self) -> Callable[[], Engine]:
        """Makes a new engine whose agents are started with `stand_in_command`."""
        raise NotImplementedError

    @pytest.fixture
    def started(self, engine_maker: Callable[[], Engine]) -> Iterator[Callable[[], tuple[Engine, Deaths]]]:
        engines: list[Engine] = []

        def start() -> tuple[Engine, Deaths]:
            engine, deaths = engine_maker(), Deaths()
            engine.start(deaths)
            engines.append(engine)
            return engine, deaths

        yield start
        for engine in engines:
            engine.stop()

    @pytest.fixture
    def new_place(self, tmp_path: Path) -> Iterator[Callable[..., Place]]:
        places: list[Place] = []

        def make(node: int = 0, attempt: int = 1, run_id: str = "exam's run", **job: Any) -> Place:
            root = tmp_path / "a folder's name" / run_id / str(attempt) / f"node-{node}"
            root.mkdir(parents=True)
            (root / "job.json").write_text(json.dumps({"key": f"{run_id}/{attempt}", "node": node, **job}))
            places.append(Place(run_id, attempt, node, str(root)))
            return places[-1]

        yield make
        # By command line first: an agent that has not come far enough to note itself is ended too.
        roots = {place.root for place in places}
        for pid in all_pids():
            if command_line(pid)[-1:] and command_line(pid)[-1] in roots:
                _kill(pid)
        for place in places:
            child = _read(place, "child.json")
            if child:
                _kill(child["pid"])

    def test_starts_every_agent_of_a_gang_detached(self, started, new_place):
        engine, _ = started()
        gang = [new_place(node=i) for i in range(3)]
        engine.place(gang)
        for place in gang:
            up = wait_for(partial(_read, place, "up.json"), "an agent")
            assert engine.is_alive(place)
            assert up["sid"] != os.getsid(0)

    def test_does_not_hand_on_a_run_that_it_was_started_in(self, started, new_place, monkeypatch):
        monkeypatch.setenv("ROOKERY_ATTEMPT_KEY", "outer/1")
        monkeypatch.setenv("AZUREML_RUN_ID", "outer")
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        monkeypatch.setenv("KEPT_AS_IT_IS", "yes")
        engine, _ = started()
        place = new_place()
        engine.place([place])
        variables = wait_for(lambda: _read(place, "up.json"), "an agent")["env"]
        assert not {"ROOKERY_ATTEMPT_KEY", "AZUREML_RUN_ID", "PYTHONDONTWRITEBYTECODE"} & set(variables)
        assert variables["KEPT_AS_IT_IS"] == "yes"

    def test_tells_of_a_death_once_with_its_exit_code(self, started, new_place):
        engine, deaths = started()
        place = new_place(exit=3)
        engine.place([place])
        death = wait_for(lambda: deaths.of(place), "the death")[0]
        assert (death.exit_code, death.signal) == (3, None)
        assert "exit code 3" in death.words
        assert deaths.threads[0] is not threading.current_thread()
        assert not engine.is_alive(place)

    def test_tells_of_a_kill_with_its_signal(self, started, new_place):
        engine, deaths = started()
        place, other = new_place(node=0), new_place(node=1)
        engine.place([place, other])
        wait_for(lambda: _read(place, "up.json"), "an agent")
        engine.kill(place)
        death = wait_for(lambda: deaths.of(place), "the death")[0]
        assert (death.exit_code, death.signal) == (None, "SIGKILL")
        assert engine.is_alive(other)
        engine.kill(place)  # harmless
        assert len(deaths.of(place)) == 1

    def test_leaves_agents_alone_when_it_stops_and_finds_them_again(self, started, new_place):
        engine, deaths = started()
        place, gone = new_place(node=0), new_place(node=1)
        engine.place([place, gone])
        up = wait_for(lambda: _read(place, "agent.json"), "an agent")
        pid_gone = wait_for(lambda: _read(gone, "agent.json"), "an agent")["pid"]
        engine.stop()
        _kill(pid_gone)
        assert is_running(up["pid"], up["start_ticks"])
        again, deaths_again = started()
        assert again.adopt([place, gone]) == {place}
        assert again.is_alive(place)
        again.kill(place)
        wait_for(lambda: deaths_again.of(place), "the death of an adopted agent")
        assert not deaths.seen

    def test_finds_an_agent_that_nobody_had_noted_yet(self, started, new_place):
        engine, _ = started()
        place = new_place(note=False)
        engine.place([place])
        wait_for(lambda: _read(place, "up.json"), "an agent")
        engine.stop()
        again, deaths = started()
        assert again.adopt([place]) == {place}
        again.kill(place)
        wait_for(lambda: deaths.of(place), "the death")

    def test_never_takes_a_reused_pid_for_an_agent(self, started, new_place):
        engine, _ = started()
        place = new_place()
        stranger = subprocess.Popen(["sleep", "600"])
        try:
            Path(place.paths.agent).write_text(json.dumps({"pid": stranger.pid, "start_ticks": 1, "socket": ""}))
            rank = Path(place.paths.rank(0).process)
            rank.parent.mkdir()
            rank.write_text(json.dumps({"pid": stranger.pid, "start_ticks": 1}))
            assert engine.adopt([place]) == set()
            engine.kill(place)
            assert engine.sweep(place) == []
            assert stranger.poll() is None
        finally:
            stranger.kill()
            stranger.wait()

    def test_sweeps_what_a_dead_agent_left_and_nothing_else(self, started, new_place):
        engine, deaths = started()
        place = new_place(node=0, child=True)
        others = [new_place(node=1, child=True), new_place(node=0, attempt=2, child=True)]
        engine.place([place, *others])
        child = wait_for(lambda: _read(place, "child.json"), "a rank")["pid"]
        kept = [wait_for(partial(_read, p, "child.json"), "a rank")["pid"] for p in others]
        wait_for(lambda: _read(place, "up.json"), "an agent")
        engine.kill(place)
        wait_for(lambda: deaths.of(place), "the death")
        assert engine.sweep(place) == [child]
        wait_for(lambda: not is_running(child, 0), "the end of the rank")
        assert all(is_running(pid, 0) for pid in kept)
        assert engine.sweep(place) == []

    def test_places_all_or_none(self, started, new_place):
        engine, deaths = started()
        good, bad = new_place(node=0), new_place(node=1)
        os.unlink(bad.paths.job)
        os.rmdir(bad.root)
        Path(bad.root).write_text("a file where a folder should be")
        with pytest.raises(ComputeError):
            engine.place([good, bad])
        assert not engine.is_alive(good)
        up = _read(good, "up.json")
        assert up is None or not is_running(up["pid"], up["start_ticks"])
        assert not deaths.seen

    def test_counts_what_there_is_and_refuses_what_can_never_fit(self, started):
        engine, _ = started()
        counted = threading.Event()
        engine.when_counted(counted.set)
        assert counted.wait(TIMEOUT_S)
        capacity = engine.capacity()
        assert capacity is not None
        assert capacity.cpus
        engine.check(1, ClusterSpec(max_nodes=1, cpus_per_node=len(capacity.cpus)))
        with pytest.raises(ComputeError, match="At most"):
            engine.check(1, ClusterSpec(max_nodes=1, cpus_per_node=len(capacity.cpus) + 1))
        with pytest.raises(ComputeError, match="at most 2"):
            engine.check(3, ClusterSpec(max_nodes=2))


def _read(place: Place, name: str) -> Any:
    try:
        return json.loads((Path(place.root) / name).read_text())
    except (OSError, ValueError):
        return None


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass
