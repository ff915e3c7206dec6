"""One tuning under way: looks at its children, asks `state` what follows, stores that, and has it done."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Optional

from rookery.engine.creating import create_run
from rookery.errors import RookeryError, ServiceError, StorageError
from rookery.record.clock import milliseconds, utc_now
from rookery.record.trials import ChildSeen
from rookery.spec.plain import from_plain
from rookery.spec.run import RunSpec
from rookery.spec.status import RunStatus
from rookery.spec.tune import child_run_id, read_tune_plan
from rookery.tune import state as st
from rookery.tune.children import child_spec, overridden
from rookery.tune.policies import best_of
from rookery.tune.proposing import Proposer
from rookery.tune.telling import Teller, failure, missing_metric, progress_words, shown_values, trial_row

__all__ = ["Tuning"]

log = logging.getLogger(__name__)
LOOK_AT_ALL_S = 4.0
NOT_FOR_EVER = (StorageError, ServiceError)  # what may be otherwise in a second


class Tuning:
    """In the driver's thread only, but for `ring`, which any thread may call.

    Args:
        ring: calls the driver; `is_rung` says that something has happened since the last look.
    """

    def __init__(self, record: Any, controller: Any, run: dict[str, Any], ring: Callable[[], None]) -> None:
        self._record, self._controller, self._run, self._ring = record, controller, run, ring
        self.run_id: str = run["id"]
        self.spec = from_plain(RunSpec, run["spec"])
        self.plan = read_tune_plan(self.spec.plan)
        self.looked = 0.0  # monotonic
        self.is_rung = True
        stored = record.runs.state(self.run_id) or {}
        self._status = RunStatus(run["status"])
        self._began = stored.get("began") or utc_now()
        left_s = milliseconds(self._began) / 1000 + self.plan.max_duration_minutes * 60 - time.time()
        self.deadline = time.monotonic() + left_s
        self._teller = Teller(record, self.run_id, self.plan.metric, self.plan.goal)
        self._proposer = Proposer(record, self.run_id, self.plan, self._answered)
        self._answer: Optional[st.Observation] = None
        self._dirty: deque[str] = deque()  # children that have rung
        self._looked_at_all = 0.0
        self._subscribed: dict[str, dict[str, Callable[[], None]]] = {}  # child → it, or a step of it → how to stop
        self._asked_to_stop: set[int] = set()
        self._has_warned = False
        self._progress = ""
        self._stored = self.state = self._load(stored)

    def cancel(self) -> None:
        """Returns when the wish is stored."""
        if self.state.ending:
            return
        self._see(st.CancelAsked())
        self._teller.say("Canceling: children are being stopped.")
        self._store(RunStatus.CANCEL_REQUESTED, "its children are being stopped")

    def work(self) -> bool:
        """Looks, decides, stores, acts, until nothing is left to do now. Whether it is over."""
        if self._status is RunStatus.NOT_STARTED:
            self._begin()
        self.is_rung = False
        self.looked = time.monotonic()
        self._look()
        if self.looked >= self.deadline and not self.state.ending:
            words = f"max_duration_minutes={self.plan.max_duration_minutes:g} is over: what still ran was canceled."
            self._see(st.TimeOver(words))
            self._record.runs.warn(self.run_id, words)
        for _ in range(self.plan.max_total_runs + 2):
            self._store()
            if not self._act():
                break
        self._teller.flush()
        return self._status.is_terminal

    def close(self) -> None:
        for child in list(self._subscribed):
            self._unwatch(child)
        self._proposer.close()

    # -- the beginning ---------------------------------------------------------------------------------------

    def _load(self, stored: dict[str, Any]) -> st.TuneState:
        """As the last keeper left it. Values are read again: they are the children's, not ours."""
        trials = tuple(
            st.Trial(
                number=row["number"],
                parameters=row["parameters"],
                phase=row["phase"],
                status=row["status"],
                stopped=row["stopped"],
                judged=row["judged"],
                resumed_from=row["resumed_from"],
            )
            for row in self._record.trials.of(self.run_id)
        )
        state = st.TuneState(
            trials, bool(stored.get("is_exhausted")), stored.get("ending", ""), stored.get("why", ""), self._earlier()
        )
        seen = self._see_children([self._child(t) for t in trials], {})
        kept = []
        for trial in trials:
            found = seen.get(self._child(trial))
            if found is not None and trial.phase == st.Phase.PLANNED:
                trial = replace(trial, phase=st.Phase.ACTIVE)  # its child was made, which was not noted any more
                self._record.trials.note_values(self._child(trial), trial.parameters)
            if found is not None and found.values:
                # What was judged stays judged; what came since is judged when it is looked at.
                is_done = trial.phase == st.Phase.ENDED or self.plan.policy == "none"
                trial = replace(trial, values=found.values if is_done else found.values[: trial.judged])
            self._teller.look_at(trial, self._child(trial), is_new=False)
            kept.append(trial)
            if trial.phase == st.Phase.ACTIVE:
                self._watch(self._child(trial))
            else:
                self._unwatch(self._child(trial))
        return replace(state, trials=tuple(kept))

    def _earlier(self) -> dict[str, tuple[float, ...]]:
        """Histories of the children of earlier tunings, for policies."""
        found: dict[str, tuple[float, ...]] = {}
        for run_id in self.plan.resume_from:
            children = [row["child_id"] for row in self._record.trials.of(run_id)]
            seen = self._record.trials.look(children, self.plan.metric, {}, self._record.trials.steps_of(children))
            found.update({child: each.values for child, each in seen.items() if each.values})
        return found

    def _begin(self) -> None:
        plan = self.plan
        given = overridden(self.spec, plan.space)
        if given:
            self._record.runs.warn(
                self.run_id,
                f"Arguments name {', '.join(given)}, which the parameter space names too: the sampled values are used.",
            )
        self._teller.say(
            f"Tuning {', '.join(plan.space)} to {plan.goal} {plan.metric}: {plan.sampler} sampling, policy {plan.policy}, "
            f"{plan.max_total_runs} children at most, {plan.concurrency} at a time."
        )
        self._store(RunStatus.RUNNING)

    # -- looking ---------------------------------------------------------------------------------------------

    def _look(self) -> None:
        dirty = set()
        while self._dirty:
            dirty.add(self._dirty.popleft())
        active = {self._child(t): t for t in self.state.trials if t.phase == st.Phase.ACTIVE}
        if self.looked - self._looked_at_all >= LOOK_AT_ALL_S:  # should a bell have been missed
            self._looked_at_all = self.looked
            dirty.update(active)
        wanted = [child for child in active if child in dirty]
        seen = self._see_children(wanted, {c: len(t.values) for c, t in active.items()})
        for child, found in seen.items():
            number = active[child].number
            if found.values:
                self._report(number, found.values)
            if RunStatus(found.status).is_terminal:
                self._end_trial(number, RunStatus(found.status))
        if self._answer is not None:
            answer, self._answer = self._answer, None
            self._see(answer)
            self._proposer.taken()

    def _see_children(self, children: list[str], known: dict[str, int]) -> dict[str, ChildSeen]:
        """Status and metric; a pipeline's metric may be logged by its steps, so these are listened to from here on."""
        steps = self._record.trials.steps_of(children) if self.plan.pipeline else {}
        for child, run_ids in steps.items():
            for run_id in run_ids:
                self._watch(child, run_id)
        seen: dict[str, ChildSeen] = self._record.trials.look(children, self.plan.metric, known, steps)
        return seen

    def _report(self, number: int, values: tuple[float, ...]) -> None:
        was_stopped = self.state.trials[number].stopped
        self._see(st.Reported(number, values))
        trial = self.state.trials[number]
        self._teller.look_at(trial, self._child(trial))
        if trial.stopped and not was_stopped:
            self._teller.say(f"{self._child(trial)} is stopped. {trial.stopped}")

    def _end_trial(self, number: int, status: RunStatus) -> None:
        self._see(st.Ended(number, status))
        trial = self.state.trials[number]
        child = self._child(trial)
        self._teller.say(f"{child} {status}" + (f" after {len(trial.values)} intervals" if trial.values else ""))
        self._unwatch(child)
        if status is RunStatus.COMPLETED and best_of(self.plan.goal, trial.values) is None and not self._has_warned:
            self._warn_of_metric(child)

    def _warn_of_metric(self, child: str) -> None:
        """The commonest mistake: the script logs another name. Said at once, not only when all children have run."""
        self._has_warned = True
        steps = self._record.trials.steps_of([child]).get(child, [])
        words = missing_metric(child, self.plan.metric, self._record.trials.metric_kinds([child, *steps]))
        self._teller.say(f"Warning: {words}")
        self._record.runs.warn(self.run_id, words)

    # -- deciding and storing --------------------------------------------------------------------------------

    def _see(self, seen: st.Observation) -> None:
        self.state = st.step(self.plan, self.state, seen)

    def _store(
        self, status: Optional[RunStatus] = None, reason: str = "", error: Optional[dict[str, Any]] = None
    ) -> None:
        old = {id(t) for t in self._stored.trials}
        changed = [t for t in self.state.trials if id(t) not in old]
        rows = [trial_row(t, self._child(t), self.plan.goal) for t in changed]
        flags = (self.state.is_exhausted, self.state.ending, self.state.why)
        if status is None and self._status is RunStatus.RUNNING and not self.state.ending:
            progress = progress_words(self.state, self.plan)
            if progress != self._progress:
                status, reason, self._progress = RunStatus.RUNNING, progress, progress
        if not rows and status is None and flags == (self._stored.is_exhausted, self._stored.ending, self._stored.why):
            return
        plain = {"began": self._began, "is_exhausted": flags[0], "ending": flags[1], "why": flags[2]}
        self._record.trials.store(self.run_id, rows, state=plain, status=status, reason=reason, error=error)
        self._stored = self.state
        if status is not None:
            self._status = status

    # -- acting ----------------------------------------------------------------------------------------------

    def _act(self) -> bool:
        """Whether something was done that may have more in its train."""
        moved = False
        for action in st.todo(self.plan, self.state):
            if isinstance(action, st.Stop):
                self._stop(action.number)
            elif isinstance(action, st.Create):
                self._create(action.number)
                moved = True
            elif isinstance(action, st.Propose):
                moved = self._propose(action.count) or moved
            else:
                self._finish(action)
        return moved and not self._status.is_terminal

    def _propose(self, count: int) -> bool:
        answer = self._proposer.propose(self.state, count)
        if answer is not None:
            self._see(answer)
        return answer is not None

    def _answered(self, answer: st.Observation) -> None:
        """In the proposer's thread."""
        self._answer = answer
        self._rung()

    def _create(self, number: int) -> None:
        trial = self.state.trials[number]
        try:
            spec = child_spec(self.spec, number, trial.parameters)
            if trial.resumed_from:
                from rookery.tune.resuming import resumed_spec

                spec = resumed_spec(self._record, spec, trial.resumed_from, self._run["submitted_by"])
            secrets = self._record.secrets.of_run(self.run_id) if spec.secrets else {}
            self._watch(self._child(trial))
            create_run(self._record, self._controller, spec, self._run["submitted_by"], secrets)
        except NOT_FOR_EVER:
            raise
        except RookeryError as error:
            self._see(st.Refused(number, error.message))
            self._teller.say(f"{self._child(trial)} cannot be run: {error.message}")
            return
        self._see(st.Created(number))
        self._teller.say(f"{spec.run_id} starts with {shown_values(trial.parameters)}")
        self._record.trials.note_values(spec.run_id, trial.parameters)

    def _stop(self, number: int) -> None:
        if number in self._asked_to_stop:
            return
        self._asked_to_stop.add(number)
        if self.plan.pipeline:
            # Their driver's thread may be waiting for ours at this moment: a step of another pipeline may be a tuning.
            threading.Thread(target=self._cancel_beside, args=[number], name="rookery-tune-stop", daemon=True).start()
        else:
            self._cancel_child(number)

    def _cancel_child(self, number: int) -> None:
        try:
            self._controller.cancel(child_run_id(self.run_id, number))
        except BaseException:
            self._asked_to_stop.discard(number)  # it is tried again
            raise

    def _cancel_beside(self, number: int) -> None:
        try:
            self._cancel_child(number)
        except Exception as error:
            log.warning("Child %s of tuning %s could not be stopped yet: %r", number, self.run_id, error)

    def _finish(self, action: st.Finish) -> None:
        trials = self.state.trials
        ended = {status: sum(t.status == status for t in trials) for status in ("Completed", "Canceled", "Failed")}
        words = ", ".join(f"{count} {status.lower()}" for status, count in ended.items() if count) or "no children"
        reason = action.why
        if action.status is not RunStatus.FAILED and not reason and trials and self._has_no_best():
            reason = f"There is no best child: none has logged the primary metric '{self.plan.metric}' as a number."
        self._teller.finish(f"{action.status}: {words}. {reason}".rstrip())
        error = None
        if action.status is RunStatus.FAILED:
            failed = next((t for t in trials if t.status == RunStatus.FAILED.value and not t.stopped), None)
            first = self._record.runs.get(self._child(failed))["error"] if failed else None
            error = failure(action.why, first)
        self._store(action.status, "" if action.status is RunStatus.FAILED else reason, error)

    def _has_no_best(self) -> bool:
        return all(best_of(self.plan.goal, trial.values) is None for trial in self.state.trials)

    # -- children --------------------------------------------------------------------------------------------

    def _child(self, trial: st.Trial) -> str:
        return child_run_id(self.run_id, trial.number)

    def _watch(self, child: str, run_id: str = "") -> None:
        """Whatever happens to a child, or to a step of it, has the child looked at."""
        run_id = run_id or child
        there = self._subscribed.setdefault(child, {})
        if run_id in there:
            return

        def rang() -> None:
            self._dirty.append(child)
            self._rung()

        there[run_id] = self._record.bell.subscribe(f"run/{run_id}", rang)

    def _unwatch(self, child: str) -> None:
        for unsubscribe in self._subscribed.pop(child, {}).values():
            unsubscribe()

    def _rung(self) -> None:
        if not self.is_rung:  # else the driver knows already
            self.is_rung = True
            self._ring()
