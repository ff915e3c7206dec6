"""Drives the runs of pipelines: makes a run of every step when its turn comes, or takes what a run before has made.

State is in the record (`pipeline_steps`, `runs.state`) before anything is done: a row says which run a step is to be before that
run is made, so a keeper that is killed anywhere is followed by one that carries on, and no step is done twice.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from rookery.engine.creating import create_run
from rookery.errors import ConflictError, NotFoundError, RookeryError, RunNotFoundError
from rookery.pipeline.knowing import check_graph
from rookery.pipeline.plan import Phase, Plan, decide, make_plan
from rookery.pipeline.preparing import Prepared, prepare
from rookery.pipeline.reused import keep_reused
from rookery.pipeline.schedules import ScheduleClock
from rookery.pipeline.sources import kept_outputs
from rookery.pipeline.thread import DriverThread
from rookery.record import Record
from rookery.record.clock import utc_now
from rookery.spec.cause import CauseKind
from rookery.spec.logs import PIPELINE_LOG
from rookery.spec.names import new_guid
from rookery.spec.pipeline import node_map, parameter_values
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus

__all__ = ["PipelineDriver"]

log = logging.getLogger(__name__)
TELL_S = 0.3
_PHASES = {
    RunStatus.COMPLETED: Phase.COMPLETED,
    RunStatus.FAILED: Phase.FAILED,
    RunStatus.CANCELED: Phase.CANCELED,
}


@dataclass
class LivePipeline:
    """One that is not over. Only the driver's thread changes it."""

    run: dict[str, Any]
    graph: dict[str, Any]
    options: dict[str, Any]
    parameters: dict[str, Any]
    plan: Plan
    steps: dict[str, dict[str, Any]]  # as they are stored
    cancel: bool = False
    busy: dict[str, float] = field(default_factory=dict)  # being prepared, since when
    stopped: set[str] = field(default_factory=set)  # runs that were asked to stop
    listening: dict[str, Callable[[], None]] = field(default_factory=dict)  # run → how to stop
    reason: str = ""
    told: float = 0.0  # when its reason was last written
    lines: list[str] = field(default_factory=list)  # of its log, to be written together

    @property
    def id(self) -> str:
        return str(self.run["id"])


class PipelineDriver:
    """The driver of runs of kind pipeline (`engine.drivers.Driver`)."""

    kind = RunKind.PIPELINE

    def __init__(self, record: Record, controller: Any) -> None:
        self._record, self._controller = record, controller
        self._live: dict[str, LivePipeline] = {}
        self._doing: dict[str, tuple[str, str]] = {}  # key → (pipeline, node) that is at it
        self._done_at: dict[str, float] = {}  # key → when it was last over
        self._untold: set[str] = set()  # pipelines whose reason is to be written in a moment
        self._thread = DriverThread("rookery-pipelines", self._look, self._tick)
        self._workers: Optional[ThreadPoolExecutor] = None
        self._workers_lock = threading.Lock()
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
        for run_id in list(self._untold):
            live = self._live.get(run_id)
            if live is None:
                self._untold.discard(run_id)
            else:
                self._tell(live)
        wait_s = self._clock.look()
        if not self._untold:
            return wait_s
        return TELL_S if wait_s is None else min(wait_s, TELL_S)

    def _work(self, task: Callable[[], None]) -> None:
        """Have something done beside the thread: it may take long."""
        with self._workers_lock:
            if self._workers is None:
                self._workers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="rookery-pipeline")
            self._workers.submit(task)

    def _take_up(self, run_id: str) -> None:
        if run_id in self._live:
            return
        run = self._record.runs.get(run_id)
        if RunStatus(run["status"]).is_terminal:
            return
        plan = run["spec"]["plan"]
        graph = plan["graph"]
        made = make_plan(graph, bool(plan.get("continue_on_failure")))
        origin = str(graph.get("name") or "pipeline")
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
                self._doing.setdefault(row["key"], (run_id, node))
                self._recover(live, node, row)
        if RunStatus(run["status"]) is RunStatus.NOT_STARTED:
            self._say(live, f"{len(made.steps)} steps")
        self._thread.mark(run_id)

    def _recover(self, live: LivePipeline, node: str, row: dict[str, Any]) -> None:
        """A step that was decided: its run is there, or is made now as it was decided then."""
        if self._record.runs.find(row["run_id"]) is not None:
            self._listen(live, row["run_id"])
        else:
            self._prepare(live, node)

    def _look(self, run_id: str) -> None:
        live = self._live.get(run_id)
        if live is None:
            return
        self._see_ends(live)
        found = decide(live.plan, {n: row["phase"] for n, row in live.steps.items()}, live.cancel, frozenset(live.busy))
        for node in found.prepare:
            self._prepare(live, node)
        self._change(live, found.change)
        for node, change in found.change.items():
            self._say(live, f"{live.plan.names[node]}: {change['reason']}")
        for node in found.stop:
            run_id = live.steps[node]["run_id"]
            if node not in live.busy and run_id in live.listening and run_id not in live.stopped:
                live.stopped.add(run_id)
                self._controller.cancel(run_id)
        if found.status is not None and not live.busy:
            self._end(live, found.status)
        else:
            self._tell(live)

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
            self._say(
                live, f"{live.plan.names[node]}: {status}{' (' + change['reason'] + ')' if change['reason'] else ''}"
            )
            self._finish(live, node, change)

    def _finish(self, live: LivePipeline, node: str, change: dict[str, Any]) -> None:
        """A step is over: whoever waited for the same one goes on."""
        row = live.steps[node]
        self._change(live, {node: change})
        self._forget_run(live, row["run_id"])
        key = row["key"]
        if key and self._doing.get(key) == (live.id, node):
            del self._doing[key]
            self._done_at[key] = time.monotonic()
            for other in self._live.values():
                held = {n: {"phase": Phase.WAITING, "reason": ""} for n, r in other.steps.items() if _is_held(r, key)}
                if held:
                    self._change(other, held)
                    self._thread.mark(other.id)

    def _prepare(self, live: LivePipeline, node: str) -> None:
        live.busy[node] = time.monotonic()
        row, options = live.steps[node], live.options
        regenerate = bool(options.get("regenerate")) or bool(node_map(live.graph)[node].get("regenerate"))
        outputs = {n: r["outputs"] or {} for n, r in live.steps.items() if r["phase"] == Phase.COMPLETED}

        def work() -> None:
            made = prepare(self._record, live.run, live.graph, node, outputs, live.parameters, row, regenerate)
            self._thread.post(lambda: self._prepared(live, node, made))

        self._work(work)

    def _prepared(self, live: LivePipeline, node: str, made: Prepared) -> None:
        if live.id not in self._live:
            return
        began = live.busy.pop(node, 0.0)
        row = live.steps[node]
        self._thread.mark(live.id)
        if row["phase"] == Phase.RUNNING:  # decided before the keeper was killed: the same run, whatever is known now
            self._make(live, node, made)
            return
        if live.cancel or row["phase"] not in Phase.OPEN:
            return
        if made.problem:
            self._say(live, f"{live.plan.names[node]}: {made.problem}")
            self._change(live, {node: {"phase": Phase.FAILED, "reason": made.problem}})
            return
        assert made.step is not None
        key, parts = made.step.key, made.step.parts
        known = {"key": key, "parts": parts, "reuse": made.reuse, "tries": row["tries"] + 1}
        if made.reusable is not None:
            self._reuse(live, node, made, known)
            return
        if not made.regenerate:
            other = self._doing.get(key)
            if other is not None:
                words = f"waits for the same step of run {other[0]}, to reuse what it makes"
                self._change(live, {node: {"phase": Phase.HELD, "reason": words, "key": key}})
                self._say(live, f"{live.plan.names[node]}: {words}")
                return
            if self._done_at.get(key, -1.0) >= began:
                self._prepare(live, node)  # it was over after we had looked
                return
        self._doing.setdefault(key, (live.id, node))
        self._change(live, {node: {"phase": Phase.RUNNING, "run_id": new_guid(), "reason": "", **known}})
        self._say(live, f"{live.plan.names[node]}: run {row['run_id']}; {made.reuse}")
        self._make(live, node, made)

    def _reuse(self, live: LivePipeline, node: str, made: Prepared, known: dict[str, Any]) -> None:
        assert made.reusable is not None
        change = {
            "phase": Phase.COMPLETED,
            "run_id": new_guid(),
            "reused_from": made.reusable["run_id"],
            "outputs": made.reusable["outputs"],
            "reason": "",
            **known,
        }
        keep_reused(self._record, live.run, node, change, live.plan.names[node])
        live.steps[node].update(change)
        self._say(live, f"{live.plan.names[node]}: {made.reuse}")

    def _make(self, live: LivePipeline, node: str, made: Prepared) -> None:
        """The run that the row names; made again it is the same one."""
        row = live.steps[node]
        run_id = row["run_id"]
        try:
            if made.step is None:
                raise RunNotFoundError(made.problem)
            spec = replace(made.step.spec, run_id=run_id)
            if self._record.runs.find(run_id) is None:
                if live.cancel:
                    self._finish(live, node, {"phase": Phase.CANCELED, "reason": "the pipeline was canceled"})
                    return
                secrets = self._record.secrets.of_run(live.id) if spec.secrets else None
                create_run(self._record, self._controller, spec, live.run["submitted_by"], secrets)
        except RookeryError as error:
            self._say(live, f"{live.plan.names[node]}: {error.message}")
            self._finish(live, node, {"phase": Phase.FAILED, "reason": error.message})
            return
        self._listen(live, run_id)

    def _end(self, live: LivePipeline, status: RunStatus) -> None:
        for run_id in list(live.listening):
            self._forget_run(live, run_id)
        error = None
        if status is RunStatus.FAILED:
            error = self._cause(live)
        self._say(live, f"the pipeline is {status}")
        self._write_lines(live)
        try:
            self._record.runs.advance(live.id, status=status, reason="", error=error, state={}, answer=False)
        except ConflictError:
            pass  # ended by another way
        self._live.pop(live.id, None)

    def _cause(self, live: LivePipeline) -> dict[str, Any]:
        """Of the first step that failed, with its own words."""
        for node in live.plan.steps:
            row = live.steps[node]
            if row["phase"] == Phase.FAILED:
                run = self._record.runs.find(row["run_id"]) if row["run_id"] else None
                cause = dict((run or {}).get("error") or {"kind": CauseKind.USER_ERROR, "attempt": 1})
                cause["summary"] = f"Step '{live.plan.names[node]}' failed: {row['reason']}"
                return cause
        return {"kind": CauseKind.USER_ERROR, "summary": "A step was canceled, and the rest was not run.", "attempt": 1}

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
            self._say(live, "cancel was asked for")
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
        self._live.pop(run_id, None)
        self._take_up(run_id)
        self._say(self._live[run_id], f"{plan.names[node]}: tried again")

    # -- small things ----------------------------------------------------------------------------------------

    def _change(self, live: LivePipeline, changes: dict[str, dict[str, Any]]) -> None:
        """Stored, then in memory."""
        self._record.pipeline_steps.change(live.id, changes)
        for node, values in changes.items():
            live.steps[node].update(values)

    def _listen(self, live: LivePipeline, run_id: str) -> None:
        if run_id not in live.listening:
            ring = self._thread.mark
            live.listening[run_id] = self._record.bell.subscribe(f"run/{run_id}", lambda: ring(live.id))
        self._thread.mark(live.id)  # it may be over already

    def _forget_run(self, live: LivePipeline, run_id: Optional[str]) -> None:
        stop = live.listening.pop(run_id, None) if run_id else None
        if stop is not None:
            stop()

    def _tell(self, live: LivePipeline) -> None:
        """The run's status and reason, where they have changed; words alone a few times a second at most."""
        self._write_lines(live)
        if live.cancel:
            return
        done = sum(row["phase"] == Phase.COMPLETED for row in live.steps.values())
        now = [live.plan.names[n] for n in live.plan.steps if live.steps[n]["phase"] == Phase.RUNNING]
        words = f"{done} of {len(live.plan.steps)} steps done" + (f"; now: {', '.join(now[:3])}" if now else "")
        if words == live.reason:
            self._untold.discard(live.id)
        elif live.told and time.monotonic() - live.told < TELL_S:
            self._untold.add(live.id)
        else:
            self._untold.discard(live.id)
            live.reason, live.told = words, time.monotonic()
            self._record.runs.advance(live.id, status=RunStatus.RUNNING, reason=words, answer=False)

    def _say(self, live: LivePipeline, words: str) -> None:
        """A line of the pipeline's own log."""
        live.lines.append(f"[{utc_now()[:19]}Z] {words}\n")

    def _write_lines(self, live: LivePipeline) -> None:
        """What was said; it is told, not decided by, so a failure harms nothing."""
        text, live.lines = "".join(live.lines).encode("utf-8", "replace"), []
        if not text:
            return
        try:
            self._record.logs.append(live.id, PIPELINE_LOG, self._record.logs.size(live.id, PIPELINE_LOG), text)
        except RookeryError as error:
            log.warning("The log of pipeline %s could not be written: %s", live.id, error)


def _is_held(row: dict[str, Any], key: str) -> bool:
    return bool(row["phase"] == Phase.HELD and row["key"] == key)
