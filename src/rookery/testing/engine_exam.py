"""The exam that every Engine sits. Subclass `EngineExam` in a test module and give it a fixture `cluster`.

Engines whose nodes are other machines sit `RemoteEngineExam` (remote_exam.py) instead, which holds all of this.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Optional

import pytest

from rookery.engine.engines.base import Death, Engine, Place
from rookery.engine.processes import all_pids, command_line
from rookery.errors import ComputeError
from rookery.testing.stand_in import TIMEOUT_S, ClusterUnderTest, stand_in_boot, stand_in_command, wait_for

__all__ = ["ClusterUnderTest", "Deaths", "EngineExam", "stand_in_boot", "stand_in_command", "wait_for"]

Started = Callable[..., tuple[Engine, "Deaths"]]
NewPlace = Callable[..., Place]


class Deaths:
    """Collects what an engine tells."""

    def __init__(self) -> None:
        self.seen: list[Death] = []
        self.threads: list[threading.Thread] = []

    def __call__(self, death: Death) -> None:
        self.threads.append(threading.current_thread())  # first: whoever waits looks at `seen`
        self.seen.append(death)

    def of(self, place: Place) -> list[Death]:
        return [d for d in self.seen if d.place == place]


class EngineExam:
    """What base.Engine promises, as tests."""

    @pytest.fixture
    def cluster(self) -> ClusterUnderTest:
        """The machines behind the engine."""
        raise NotImplementedError

    @pytest.fixture
    def started(self, cluster: ClusterUnderTest, new_place: NewPlace) -> Iterator[Started]:
        engines: list[Engine] = []

        def start(make: Optional[Callable[[], Engine]] = None) -> tuple[Engine, Deaths]:
            engine, deaths = (make or cluster.make_engine)(), Deaths()
            engine.start(deaths)
            engines.append(engine)
            return engine, deaths

        yield start
        for engine in engines[-1:]:
            for place in new_place.made:  # type: ignore[attr-defined]
                engine.kill(place)
        for engine in engines:
            engine.stop()

    @pytest.fixture
    def new_place(self, cluster: ClusterUnderTest, tmp_path: Path) -> Iterator[NewPlace]:
        places: list[Place] = []

        def make(node: int = 0, attempt: int = 1, run_id: str = "exam's run", **job: Any) -> Place:
            root = tmp_path / "a folder's name" / run_id / str(attempt) / f"node-{node}"
            root.mkdir(parents=True)
            (root / "job.json").write_text(json.dumps({"key": f"{run_id}/{attempt}", "node": node, **job}))
            places.append(Place(run_id, attempt, node, str(root), cluster.name))
            return places[-1]

        make.made = places  # type: ignore[attr-defined]
        yield make
        # By command line first: an agent that has not come far enough to note itself is ended too.
        roots = {place.root for place in places}
        for pid in all_pids():
            if roots.intersection(command_line(pid)[-1:]):  # asked once: it may end between two looks
                cluster.kill_process({"pid": pid})
        for place in places:
            for name in ("up.json", "child.json"):
                found = cluster.read(place, name)
                if found and cluster.is_running(found):
                    cluster.kill_process(found)

    @pytest.fixture
    def up(self, cluster: ClusterUnderTest) -> Callable[[Place], dict[str, Any]]:
        """Waits until the agent of a place is up, and tells what it wrote."""
        return lambda place: wait_for(partial(cluster.read, place, "up.json"), "an agent", cluster.start_s)

    # -- place, watch, end ---------------------------------------------------------------------------------

    def test_starts_every_agent_of_a_gang_detached(self, cluster, started, new_place, up):
        engine, _ = started()
        gang = [new_place(node=i) for i in range(cluster.gang_size)]
        engine.place(gang)
        for place in gang:
            assert up(place)["sid"] != os.getsid(0)
            assert engine.is_alive(place)
            wait_for(partial(_waits_no_more, engine, place), "that it waits for nothing")

    def test_does_not_hand_on_a_run_that_it_was_started_in(self, cluster, started, new_place, up, monkeypatch):
        monkeypatch.setenv("ROOKERY_ATTEMPT_KEY", "outer/1")
        monkeypatch.setenv("AZUREML_RUN_ID", "outer")
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        monkeypatch.setenv("KEPT_AS_IT_IS", "yes")
        engine, _ = started()
        place = new_place()
        engine.place([place])
        variables = up(place)["env"]
        assert not {"ROOKERY_ATTEMPT_KEY", "AZUREML_RUN_ID", "PYTHONDONTWRITEBYTECODE"} & set(variables)
        if engine.is_here:
            assert variables["KEPT_AS_IT_IS"] == "yes"

    def test_tells_of_a_death_once_with_its_exit_code(self, cluster, started, new_place):
        engine, deaths = started()
        place = new_place(exit=3)
        engine.place([place])
        death = wait_for(lambda: deaths.of(place), "the death", cluster.start_s + cluster.death_s)[0]
        if cluster.knows_exit_codes:
            assert (death.exit_code, death.signal) == (3, None)
            assert "exit code 3" in death.words
        assert death.words
        assert deaths.threads[0] is not threading.current_thread()
        assert not engine.is_alive(place)
        assert len(deaths.of(place)) == 1

    def test_tells_of_a_kill_with_its_signal(self, cluster, started, new_place, up):
        engine, deaths = started()
        place, other = new_place(run_id="a"), new_place(run_id="b")
        engine.place([place])
        engine.place([other])
        process, beside = up(place), up(other)
        engine.kill(place)
        death = wait_for(lambda: deaths.of(place), "the death", cluster.death_s)[0]
        if cluster.knows_exit_codes:
            assert (death.exit_code, death.signal) == (None, "SIGKILL")
        wait_for(lambda: not cluster.is_running(process), "the end of the agent")
        assert engine.is_alive(other)
        assert cluster.is_running(beside)
        engine.kill(place)  # harmless
        assert len(deaths.of(place)) == 1

    def test_tells_of_an_agent_that_died_by_itself(self, cluster, started, new_place, up):
        engine, deaths = started()
        place = new_place()
        engine.place([place])
        cluster.kill_process(up(place))
        death = wait_for(lambda: deaths.of(place), "the death", cluster.death_s)[0]
        assert death.words
        assert not engine.is_alive(place)

    def test_sweeps_what_a_dead_agent_left_and_nothing_else(self, cluster, started, new_place, up):
        engine, deaths = started()
        place = new_place(node=0, child=True)
        others = [new_place(node=0, attempt=2, child=True), new_place(node=0, run_id="another", child=True)]
        for one in (place, *others):
            engine.place([one])
        for one in (place, *others):
            up(one)
        child, *kept = (cluster.read(p, "child.json") for p in (place, *others))
        engine.kill(place)
        wait_for(lambda: deaths.of(place), "the death", cluster.death_s)
        swept = engine.sweep(place)
        if engine.is_here:
            assert swept == [child["pid"]]
        wait_for(lambda: not cluster.is_running(child), "the end of the rank")
        assert all(cluster.is_running(one) for one in kept)
        assert engine.sweep(place) == []

    # -- another keeper --------------------------------------------------------------------------------------

    def test_leaves_agents_alone_when_it_stops_and_finds_them_again(self, cluster, started, new_place, up):
        engine, deaths = started()
        place, gone = new_place(run_id="stays"), new_place(run_id="goes")
        engine.place([place])
        engine.place([gone])
        process, other = up(place), up(gone)
        engine.stop()
        cluster.kill_process(other)
        assert cluster.is_running(process)
        again, deaths_again = started()
        wait_for(
            lambda: again.adopt([place, gone]) == {place}, "that the dead one is known to be dead", cluster.death_s
        )
        assert again.is_alive(place)
        again.kill(place)
        wait_for(lambda: deaths_again.of(place), "the death of an adopted agent", cluster.death_s)
        assert not deaths.seen

    def test_finds_an_agent_that_nobody_had_noted_yet(self, cluster, started, new_place, up):
        engine, _ = started()
        place = new_place(note=False)
        engine.place([place])
        up(place)
        engine.stop()
        again, deaths = started()
        assert again.adopt([place]) == {place}
        again.kill(place)
        wait_for(lambda: deaths.of(place), "the death", cluster.death_s)

    def test_adopts_nothing_that_was_never_placed(self, started, new_place):
        engine, deaths = started()
        place = new_place()
        assert engine.adopt([place]) == set()
        assert not engine.is_alive(place)
        engine.kill(place)
        assert engine.sweep(place) == []
        assert not deaths.seen

    def test_never_takes_a_reused_pid_for_an_agent(self, cluster, started, new_place):
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

    # -- what there is ---------------------------------------------------------------------------------------

    def test_counts_what_there_is_and_refuses_what_can_never_fit(self, cluster, started):
        engine, _ = started()
        counted = threading.Event()
        engine.when_counted(counted.set)
        assert counted.wait(TIMEOUT_S)
        assert engine.capacity() is not None
        nodes = engine.nodes()
        assert len({n.name for n in nodes}) == len(nodes) == cluster.num_nodes
        assert all(n.cpus >= n.free_cpus >= 0 and n.cpus > 0 for n in nodes)
        engine.check(cluster.num_nodes, cluster.spec)
        with pytest.raises(ComputeError, match=r"(?i)at most"):
            engine.check(cluster.num_nodes + 1, cluster.spec)

    def test_runs_a_program_on_a_node(self, started):
        engine, _ = started()
        answer = engine.run_on_node("import sys\nprint('it', 6 * 7)\nsys.exit(5)\n", TIMEOUT_S)
        assert answer.output.strip() == "it 42"
        assert answer.exit_code == 5
        assert answer.node

    def test_says_when_a_program_on_a_node_takes_too_long(self, started):
        engine, _ = started()
        with pytest.raises(ComputeError, match=r"(?i)1 s|second"):
            engine.run_on_node("import time\ntime.sleep(600)\n", 1.0)


def _waits_no_more(engine: Engine, place: Place) -> bool:
    return engine.waiting(place) == ""
