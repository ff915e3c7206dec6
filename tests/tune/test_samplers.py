"""Samplers: the same seed the same sequence, a grid in order, Sobol's points evenly spread."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.spec.tune import TunePlan
from rookery.tune.samplers import draw, grid_size, seed_of
from rookery.tune.sobol import _NUMBERS, BITS, DIMENSIONS, sobol_point

SPACE = {"lr": ["loguniform", [-7, -1]], "--batch": ["choice", [[16, 32, 64]]], "layers": ["randint", [4]]}


def plan(space=None, **fields):
    return TunePlan("accuracy", "maximize", space or SPACE, 100, **fields)


class TestRandom:
    @pytest.mark.parametrize("rule", ["random", "sobol"])
    def test_the_same_seed_gives_the_same_sequence(self, rule):
        made = [[draw(plan(rule=rule), 7, number) for number in range(20)] for _ in range(2)]
        assert made[0] == made[1]
        assert made[0] != [draw(plan(rule=rule), 8, number) for number in range(20)]

    def test_the_sequence_is_the_same_in_the_next_release_too(self):
        assert draw(plan(), 7, 0) == {"lr": pytest.approx(0.22476325449083476), "--batch": 16, "layers": 3}

    def test_one_more_parameter_leaves_the_others_as_they_are(self):
        more = {**SPACE, "momentum": ["uniform", [0, 1]]}
        for number in range(10):
            values = draw(plan(more), 7, number)
            values.pop("momentum")
            assert values == draw(plan(), 7, number)

    def test_without_a_seed_it_follows_from_the_id(self):
        assert seed_of(plan(), "HD_1") == seed_of(plan(), "HD_1") != seed_of(plan(), "HD_2")
        assert seed_of(plan(seed=0), "HD_1") == 0

    def test_values_come_from_all_of_the_range(self):
        drawn = [draw(plan(), 3, number) for number in range(400)]
        counts = [sum(d["--batch"] == option for d in drawn) for option in (16, 32, 64)]
        assert all(90 < count < 180 for count in counts)


class TestGrid:
    @given(st.lists(st.lists(st.integers(), min_size=1, max_size=4, unique=True), min_size=1, max_size=3))
    def test_has_every_combination_once_and_in_order(self, options):
        space = {f"p{i}": ["choice", [each]] for i, each in enumerate(options)}
        grid = plan(space, sampler="grid")
        drawn = [draw(grid, 0, number) for number in range(grid_size(grid) + 1)]
        assert [tuple(d.values()) for d in drawn[:-1]] == list(itertools.product(*options))
        assert drawn[-1] is None


class TestSobol:
    @given(st.integers(0, 2**32 - 1), st.integers(1, DIMENSIONS))
    def test_every_half_quarter_and_eighth_gets_its_share(self, seed, dimensions):
        """A property of the sequence in each dimension: of the first 2^k points one lies in each 2^k-th."""
        for k in (1, 2, 3):
            points = [sobol_point(number, dimensions, seed) for number in range(2**k)]
            for dimension in range(dimensions):
                assert sorted(int(point[dimension] * 2**k) for point in points) == list(range(2**k))

    def test_the_first_points_without_a_shift(self):
        shift = sobol_point(0, 3, 1)
        own = [
            tuple((int(a * 2**BITS) ^ int(b * 2**BITS)) / 2**BITS for a, b in zip(sobol_point(n, 3, 1), shift))
            for n in range(5)
        ]
        assert own == [(0, 0, 0), (0.5, 0.5, 0.5), (0.75, 0.25, 0.25), (0.25, 0.75, 0.75), (0.375, 0.375, 0.625)]

    def test_the_polynomials_are_primitive(self):
        """Of a primitive polynomial over GF(2) x has the order 2^degree - 1; others give points that repeat too early."""
        for degree, inner, first in _NUMBERS:
            polynomial = (1 << degree) | (inner << 1) | 1
            value, order = 1, 0
            while order == 0 or value != 1:
                value <<= 1
                if value >> degree & 1:
                    value ^= polynomial
                order += 1
            assert order == 2**degree - 1
            assert all(m % 2 == 1 and m < 2 ** (i + 1) for i, m in enumerate(first))

    def test_more_dimensions_than_there_are_numbers_for(self):
        with pytest.raises(ValueError, match="21"):
            sobol_point(0, DIMENSIONS + 1, 0)
