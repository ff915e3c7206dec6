"""The lifecycle, one step at a time and then any steps in any order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.engine import actions as act
from rookery.engine import observations as obs
from rookery.engine.attempts import NodeNote, stamp_attempts
from rookery.engine.outcome import Grant, Outcome
from rookery.engine.run_state import NodePhase, RunState, load_state, store_state
from rookery.engine.state import MAX_FINISHERS, step
from rookery.environments import BuiltEnvironment
from rookery.spec.cause import CauseKind
from rookery.spec.status import RunStatus

BUILT = BuiltEnvironment(python="/usr/bin/python3")
COMPLETED = Outcome("completed")
FAILED = Outcome("failed", {"kind": "UserError", "summary": "it raised"})
LOST = Outcome("lost")
PREEMPTED = Outcome("lost", {"kind": CauseKind.PREEMPTED, "summary": "Node 'n0' was preempted."})


def play(state: RunState, *seen: obs.Observation) -> tuple[RunState, list[act.Action]]:
    done: list[act.Action] = []
    for one in seen:
        state, todo = step(state, one)
        done += todo
    return state, done


def granted(count: int = 1) -> obs.NodesGranted:
    return obs.NodesGranted(tuple(Grant(f"n{i}") for i in range(count)))


def running(**fields: object) -> RunState:
    """A script run whose ranks run on every node."""
    state = RunState(compute="local", **fields)  # type: ignore[arg-type]
    state, _ = play(state, obs.Submitted(), obs.EnvironmentReady(BUILT), granted(state.gang))
    return play(state, *(obs.RanksRunning(state.attempt, i) for i in range(state.gang)))[0]


class TestTheUsualWay:
    def test_passes_through_every_status(self):
        state, seen = RunState(compute="local"), []
        for one in (
            obs.Submitted(),
            obs.EnvironmentBuilding("builds"),
            obs.EnvironmentReady(BUILT),
            obs.Waiting("waits for x"),
            obs.Scaling("scales"),
            granted(),
            obs.AgentsPlaced(1),
            obs.AgentHello(1, 0),
            obs.RanksRunning(1, 0),
            obs.RanksEnded(1, 0, COMPLETED),
            obs.Shipped(1, 0),
        ):
            state, _ = step(state, one)
            seen.append(state.status.value)
            assert state.reason or state.status in (RunStatus.RUNNING, RunStatus.COMPLETED)
        assert seen == [
            "Starting",
            "Preparing",
            "Queued",
            "Queued",
            "Provisioning",
            "Provisioning",
            "Provisioning",
            "Provisioning",
            "Running",
            "Finalizing",
            "Completed",
        ]

    def test_gives_nodes_back_before_shipping(self):
        state, todo = step(running(), obs.RanksEnded(1, 0, COMPLETED))
        assert todo == (act.ReleaseNodes(),)
        assert not state.holding

    def test_a_failed_environment_ends_it(self):
        cause = {"kind": CauseKind.ENVIRONMENT, "summary": "no such interpreter"}
        state, todo = play(RunState(), obs.Submitted(), obs.EnvironmentFailed(cause))
        assert (state.status, state.cause) == (RunStatus.FAILED, cause)
        assert todo[-1] == act.End()

    def test_an_environment_that_is_gone_is_prepared_again(self):
        state, _ = play(RunState(compute="local"), obs.Submitted(), obs.EnvironmentReady(BUILT))
        state, todo = step(state, obs.EnvironmentGone())
        assert (state.status, state.built, todo) == (
            RunStatus.STARTING,
            None,
            (act.LeaveQueue(), act.PrepareEnvironment()),
        )
        assert step(running(), obs.EnvironmentGone()) == (running(), ())  # nothing is taken from ranks that run

    def test_survives_storing(self):
        state = running(gang=2, lost_budget=3)
        assert load_state(store_state(state)) == state


class TestCancel:
    @pytest.mark.parametrize("before", [[], [obs.Submitted()], [obs.Submitted(), obs.EnvironmentReady(BUILT)]])
    def test_ends_at_once_before_agents_are_placed(self, before):
        state, _ = play(RunState(), *before)
        state, todo = step(state, obs.CancelRequested())
        assert state.status is RunStatus.CANCELED
        assert todo == (act.LeaveQueue(), act.End())

    def test_tells_agents_and_waits_for_them(self):
        state, todo = step(running(), obs.CancelRequested())
        assert state.status is RunStatus.CANCEL_REQUESTED
        assert todo == (act.SendCancel(1),)
        state, _ = play(state, obs.RanksEnded(1, 0, Outcome("canceled")), obs.Shipped(1, 0))
        assert state.status is RunStatus.CANCELED

    def test_kills_an_agent_that_does_not_stop(self):
        state, _ = step(running(), obs.CancelRequested())
        assert step(state, obs.CancelOverdue())[1] == (act.KillAgent(1, 0),)

    def test_is_canceled_even_when_the_agent_is_lost_on_the_way(self):
        state, _ = play(running(lost_budget=5), obs.CancelRequested(), obs.AgentLost(1, 0, "killed"), obs.Shipped(1, 0))
        assert state.status is RunStatus.CANCELED

    def test_after_the_ranks_have_ended_the_result_counts(self):
        state, _ = play(running(), obs.RanksEnded(1, 0, COMPLETED), obs.CancelRequested(), obs.Shipped(1, 0))
        assert state.status is RunStatus.COMPLETED

    def test_after_the_ranks_have_failed_there_is_no_other_attempt(self):
        state, _ = play(running(user_budget=1), obs.RanksEnded(1, 0, FAILED), obs.CancelRequested(), obs.Shipped(1, 0))
        assert (state.status, state.attempt) == (RunStatus.CANCELED, 1)

    def test_nodes_that_come_too_late_go_straight_back(self):
        state, _ = play(RunState(), obs.Submitted(), obs.EnvironmentReady(BUILT), obs.CancelRequested())
        assert step(state, granted()) == (state, (act.ReleaseNodes(),))


class TestRetries:
    def test_budgets_are_separate(self):
        state = running(lost_budget=0, user_budget=1)
        state, todo = play(state, obs.RanksEnded(1, 0, FAILED), obs.Shipped(1, 0))
        assert (state.status, state.attempt, state.user_budget, state.lost_budget) == (
            RunStatus.QUEUED,
            2,
            0,
            0,
        )
        assert todo[-1] == act.Enqueue()
        state, _ = play(
            state,
            granted(),
            obs.AgentLost(2, 0, "The agent of node 0 was killed by SIGKILL."),
            obs.Shipped(2, 0),
        )
        assert state.status is RunStatus.FAILED
        assert state.cause is not None
        assert state.cause["kind"] == CauseKind.LOST_NODE
        assert state.cause["attempt"] == 2

    def test_a_time_limit_is_not_tried_again(self):
        late = Outcome("failed", {"kind": CauseKind.TIME_LIMIT, "summary": "too long"})
        state, _ = play(running(user_budget=3), obs.RanksEnded(1, 0, late), obs.Shipped(1, 0))
        assert state.status is RunStatus.FAILED

    def test_news_of_an_earlier_attempt_change_nothing(self):
        state, _ = play(running(user_budget=1), obs.RanksEnded(1, 0, FAILED), obs.Shipped(1, 0), granted())
        for old in (
            obs.AgentLost(1, 0, "late"),
            obs.RanksEnded(1, 0, COMPLETED),
            obs.Shipped(1, 0),
            obs.RanksRunning(1, 0),
        ):
            assert step(state, old) == (state, ())


class TestLostAgents:
    def test_ranks_are_swept_nodes_released_and_the_rest_shipped(self):
        state, todo = step(running(), obs.AgentLost(1, 0, "killed", signal="SIGKILL"))
        assert todo == (act.SweepLeftovers(1, 0), act.ReleaseNodes(), act.StartFinisher(1, 0))
        assert state.status is RunStatus.FINALIZING

    def test_an_outcome_on_disk_is_used(self):
        state, _ = play(running(), obs.AgentLost(1, 0, "killed", COMPLETED), obs.Shipped(1, 0))
        assert state.status is RunStatus.COMPLETED

    def test_what_the_finisher_finds_counts_more_than_what_we_guess(self):
        state, _ = play(running(), obs.AgentLost(1, 0, "killed"), obs.RanksEnded(1, 0, FAILED), obs.Shipped(1, 0))
        assert state.cause is not None
        assert state.cause["summary"] == "it raised"

    def test_a_finisher_is_restarted_a_few_times_only(self):
        state, todo = play(
            running(), obs.RanksEnded(1, 0, COMPLETED), *[obs.AgentLost(1, 0, "killed")] * (MAX_FINISHERS + 1)
        )
        assert todo.count(act.StartFinisher(1, 0)) == MAX_FINISHERS
        assert state.status is RunStatus.COMPLETED
        assert any(isinstance(a, act.Warn) for a in todo)

    def test_a_gang_stops_when_one_node_is_lost_and_names_that_node(self):
        state, todo = step(running(gang=2), obs.AgentLost(1, 1, "killed"))
        assert act.SendCancel(1) in todo
        assert act.ReleaseNodes() not in todo
        state, todo2 = play(state, obs.RanksEnded(1, 0, Outcome("canceled")), obs.Shipped(1, 0), obs.Shipped(1, 1))
        assert act.ReleaseNodes() in todo2
        assert state.status is RunStatus.FAILED
        assert state.cause is not None
        assert state.cause["node"] == 1

    def test_a_gang_that_cannot_be_placed_fails_with_words(self):
        state, _ = play(RunState(), obs.Submitted(), obs.EnvironmentReady(BUILT), granted())
        state, todo = step(state, obs.PlacementFailed(1, "no processes left"))
        assert state.status is RunStatus.FAILED
        assert todo.count(act.ReleaseNodes()) == 1


class TestPreemption:
    def test_every_agent_is_told_and_the_reason_says_so(self):
        state, todo = step(running(gang=2), obs.NodePreempted(1, 1, 5.0))
        assert (state.status, todo) == (RunStatus.RUNNING, (act.SendPreempt(1),))
        assert state.reason == "node 'n1' is being preempted: its processes have 5 s to save their work"
        assert step(state, obs.NodePreempted(1, 0, 1.0)) == (state, ())  # once is enough

    def test_counts_as_a_lost_node_and_goes_back_to_the_queue(self):
        state, todo = play(
            running(lost_budget=1, user_budget=1),
            obs.NodePreempted(1, 0, 5.0),
            obs.RanksEnded(1, 0, PREEMPTED),
            obs.Shipped(1, 0),
        )
        assert (state.status, state.attempt, state.lost_budget, state.user_budget) == (RunStatus.QUEUED, 2, 0, 1)
        assert state.preempted is None
        assert todo[-1] == act.Enqueue()
        assert state.attempts[0].result == "lost"
        assert state.attempts[0].cause is not None
        assert state.attempts[0].cause["kind"] == CauseKind.PREEMPTED

    def test_is_the_cause_even_when_the_other_nodes_fell_first(self):
        state, todo = play(
            running(gang=2),
            obs.NodePreempted(1, 1, 5.0),
            obs.RanksEnded(1, 0, FAILED),
            obs.RanksEnded(1, 1, PREEMPTED),
            obs.Shipped(1, 0),
            obs.Shipped(1, 1),
        )
        assert act.SendCancel(1) not in todo  # all were told to stop already, with the longer grace
        assert state.status is RunStatus.FAILED
        assert state.cause is not None
        assert state.cause["kind"] == CauseKind.PREEMPTED

    def test_an_agent_that_dies_on_the_way_was_preempted_too(self):
        state, _ = play(
            running(), obs.NodePreempted(1, 0, 5.0), obs.AgentLost(1, 0, "killed", signal="SIGKILL"), obs.Shipped(1, 0)
        )
        assert state.cause is not None
        assert (state.cause["kind"], state.cause["summary"]) == (CauseKind.PREEMPTED, "Node 'n0' was preempted.")

    def test_a_run_that_completes_within_the_grace_has_completed(self):
        state, _ = play(running(), obs.NodePreempted(1, 0, 5.0), obs.RanksEnded(1, 0, COMPLETED), obs.Shipped(1, 0))
        assert state.status is RunStatus.COMPLETED

    def test_cancel_wins(self):
        state, todo = play(running(lost_budget=3), obs.NodePreempted(1, 0, 5.0), obs.CancelRequested())
        assert todo[-1] == act.SendCancel(1)
        state, _ = play(state, obs.RanksEnded(1, 0, PREEMPTED), obs.Shipped(1, 0))
        assert (state.status, state.attempt) == (RunStatus.CANCELED, 1)

    def test_an_agent_that_does_not_stop_is_killed(self):
        state, _ = step(running(), obs.NodePreempted(1, 0, 5.0))
        assert step(state, obs.CancelOverdue())[1] == (act.KillAgent(1, 0),)

    def test_is_taken_up_again_by_the_next_keeper(self):
        state, _ = step(running(), obs.NodePreempted(1, 0, 5.0))
        assert step(state, obs.Recovered())[1] == (act.AdoptAgents(1, launch=False), act.SendPreempt(1))


class TestAttempts:
    def test_are_noted_one_by_one_with_what_their_ranks_did(self):
        ended = Outcome("failed", FAILED.cause, ({"rank": 0, "exit_code": 3, "signal": None},))
        state, _ = play(running(user_budget=1), obs.RanksEnded(1, 0, ended), obs.Shipped(1, 0), granted())
        first, second = state.attempts
        assert (first.attempt, first.result, first.cause and first.cause["summary"]) == (1, "failed", "it raised")
        assert first.nodes == (NodeNote("n0", "failed", ended.ranks),)
        assert (second.attempt, second.result, second.nodes) == (2, None, (NodeNote("n0"),))
        state, _ = play(state, obs.RanksEnded(2, 0, COMPLETED), obs.Shipped(2, 0))
        assert [a.result for a in state.attempts] == ["failed", "completed"]

    def test_get_their_times_from_outside(self):
        state = stamp_attempts(running(), "t1")
        assert (state.attempts[0].started_utc, state.attempts[0].ended_utc) == ("t1", None)
        state = stamp_attempts(step(state, obs.RanksEnded(1, 0, COMPLETED))[0], "t2")
        state = stamp_attempts(step(state, obs.Shipped(1, 0))[0], "t3")
        assert (state.attempts[0].started_utc, state.attempts[0].ended_utc) == ("t1", "t2")

    def test_a_run_may_shrink_only_after_a_loss(self):
        state = running(gang=3, min_gang=2, lost_budget=2, user_budget=1)
        assert not state.may_shrink
        failed, _ = play(
            state, *(obs.RanksEnded(1, i, FAILED) for i in range(3)), *(obs.Shipped(1, i) for i in range(3))
        )
        assert not failed.may_shrink
        lost, _ = play(state, *(obs.RanksEnded(1, i, LOST) for i in range(3)), *(obs.Shipped(1, i) for i in range(3)))
        assert lost.may_shrink
        fewer, _ = step(lost, granted(2))
        assert [n.phase for n in fewer.nodes] == [NodePhase.PLACED] * 2
        again, _ = play(
            fewer, *(obs.RanksEnded(2, i, COMPLETED) for i in range(2)), obs.Shipped(2, 0), obs.Shipped(2, 1)
        )
        assert again.status is RunStatus.COMPLETED


class TestBusyBeforeItsRanks:
    def test_the_reason_tells_of_it_until_they_run(self):
        state, _ = play(RunState(compute="local"), obs.Submitted(), obs.EnvironmentReady(BUILT), granted())
        state, _ = step(state, obs.NodeBusy(1, 0, "fetching input 'a': 3.0 of 10.0 GB"))
        assert (state.status, state.reason) == (RunStatus.PROVISIONING, "fetching input 'a': 3.0 of 10.0 GB")
        state, _ = step(state, obs.RanksRunning(1, 0))
        assert state.status is RunStatus.RUNNING
        assert step(state, obs.NodeBusy(1, 0, "late")) == (state, ())

    def test_names_the_node_of_several(self):
        state, _ = play(RunState(compute="local", gang=2), obs.Submitted(), obs.EnvironmentReady(BUILT), granted(2))
        assert step(state, obs.NodeBusy(1, 1, "fetching"))[0].reason == "node 1: fetching"

    def test_does_not_hide_a_request_to_stop(self):
        state, _ = play(RunState(compute="local"), obs.Submitted(), obs.EnvironmentReady(BUILT), granted())
        state, _ = step(state, obs.CancelRequested())
        assert step(state, obs.NodeBusy(1, 0, "fetching")) == (state, ())


class TestSilence:
    def test_shows_not_responding_until_heard_again(self):
        state, _ = step(running(), obs.Silence(1, 0, "not heard of"))
        assert (state.status, state.reason) == (RunStatus.NOT_RESPONDING, "not heard of")
        assert step(state, obs.HeardAgain(1, 0))[0].status is RunStatus.RUNNING

    def test_does_not_hide_a_request_to_stop(self):
        state, _ = play(running(), obs.CancelRequested(), obs.Silence(1, 0, "x"), obs.HeardAgain(1, 0))
        assert state.status is RunStatus.CANCEL_REQUESTED


class TestRunsWithoutRanks:
    def test_an_interactive_run_runs_at_once_and_gets_another_watcher(self):
        state, todo = step(RunState(kind="interactive"), obs.Submitted())
        assert (state.status, todo) == (RunStatus.RUNNING, (act.PlaceAgents(1),))
        state, todo = step(state, obs.AgentLost(1, 0, "The agent of node 0 was killed."))
        assert state.status is RunStatus.RUNNING
        assert act.PlaceAgents(1) in todo
        assert not any(isinstance(a, act.SweepLeftovers) for a in todo)

    def test_what_its_owner_says_counts_once_all_is_shipped(self):
        state, _ = step(RunState(kind="interactive"), obs.Submitted())
        state, todo = step(state, obs.StatusReported(RunStatus.FAILED, {"kind": "UserError", "summary": "said so"}))
        assert (state.status, todo) == (RunStatus.FINALIZING, (act.SendCancel(1),))
        state, _ = play(state, obs.RanksEnded(1, 0, Outcome("canceled")), obs.Shipped(1, 0))
        assert (state.status, state.cause and state.cause["summary"]) == (RunStatus.FAILED, "said so")

    def test_a_child_is_what_it_says(self):
        state, _ = play(RunState(kind="child"), obs.Submitted(), obs.StatusReported(RunStatus.COMPLETED))
        assert state.status is RunStatus.COMPLETED


class TestRecovery:
    @pytest.mark.parametrize(
        ("before", "action"),
        [
            ([], act.PrepareEnvironment()),
            ([obs.Submitted()], act.PrepareEnvironment()),
            ([obs.Submitted(), obs.EnvironmentReady(BUILT)], act.Enqueue(again=True)),
            ([obs.Submitted(), obs.EnvironmentReady(BUILT), granted()], act.AdoptAgents(1, launch=True)),
            (
                [obs.Submitted(), obs.EnvironmentReady(BUILT), granted(), obs.CancelRequested()],
                act.AdoptAgents(1, launch=False),
            ),
        ],
    )
    def test_takes_up_what_was_under_way(self, before, action):
        state, _ = play(RunState(), *before)
        assert action in step(state, obs.Recovered())[1]


def observations(nodes: int) -> st.SearchStrategy[obs.Observation]:
    attempt, node = st.integers(1, 4), st.integers(0, nodes)
    outcome = st.sampled_from([COMPLETED, FAILED, LOST, Outcome("canceled")])
    plain = st.sampled_from(
        [
            obs.Submitted(),
            obs.Recovered(),
            obs.EnvironmentBuilding("b"),
            obs.EnvironmentReady(BUILT),
            obs.EnvironmentFailed({"summary": "e"}),
            obs.EnvironmentGone(),
            obs.Waiting("w"),
            obs.Scaling("s"),
            granted(nodes),
            granted(1),  # after a loss fewer may be given
            obs.CancelRequested(),
            obs.CancelOverdue(),
            obs.StatusReported(RunStatus.COMPLETED),
            obs.StatusReported(RunStatus.FAILED),
            obs.StatusReported(RunStatus.RUNNING),
        ]
    )
    return st.one_of(
        plain,
        st.builds(obs.AgentsPlaced, attempt),
        st.builds(obs.PlacementFailed, attempt, st.just("p")),
        st.builds(obs.AgentHello, attempt, node),
        st.builds(obs.NodeBusy, attempt, node, st.just("busy")),
        st.builds(obs.RanksRunning, attempt, node),
        st.builds(obs.RendezvousOpened, attempt, node, st.just("127.0.0.1"), st.just(6105)),
        st.builds(obs.Silence, attempt, node, st.just("silent")),
        st.builds(obs.HeardAgain, attempt, node),
        st.builds(obs.RanksEnded, attempt, node, outcome),
        st.builds(obs.Shipped, attempt, node),
        st.builds(obs.NodePreempted, attempt, node, st.sampled_from([0.0, 5.0])),
        st.builds(obs.AgentLost, attempt, node, st.just("lost"), st.none() | outcome),
    )


@st.composite
def lives(draw: st.DrawFn) -> tuple[RunState, list[obs.Observation]]:
    nodes = draw(st.integers(1, 3))
    kind = draw(st.sampled_from(["script", "script", "script", "interactive", "child"]))
    state = RunState(
        kind=kind,
        gang=nodes,
        min_gang=draw(st.integers(0, nodes)),
        compute="c",
        lost_budget=draw(st.integers(0, 2)),
        user_budget=draw(st.integers(0, 2)),
    )
    start = draw(st.sampled_from([0, 1, 2, 3, 3, 3]))
    opening = [obs.Submitted(), obs.EnvironmentReady(BUILT), granted(nodes)][:start]
    return state, opening + draw(st.lists(observations(nodes), max_size=60))


def ended(state: RunState, todo: list[act.Action]) -> RunState:
    """Let everything that is under way come to its end, as the world in the end does."""
    for _ in range(200):
        if state.status.is_terminal:
            return state
        seen: obs.Observation
        if not state.nodes:
            seen = {
                RunStatus.NOT_STARTED: obs.Submitted(),
                RunStatus.STARTING: obs.EnvironmentReady(BUILT),
                RunStatus.PREPARING: obs.EnvironmentReady(BUILT),
                RunStatus.RUNNING: obs.StatusReported(RunStatus.COMPLETED),
            }.get(state.status, granted(state.gang))
        else:
            node = next(i for i, n in enumerate(state.nodes) if n.phase != NodePhase.SHIPPED)
            busy = state.nodes[node].phase in NodePhase.BUSY
            seen = obs.RanksEnded(state.attempt, node, COMPLETED) if busy else obs.Shipped(state.attempt, node)
        state, more = step(state, seen)
        todo += more
    raise AssertionError(f"never ended: {state}")


class TestAnySequence:
    @settings(max_examples=400, deadline=None)
    @given(lives())
    def test_keeps_every_promise(self, life):
        state, sequence = life
        kind, taken, released, asked_in_time = state.kind, 0, 0, False
        for seen in sequence:
            before = state
            state, todo = step(state, seen)
            if before.status.is_terminal:
                assert state == before
                assert set(todo) <= {act.ReleaseNodes()}
            if asked_in_time:
                assert not any(isinstance(a, act.PlaceAgents | act.Enqueue | act.PrepareEnvironment) for a in todo)
                assert not any(isinstance(a, act.AdoptAgents) and a.launch for a in todo)
                assert state.status is not RunStatus.RUNNING
            if isinstance(seen, obs.CancelRequested) and not before.status.is_terminal and not before.all_ended:
                asked_in_time = True
            if state.status is RunStatus.QUEUED or state.status is RunStatus.PROVISIONING:
                assert state.reason
            taken += state.holding and not before.holding
            refused = isinstance(seen, obs.NodesGranted) and not before.holding and not state.holding
            released += todo.count(act.ReleaseNodes()) - refused
            assert taken - released == int(state.holding)
            assert state.attempt <= 1 + life[0].lost_budget + life[0].user_budget
            numbers = [a.attempt for a in state.attempts]
            assert numbers == sorted(set(numbers))
            assert set(numbers) <= set(range(1, state.attempt + 1))
            assert all(a.result for a in state.attempts if a.attempt < state.attempt or state.status.is_terminal)
            lost = sum(a.result == "lost" for a in state.attempts if a.attempt < state.attempt)
            failed = sum(a.result == "failed" for a in state.attempts if a.attempt < state.attempt)
            assert (lost, failed) == (
                life[0].lost_budget - state.lost_budget,
                life[0].user_budget - state.user_budget,
            )
            assert act.SendPreempt(state.attempt) not in todo or (state.preempted is not None and not state.stop)
            assert load_state(store_state(state)) == state
        more: list[act.Action] = []
        state = ended(state, more)
        if asked_in_time:
            assert state.status is RunStatus.CANCELED
        if kind == "script":
            assert taken + sum(isinstance(a, act.PlaceAgents) for a in more) == released + more.count(
                act.ReleaseNodes()
            )
        assert not state.holding
