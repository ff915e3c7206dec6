"""What a tuning says of itself: its log, the best child so far, and why it failed."""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Mapping
from typing import Any, Optional

from rookery.record.clock import utc_now
from rookery.spec.cause import Cause, CauseKind
from rookery.spec.logs import TUNE_LOG
from rookery.spec.plain import to_plain
from rookery.spec.tune import TunePlan
from rookery.tune.policies import best_of, is_better
from rookery.tune.state import Phase, Trial, TuneState

__all__ = ["BEST_METRIC", "Teller", "failure", "missing_metric", "progress_words", "shown_values", "trial_row"]

BEST_METRIC = "best_child_by_primary_metric"


def failure(words: str, first: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
    """The cause of a tuning that failed; `first` is the cause of its first failed child."""
    if not first:
        return to_plain(Cause(CauseKind.USER_ERROR, words))
    summary = f"{words} The first: {first.get('summary') or 'it failed.'}"
    kind = str(first.get("kind") or CauseKind.USER_ERROR)
    kept = {key: first.get(key) for key in ("exit_code", "signal", "exception", "traceback", "last_lines", "advice")}
    return {**to_plain(Cause(kind, summary)), **kept, "fault": first.get("fault") or ""}


def trial_row(trial: Trial, child_id: str, goal: str) -> dict[str, Any]:
    """A trial as the record keeps it."""
    best = best_of(goal, trial.values)
    last = trial.values[-1] if trial.values else None
    return {
        "number": trial.number,
        "child_id": child_id,
        "parameters": trial.parameters,
        "phase": trial.phase,
        "status": trial.status,
        "stopped": trial.stopped,
        "judged": trial.judged,
        "resumed_from": trial.resumed_from,
        "total": len(trial.values),
        "best": best,
        "best_at": None if best is None else trial.values.index(best) + 1,
        "last": None if last is None or math.isnan(last) else last,
    }


def missing_metric(child: str, metric: str, kinds: Mapping[str, str]) -> str:
    """Why a child that has completed has no value of the primary metric; `kinds` are of all that it logged."""
    advice = f"Log it with run.log('{metric}', number)"
    if kinds.get(metric) in ("scalar", "list"):
        return (
            f"Child '{child}' logged the primary metric '{metric}', but never as a number, so it has no rank. {advice}."
        )
    words = f"Child '{child}' has ended without logging the primary metric '{metric}'"
    if metric in kinds:
        return f"{words} as a number: it logged a {kinds[metric]} of that name. {advice}, or name another metric."
    names = list(kinds)
    plain = {name.lower(): name for name in names}
    asked = metric.lower()
    near = difflib.get_close_matches(asked, plain, n=1) or [name for name in plain if asked in name or name in asked]
    logged = f"It logged: {', '.join(names[:10])}{' …' if len(names) > 10 else ''}." if names else "It logged nothing."
    hint = f" Did you mean '{plain[near[0]]}'?" if near else ""
    return f"{words}. {logged}{hint} {advice}, or name another metric."


def progress_words(state: TuneState, plan: TunePlan) -> str:
    """How far it is, in a line: the reason of a tuning that runs."""
    if not state.trials and plan.sampler != "bayesian":
        return ""
    ended = sum(trial.phase == Phase.ENDED for trial in state.trials)
    best = best_of(plan.goal, [v for trial in state.trials if (v := best_of(plan.goal, trial.values)) is not None])
    words = f"{ended} of {plan.max_total_runs} children have ended, {len(state.live())} under way"
    if not state.live() and plan.sampler == "bayesian":
        words += "; waits for values from Optuna"
    return words if best is None else f"{words}; best {plan.metric} {best:.6g}"


def shown_values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.lstrip('-')}={_text(value)}" for name, value in values.items())


class Teller:
    """Collects lines and writes them together; notes a new best child once."""

    def __init__(self, record: Any, run_id: str, metric: str, goal: str) -> None:
        self._record, self._run_id, self._metric, self._goal = record, run_id, metric, goal
        self._lines: list[str] = []
        self._best: Optional[float] = None
        self._best_child = ""
        self._size: Optional[int] = None

    def say(self, words: str) -> None:
        self._lines.append(f"{utc_now()[:23]}Z {words}\n")

    def look_at(self, trial: Trial, child_id: str, is_new: bool = True) -> None:
        """A child has reported; `is_new` false while the past is being read again."""
        best = best_of(self._goal, trial.values)
        if best is None or (self._best is not None and not is_better(self._goal, best, self._best)):
            return
        self._best, self._best_child = best, child_id
        if is_new:
            self.say(f"{child_id}: {self._metric} {best:.6g} at interval {len(trial.values)}, the best so far")
            self._note_best(False)

    def finish(self, words: str) -> None:
        if self._best is not None:
            self.say(f"The best child is {self._best_child} with {self._metric} {self._best:.6g}.")
            self._note_best(True)
        self.say(words)
        self.flush()

    def flush(self) -> None:
        if not self._lines:
            return
        data = "".join(self._lines).encode("utf-8", "replace")
        if self._size is None:
            self._size = self._record.logs.size(self._run_id, TUNE_LOG)
        self._size = self._record.logs.append(self._run_id, TUNE_LOG, self._size, data)
        self._lines = []

    def _note_best(self, is_final: bool) -> None:
        row = {"run_id": self._best_child, "metric_value": self._best, "final": is_final}
        self._record.journals.apply_loose(self._run_id, [["r", None, BEST_METRIC, row, time.time()]])


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
