"""Who gets nodes, in which order, with what words, and what that costs with hundreds of runs."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.engine import Controller
from rookery.engine.queue import Request, Target
from rookery.errors import ComputeError, ConflictError, UserError
from rookery.spec.compute import ClusterSpec
from rookery.testing.engine_exam import wait_for


class TestReasons:
    def test_name_what_is_waited_for_who_holds_it_and_the_place(self, house):
        house.controller.create_compute("pool", ClusterSpec(max_nodes=2))
        a, b, c, d = (house.submit(compute="pool") for _ in range(4))
        house.start_ranks(a), house.start_ranks(b)
        assert house.wait(d, "Queued")
        wait_for(lambda: "position" in house.reason(d), "its reason")
        assert (
            house.reason(d) == f"waits for 1 node of 'pool': 2 of 2 in use by run {a}, run {b}; position 2 in the queue"
        )
        house.finish(a)
        house.start_ranks(c)
        wait_for(lambda: "position 1" in house.reason(d), "a current reason")
        assert f"run {b}, run {c}" in house.reason(d) or f"run {c}, run {b}" in house.reason(d)

    def test_waits_until_the_gpus_are_counted(self, house):
        counted = house.engine.count_later()
        house.restart()
        run_id = house.submit()
        wait_for(lambda: "counted" in house.reason(run_id), "its reason")
        counted()
        house.start_ranks(run_id)

    @pytest.mark.slow
    def test_are_written_seldom_with_two_hundred_waiting(self, make_house, monkeypatch):
        house = make_house(cpus=1)
        runs = [house.submit() for _ in range(200)]
        house.start_ranks(runs[0])
        wait_for(lambda: "position 199" in house.reason(runs[-1]), "the last one's reason")
        writes = 0
        advance = house.record.runs.advance

        def count(*args, **kwargs):
            nonlocal writes
            writes += 1
            return advance(*args, **kwargs)

        monkeypatch.setattr(house.record.runs, "advance", count)
        house.finish(runs[0])
        house.start_ranks(runs[1])
        house.finish(runs[1])
        house.start_ranks(runs[2])
        assert writes < 100


class TestFairness:
    def test_is_first_come_first_served(self, make_house):
        house = make_house(cpus=1)
        runs = [house.submit() for _ in range(5)]
        for run_id in runs:
            house.start_ranks(run_id)
            house.finish(run_id)
        assert [p.run_id for p in house.engine.placed] == runs

    def test_holds_while_the_payload_is_still_being_made(self, make_house):
        house = make_house(cpus=1)
        house.controller.stop()
        made = threading.Event()
        house.controller = Controller(
            house.record,
            house.paths,
            engine=house.engine,
            ensure_payload=lambda p: p.root if made.wait(120) else "",
        )
        house.controller.start()
        runs = [house.submit() for _ in range(8)]
        assert house.engine.placed == []
        made.set()
        runs.append(house.submit())
        for run_id in runs:
            house.start_ranks(run_id)
            house.finish(run_id)
        assert [p.run_id for p in house.engine.placed] == runs
        house.controller.stop()

    def test_a_gang_takes_all_its_nodes_together_and_is_not_overtaken(self):
        target = Target("pool", ClusterSpec(max_nodes=3), 0.0, "now")
        target.ask(Request("small", 1))
        target.take(target.next_wish(), 0.0, "now")
        target.ask(Request("gang", 3))
        target.ask(Request("later", 1))
        assert target.next_wish() is None
        target.give_back("small", 0.0, "now")
        assert len(target.take(target.next_wish(), 0.0, "now")) == 3
        assert target.next_wish() is None

    def test_every_run_on_other_machines_gets_as_many_different_nodes_as_it_asked_for(self):
        """Names are used again there."""
        target = Target("pool", ClusterSpec(engine="ssh", options={"address": "a"}, max_nodes=2), 0.0, "now")
        for run in ("a", "b", "c"):
            target.ask(Request(run, 2))
            given = target.take(target.next_wish(), 0.0, "now")
            assert sorted(node.id for node in given) == ["pool-0", "pool-1"]
            target.give_back(run, 0.0, "now")

    def test_what_can_never_be_met_does_not_hold_up_the_others(self):
        target = Target("pool", ClusterSpec(max_nodes=2), 0.0, "now")
        target.ask(Request("huge", 3))
        target.ask(Request("small", 1))
        assert target.next_wish().request.run_id == "small"
        assert "2 maximum nodes" in target.reason(Request("huge", 3), 1)

    def test_a_run_whose_parent_waits_for_it_never_waits(self, make_house):
        house = make_house(cpus=1)
        parent = house.submit()
        house.start_ranks(parent)
        waiting = house.submit()
        child = house.submit(parent_id=parent)
        house.start_ranks(child)
        assert house.status(waiting) == "Queued"
        house.finish(child)
        assert len(house.controller.nodes("local")) == 1
        house.finish(parent)
        house.start_ranks(waiting)


class TestClusters:
    def test_scale_up_shows_provisioning_with_a_reason(self, house):
        house.controller.create_compute("pool", ClusterSpec(max_nodes=2))
        assert house.controller.compute("pool")["current_nodes"] == 0
        run_id = house.submit(compute="pool")
        house.start_ranks(run_id)
        assert "Provisioning" in [p["status"] for p in house.record.runs.get(run_id)["phases"]]
        found = house.controller.compute("pool")
        assert (found["current_nodes"], found["running_runs"], found["allocation_state"]) == (1, 1, "Steady")
        assert found["provisioning_state"] == "Succeeded"

    def test_keep_their_minimum_and_let_idle_nodes_go(self, house):
        created = house.controller.create_compute(
            "pool", ClusterSpec(min_nodes=1, max_nodes=3, idle_seconds_before_scaledown=0)
        )
        assert created["current_nodes"] == 1
        runs = [house.submit(compute="pool") for _ in range(3)]
        for run_id in runs:
            house.start_ranks(run_id)
        assert house.controller.compute("pool")["node_states"]["running"] == 3
        for run_id in runs:
            house.finish(run_id)
        wait_for(lambda: house.controller.compute("pool")["current_nodes"] == 1, "the scale-down")
        assert [n["state"] for n in house.controller.nodes("pool")] == ["idle"]

    def test_a_larger_one_lets_waiting_runs_in(self, house):
        house.controller.create_compute("pool", ClusterSpec(max_nodes=1))
        first, second = house.submit(compute="pool"), house.submit(compute="pool")
        house.start_ranks(first)
        house.wait(second, "Queued")
        changed = house.controller.update_compute("pool", {"max_nodes": 2, "tags": {"a": "b"}, "description": None})
        assert (changed["spec"]["max_nodes"], changed["spec"]["tags"]) == (2, {"a": "b"})
        house.start_ranks(second)

    def test_a_smaller_one_lets_running_runs_end(self, house):
        house.controller.create_compute("pool", ClusterSpec(max_nodes=2))
        runs = [house.submit(compute="pool") for _ in range(2)]
        for run_id in runs:
            house.start_ranks(run_id)
        house.controller.update_compute("pool", {"max_nodes": 1})
        for run_id in runs:
            house.finish(run_id)
            assert house.status(run_id) == "Completed"
        assert len(house.controller.nodes("pool")) == 1

    def test_more_nodes_than_cores_come_with_a_warning(self, make_house):
        house = make_house(cpus=2)
        assert "2 cores" in house.controller.create_compute("pool", ClusterSpec(max_nodes=3))["warnings"][0]
        assert house.controller.create_compute("fits", ClusterSpec(max_nodes=2))["warnings"] == []

    def test_refuse_what_makes_no_sense(self, house):
        for name, spec in (
            ("local", ClusterSpec()),
            ("pool", ClusterSpec(min_nodes=2, max_nodes=1)),
            ("pool", ClusterSpec(engine="ray")),
        ):
            with pytest.raises((ComputeError, UserError)):
                house.controller.create_compute(name, spec)
        house.controller.create_compute("pool", ClusterSpec())
        with pytest.raises(ComputeError, match="Changeable"):
            house.controller.update_compute("pool", {"vm_size": "big"})
        with pytest.raises(ConflictError):
            house.controller.create_compute("pool", ClusterSpec())

    def test_with_runs_on_it_cannot_be_deleted(self, house):
        house.controller.create_compute("pool", ClusterSpec())
        run_id = house.submit(compute="pool")
        house.start_ranks(run_id)
        with pytest.raises(ConflictError, match=run_id):
            house.controller.delete_compute("pool")
        house.finish(run_id)
        house.controller.delete_compute("pool")
        assert [c["name"] for c in house.controller.computes()] == ["local"]


class TestSharing:
    def test_runs_that_share_cores_are_told_once(self, make_house):
        house = make_house(cpus=2)
        house.controller.create_compute("pool", ClusterSpec(max_nodes=2, cpus_per_node=1))
        alone, beside, third = house.submit(compute="pool"), house.submit(compute="pool"), house.submit()
        for run_id in (alone, beside, third):
            house.start_ranks(run_id)
        assert house.record.runs.get(alone)["warnings"] == []
        assert house.record.runs.get(beside)["warnings"] == []
        (warning,) = house.record.runs.get(third)["warnings"]
        assert "cores 0-1" in warning
        assert "2 other runs" in warning
        cpus = sorted(n["cpus"] for n in house.controller.nodes("pool"))
        assert cpus == [[0], [1]]

    def test_gpus_are_exclusive_while_there_are_enough(self, make_house):
        house = make_house(cpus=8, gpus=2)
        house.controller.create_compute("pool", ClusterSpec(max_nodes=3, cpus_per_node=1))
        runs = [house.submit(compute="pool") for _ in range(3)]
        for run_id in runs:
            house.start_ranks(run_id)
        assert [n["gpus"] for n in house.controller.nodes("pool")] == [[0], [1], [0]]
        assert "GPUs 0" in house.record.runs.get(runs[2])["warnings"][0]


class TestPreemptedNodes:
    def target(self, **fields):
        return Target("pool", ClusterSpec(vm_priority="lowpriority", **fields), 0.0, "now")

    def test_one_in_use_leaves_with_its_run_and_stays_away(self):
        target = self.target(max_nodes=1)
        target.ask(Request("a", 1))
        (node,) = target.take(target.next_wish(), 0.0, "now")
        target.preempt(node.id, 10.0, 1.0, "now")
        assert node.state == "leaving"
        target.give_back("a", 2.0, "now")
        assert (node.state, node.run_id, target.idle()) == ("preempted", None, [])
        target.ask(Request("a", 1))
        assert target.next_wish(2.0) is None
        assert "0 of 1 in use, 1 preempted; position 1" in target.reason(target.waiting[0], 1)
        assert target.next_change(2.0) == 12.0
        assert not target.bring_back(11.9, "now")
        assert target.bring_back(12.0, "now")
        assert target.next_wish(12.0).count == 1

    def test_an_idle_one_is_away_at_once_and_the_minimum_comes_back(self):
        target = self.target(max_nodes=2, min_nodes=1)
        (node,) = target.idle()
        target.preempt(node.id, 3.0, 0.0, "now")
        assert node.state == "preempted"
        assert not target.scale_down(10_000.0)
        assert target.bring_back(3.0, "now")
        assert len(target.idle()) == 1


class TestElastic:
    def waiting(self, up: int, **fields):
        target = Target("pool", ClusterSpec(max_nodes=4), 0.0, "now")
        target.ask(Request("holder", 4 - up))
        target.take(target.next_wish(), 0.0, "now")
        target.ask(Request("run", 4, min_count=2, flexible_at=60.0))
        return target

    def test_waits_for_all_nodes_until_its_time(self):
        target = self.waiting(up=3)
        assert target.next_wish(59.9) is None
        assert target.next_change(0.0) == 60.0
        wish = target.next_wish(60.0)
        assert (wish.count, len(target.take(wish, 60.0, "now"))) == (3, 3)

    def test_never_goes_below_its_minimum(self):
        assert self.waiting(up=1).next_wish(1000.0) is None

    def test_takes_all_where_all_are_there(self):
        target = self.waiting(up=3)
        target.give_back("holder", 70.0, "now")
        assert target.next_wish(70.0).count == 4

    @settings(max_examples=200, deadline=None)
    @given(st.data())
    def test_a_grant_is_between_minimum_and_all(self, data):
        size = data.draw(st.integers(1, 6))
        target = Target("pool", ClusterSpec(max_nodes=size), 0.0, "now")
        now, held = 0.0, {}
        for number in range(data.draw(st.integers(1, 25))):
            now += data.draw(st.sampled_from([0.0, 1.0, 7.0]))
            what = data.draw(st.sampled_from(["ask", "ask", "give", "preempt", "back"]))
            if what == "ask":
                count = data.draw(st.integers(1, size))
                least = data.draw(st.integers(0, count))
                target.ask(Request(f"r{number}", count, False, least, now + 5.0 if least else None))
            elif what == "give" and held:
                run_id = data.draw(st.sampled_from(sorted(held)))
                del held[run_id]
                target.give_back(run_id, now, "now")
            elif what == "preempt" and target.nodes:
                target.preempt(data.draw(st.sampled_from(sorted(target.nodes))), 4.0, now, "now")
            elif what == "back":
                target.bring_back(now, "now")
            while (wish := target.next_wish(now)) is not None:
                nodes = target.take(wish, now, "now")
                request = wish.request
                assert len(nodes) == wish.count <= request.count
                assert wish.count == request.count or (request.min_count <= wish.count and now >= request.flexible_at)
                assert all(n.state == "running" for n in nodes)
                held[request.run_id] = wish.count
            assert len(target.nodes) <= size
            assert sum(held.values()) == sum(1 for n in target.nodes.values() if n.run_id)
