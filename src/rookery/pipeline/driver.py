"""Drives the runs of pipelines: makes a run of every step when its turn comes, or takes what a run before has made.

State is in the record (`pipeline_steps`, `runs.state`) before anything is done: a row says which run a step is to be before that
run is made, so a keeper that is killed anywhere is followed by one that carries on, and no step is done twice. Here is what happens
to a pipeline as a whole; `making` has what happens to one step, `telling` what is said of it, `plan` what follows from what.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from rookery.errors import ConflictError, NotFoundError
from rookery.pipeline.knowing import check_graph
from rookery.pipeline.live import LivePipeline
from rookery.pipeline.making import StepMaker
from rookery.pipeline.plan import Phase, decide, make_plan
from rookery.pipeline.schedules import ScheduleClock
from rookery.pipeline.sources import kept_outputs
from rookery.pipeline.telling import TELL_S, Telling, cause_of
from rookery.pipeline.thread import DriverThread
from rookery.record import Record
from rookery.spec.names import name_of_original
from rookery.spec.pipeline import parameter_values
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus

__all__ = ["PipelineDriver"]

_PHASES = {
    RunStatus.COMPLETED: Phase.COMPLETED,
    RunStatus.FAILED: Phase.FAILED,
    RunStatus.CANCELED: Phase.CANCELED,
}


class PipelineDriver:
    """The driver of runs of kind pipeline (`engine.drivers.Driver`)."""

    kind = RunKind.PIPELINE

    def __init__(self, record: Record, controller: Any) -> None:
        self._record, self._controller = record, controller
        self._live: dict[str, LivePipeline] = {}
        self._thread = DriverThread("rookery-pipelines", self._look, self._tick)
        self._workers: Optional[ThreadPoolExecutor] = None
        self._workers_lock = threading.Lock()
        self._telling = Telling(record)
        self._maker = StepMaker(record, controller, self._thread, self._telling, self._live, self._work)
        self._clock = ScheduleClock(record, controller, self._work)

    # -- the seam --------------------------------------------------------------------------------------------

    def start(self) -> None:
        waiting = self._record.runs.driven(self.kind)
        for run_id in waiting:
            self._thread.post(lambda run_id=run_id: self._take_up(run_id))  # type: ignore[misc]
        if self._record.schedules.next_due() is not None:
            self._thread.start()

    def stop(self) -> None:
        self._thread.stop()
        with self._workers_lock:
            if self._workers is not None:
                self._workers.shutdown(wait=False, cancel_futures=True)

    def check(self, spec: RunSpec) -> None:
        """Raise UserError, with all problems in its details, for a graph that cannot be run."""
        plan = spec.plan or {}
        check_graph(self._record, self._controller, plan.get("graph"), plan.get("parameters"))

    def submitted(self, run_id: str) -> None:
        self._thread.post(lambda: self._take_up(run_id))

    def cancel(self, run_id: str) -> None:
        self._thread.call(lambda: self._cancel(run_id))

    def count(self) -> int:
        """Those that are not over, and schedules: a keeper that left would not start them."""
        return len(self._live) + len(self._record.schedules.list(active_only=True))

    # -- what routes ask -------------------------------------------------------------------------------------

    def retry(self, run_id: str, node: str) -> None:
        """Do a step that failed, or was canceled, once more, and what was not run because of it.

        Raises:
            ConflictError: the step did not fail.
            NotFoundError: there is no such step.
        """
        self._thread.call(lambda: self._retry(run_id, node))

    def schedules_changed(self) -> None:
        """Look at the clock again."""
        self._thread.post(lambda: None)

    # -- in the thread ---------------------------------------------------------------------------------------

    def _tick(self) -> Optional[float]:
        is_untold = self._telling.tell_the_rest(self._live)
        wait_s = self._clock.look()
        if not is_untold:
            return wait_s
        return TELL_S if wait_s is None else min(wait_s, TELL_S)

    def _work(self, task: Callable[[], None]) -> None:
        """Have something done beside the thread: it may take long."""
        with self._workers_lock:
            if self._workers is None:
                self._workers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="rookery-pipeline")
            self._workers.submit(task)

    def _take_up(self, run_id: str) -> None:
        """A pipeline that was submitted, is tried again, or was left by a keeper before."""
        if run_id in self._live:
            return
        run = self._record.runs.get(run_id)
        if RunStatus(run["status"]).is_terminal:
            return
        plan = run["spec"]["plan"]
        graph = plan["graph"]
        made = make_plan(graph, bool(plan.get("continue_on_failure")))
        origin = name_of_original(str(graph.get("name") or "pipeline"))  # a clone is told against what it is of
        self._record.pipeline_steps.begin(run_id, [(key, f"{origin}/{key}"[:512]) for key in made.steps])
        state = self._record.runs.state(run_id) or {}
        live = LivePipeline(
            run=run,
            graph=graph,
            options=plan,
            parameters=parameter_values(graph, plan.get("parameters") or {}),
            plan=made,
            steps=self._record.pipeline_steps.of_run(run_id),
            cancel=bool(state.get("cancel")),
        )
        self._live[run_id] = live
        for node, row in live.steps.items():
            if row["phase"] == Phase.HELD:
                row["phase"] = Phase.WAITING  # who held it may be gone
            if row["phase"] == Phase.RUNNING:
                self._maker.recover(live, node)
        if RunStatus(run["status"]) is RunStatus.NOT_STARTED:
            self._telling.say(live, f"{len(made.steps)} steps")
        self._thread.mark(run_id)

    def _look(self, run_id: str) -> None:
        live = self._live.get(run_id)
        if live is None:
            return
        self._see_ends(live)
        found = decide(live.plan, {n: row["phase"] for n, row in live.steps.items()}, live.cancel, frozenset(live.busy))
        for node in found.prepare:
            self._maker.prepare(live, node)
        live.change(self._record, found.change)
        for node, change in found.change.items():
            self._telling.say_of(live, node, change["reason"])
        for node in found.stop:
            run_id = live.steps[node]["run_id"]
            if node not in live.busy and run_id in live.listening and run_id not in live.stopped:
                live.stopped.add(run_id)
                self._controller.cancel(run_id)
        if found.status is not None and not live.busy:
            self._end(live, found.status)
        else:
            self._telling.tell(live)

    def _see_ends(self, live: LivePipeline) -> None:
        """Which runs of steps are over."""
        wanted = {
            row["run_id"]: n for n, row in live.steps.items() if row["phase"] == Phase.RUNNING and n not in live.busy
        }
        for run_id, status in self._record.pipeline_steps.statuses(wanted).items():
            if not RunStatus(status).is_terminal:
                continue
            node = wanted[run_id]
            change: dict[str, Any] = {"phase": _PHASES[RunStatus(status)], "reason": ""}
            if status == RunStatus.COMPLETED:
                change["outputs"] = kept_outputs(self._record, run_id)
            else:
                cause = self._record.runs.get(run_id).get("error") or {}
                change["reason"] = str(cause.get("summary") or f"its run was {status.lower()}")
            self._telling.say_of(live, node, f"{status} ({change['reason']})" if change["reason"] else str(status))
            self._maker.finish(live, node, change)

    def _end(self, live: LivePipeline, status: RunStatus) -> None:
        error = cause_of(self._record, live) if status is RunStatus.FAILED else None
        self._telling.say(live, f"the pipeline is {status}")
        self._telling.write(live)
        try:
            self._record.runs.advance(live.id, status=status, reason="", error=error, state={}, answer=False)
        except ConflictError:
            pass  # ended by another way
        self._let_go(live)

    def _let_go(self, live: LivePipeline) -> None:
        for run_id in list(live.listening):
            live.forget_run(run_id)
        self._live.pop(live.id, None)

    def _cancel(self, run_id: str) -> None:
        live = self._live.get(run_id)
        if live is None:
            run = self._record.runs.find(run_id)
            if run is None or RunStatus(run["status"]).is_terminal:
                return
            self._take_up(run_id)
            live = self._live[run_id]
        if not live.cancel:
            live.cancel = True
            words = "its steps are being stopped"
            self._record.runs.advance(
                run_id, status=RunStatus.CANCEL_REQUESTED, reason=words, state={"cancel": True}, answer=False
            )
            self._telling.say(live, "cancel was asked for")
        self._thread.mark(run_id)

    def _retry(self, run_id: str, node: str) -> None:
        run = self._record.runs.get(run_id)
        if run["kind"] != self.kind:
            raise ConflictError(f"Run '{run_id}' is no pipeline, so it has no steps to try again.")
        rows = self._record.pipeline_steps.of_run(run_id)
        if node not in rows:
            raise NotFoundError(f"The pipeline has no step '{node:.80}'. It has: {', '.join(rows)}.")
        if rows[node]["phase"] not in Phase.BAD:
            raise ConflictError(
                f"Step '{node}' is {rows[node]['phase']}: only one that failed, was canceled or was not run is tried again."
            )
        live = self._live.get(run_id)
        if live is not None and live.cancel:
            raise ConflictError(f"Run '{run_id}' is being canceled. Try again when it is over.")
        options = run["spec"]["plan"]
        plan = live.plan if live else make_plan(options["graph"], bool(options.get("continue_on_failure")))
        again = {"phase": Phase.WAITING, "run_id": None, "reason": "", "reused_from": None}
        changes = {node: dict(again)}
        for key in plan.steps:  # whatever was not run because of a failure has its chance again
            if key != node and rows[key]["phase"] in (Phase.SKIPPED, Phase.CANCELED):
                changes[key] = dict(again)
        self._record.pipeline_steps.open_again(run_id, changes, f"'{plan.names[node]}' is tried again")
        self._record.runs.set_state(run_id, {})
        if live is not None:  # it is not over yet: taken up anew, from what is stored
            self._telling.write(live)
            self._let_go(live)
        self._take_up(run_id)
        self._telling.say_of(self._live[run_id], node, "tried again")
