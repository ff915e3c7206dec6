"""Targets on other machines: a controller over an engine whose machines are fake and whose agents talk."""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from pathlib import Path

import pytest

from rookery.engine import Controller
from rookery.errors import ComputeError, ConflictError
from rookery.spec.cause import CauseKind
from rookery.spec.compute import ClusterSpec, Reach
from rookery.spec.job import NODE_BIN, NODE_HOME, NODE_PATH, NODE_PYTHON, NODE_RUNTIME
from rookery.spec.run import EnvironmentSpec
from rookery.testing.engine_exam import wait_for
from rookery.testing.fake_cluster import FakeCluster, Life
from rookery.testing.fake_engine import FakeEngine
from tests.engine.conftest import House
from tests.engine.fake_engine import FakeEngine as HereEngine

SHARED = Reach(keeper_url="http://10.0.0.9:1", transport="http", shared_files=True, shared_environments=True)
APART = Reach(keeper_url="http://10.0.0.9:1", transport="http", shared_files=False)
LONG = 600.0


class Far(House):
    """A house with machines elsewhere."""

    cluster: FakeCluster

    def attach(self, reach=SHARED, check=False, name="far", options=None, **fields):
        options = {"requeue": False} if options is None else options
        spec = ClusterSpec(**{"engine": "slurm", "max_nodes": 0, "reach": reach, "options": options, **fields})
        return self.controller.create_compute(name, spec, check=check)

    def attach_ready(self, *args, **kwargs):
        self.attach(*args, **kwargs)
        wait_for(lambda: not self.controller.compute("far")["problem"], "the engine")

    def agent(self, run_id, node=0, attempt=1):
        return wait_for(lambda: self.cluster.agents.get((run_id, attempt, node)), "the agent")

    def run(self, reach=SHARED, **fields):
        self.attach_ready(reach)
        return self.submit(compute="far", **fields)


@pytest.fixture
def payload(tmp_path):
    folder = tmp_path / "payload-1"
    (folder / "first").mkdir(parents=True)
    (folder / "first" / "sitecustomize.py").write_text("")
    return str(folder)


@pytest.fixture
def make_far(record, paths, payload):
    made = []

    def make(num_nodes=3, life=Life(LONG), cpus=2, make_engine=None, **cluster):
        house = Far(record, paths, HereEngine(), None, itertools.count())
        house.cluster = FakeCluster(num_nodes, cpus, life_of=lambda place: life, **cluster)
        house.make_engine = make_engine or (lambda name, spec, boot, folder: FakeEngine(house.cluster))

        def start():
            house.controller = house.cluster.controller = Controller(
                record,
                paths,
                engine=house.engine,
                make_engine=lambda *args: house.make_engine(*args),
                ensure_payload=lambda p: payload,
            )
            house.controller.start()

        house.start = start
        start()
        made.append(house)
        return house

    yield make
    for house in made:
        house.controller.stop()
        house.cluster.close()


@pytest.fixture
def far(make_far):
    return make_far()


def job_of(far, run_id, node=0, attempt=1):
    path = Path(far.paths.attempt(run_id, attempt).node(node).job)
    return json.loads(wait_for(lambda: path.exists() and path.read_text(), "the job"))


class TestRun:
    def test_goes_to_its_end_on_other_machines(self, make_far):
        far = make_far(life=Life(0.0))
        run_id = far.run(node_count=2)
        far.wait(run_id, "Completed")
        assert far.engine.placed == []  # nothing was started here
        (attempt,) = far.record.runs.state(run_id)["attempts"]
        assert len({n["machine"] for n in attempt["nodes"]}) == 2
        assert [n["id"] for n in attempt["nodes"]] == ["far-0", "far-1"]

    def test_names_are_used_again(self, make_far):
        far = make_far(life=Life(0.0))
        far.attach_ready()
        for _ in range(3):
            far.wait(far.submit(compute="far"), "Completed")
        state = far.record.runs.state("run-2")
        assert state["attempts"][0]["nodes"][0]["id"] == "far-0"

    def test_job_with_shared_files(self, far):
        run_id = far.run(SHARED)
        far.wait(run_id, "Running")
        job = job_of(far, run_id)
        assert job["work"].startswith(far.paths.root)
        assert job["keeper"]["url"] == "http://10.0.0.9:1"
        assert job["keeper"]["start_command"] == []
        assert job["keeper"]["endpoint_file"] == ""
        assert job["socket"].startswith(NODE_RUNTIME + "/")
        assert job["environment"] is None
        (rank,) = job["ranks"]
        assert rank["argv"][0] == sys.executable
        assert rank["variables"]["PATH"] == f"{os.path.dirname(sys.executable)}:{NODE_PATH}"
        assert rank["cpus"] == []
        assert "OMP_NUM_THREADS" not in rank["variables"]
        assert "CUDA_VISIBLE_DEVICES" not in rank["variables"]
        assert job["thread_share"] == 1

    def test_job_without_shared_files(self, far):
        run_id = far.run(APART, node_count=2, launcher="per_process", processes_per_node=2)
        far.wait(run_id, "Running")
        text = json.dumps(job_of(far, run_id, 1))
        assert far.paths.root not in text
        job = json.loads(text)
        assert job["work"].startswith(NODE_HOME + "/runs/")
        assert job["content_root"] == ""
        assert job["environment"]["kind"] == "interpreter"
        assert job["thread_share"] == 2
        assert (job["launch"]["one_machine"], job["launch"]["address"]) == (False, "")
        assert job["launch"]["warnings"] == []
        rank = job["ranks"][0]
        assert rank["argv"][0] == NODE_PYTHON
        assert rank["variables"]["PATH"] == f"{NODE_BIN}:{NODE_PATH}"
        assert rank["variables"]["PYTHONPATH"] == f"{NODE_HOME}/payload/payload-1/first"
        assert rank["variables"]["ROOKERY_RESUME_DIR"].startswith(NODE_HOME)

    def test_job_is_told_to_its_node_while_the_attempt_lasts(self, far):
        run_id = far.run(APART)
        far.wait(run_id, "Running")
        assert json.loads(far.controller.agent_job(run_id, 1, 0)) == job_of(far, run_id)
        with pytest.raises(ConflictError):
            far.controller.agent_job(run_id, 2, 0)

    def test_job_with_a_spool(self, far):
        run_id = far.run(Reach(transport="spool", shared_files=True, shared_environments=True))
        far.wait(run_id, "Running")
        keeper = job_of(far, run_id)["keeper"]
        assert (keeper["url"], keeper["spool"]) == ("", far.paths.spool_of(run_id, 1, 0))

    def test_boot_program_holds_the_tickets_of_the_gang(self, make_far):
        boots = []

        def make(name, spec, boot, folder):
            assert os.path.isdir(folder)
            boots.append(boot)
            return FakeEngine(far.cluster)

        far = make_far(make_engine=make)
        run_id = far.run(APART, node_count=2)
        far.wait(run_id, "Running")
        text = boots[0]([far.agent(run_id, i).place for i in range(2)])
        compile(text, "boot", "exec")
        assert far.record.tokens.make(run_id, "agent").split(".")[0][:8] in text


class TestQueue:
    def test_what_can_never_fit_is_refused(self, far):
        far.attach_ready()
        with pytest.raises(ComputeError, match="at most 3"):
            far.submit(compute="far", node_count=4)
        with pytest.raises(ComputeError, match=r"Process count per node \(3\) is larger"):
            far.submit(compute="far", launcher="per_process", processes_per_node=3)

    def test_a_limit_of_the_target_holds_runs_back(self, far):
        far.attach_ready(max_nodes=1)
        first, second = far.submit(compute="far"), far.submit(compute="far")
        far.wait(first, "Running")
        wait_for(lambda: "1 of 1 in use" in far.reason(second), "its reason")
        with pytest.raises(ComputeError, match="1 maximum nodes"):
            far.submit(compute="far", node_count=2)

    def test_says_what_its_agents_wait_for_in_the_engine(self, make_far):
        far = make_far(num_nodes=1)
        far.attach_ready(max_nodes=3)
        first, second, third = (far.submit(compute="far") for _ in range(3))
        far.wait(first, "Running")
        far.wait(second, "Running")
        wait_for(lambda: "no machine is free" in far.reason(third), "the engine's reason")
        assert far.status(third) == "Provisioning"
        far.cluster.end(far.agent(first).place, signal="SIGKILL")
        far.wait(third, "Running")

    def test_is_not_called_silent_while_the_engine_has_not_started_it(self, make_far, monkeypatch):
        monkeypatch.setenv("ROOKERY_HEARTBEAT_S", "0.05")
        monkeypatch.setenv("ROOKERY_MISSED_HEARTBEATS", "3")
        far = make_far(num_nodes=1)
        far.attach_ready(max_nodes=3)
        running, _, waiting = (far.submit(compute="far") for _ in range(3))
        wait_for(lambda: "no machine is free" in far.reason(waiting), "the engine's reason")
        far.wait(running, "NotResponding")  # its agent is there and never beats: the limit is over, and more than once
        assert far.status(waiting) == "Provisioning"

    def test_what_waits_in_the_engine_is_not_silent(self, make_far):
        far = make_far(num_nodes=1, cpus=1)
        far.attach_ready(max_nodes=2)
        first, second = far.submit(compute="far"), far.submit(compute="far")
        far.wait(first, "Running")
        wait_for(lambda: "no machine is free" in far.reason(second), "the engine's reason")
        live = far.controller._runs.get(second)
        live.heard[0] = 0.0  # for very long
        far.controller._loop.call(far.controller._tick)
        assert live.heard[0] > 0.0
        assert far.status(second) == "Provisioning"

    def test_size_follows_the_machines_where_it_is_left_open(self, far):
        far.attach_ready(cpus_per_node=1)
        assert far.controller.compute("far")["max_nodes"] == 6
        assert far.controller.compute("far")["current_nodes"] == 3

    def test_an_engine_that_cannot_start_holds_up_nobody_else(self, make_far):
        far = make_far()
        far.cluster.is_away = True
        far.attach()
        run_id = far.submit(compute="far")
        wait_for(lambda: "head of the fake cluster does not answer" in far.reason(run_id), "its reason")
        found = far.controller.compute("far")
        assert "does not answer" in found["problem"]
        assert found["provisioning_state"] == "Failed"
        here = far.submit()
        far.start_ranks(here)
        far.cluster.is_away = False
        far.wait(run_id, "Running")
        assert far.controller.compute("far")["problem"] == ""

    def test_an_engine_that_is_not_installed_says_so(self, make_far):
        def make(name, spec, boot, folder):
            raise ComputeError("The engine 'slurm' cannot be loaded.")

        far = make_far(make_engine=make)
        with pytest.raises(ComputeError, match="cannot be loaded"):
            far.attach(check=True)
        assert [c["name"] for c in far.controller.computes()] == ["local"]


class TestNodes:
    def test_tell_what_they_have_and_what_runs_on_them(self, far):
        run_id = far.run(node_count=2)
        far.wait(run_id, "Running")
        rows = far.controller.nodes("far")
        assert [r["id"] for r in rows] == ["fake-0000", "fake-0001", "fake-0002"]
        assert [r["num_cpus"] for r in rows] == [2, 2, 2]
        used = [r for r in rows if r["runs"]]
        assert sorted(run["node"] for r in used for run in r["runs"]) == [0, 1]
        assert {r["run_id"] for r in used} == {run_id}

    def test_are_asked_for_anew(self, far):
        far.attach_ready()
        far.cluster.kill_node("fake-0001")
        assert [row["state"] for row in far.controller.nodes("far")] == ["idle", "down", "idle"]

    def test_what_waits_in_the_engine_is_shown_without_a_machine(self, make_far):
        far = make_far(num_nodes=1, cpus=1)
        far.attach_ready(max_nodes=2)
        first, second = far.submit(compute="far"), far.submit(compute="far")
        far.wait(first, "Running")
        far.wait(second, "Provisioning")
        rows = far.controller.nodes("far")
        assert [(r["id"], r["state"], r["run_id"]) for r in rows][1:] == [("far-1", "preparing", second)]


class TestDeath:
    def test_of_a_machine_is_the_cause_and_names_it(self, far):
        run_id = far.run(node_count=2)
        far.wait(run_id, "Running")
        name = far.agent(run_id, 1).machine
        far.cluster.kill_node(name)
        far.wait_placed(run_id, node=1)  # what it left in shared files is stored from here
        far.controller.agent_finished(run_id, 1, 1, {"warnings": []})
        run = far.wait(run_id, "Failed")
        assert run["error"]["kind"] == CauseKind.LOST_NODE
        assert name in run["error"]["summary"]
        assert run["error"]["node"] == 1

    def test_without_shared_files_what_was_not_sent_is_lost_in_words(self, far):
        run_id = far.run(APART, node_count=2)
        far.wait(run_id, "Running")
        name = far.agent(run_id, 1).machine
        far.cluster.kill_node(name)
        run = far.wait(run_id, "Failed")
        assert far.engine.placed == []
        assert any("is lost: it is down" in words for words in run["warnings"])
        assert name in run["error"]["summary"]

    def test_of_an_agent_has_another_go_to_the_same_machine(self, far):
        run_id = far.run(APART)
        far.wait(run_id, "Running")
        agent = far.agent(run_id)
        far.cluster.end(agent.place, signal="SIGKILL")
        wait_for(lambda: far.agent(run_id) is not agent, "the finisher")
        assert far.agent(run_id).place.on == agent.machine
        assert job_of(far, run_id)["mode"] == "finish"

    def test_is_tried_again_while_a_budget_lasts(self, far):
        far.attach_ready(APART)
        run_id = far.submit(compute="far", retries_lost_node=1)
        far.wait(run_id, "Running")
        far.cluster.kill_node(far.agent(run_id).machine)
        wait_for(lambda: far.record.runs.get(run_id)["attempt"] == 2, "the second attempt")
        far.agent(run_id, attempt=2)
        far.wait(run_id, "Running")

    def test_slurm_queues_lost_runs_again_by_itself(self, far):
        far.attach_ready(APART, options={})
        assert far.controller._computes.lost_retries("far") == 3
        far.attach(name="strict", options={"requeue": False})
        assert far.controller._computes.lost_retries("strict") == 0


class TestStop:
    def test_cancel_reaches_agents(self, far):
        run_id = far.run(node_count=2)
        far.wait(run_id, "Running")
        far.controller.cancel(run_id)
        far.wait(run_id, "Canceled")
        wait_for(lambda: not any(a.is_alive for a in far.cluster.agents.values()), "the end of the agents")

    def test_a_node_that_the_engine_will_take_is_preempted(self, far):
        run_id = far.run()
        far.wait(run_id, "Running")
        engine = far.controller._engines.attached("far").engine
        engine.on_notice(far.agent(run_id).place, 30.0, "Slurm: the time limit comes")
        wait_for(lambda: far.controller.commands(run_id, 1, 0, 0), "the command")
        (command,) = far.controller.commands(run_id, 1, 0, 0)
        assert (command["command"], command["grace_s"]) == ("preempt", 30.0)

    def test_preempt_takes_a_node_by_hand(self, far):
        run_id = far.run()
        far.wait(run_id, "Running")
        taken = far.controller.preempt("far", grace_s=5.0, away_s=60.0, force=True)
        assert (taken["node"], taken["run_id"]) == ("far-0", run_id)

    def test_detach_with_runs_is_refused_and_without_ends_the_engine(self, far):
        run_id = far.run()
        far.wait(run_id, "Running")
        with pytest.raises(ConflictError):
            far.controller.delete_compute("far")
        far.controller.cancel(run_id)
        far.wait(run_id, "Canceled")
        far.controller.delete_compute("far")
        wait_for(
            lambda: not [t for t in threading.enumerate() if t.name.startswith("rookery-far")], "the end of its threads"
        )


class TestRestart:
    def test_finds_running_agents_again(self, far):
        run_id = far.run(node_count=2)
        far.wait(run_id, "Running")
        far.controller.stop()
        far.start()
        wait_for(lambda: not far.controller.compute("far")["problem"], "the engine")
        wait_for(lambda: far.controller.compute("far")["running_runs"] == 1, "its nodes")
        assert far.status(run_id) == "Running"
        assert far.cluster.placed == 2
        far.controller.cancel(run_id)
        far.wait(run_id, "Canceled")

    def test_waits_for_an_engine_that_is_away_and_then_finds_out(self, far):
        run_id = far.run()
        far.wait(run_id, "Running")
        far.controller.stop()
        far.cluster.end(far.agent(run_id).place, signal="SIGKILL")
        far.cluster.is_away = True
        far.start()
        assert far.status(run_id) == "Running"  # nobody can say otherwise
        far.cluster.is_away = False
        far.wait_placed(run_id)  # the finisher, here
        assert far.status(run_id) == "Finalizing"


class TestPreparing:
    def test_without_shared_files_it_is_resolved_here_and_built_there(self, far, monkeypatch):
        from rookery import environments

        monkeypatch.setattr(environments, "prepare", lambda *args, **kwargs: pytest.fail("built here"))
        run_id = far.run(APART, environment=EnvironmentSpec(python="/opt/there/bin/python3"))
        far.wait(run_id, "Running")
        assert job_of(far, run_id)["environment"]["python"] == "/opt/there/bin/python3"
