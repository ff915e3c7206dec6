"""The course of a tuning, one step at a time, and played in every order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as s

from rookery.spec.status import RunStatus
from rookery.spec.tune import TunePlan
from rookery.tune import state as st
from rookery.tune.state import Phase, TuneState, step, todo

COMPLETED, FAILED, CANCELED = RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELED


def plan(total=5, concurrent=2, **fields):
    return TunePlan("accuracy", "maximize", {"lr": ["uniform", [0, 1]]}, total, concurrent, **fields)


def play(chosen, *seen, state=None):
    state = state or TuneState()
    for each in seen:
        state = step(chosen, state, each)
    return state


def proposed(*values):
    return st.Proposed(tuple({"lr": value} for value in values))


class TestCourse:
    def test_begins_with_as_many_as_may_run_together(self):
        assert todo(plan(5, 2), TuneState()) == [st.Propose(2)]

    def test_what_was_proposed_is_made(self):
        assert todo(plan(5, 2), play(plan(5, 2), proposed(0.1, 0.2))) == [st.Create(0), st.Create(1)]

    def test_one_that_ends_is_followed_by_the_next(self):
        chosen = plan(5, 2)
        state = play(chosen, proposed(0.1, 0.2), st.Created(0), st.Created(1), st.Ended(0, COMPLETED))
        assert todo(chosen, state) == [st.Propose(1)]

    def test_ends_when_all_have(self):
        chosen = plan(2, 2)
        state = play(chosen, proposed(0.1, 0.2), st.Created(0), st.Created(1), st.Ended(0, COMPLETED))
        assert todo(chosen, state) == []
        assert todo(chosen, step(chosen, state, st.Ended(1, CANCELED))) == [st.Finish(COMPLETED, "")]

    def test_a_grid_that_is_exhausted_ends_early(self):
        chosen = plan(5, 2)
        state = play(chosen, st.Proposed(({"lr": 0.1},), is_exhausted=True), st.Created(0), st.Ended(0, COMPLETED))
        assert todo(chosen, state) == [st.Finish(COMPLETED, "")]

    def test_more_than_asked_for_is_not_taken(self):
        assert len(play(plan(3, 2), proposed(1, 2, 3)).trials) == 2


class TestPolicy:
    def test_a_run_that_is_judged_badly_is_stopped_once(self):
        chosen = plan(4, 4, policy="bandit", policy_options={"slack_factor": 0.1})
        state = play(
            chosen, proposed(1, 2), st.Created(0), st.Created(1), st.Reported(0, (0.9,)), st.Reported(1, (0.5,))
        )
        assert state.trials[1].stopped.startswith("Bandit at interval 1")
        assert st.Stop(1) in todo(chosen, state)
        again = step(chosen, state, st.Reported(1, (0.5, 0.99)))
        assert again.trials[1].stopped == state.trials[1].stopped

    def test_values_that_came_together_are_judged_one_by_one(self):
        chosen = plan(4, 4, policy="bandit", policy_options={"slack_factor": 0.1, "delay_evaluation": 2})
        state = play(chosen, proposed(1, 2), st.Created(0), st.Created(1), st.Reported(0, (0.9, 0.9, 0.9)))
        state = step(chosen, state, st.Reported(1, (0.1, 0.1, 0.95)))
        assert state.trials[1].judged == 2
        assert "interval 2" in state.trials[1].stopped

    def test_earlier_tunings_count(self):
        chosen = plan(4, 4, policy="bandit", policy_options={"slack_factor": 0.1})
        state = play(chosen, proposed(1), st.Created(0), state=TuneState(earlier={"HD_old_3": (0.9,)}))
        assert step(chosen, state, st.Reported(0, (0.5,))).trials[0].stopped


class TestEnding:
    def test_cancel_stops_what_runs_and_makes_no_more(self):
        chosen = plan(5, 3)
        state = play(chosen, proposed(1, 2), st.Created(0), st.CancelAsked())
        assert [t.phase for t in state.trials] == [Phase.ACTIVE, Phase.ENDED]
        assert todo(chosen, state) == [st.Stop(0)]
        state = play(chosen, proposed(3), st.Ended(0, CANCELED), state=state)
        assert todo(chosen, state) == [st.Finish(CANCELED, "It was canceled.")]

    def test_when_its_time_is_over_it_completes(self):
        chosen = plan(5, 1)
        state = play(chosen, proposed(1), st.Created(0), st.TimeOver("over"), st.Ended(0, CANCELED))
        assert todo(chosen, state) == [st.Finish(COMPLETED, "over")]

    def test_three_failures_and_nothing_else_are_enough(self):
        chosen = plan(100, 1)
        state = TuneState()
        for number in range(3):
            state = play(chosen, proposed(1), st.Created(number), st.Ended(number, FAILED), state=state)
        assert state.ending == FAILED.value
        assert isinstance(todo(chosen, state)[0], st.Finish)

    def test_failures_beside_results_are_part_of_the_search(self):
        chosen = plan(100, 4)
        state = play(chosen, proposed(1, 2, 3, 4), *(st.Created(n) for n in range(4)), st.Reported(3, (0.5,)))
        state = play(chosen, *(st.Ended(n, FAILED) for n in range(3)), state=state)
        assert not state.ending

    def test_all_of_few_failed(self):
        chosen = plan(1, 1)
        state = play(chosen, proposed(1), st.Created(0), st.Ended(0, FAILED))
        assert todo(chosen, state)[0].status is FAILED

    def test_a_child_that_can_never_run_ends_it(self):
        state = play(plan(5, 2), proposed(1, 2), st.Refused(0, "no such target"))
        assert state.ending == FAILED.value
        assert "no such target" in state.why

    def test_a_sampler_that_has_nothing_to_propose_ends_it(self):
        assert play(plan(), st.NoValues("no Optuna")).ending == FAILED.value


NUMBERS = s.integers(0, 6)
SEEN = s.one_of(
    s.builds(lambda n: proposed(*range(n)), s.integers(0, 3)),
    s.builds(st.Created, NUMBERS),
    s.builds(st.Refused, NUMBERS, s.just("no")),
    s.builds(st.Reported, NUMBERS, s.lists(s.floats(0, 1), max_size=5).map(tuple)),
    s.builds(st.Ended, NUMBERS, s.sampled_from([COMPLETED, FAILED, CANCELED])),
    s.just(st.CancelAsked()),
    s.just(st.TimeOver("over")),
)


class TestAnyOrder:
    @given(s.lists(SEEN, max_size=30), s.integers(1, 6), s.integers(1, 4))
    def test_what_always_holds(self, seen, total, concurrent):
        chosen = plan(total, concurrent, policy="truncation", policy_options={"truncation_percentage": 50})
        state, over = TuneState(), set()
        for each in seen:
            before, state = state, step(chosen, state, each)
            assert len(state.trials) <= total
            assert len(state.live()) <= concurrent
            assert [t.number for t in state.trials] == list(range(len(state.trials)))
            for old, new in zip(before.trials, state.trials):
                assert old.parameters == new.parameters
                assert old.phase != Phase.ENDED or old is new
                assert not old.stopped or old.stopped == new.stopped or old.phase == Phase.ACTIVE
            actions = todo(chosen, state)
            assert all(a.number not in over for a in actions if isinstance(a, (st.Create, st.Stop)))
            over |= {t.number for t in state.trials if t.phase == Phase.ENDED}
            assert not state.ending or not any(isinstance(a, (st.Propose, st.Create)) for a in actions)
            finishes = [a for a in actions if isinstance(a, st.Finish)]
            assert len(finishes) <= 1
            assert not finishes or not state.live()

    @given(s.data())
    def test_it_always_comes_to_an_end(self, data):
        """Whatever the order: doing what `todo` says ends the tuning."""
        chosen = plan(data.draw(s.integers(1, 8)), data.draw(s.integers(1, 4)))
        state = TuneState()
        for _ in range(200):
            actions = todo(chosen, state)
            if any(isinstance(a, st.Finish) for a in actions):
                return
            live = [t for t in state.live() if t.phase == Phase.ACTIVE]
            choices = [*actions, *live]
            chosen_one = data.draw(s.sampled_from(range(len(choices))))
            action = choices[chosen_one]
            if isinstance(action, st.Propose):
                state = step(chosen, state, proposed(*range(action.count)))
            elif isinstance(action, st.Create):
                state = step(chosen, state, st.Created(action.number))
            else:
                status = data.draw(s.sampled_from([COMPLETED, FAILED, CANCELED]))
                state = step(chosen, state, st.Ended(action.number, status))
        raise AssertionError("it never ended")
