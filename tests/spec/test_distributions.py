"""Distributions of hyperparameters: what is allowed, and which value lies where."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.errors import UserError
from rookery.spec.distributions import check_distribution, check_space, value_at

UNIT = st.floats(0, 1, exclude_max=True)


def at(u, name, *arguments):
    return value_at(check_distribution([name, list(arguments)]), u)


class TestValueAt:
    def test_choice_gives_each_option_the_same_share(self):
        options = ["a", "b", "c", "d"]
        assert [at(u / 8, "choice", options) for u in range(8)] == ["a", "a", "b", "b", "c", "c", "d", "d"]

    def test_worked_examples(self):
        assert at(0.5, "uniform", 1, 3) == 2
        assert at(0.999, "randint", 4) == 3
        assert at(0.31, "quniform", 0, 100, 16) == 32  # round(31 / 16) * 16
        assert at(0.5, "loguniform", math.log(0.001), math.log(0.1)) == pytest.approx(0.01)
        assert at(0.5, "qloguniform", math.log(1), math.log(100), 3) == 9  # round(10 / 3) * 3
        assert at(0.5, "normal", 7, 2) == pytest.approx(7)
        assert at(0.8413447, "normal", 0, 1) == pytest.approx(1, abs=1e-6)
        assert at(0.5, "qnormal", 7, 2, 5) == 5
        assert at(0.5, "lognormal", 0, 1) == pytest.approx(1)
        assert at(0.5, "qlognormal", math.log(10), 1, 3) == 9

    def test_multiples_of_a_whole_q_are_whole(self):
        assert isinstance(at(0.3, "quniform", 16, 128, 16), int)

    @given(UNIT, st.floats(-1e6, 1e6), st.floats(0.001, 1e6))
    def test_uniform_stays_within_its_bounds(self, u, low, width):
        assert low <= at(u, "uniform", low, low + width) <= low + width

    @given(UNIT, st.integers(1, 10**6))
    def test_randint_stays_below_its_upper_bound(self, u, upper):
        assert 0 <= at(u, "randint", upper) < upper

    @given(UNIT, st.floats(-100, 100), st.floats(0.001, 100))
    def test_normal_is_the_inverse_of_its_distribution(self, u, mu, sigma):
        assert NormalDist(mu, sigma).cdf(at(u, "normal", mu, sigma)) == pytest.approx(u, abs=1e-6)

    @given(UNIT, UNIT, st.sampled_from(["uniform", "normal", "lognormal", "loguniform", "quniform", "qnormal"]))
    def test_more_is_never_less(self, one, other, name):
        arguments = [0, 2, 0.25] if name.startswith("q") else [0, 2]
        low, high = sorted([one, other])
        assert at(low, name, *arguments) <= at(high, name, *arguments)


class TestCheck:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (0.1, "Give one of choice"),
            (["uniformly", [0, 1]], "does not exist. Known: choice"),
            (["uniform", [1]], "It takes min_value, max_value"),
            (["uniform", [1, 1]], "min_value must be below max_value"),
            (["uniform", [0, "1"]], "Give a number"),
            (["uniform", [0, float("nan")]], "Give a number"),
            (["choice", [[]]], "has no options"),
            (["choice", [1, 2]], "takes one list of options"),
            (["randint", [0]], "1 or more"),
            (["normal", [0, 0]], "sigma must be above 0"),
            (["quniform", [0, 1, 0]], "must be above 0"),
            (["loguniform", [0.001, 10000]], "takes the logarithms of its bounds"),
        ],
    )
    def test_says_what_is_wrong(self, given, words):
        with pytest.raises(UserError, match=words):
            check_distribution(given)

    @pytest.mark.parametrize(
        ("space", "words"),
        [
            ({}, "is empty"),
            ([], "is empty"),
            ({"a b": ["uniform", [0, 1]]}, "without blanks"),
            ({"--": ["uniform", [0, 1]]}, "cannot be a parameter's name"),
            ({"lr": ["uniform", [0, 1]], "--lr": ["uniform", [0, 1]]}, "twice"),
            ({"lr": 3}, "parameter 'lr' is 3"),
        ],
    )
    def test_a_space_names_the_parameter(self, space, words):
        with pytest.raises(UserError, match=words):
            check_space(space)
