"""Where the values of the next children come from: earlier children that are run again, the samplers, or Optuna beside us."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.spec.tune import TunePlan
from rookery.tune.policies import best_of
from rookery.tune.samplers import draw, seed_of
from rookery.tune.state import NoValues, Phase, Proposed, TuneState

__all__ = ["Proposer"]

log = logging.getLogger(__name__)


class Proposer:
    """
    Args:
        answered: called in a thread of its own with what was proposed, where that takes long.
    """

    def __init__(self, record: Any, run_id: str, plan: TunePlan, answered: Callable[[Any], None]) -> None:
        self._record, self._plan, self._answered = record, plan, answered
        self._seed = seed_of(plan, run_id)
        self._run_id = run_id
        self._asker: Optional[Any] = None
        self._is_busy = False

    def propose(self, state: TuneState, count: int) -> Optional[Proposed]:
        """Values for so many children; None when the answer comes later."""
        first = len(state.trials)
        again = self._plan.resume_children[first : first + count]
        if again:
            self._beside(lambda: self._resume(again))
            return None
        if self._plan.sampler == "bayesian":
            question = self._question(state, count)
            self._beside(lambda: self._ask(question))
            return None
        skipped = len(self._plan.resume_children)
        found = [draw(self._plan, self._seed, first - skipped + i) for i in range(count)]
        known = tuple(values for values in found if values is not None)
        return Proposed(known, is_exhausted=len(known) < count)

    def taken(self) -> None:
        """What was answered is part of the state now: from here on the next question may follow."""
        self._is_busy = False

    def close(self) -> None:
        if self._asker is not None:
            self._asker.close()

    def _beside(self, work: Callable[[], Proposed]) -> None:
        """In a thread, one at a time: the driver does not wait for it."""
        if self._is_busy:
            return

        def do() -> None:
            answer: Any
            try:
                answer = work()
            except RookeryError as error:
                answer = NoValues(error.message)
            except Exception as error:
                log.exception("Tuning %s got no values", self._run_id)
                answer = NoValues(f"Values could not be had: {error!r:.500}")
            self._answered(answer)

        self._is_busy = True
        threading.Thread(target=do, name="rookery-tune-ask", daemon=True).start()

    def _resume(self, again: tuple[str, ...]) -> Proposed:
        """What earlier children left may be large: it is laid out before they are planned anew."""
        from rookery.tune.resuming import lay_out_outputs

        for run_id in again:
            lay_out_outputs(self._record, run_id)
        return Proposed(tuple(self._values_of(run_id) for run_id in again), resumed_from=again)

    def _values_of(self, run_id: str) -> dict[str, Any]:
        parent = self._record.runs.get(run_id)["parent_id"]
        row = next(row for row in self._record.trials.of(parent) if row["child_id"] == run_id)
        return dict(row["parameters"])

    def _question(self, state: TuneState, count: int) -> dict[str, Any]:
        return {
            "space": self._plan.space,
            "goal": self._plan.goal,
            "seed": self._seed + len(state.trials),
            "count": count,
            "trials": [*self._earlier(), *(_plain(self._plan, trial) for trial in state.trials)],
        }

    def _ask(self, question: dict[str, Any]) -> Proposed:
        """Optuna takes its time, and the first time its environment is made."""
        from rookery.tune.bayesian.asker import Asker

        if self._asker is None:
            self._asker = Asker(f"tune-{self._run_id}")
        return Proposed(tuple(self._asker.ask(question)))

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
