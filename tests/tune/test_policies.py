"""Early termination against examples worked by hand, and properties that hold for every history."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.spec.tune import TunePlan
from rookery.tune.policies import best_of, due_intervals, judge

NUMBERS = st.floats(-1e6, 1e6)
HISTORIES = st.dictionaries(
    st.sampled_from("abcdefgh"), st.lists(NUMBERS, min_size=1, max_size=8), min_size=1
)  # fmt: skip


def plan(policy, goal="maximize", **options):
    return TunePlan("accuracy", goal, {"lr": ["uniform", [0, 1]]}, 100, policy=policy, policy_options=options)


def stopped(chosen, histories, interval):
    """Who is stopped at an interval, of those that have come so far."""
    return {
        run for run, values in histories.items() if len(values) >= interval and judge(chosen, histories, run, interval)
    }


class TestWhen:
    def test_every_multiple_of_the_interval_from_the_delay_on(self):
        assert due_intervals(plan("bandit", slack_factor=0.1, evaluation_interval=2, delay_evaluation=5), 0, 11) == [
            6,
            8,
            10,
        ]
        assert due_intervals(plan("median", evaluation_interval=1, delay_evaluation=5), 0, 7) == [5, 6, 7]
        assert due_intervals(plan("median"), 0, 3) == [1, 2, 3]
        assert due_intervals(plan("median", evaluation_interval=5, delay_evaluation=5), 0, 4) == []

    def test_once_each(self):
        assert due_intervals(plan("truncation", truncation_percentage=10), 4, 6) == [5, 6]

    def test_no_policy_never(self):
        assert due_intervals(plan("none"), 0, 100) == []

    def test_asha_looks_at_rungs(self):
        assert due_intervals(plan("asha", reduction_factor=3, min_intervals=2), 0, 20) == [2, 6, 18]
        assert due_intervals(plan("asha", reduction_factor=3, min_intervals=2), 6, 20) == [18]


class TestBandit:
    def test_the_documented_example_of_a_slack_factor(self):
        """Best 0.8 at interval 10, slack factor 0.2: below 0.8 / 1.2 = 0.667 is stopped."""
        histories = {"best": [0.1] * 9 + [0.8], "near": [0.67] * 10, "far": [0.66] * 10}
        assert stopped(plan("bandit", slack_factor=0.2), histories, 10) == {"far"}

    def test_the_documented_example_of_a_slack_amount(self):
        histories = {"best": [0.8], "near": [0.61], "far": [0.59]}
        assert stopped(plan("bandit", slack_amount=0.2), histories, 1) == {"far"}

    def test_smaller_is_better(self):
        histories = {"best": [1.0], "near": [1.1], "far": [1.11]}
        assert stopped(plan("bandit", "minimize", slack_factor=0.1), histories, 1) == {"far"}
        assert stopped(plan("bandit", "minimize", slack_amount=0.105), histories, 1) == {"far"}

    def test_a_run_is_judged_by_its_best_so_far(self):
        histories = {"best": [0.8, 0.8], "fell": [0.79, 0.1]}
        assert stopped(plan("bandit", slack_factor=0.1), histories, 2) == set()

    def test_what_comes_later_does_not_count(self):
        histories = {"late": [0.5, 0.9], "slow": [0.5]}
        assert stopped(plan("bandit", slack_factor=0.1), histories, 1) == set()

    def test_slack_makes_room_for_negative_metrics_too(self):
        assert stopped(plan("bandit", slack_factor=0.1), {"a": [-1.0], "b": [-1.05], "c": [-1.2]}, 1) == {"c"}
        assert stopped(plan("bandit", "minimize", slack_factor=0.1), {"a": [-1.0], "b": [-0.95], "c": [-0.8]}, 1) == {
            "c"
        }

    def test_not_a_number_is_the_worst(self):
        assert stopped(plan("bandit", slack_factor=9), {"a": [0.1], "b": [math.nan]}, 1) == {"b"}
        assert stopped(plan("bandit", slack_factor=9), {"b": [math.nan]}, 1) == set()

    def test_says_why(self):
        words = judge(plan("bandit", slack_factor=0.1), {"a": [0.8], "b": [0.5]}, "b", 1)
        assert words == "Bandit at interval 1: best accuracy so far 0.5 < 0.727273 = 0.8 / (1 + 0.1)"


class TestMedianStopping:
    def test_worked_by_hand(self):
        """Averages over intervals 1 to 3: 0.2, 0.4, 0.6; the median is 0.4. Only 'a' has a best below it."""
        histories = {"a": [0.1, 0.2, 0.3], "b": [0.1, 0.4, 0.7], "c": [0.5, 0.6, 0.7]}
        assert stopped(plan("median"), histories, 3) == {"a"}

    def test_only_runs_that_have_come_so_far_count(self):
        histories = {"a": [0.1, 0.1], "b": [0.9], "c": [0.2, 0.2], "d": [0.3, 0.3]}
        # At interval 2: averages 0.1, 0.2, 0.3, median 0.2.
        assert stopped(plan("median"), histories, 2) == {"a"}

    def test_alone_nobody_is_stopped(self):
        assert stopped(plan("median"), {"a": [0.1]}, 1) == set()

    def test_smaller_is_better(self):
        assert stopped(plan("median", "minimize"), {"a": [1.0], "b": [2.0], "c": [3.0]}, 1) == {"c"}


class TestTruncation:
    def test_the_worst_share_at_the_interval(self):
        histories = {str(i): [i / 10] for i in range(10)}
        assert stopped(plan("truncation", truncation_percentage=20), histories, 1) == {"0", "1"}
        assert stopped(plan("truncation", "minimize", truncation_percentage=20), histories, 1) == {"8", "9"}

    def test_goes_by_the_value_there_not_by_the_best(self):
        histories = {"fell": [0.9, 0.1], "rose": [0.1, 0.9]}
        assert stopped(plan("truncation", truncation_percentage=50), histories, 2) == {"fell"}

    def test_a_share_of_less_than_one_is_none(self):
        assert stopped(plan("truncation", truncation_percentage=20), {str(i): [i] for i in range(4)}, 1) == set()

    def test_of_equal_ones_the_youngest_goes(self):
        assert stopped(plan("truncation", truncation_percentage=50), {"a": [1.0], "b": [1.0]}, 1) == {"b"}


class TestAsha:
    def test_only_the_best_third_goes_on(self):
        histories = {str(i): [0.0, i / 10] for i in range(9)}
        assert stopped(plan("asha", reduction_factor=3), histories, 2) == {"0", "1", "2", "3", "4", "5"}

    def test_the_first_to_come_goes_on(self):
        assert stopped(plan("asha", reduction_factor=3), {"a": [0.1], "b": [0.2]}, 1) == set()


class TestProperties:
    @given(HISTORIES, st.sampled_from(["maximize", "minimize"]), st.integers(1, 8))
    def test_the_best_run_is_never_stopped(self, histories, goal, interval):
        there = {run: values for run, values in histories.items() if len(values) >= interval}
        if not there:
            return
        leader = best_of(goal, [best_of(goal, values[:interval]) for values in histories.values()])
        best = [run for run, values in there.items() if best_of(goal, values[:interval]) == leader]
        for chosen in (
            plan("bandit", goal, slack_factor=0.2),
            plan("bandit", goal, slack_amount=1),
            plan("median", goal),
        ):
            assert not stopped(chosen, histories, interval) & set(best)

    @given(HISTORIES, st.integers(1, 99), st.sampled_from(["maximize", "minimize"]))
    def test_truncation_never_stops_more_than_its_share(self, histories, percentage, goal):
        gone = stopped(plan("truncation", goal, truncation_percentage=percentage), histories, 1)
        assert len(gone) == len(histories) * percentage // 100

    @given(HISTORIES, st.floats(0, 5), st.floats(0, 5), st.integers(1, 8))
    def test_more_slack_stops_nobody_else(self, histories, one, other, interval):
        less, more = sorted([one, other])
        strict = stopped(plan("bandit", slack_factor=less), histories, interval)
        assert stopped(plan("bandit", slack_factor=more), histories, interval) <= strict

    @given(HISTORIES, st.integers(1, 8))
    def test_turned_upside_down_it_is_the_same(self, histories, interval):
        upside_down = {run: [-value for value in values] for run, values in histories.items()}
        for policy, options in (
            ("bandit", {"slack_factor": 0.2}),
            ("median", {}),
            ("truncation", {"truncation_percentage": 40}),
            ("asha", {}),
        ):
            up = stopped(plan(policy, **options), histories, interval)
            assert up == stopped(plan(policy, "minimize", **options), upside_down, interval)

    @pytest.mark.parametrize("policy", ["bandit", "median", "truncation", "asha"])
    def test_nothing_but_nothing_is_judged(self, policy):
        options = {"bandit": {"slack_factor": 1.0}, "truncation": {"truncation_percentage": 50}}.get(policy, {})
        assert judge(plan(policy, **options), {"a": [math.nan]}, "a", 1) is None
