"""When a schedule runs next."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.errors import UserError
from rookery.pipeline.recurrence import FREQUENCIES, check_recurrence, first_time, next_time, zone_of
from rookery.sdk.schedule import TimeZone

# The machine may be busy, and a test must not depend on luck: no deadline, and the same examples every time.
QUIET = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), max_examples=150)

BEGAN = datetime(2026, 11, 16, 7, 30, 15, tzinfo=timezone.utc)  # a Monday


def after(text):
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


class TestNext:
    @pytest.mark.parametrize(
        ("recurrence", "moment", "expected"),
        [
            ({"frequency": "Minute", "interval": 15}, "2026-11-16T07:50:00", "2026-11-16T08:00:15"),
            ({"frequency": "Hour", "interval": 2}, "2026-11-16T07:30:15", "2026-11-16T09:30:15"),
            ({"frequency": "Day", "interval": 1}, "2026-11-17T08:00:00", "2026-11-18T07:30:15"),
            ({"frequency": "Week", "interval": 1}, "2026-11-17T08:00:00", "2026-11-23T07:30:15"),
            ({"frequency": "Month", "interval": 1}, "2026-11-17T08:00:00", "2026-12-16T07:30:15"),
            ({"frequency": "Day", "interval": 1, "hours": [2, 14], "minutes": [0]}, "2026-11-16T08:00:00", "2026-11-16T14:00:00"),
            ({"frequency": "Day", "interval": 1, "hours": [2, 14], "minutes": [0]}, "2026-11-16T15:00:00", "2026-11-17T02:00:00"),
            ({"frequency": "Week", "interval": 1, "week_days": ["Friday"], "hours": [9], "minutes": [5]}, "2026-11-16T15:00:00", "2026-11-20T09:05:00"),
            ({"frequency": "Week", "interval": 2, "week_days": ["Monday"], "hours": [9], "minutes": [0]}, "2026-11-16T15:00:00", "2026-11-30T09:00:00"),
            ({"frequency": "Day", "interval": 1, "start_time": "2027-01-01T00:00:00"}, "2026-11-16T15:00:00", "2027-01-01T00:00:00"),
            ({"frequency": "Day", "interval": 1, "start_time": "2027-01-01T00:00:00", "time_zone": "Europe/Berlin"}, "2026-11-16T15:00:00", "2026-12-31T23:00:00"),
            ({"frequency": "Month", "interval": 1, "start_time": "2026-01-31T10:00:00"}, "2026-02-01T00:00:00", "2026-02-28T10:00:00"),
        ],
    )  # fmt: skip
    def test_is(self, recurrence, moment, expected):
        assert next_time(check_recurrence(recurrence), BEGAN, after(moment)) == after(expected)

    @QUIET
    @given(st.sampled_from(FREQUENCIES), st.integers(1, 40), st.integers(0, 10**8))
    def test_is_always_later_and_one_step_at_most(self, frequency, interval, seconds):
        recurrence = {"frequency": frequency, "interval": interval}
        moment = BEGAN + timedelta(seconds=seconds)
        found = next_time(recurrence, BEGAN, moment)
        longest = {"Minute": 1 / 1440, "Hour": 1 / 24, "Day": 1, "Week": 7, "Month": 31}[frequency] * interval
        assert moment < found <= moment + timedelta(days=longest, seconds=1)

    def test_the_first_is_at_once_unless_it_says_when(self):
        assert first_time({"frequency": "Day", "interval": 1}, BEGAN) == BEGAN
        assert first_time({"frequency": "Day", "interval": 1, "hours": [9], "minutes": [0]}, BEGAN) == after(
            "2026-11-16T09:00:00"
        )


@pytest.mark.parametrize(
    ("recurrence", "words"),
    [
        ({"frequency": "Year", "interval": 1}, "Allowed: Minute"),
        ({"frequency": "Day", "interval": 0}, "from 1"),
        ({"frequency": "Hour", "interval": 1, "hours": [1]}, "Day and Week only"),
        ({"frequency": "Day", "interval": 1, "hours": [24]}, "0 to 23"),
        ({"frequency": "Day", "interval": 1, "week_days": ["Monday"]}, "Week only"),
        ({"frequency": "Week", "interval": 1, "week_days": ["Caturday"]}, "Monday"),
        ({"frequency": "Day", "interval": 1, "time_zone": "Nowhere"}, "IANA"),
        ({"frequency": "Day", "interval": 1, "start_time": "soon"}, "2026-11-16T20:00:00"),
        ([], "an object"),
    ],
)
def test_what_no_recurrence_is(recurrence, words):
    with pytest.raises(UserError, match=words):
        check_recurrence(recurrence)


def test_every_zone_of_v1_is_known():
    assert len(TimeZone) > 130
    assert {TimeZone.WEuropeStandardTime.value, TimeZone.UTC11.value} == {"W. Europe Standard Time", "UTC-11"}
    assert TimeZone.CentralStandardTimeMexico.value == "Central Standard Time (Mexico)"
    for zone in TimeZone:
        assert zone_of(zone.value) is not None
