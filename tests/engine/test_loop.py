"""The controller's thread: what needs the clock is looked at in time, whatever was asked for before."""

from __future__ import annotations

import threading
import time
from typing import Optional

import pytest

from rookery.engine.loop import Loop
from rookery.errors import KeeperUnavailableError
from rookery.testing.engine_exam import wait_for


class Ticks:
    """Counts ticks; `next_in_s` is what the next one asks for."""

    def __init__(self, next_in_s: Optional[float]) -> None:
        self.count, self.next_in_s = 0, next_in_s

    def __call__(self) -> Optional[float]:
        self.count += 1
        return None if self.next_in_s is None else time.monotonic() + self.next_in_s


@pytest.fixture
def start():
    loops = []

    def make(on_tick):
        loops.append(Loop(on_tick))
        loops[-1].start()
        return loops[-1]

    yield make
    for loop in loops:
        loop.stop()


@pytest.mark.parametrize("asked_s", [None, 3600.0])
def test_a_job_that_needs_the_clock_is_not_kept_waiting_by_an_earlier_wish(start, asked_s):
    ticks = Ticks(asked_s)  # nothing is under way: an idle node may go in an hour
    loop = start(ticks)
    wait_for(lambda: ticks.count == 1, "the first tick")
    loop.call(lambda: setattr(ticks, "next_in_s", 0.01))  # a run begins: it needs the clock now
    wait_for(lambda: ticks.count >= 5, "ticks at the new pace")


def test_jobs_do_not_make_a_busy_clock_tick_faster(start):
    ticks = Ticks(0.9)
    loop = start(ticks)
    wait_for(lambda: ticks.count >= 1, "the first tick")
    began, before = time.monotonic(), ticks.count
    for _ in range(200):
        loop.call(lambda: None)
    assert ticks.count - before <= 1 + (time.monotonic() - began) / 0.9


def test_a_tick_that_fails_is_followed_by_another(start):
    seen = threading.Event()

    def on_tick():
        if seen.is_set():
            return
        seen.set()
        raise OSError("full")

    loop = start(on_tick)
    assert seen.wait(60)
    assert loop.call(lambda: 1) == 1


def test_follow_ups_come_before_what_waits(start):
    order = []
    loop = start(lambda: None)

    def first():
        loop.post(lambda: order.append("posted"))
        loop.follow_up(lambda: order.append("follow-up"))

    loop.call(first)
    loop.call(lambda: None)
    assert order == ["follow-up", "posted"]


def test_what_comes_too_late_is_refused(start):
    loop = start(lambda: None)
    loop.stop()
    with pytest.raises(KeeperUnavailableError):
        loop.call(lambda: None)
