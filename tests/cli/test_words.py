import math

import pytest

from rookery.cli.words import age, between, duration, local_time, number, parse_time, size, sparkline


class TestDuration:
    @pytest.mark.parametrize(
        ("seconds", "text"),
        [
            (0, "0.00s"),
            (0.421, "0.42s"),
            (7.26, "7.3s"),
            (59.96, "1m 00s"),
            (187, "3m 07s"),
            (7500, "2h 05m"),
            (356400, "4d 03h"),
            (-3, "0.00s"),
        ],
    )
    def test_says_it_in_two_units(self, seconds, text):
        assert duration(seconds) == text

    def test_between_two_times_of_the_protocol(self):
        assert between("2026-11-15T20:00:00.000000Z", "2026-11-15T20:01:30.000000Z") == "1m 30s"

    def test_nothing_for_no_time(self):
        assert (duration(None), between(None), age(None), local_time(None), parse_time(None)) == (
            "",
            "",
            "",
            "",
            None,
        )


class TestSize:
    @pytest.mark.parametrize(
        ("num_bytes", "text"),
        [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (45_678, "45.7 kB"),
            (123_456_789, "123 MB"),
            (5e15, "5000 TB"),
        ],
    )
    def test_in_powers_of_a_thousand(self, num_bytes, text):
        assert size(num_bytes) == text


class TestSparkline:
    def test_rises_with_the_values(self):
        assert sparkline([0, 1, 2, 3]) == "▁▃▆█"

    def test_is_never_longer_than_asked(self):
        assert len(sparkline(list(range(1000)), 12)) == 12
        assert sparkline(list(range(1000)), 12)[-1] == "█"

    def test_is_flat_for_a_constant_and_nothing_for_one_value(self):
        assert sparkline([2, 2, 2]) == "▁▁▁"
        assert sparkline([5]) == ""

    def test_leaves_out_what_is_no_number(self):
        assert sparkline([math.nan, 0.0, "a", None, True, math.inf, 1.0]) == "▁█"


class TestNumber:
    @pytest.mark.parametrize(
        ("value", "text"),
        [(0.1234567890, "0.123457"), (3, "3"), (True, "True"), (None, "None"), (1e-9, "1e-09"), ("a", "a")],
    )
    def test_is_short(self, value, text):
        assert number(value) == text
