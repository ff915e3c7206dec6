"""Where the values of the next children come from: earlier children that are run again, the samplers, or Optuna beside us."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.spec.tune import TunePlan
from rookery.tune.policies import best_of
from rookery.tune.samplers import draw, seed_of
from rookery.tune.state import NoValues, Phase, Proposed, TuneState

__all__ = ["Proposer"]


class Proposer:
    """
    Args:
        answered: called in a thread of its own with what Optuna has proposed.
    """

    def __init__(self, record: Any, run_id: str, plan: TunePlan, answered: Callable[[Any], None]) -> None:
        self._record, self._plan, self._answered = record, plan, answered
        self._seed = seed_of(plan, run_id)
        self._run_id = run_id
        self._asker: Optional[Any] = None
        self._thread: Optional[threading.Thread] = None

    def propose(self, state: TuneState, count: int) -> Optional[Proposed]:
        """Values for so many children; None when the answer comes later."""
        first = len(state.trials)
        again = self._plan.resume_children[first : first + count]
        if again:
            return Proposed(tuple(self._values_of(run_id) for run_id in again), resumed_from=again)
        if self._plan.sampler == "bayesian":
            self._ask(state, count)
            return None
        skipped = len(self._plan.resume_children)
        found = [draw(self._plan, self._seed, first - skipped + i) for i in range(count)]
        known = tuple(values for values in found if values is not None)
        return Proposed(known, is_exhausted=len(known) < count)

    def close(self) -> None:
        if self._asker is not None:
            self._asker.close()

    def _values_of(self, run_id: str) -> dict[str, Any]:
        parent = self._record.runs.get(run_id)["parent_id"]
        row = next(row for row in self._record.trials.of(parent) if row["child_id"] == run_id)
        return dict(row["parameters"])

    def _ask(self, state: TuneState, count: int) -> None:
        """In a thread: Optuna takes its time, and the first time its environment is made."""
        if self._thread is not None and self._thread.is_alive():
            return
        question = {
            "space": self._plan.space,
            "goal": self._plan.goal,
            "seed": self._seed + len(state.trials),
            "count": count,
            "trials": [*self._earlier(), *(_plain(self._plan, trial) for trial in state.trials)],
        }

        def ask() -> None:
            from rookery.tune.bayesian.asker import Asker

            try:
                if self._asker is None:
                    self._asker = Asker(f"tune-{self._run_id}")
                self._answered(Proposed(tuple(self._asker.ask(question))))
            except RookeryError as error:
                self._answered(NoValues(error.message))

        self._thread = threading.Thread(target=ask, name="rookery-tune-ask", daemon=True)
        self._thread.start()

    def _earlier(self) -> list[dict[str, Any]]:
        return [
            {"values": row["parameters"], "result": row["best"], "is_live": False}
            for run_id in self._plan.resume_from
            for row in self._record.trials.of(run_id)
        ]


def _plain(plan: TunePlan, trial: Any) -> dict[str, Any]:
    return {
        "values": json.loads(json.dumps(trial.parameters)),
        "result": best_of(plan.goal, trial.values),
        "is_live": trial.phase != Phase.ENDED,
    }
