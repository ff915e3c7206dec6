"""The course of a tuning: `step(plan, state, observation) -> state`, and `todo(plan, state)`, what is to be done now. Pure.

What always holds (tests/tune/test_state.py):
- never more trials are planned or active than `max_concurrent_runs`, never more are made than `max_total_runs`;
- a trial is planned once, becomes active once and ends once; its number is its child's;
- what a policy has stopped stays stopped; what is over is never acted on;
- a tuning that was asked to stop makes no more children, and ends when the last one has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Optional, Union

from rookery.spec.status import RunStatus
from rookery.spec.tune import TunePlan
from rookery.tune.policies import due_intervals, judge

__all__ = [
    "CancelAsked",
    "Create",
    "Created",
    "Ended",
    "Finish",
    "NoValues",
    "Phase",
    "Propose",
    "Proposed",
    "Refused",
    "Reported",
    "Stop",
    "TimeOver",
    "Trial",
    "TuneState",
    "step",
    "todo",
]

HOPELESS = 3  # so many failures, and nothing else, end a tuning: the next hundred children would fail as well


class Phase:
    """How far one trial is."""

    PLANNED = "planned"  # its values are stored; its child is to be made
    ACTIVE = "active"  # its child is in the record
    ENDED = "ended"


@dataclass(frozen=True)
class Trial:
    """One set of values and what came of it. `values` are of the primary metric, as far as they were read."""

    number: int
    parameters: dict[str, Any]
    phase: str = Phase.PLANNED
    status: str = ""  # of its child, once that is over
    stopped: str = ""  # why its policy stopped it
    judged: int = 0  # the last interval at which its policy has looked at it
    resumed_from: str = ""  # the earlier child whose values and outputs these are
    values: tuple[float, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class TuneState:
    trials: tuple[Trial, ...] = ()
    is_exhausted: bool = False  # a grid has no more
    ending: str = ""  # the status that it ends with once its last child has; empty while it goes on
    why: str = ""
    earlier: Mapping[str, tuple[float, ...]] = field(
        default_factory=dict, compare=False
    )  # histories of earlier children

    def live(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.phase != Phase.ENDED]


@dataclass(frozen=True)
class Proposed:
    """Values for the next children; fewer than asked for and `is_exhausted` when there are no more."""

    parameters: tuple[dict[str, Any], ...]
    is_exhausted: bool = False
    resumed_from: tuple[str, ...] = ()


@dataclass(frozen=True)
class Created:
    number: int


@dataclass(frozen=True)
class Refused:
    """A child could not be made, and never can."""

    number: int
    words: str


@dataclass(frozen=True)
class Reported:
    """All that a child has logged of the primary metric so far."""

    number: int
    values: tuple[float, ...]


@dataclass(frozen=True)
class Ended:
    number: int
    status: RunStatus


@dataclass(frozen=True)
class CancelAsked:
    pass


@dataclass(frozen=True)
class TimeOver:
    words: str


@dataclass(frozen=True)
class NoValues:
    """The sampler cannot propose any: it never will."""

    words: str


@dataclass(frozen=True)
class Propose:
    count: int


@dataclass(frozen=True)
class Create:
    number: int


@dataclass(frozen=True)
class Stop:
    number: int


@dataclass(frozen=True)
class Finish:
    status: RunStatus
    why: str


Observation = Union[Proposed, NoValues, Created, Refused, Reported, Ended, CancelAsked, TimeOver]
Action = Union[Propose, Create, Stop, Finish]


def step(plan: TunePlan, state: TuneState, seen: Observation) -> TuneState:
    """What a tuning becomes when something is seen."""
    if isinstance(seen, Proposed):
        return _proposed(plan, state, seen)
    if isinstance(seen, CancelAsked):
        return _end(state, RunStatus.CANCELED, "It was canceled.")
    if isinstance(seen, TimeOver):
        return _end(state, RunStatus.COMPLETED, seen.words)
    if isinstance(seen, NoValues):
        return _end(state, RunStatus.FAILED, seen.words)
    trial = state.trials[seen.number] if 0 <= seen.number < len(state.trials) else None
    if trial is None or trial.phase == Phase.ENDED:
        return state
    if isinstance(seen, Created):
        return _with(state, replace(trial, phase=Phase.ACTIVE))
    if isinstance(seen, Reported):
        return _reported(plan, state, trial, seen.values)
    if isinstance(seen, Ended):
        # One that had completed before it could be stopped was not stopped.
        why = "" if seen.status is RunStatus.COMPLETED else trial.stopped
        state = _with(state, replace(trial, phase=Phase.ENDED, status=seen.status.value, stopped=why))
        return _if_hopeless(plan, state)
    state = _with(state, replace(trial, phase=Phase.ENDED, status=RunStatus.FAILED.value, stopped=seen.words))
    return _end(state, RunStatus.FAILED, f"Child {trial.number} cannot be run: {seen.words}")


def todo(plan: TunePlan, state: TuneState) -> list[Action]:
    """All that is to be done as things stand; what was done already may be among it."""
    live = state.live()
    actions: list[Action] = [Stop(t.number) for t in live if t.phase == Phase.ACTIVE and (t.stopped or state.ending)]
    actions += [Create(t.number) for t in live if t.phase == Phase.PLANNED]
    if not state.ending:
        room = min(plan.concurrency - len(live), plan.max_total_runs - len(state.trials))
        if room > 0 and not state.is_exhausted:
            return [*actions, Propose(room)]
    if not live:
        actions.append(Finish(RunStatus(state.ending or RunStatus.COMPLETED), state.why))
    return actions


def _proposed(plan: TunePlan, state: TuneState, seen: Proposed) -> TuneState:
    if state.ending:
        return state
    room = min(plan.concurrency - len(state.live()), plan.max_total_runs - len(state.trials))
    taken = seen.parameters[: max(0, room)]
    first = len(state.trials)
    sources = (*seen.resumed_from, *[""] * len(taken))
    fresh = tuple(Trial(first + i, values, resumed_from=sources[i]) for i, values in enumerate(taken))
    return replace(state, trials=(*state.trials, *fresh), is_exhausted=state.is_exhausted or seen.is_exhausted)


def _reported(plan: TunePlan, state: TuneState, trial: Trial, values: tuple[float, ...]) -> TuneState:
    if len(values) <= len(trial.values):
        return state
    trial = replace(trial, values=values)
    state = _with(state, trial)
    due = due_intervals(plan, trial.judged, len(values))
    if not due or trial.stopped or state.ending:
        return state
    histories = {**state.earlier, **{str(t.number): t.values for t in state.trials if t.values}}
    stopped: Optional[str] = None
    for interval in due:
        stopped = judge(plan, histories, str(trial.number), interval)
        trial = replace(trial, judged=interval, stopped=stopped or "")
        if stopped:
            break
    return _with(state, trial)


def _if_hopeless(plan: TunePlan, state: TuneState) -> TuneState:
    ended = [t for t in state.trials if t.phase == Phase.ENDED]
    failed = [t for t in ended if t.status == RunStatus.FAILED.value]
    if state.ending or len(failed) < len(ended) or any(t.values for t in state.trials):
        return state
    are_all_made = state.is_exhausted or len(state.trials) >= plan.max_total_runs
    is_all = are_all_made and len(ended) == len(state.trials)
    if len(failed) < HOPELESS and not is_all:
        return state
    return _end(
        state,
        RunStatus.FAILED,
        f"All of the first {len(failed)} children failed, and none has logged the primary metric.",
    )


def _end(state: TuneState, status: RunStatus, why: str) -> TuneState:
    if state.ending:
        return state
    kept = tuple(
        replace(t, phase=Phase.ENDED, status=RunStatus.CANCELED.value) if t.phase == Phase.PLANNED else t
        for t in state.trials
    )
    return replace(state, trials=kept, ending=status.value, why=why)


def _with(state: TuneState, trial: Trial) -> TuneState:
    trials = list(state.trials)
    trials[trial.number] = trial
    return replace(state, trials=tuple(trials))
