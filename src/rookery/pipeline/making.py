"""A step whose turn it is: prepared beside the thread, then reused, held, or run; and what follows when it is over.

The row says which run a step is to be before that run is made; made again it is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rookery.engine.creating import create_run
from rookery.errors import RookeryError, RunNotFoundError
from rookery.pipeline.live import LivePipeline, SameSteps
from rookery.pipeline.plan import Phase
from rookery.pipeline.preparing import Prepared, prepare
from rookery.pipeline.reused import keep_reused
from rookery.pipeline.telling import Telling
from rookery.pipeline.thread import DriverThread
from rookery.record import Record
from rookery.spec.names import new_guid
from rookery.spec.pipeline import node_map

__all__ = ["StepMaker"]


class StepMaker:
    """In the driver's thread only, but for what `work` is given.

    Args:
        pipelines: those that are not over, by id; the driver's own.
        work: has something done beside the thread.
    """

    def __init__(
        self,
        record: Record,
        controller: Any,
        thread: DriverThread,
        telling: Telling,
        pipelines: dict[str, LivePipeline],
        work: Callable[[Callable[[], None]], None],
    ) -> None:
        self._record, self._controller, self._thread = record, controller, thread
        self._telling, self._pipelines, self._work = telling, pipelines, work
        self._same = SameSteps()

    def prepare(self, live: LivePipeline, node: str) -> None:
        """Have it listed, hashed and looked for; then it is decided."""
        live.busy[node] = time.monotonic()
        row, options = live.steps[node], live.options
        regenerate = bool(options.get("regenerate")) or bool(node_map(live.graph)[node].get("regenerate"))
        outputs = {n: r["outputs"] or {} for n, r in live.steps.items() if r["phase"] == Phase.COMPLETED}

        def work() -> None:
            made = prepare(self._record, live.run, live.graph, node, outputs, live.parameters, row, regenerate)
            self._thread.post(lambda: self._prepared(live, node, made))

        self._work(work)

    def recover(self, live: LivePipeline, node: str) -> None:
        """A step that was decided by a keeper before: its run is there, or is made now as it was decided then."""
        row = live.steps[node]
        self._same.begin(row["key"], live.id, node)
        if self._record.runs.find(row["run_id"]) is not None:
            live.listen(self._record, row["run_id"], self._thread.mark)
        else:
            self.prepare(live, node)

    def finish(self, live: LivePipeline, node: str, change: dict[str, Any]) -> None:
        """A step is over: whoever waited for the same one goes on."""
        row = live.steps[node]
        live.change(self._record, {node: change})
        live.forget_run(row["run_id"])
        if not self._same.end(row["key"], live.id, node):
            return
        for other in self._pipelines.values():
            held = {each: {"phase": Phase.WAITING, "reason": ""} for each in other.held_by(row["key"])}
            if held:
                other.change(self._record, held)
                self._thread.mark(other.id)

    def _prepared(self, live: LivePipeline, node: str, made: Prepared) -> None:
        if self._pipelines.get(live.id) is not live:  # over, or taken up anew: then it is prepared there
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
            self._telling.say_of(live, node, made.problem)
            live.change(self._record, {node: {"phase": Phase.FAILED, "reason": made.problem}})
            return
        assert made.step is not None
        key, parts = made.step.key, made.step.parts
        known = {"key": key, "parts": parts, "reuse": made.reuse, "tries": row["tries"] + 1}
        if made.reusable is not None:
            self._reuse(live, node, made, known)
            return
        if not made.regenerate:
            other = self._same.who(key)
            if other is not None:
                words = f"waits for the same step of run {other[0]}, to reuse what it makes"
                live.change(self._record, {node: {"phase": Phase.HELD, "reason": words, "key": key}})
                self._telling.say_of(live, node, words)
                return
            if self._same.ended_since(key, began):
                self.prepare(live, node)  # it was over after we had looked
                return
        self._same.begin(key, live.id, node)
        live.change(self._record, {node: {"phase": Phase.RUNNING, "run_id": new_guid(), "reason": "", **known}})
        self._telling.say_of(live, node, f"run {row['run_id']}; {made.reuse}")
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
        self._telling.say_of(live, node, made.reuse)

    def _make(self, live: LivePipeline, node: str, made: Prepared) -> None:
        """The run that the row names; made again it is the same one."""
        run_id = live.steps[node]["run_id"]
        try:
            if made.step is None:
                raise RunNotFoundError(made.problem)
            spec = replace(made.step.spec, run_id=run_id)
            if self._record.runs.find(run_id) is None:
                if live.cancel:
                    self.finish(live, node, {"phase": Phase.CANCELED, "reason": "the pipeline was canceled"})
                    return
                secrets = self._record.secrets.of_run(live.id) if spec.secrets else None
                create_run(self._record, self._controller, spec, live.run["submitted_by"], secrets)
        except RookeryError as error:
            self._telling.say_of(live, node, error.message)
            self.finish(live, node, {"phase": Phase.FAILED, "reason": error.message})
            return
        live.listen(self._record, run_id, self._thread.mark)
