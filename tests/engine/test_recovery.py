"""A keeper is killed at any moment, another one follows, and every run goes on from where it was."""

from __future__ import annotations

import json
import os

import pytest
from sqlalchemy import update

from rookery.engine import Controller
from rookery.engine import observations as obs
from rookery.engine.outcome import Grant
from rookery.engine.run_state import first_state, store_state
from rookery.engine.state import step
from rookery.environments import BuiltEnvironment
from rookery.record.schema import runs
from rookery.spec.compute import ClusterSpec
from rookery.spec.plain import from_plain
from rookery.spec.run import RunSpec, WatchedProcess
from rookery.testing.engine_exam import wait_for


def rewind(house, run_id, *seen):
    """Put a run of the record where a keeper would have left it that died right after storing the last
    step."""
    run = house.record.runs.get(run_id)
    state = first_state(from_plain(RunSpec, run["spec"]))
    for one in seen:
        state, _ = step(state, one)
    house.record.runs.advance(
        run_id, status=state.status, reason=state.reason, attempt=state.attempt, state=store_state(state)
    )


@pytest.fixture
def stopped(make_house):
    """A house whose keeper is dead; runs are created in its record without anybody noticing."""
    house = make_house(cpus=2)
    house.controller.stop()
    house.controller.submitted = lambda run_id: None
    return house


READY = obs.EnvironmentReady(BuiltEnvironment(python="/usr/bin/python3"))
GRANTED = obs.NodesGranted((Grant("local-0", (0, 1)),))


class TestRestart:
    @pytest.mark.parametrize(
        "before", [[], [obs.Submitted()], [obs.Submitted(), READY], [obs.Submitted(), READY, GRANTED]]
    )
    def test_starts_what_was_on_its_way_and_starts_it_once(self, stopped, before):
        run_id = stopped.submit()
        rewind(stopped, run_id, *before)
        stopped.restart()
        stopped.start_ranks(run_id)
        stopped.finish(run_id)
        assert stopped.status(run_id) == "Completed"
        assert len(stopped.engine.placed) == 1
        assert all(n["run_id"] is None for n in stopped.controller.nodes("local"))

    def test_finds_running_agents_and_the_nodes_they_hold(self, make_house):
        house = make_house(cpus=1)
        first, second = house.submit(), house.submit()
        house.start_ranks(first)
        house.wait(second, "Queued")
        house.restart()
        assert house.status(first) == "Running"
        assert house.controller.nodes("local")[0]["run_id"] == first
        assert house.controller.agent_beat(first, 1, 0, {})["cancel"] is False
        assert house.controller.counts() == {"live_runs": 2, "queued_runs": 1, "running_runs": 1}
        house.finish(first)
        house.start_ranks(second)
        house.finish(second)
        assert [p.run_id for p in house.engine.placed] == [first, second]

    def test_notices_an_agent_that_died_meanwhile(self, house):
        run_id = house.submit()
        place = house.start_ranks(run_id)
        os.makedirs(place.root, exist_ok=True)
        with open(place.paths.agent, "w") as f:
            json.dump({"pid": 1, "start_ticks": 0}, f)
        house.controller.stop()
        house.engine.alive.clear()
        house.restart()
        house.wait_placed(run_id, times=2)
        assert house.engine.swept == [place]
        house.finish(run_id, "lost")
        error = house.record.runs.get(run_id)["error"]
        assert (error["kind"], "while the keeper was away" in error["summary"]) == ("NodeLost", True)

    def test_starts_a_finisher_again_that_was_never_started(self, house):
        run_id = house.submit()
        house.start_ranks(run_id)
        house.controller.agent_outcome(run_id, 1, 0, {"result": "completed"})
        house.controller.stop()
        house.engine.alive.clear()
        house.restart()
        place = house.wait_placed(run_id, times=2)
        with open(place.paths.job) as f:
            assert json.load(f)["mode"] == "finish"
        house.controller.agent_finished(run_id, 1, 0, {})
        assert house.status(run_id) == "Completed"

    def test_starts_no_ranks_of_a_run_that_was_to_stop(self, stopped):
        run_id = stopped.submit()
        rewind(stopped, run_id, obs.Submitted(), READY, GRANTED, obs.CancelRequested())
        stopped.restart()
        place = stopped.wait_placed(run_id)
        with open(place.paths.job) as f:
            assert json.load(f)["mode"] == "finish"
        stopped.finish(run_id, "lost")
        assert stopped.status(run_id) == "Canceled"

    def test_repeats_the_command_to_stop(self, house):
        run_id = house.submit()
        house.start_ranks(run_id)
        house.controller.cancel(run_id)
        house.restart()
        assert house.controller.agent_hello(run_id, 1, 0, {}) == {"cancel": True}
        assert len(house.controller.commands(run_id, 1, 0, 0)) == 1
        house.finish(run_id, "canceled")

    def test_keeps_the_order_of_the_queue(self, make_house):
        house = make_house(cpus=1)
        runs = [house.submit() for _ in range(4)]
        house.start_ranks(runs[0])
        house.restart()
        for run_id in runs:
            if run_id != runs[0]:
                house.start_ranks(run_id)
            house.finish(run_id)
        assert [p.run_id for p in house.engine.placed] == runs

    def test_keeps_clusters_and_watchers(self, house):
        house.controller.create_compute("pool", ClusterSpec(min_nodes=1, max_nodes=3))
        run_id = house.submit(compute="pool")
        house.start_ranks(run_id)
        watched = house.submit(kind="interactive", script=None, watched=WatchedProcess(1, 1, "here"))
        house.wait_placed(watched)
        house.restart()
        assert house.controller.compute("pool")["node_states"]["running"] == 1
        house.finish(run_id)
        house.finish(watched)
        assert house.status(watched) == "Completed"

    def test_what_was_asked_for_and_cannot_be_read_fails_the_run_when_its_turn_comes(self, stopped):
        """Of runs that wait it is read late: they may be very many."""
        bad, good = stopped.submit(), stopped.submit()
        for run_id in (bad, good):
            rewind(stopped, run_id, obs.Submitted(), READY)
        with stopped.record.database.write() as tx:
            tx.conn.execute(update(runs).where(runs.c.id == bad).values(spec={"colour": 1}))
        stopped.restart()
        wait_for(lambda: stopped.status(bad) == "Failed", "the end of the bad one", 60)
        assert "cannot be read" in stopped.record.runs.get(bad)["error"]["summary"]
        stopped.start_ranks(good)
        stopped.finish(good)
        assert stopped.status(good) == "Completed"

    def test_a_state_that_cannot_be_read_fails_the_run_and_no_other(self, stopped):
        broken, good = stopped.submit(), stopped.submit()
        stopped.record.runs.advance(
            broken, status="Queued", reason="x", state={"status": "Queued", "from": "the future"}
        )
        stopped.restart()
        assert stopped.record.runs.get(broken)["error"]["kind"] == "SystemError"
        stopped.start_ranks(good)


class TestARecordThatCannotStore:
    def test_is_tried_again_and_nothing_is_done_before(self, house, monkeypatch):
        run_id = house.submit()
        place = house.start_ranks(run_id)
        full = True
        advance = house.record.runs.advance

        def refuse(*args, **kwargs):
            if full:
                raise OSError(28, "No space left on device")
            return advance(*args, **kwargs)

        monkeypatch.setattr(house.record.runs, "advance", refuse)
        with pytest.raises(OSError, match="No space"):
            house.controller.agent_outcome(run_id, 1, 0, {"result": "completed"})
        assert house.controller.nodes("local")[0]["run_id"] == run_id
        house.engine.die(place, exit_code=1)
        full = False
        wait_for(lambda: house.status(run_id) == "Finalizing", "the second try")


def test_a_controller_can_be_made_without_a_fake(record, paths):
    controller = Controller(record, paths)
    controller.start()
    assert [c["name"] for c in controller.computes()] == ["local"]
    controller.stop()
