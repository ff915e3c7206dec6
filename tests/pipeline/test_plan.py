"""What follows from where steps stand, and that every course comes to an end."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.pipeline.plan import Phase, decide, make_plan
from rookery.spec.pipeline import new_graph
from rookery.spec.status import RunStatus

# The machine may be busy, and a test must not depend on luck: no deadline, and the same examples every time.
QUIET = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), max_examples=150)


def plan_of(edges, count, goes_on=()):
    graph = new_graph()
    for i in range(count):
        graph["nodes"][f"n{i}"] = {"kind": "script", "continue_on_failure": i in goes_on}
    graph["after"] = [[f"n{a}", f"n{b}"] for a, b in edges]
    return make_plan(graph, False)


@st.composite
def courses(draw):
    count = draw(st.integers(1, 7))
    pairs = [(a, b) for b in range(count) for a in range(b)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=10)) if pairs else []
    goes_on = draw(st.sets(st.integers(0, count - 1)))
    return edges, count, goes_on, draw(st.integers(0, 10_000)), draw(st.integers(0, 12))


@QUIET
@given(courses())
def test_every_course_ends_and_never_starts_what_may_not_start(course):
    edges, count, goes_on, seed, cancel_at = course
    plan, rng = plan_of(edges, count, goes_on), random.Random(seed)
    phases = dict.fromkeys(plan.steps, Phase.WAITING)
    for turn in range(100):
        cancel = turn >= cancel_at > 0
        failed_hard = any(phases[k] == Phase.FAILED and k not in plan.goes_on for k in plan.steps)
        found = decide(plan, phases, cancel)
        for key in found.prepare:
            assert not cancel
            assert not failed_hard
            assert phases[key] == Phase.WAITING
            assert all(phases[before] == Phase.COMPLETED for before in plan.before[key])
            phases[key] = Phase.RUNNING
        for key, change in found.change.items():
            assert phases[key] in Phase.OPEN
            assert change["reason"]
            phases[key] = change["phase"]
        if found.status is not None:
            assert all(phases[key] in Phase.OVER for key in plan.steps)
            if found.status is RunStatus.COMPLETED:
                assert set(phases.values()) == {Phase.COMPLETED}
            return
        running = [key for key in plan.steps if phases[key] == Phase.RUNNING]
        assert running, "nothing runs, nothing is over: it would wait for ever"
        if cancel:
            assert set(found.stop) == set(running)
        ended = rng.choice(running)
        phases[ended] = Phase.CANCELED if cancel else rng.choice([Phase.COMPLETED, Phase.COMPLETED, Phase.FAILED])
    raise AssertionError("it did not end")


def test_a_held_step_waits_and_one_that_is_being_prepared_is_not_prepared_again():
    plan = plan_of([], 2)
    assert decide(plan, {"n0": Phase.HELD, "n1": Phase.WAITING}, False, frozenset(["n1"])).prepare == []
    assert decide(plan, {"n0": Phase.HELD, "n1": Phase.WAITING}, False).prepare == ["n1"]


def test_after_is_near_and_far():
    assert plan_of([(0, 1), (1, 2)], 4).after("n0") == ["n1", "n2"]
