"""Early termination: which runs are not worth going on with. Pure.

An *interval* is one logging of the primary metric: the first value of a run is its interval 1. A policy looks at a run at every
multiple of `evaluation_interval` that is not below `delay_evaluation`, and once at each. What it compares with is what all runs of
the tuning (and of those it was resumed from) have reported by then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Callable, Optional

from rookery.spec.tune import POLICIES, TunePlan

__all__ = ["best_of", "due_intervals", "is_better", "judge"]

Values = Sequence[float]


def due_intervals(plan: TunePlan, judged: int, reported: int) -> list[int]:
    """The intervals after `judged`, up to how many values a run has reported, at which its policy looks at it."""
    if plan.policy == "none":
        return []
    options = _options(plan)
    if plan.policy == "asha":
        due, rung = [], options["min_intervals"]
        while rung <= reported:
            due.append(rung)
            rung *= options["reduction_factor"]
        return [interval for interval in due if interval > judged]
    every, first = options["evaluation_interval"], options["delay_evaluation"]
    return [k for k in range(judged + 1, reported + 1) if k % every == 0 and k >= first]


def judge(plan: TunePlan, histories: Mapping[str, Values], run: str, interval: int) -> Optional[str]:
    """Why `run` is to be stopped at `interval`, in words; None when it goes on.

    Args:
        histories: the primary metric of every run, in the order of logging. NaN counts as an interval and as nothing else.
    """
    return _RULES[plan.policy](plan, _options(plan), histories, run, interval)


def is_better(goal: str, value: float, than: float) -> bool:
    return value > than if goal == "maximize" else value < than


def best_of(goal: str, values: Values) -> Optional[float]:
    """The best of some values; None where none is a number."""
    numbers = [value for value in values if not math.isnan(value)]
    if not numbers:
        return None
    return max(numbers) if goal == "maximize" else min(numbers)


def _none(plan: TunePlan, options: Any, histories: Mapping[str, Values], run: str, interval: int) -> Optional[str]:
    return None


def _bandit(plan: TunePlan, options: Any, histories: Mapping[str, Values], run: str, interval: int) -> Optional[str]:
    """Its best so far is further from the best of all than the slack allows."""
    everyone = [best_of(plan.goal, values[:interval]) for values in histories.values()]
    leader = best_of(plan.goal, [value for value in everyone if value is not None])
    if leader is None:
        return None
    own = best_of(plan.goal, histories[run][:interval])
    limit, words = _allowed(plan.goal, options, leader)
    if own is not None and not is_better(plan.goal, limit, own):
        return None
    sign = "<" if plan.goal == "maximize" else ">"
    return f"Bandit at interval {interval}: best {plan.metric} so far {_text(own)} {sign} {_text(limit)} = {words}"


def _allowed(goal: str, options: Any, leader: float) -> tuple[float, str]:
    """How bad a run may be beside the best one. Slack always makes room: a metric may be negative too."""
    amount, factor = options["slack_amount"], options["slack_factor"]
    if amount is not None:
        sign = "-" if goal == "maximize" else "+"
        return (leader - amount if goal == "maximize" else leader + amount), f"{_text(leader)} {sign} {amount}"
    shrinks = (goal == "maximize") == (leader >= 0)
    if shrinks:
        return leader / (1 + factor), f"{_text(leader)} / (1 + {factor})"
    return leader * (1 + factor), f"{_text(leader)} * (1 + {factor})"


def _median(plan: TunePlan, options: Any, histories: Mapping[str, Values], run: str, interval: int) -> Optional[str]:
    """Its best so far is worse than the median of all runs' averages over the same intervals."""
    averages = [_average(values[:interval]) for values in histories.values() if len(values) >= interval]
    known = [average for average in averages if average is not None]
    if len(known) < 2:
        return None
    middle = median(known)
    own = best_of(plan.goal, histories[run][:interval])
    if own is not None and not is_better(plan.goal, middle, own):
        return None
    return (
        f"MedianStopping at interval {interval}: best {plan.metric} so far {_text(own)} is worse than {_text(middle)}, the "
        f"median of the averages of {len(known)} runs over intervals 1 to {interval}"
    )


def _truncation(
    plan: TunePlan, options: Any, histories: Mapping[str, Values], run: str, interval: int
) -> Optional[str]:
    """Its value at the interval is among the worst so many per cent of all runs' values there."""
    percentage = options["truncation_percentage"]
    there = {each: values[interval - 1] for each, values in histories.items() if len(values) >= interval}
    cut = len(there) * percentage // 100
    ordered = _worst_first(plan.goal, there)
    if run not in ordered[:cut]:
        return None
    return (
        f"TruncationSelection at interval {interval}: {plan.metric} {_text(there[run])} is among the worst {percentage} % "
        f"({cut} of {len(there)} runs)"
    )


def _asha(plan: TunePlan, options: Any, histories: Mapping[str, Values], run: str, interval: int) -> Optional[str]:
    """Asynchronous successive halving: at each rung only the best 1/reduction_factor of those that have come so far goes on."""
    factor = options["reduction_factor"]
    there = {
        each: _best_or_worst(plan.goal, values[:interval])
        for each, values in histories.items()
        if len(values) >= interval
    }
    if len(there) < factor:
        return None
    kept = max(1, len(there) // factor)
    ordered = _worst_first(plan.goal, there)
    if run in ordered[len(ordered) - kept :]:
        return None
    return (
        f"ASHA at interval {interval}: best {plan.metric} so far {_text(there[run])} is not among the best {kept} of the "
        f"{len(there)} runs that have come so far"
    )


_RULES: dict[str, Callable[[TunePlan, Any, Mapping[str, Values], str, int], Optional[str]]] = {
    "none": _none,
    "bandit": _bandit,
    "median": _median,
    "truncation": _truncation,
    "asha": _asha,
}


def _options(plan: TunePlan) -> dict[str, Any]:
    return {**POLICIES[plan.policy], **plan.policy_options}


def _average(values: Values) -> Optional[float]:
    numbers = [value for value in values if not math.isnan(value)]
    return sum(numbers) / len(numbers) if numbers else None


def _best_or_worst(goal: str, values: Values) -> float:
    best = best_of(goal, values)
    return best if best is not None else (-math.inf if goal == "maximize" else math.inf)


def _worst_first(goal: str, there: Mapping[str, float]) -> list[str]:
    """Equal ones in the order in which the runs began: the younger is the worse."""
    sign = 1 if goal == "maximize" else -1
    order = {run: number for number, run in enumerate(there)}
    return sorted(there, key=lambda run: (-math.inf if math.isnan(there[run]) else sign * there[run], -order[run]))


def _text(value: Optional[float]) -> str:
    return "not a number" if value is None else f"{value:.6g}"
