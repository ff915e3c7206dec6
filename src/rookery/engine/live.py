"""The runs that are not over: each step is computed, stored, and only then acted upon."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Optional, Union

from rookery.engine.actions import Action, End, ReleaseNodes, Warn
from rookery.engine.attempts import stamp_attempts
from rookery.engine.observations import Observation, Waiting
from rookery.engine.run_state import RunState, first_state, load_state, store_state
from rookery.engine.state import step
from rookery.errors import ConflictError, RunNotFoundError
from rookery.record.clock import utc_now
from rookery.record.runs import LiveRow
from rookery.spec.cause import CauseKind
from rookery.spec.plain import from_plain
from rookery.spec.run import RunSpec
from rookery.spec.status import RunStatus

__all__ = ["Live", "LiveRuns"]

log = logging.getLogger(__name__)
RETRY_S = 1.0


@dataclass
class Live:
    """One run that is not over. Only the controller's thread writes; `state` is immutable, so anybody may
    read it."""

    run_id: str
    parent_id: Optional[str]
    given: Union[RunSpec, str]  # JSON until somebody wants to know: of very many runs that wait nobody does
    state: RunState
    unreadable: str = ""  # why `spec` is not what was asked for
    heard: dict[int, float] = field(default_factory=dict)  # node → when its agent was last heard of
    still: dict[int, tuple[int, float]] = field(default_factory=dict)  # node → attempt, seconds without progress
    cancel_deadline: Optional[float] = None
    finishers: dict[int, float] = field(default_factory=dict)  # node → when an agent was sent to fetch what it left
    reason_written: float = 0.0
    engine_reason: Optional[str] = None  # what its agents wait for in the engine's own queue, as last told

    @property
    def spec(self) -> RunSpec:
        if isinstance(self.given, str):
            try:
                self.given = read_spec(self.given)
            except Exception as error:
                log.exception("Run %s cannot be read", self.run_id)
                self.unreadable = f"What was asked for cannot be read: another version may have written it ({error})."
                self.given = RunSpec(self.run_id, "", compute=self.state.compute, parent_id=self.parent_id)
        return self.given


class LiveRuns:
    """The table of live runs, and the one place where a run is moved on."""

    def __init__(
        self,
        record: Any,
        do: Callable[[Live, Action], None],
        clock: Callable[[], float] = time.monotonic,
        lost_retries: Callable[[str], int] = lambda compute: 0,
        write_reason: Callable[[str, RunStatus, str], None] = lambda run_id, status, reason: None,
    ) -> None:
        self._write_reason = write_reason
        self._lost_retries = lost_retries
        self._record = record
        self._do = do
        self._clock = clock
        self._live: dict[str, Live] = {}
        self._with_agents: dict[str, Live] = {}
        self._unstored: list[tuple[float, str, Observation]] = []
        self._undone: list[tuple[float, Live, Action]] = []

    def get(self, run_id: str) -> Optional[Live]:
        return self._live.get(run_id)

    def all(self) -> list[Live]:
        return list(self._live.values())

    def with_agents(self) -> list[Live]:
        """Those that have nodes; the others, which may be very many, wait."""
        return list(self._with_agents.values())

    def __len__(self) -> int:
        return len(self._live)

    def add(self, run: dict[str, Any], stored: Optional[dict[str, Any]]) -> Live:
        """Take a run of the record into the table."""
        spec = from_plain(RunSpec, run["spec"])
        state = load_state(stored) if stored else first_state(spec, self._lost_retries(spec.compute))
        return self._add(Live(spec.run_id, spec.parent_id, spec, state))

    def add_row(self, row: LiveRow, state: Optional[RunState]) -> Live:
        """The same for a keeper that starts. What a run that waits asks for is read when its turn comes."""
        if state is not None and state.status is RunStatus.QUEUED and state.compute:
            return self._add(Live(row.id, row.parent_id, row.spec, state))
        spec = read_spec(row.spec)
        return self._add(
            Live(row.id, row.parent_id, spec, state or first_state(spec, self._lost_retries(spec.compute)))
        )

    def _add(self, live: Live) -> Live:
        self._live[live.run_id] = live
        self._sort(live)
        return live

    def temporary(self, run: dict[str, Any]) -> Live:
        """A run without an agent (kind child), looked at for one step."""
        spec = from_plain(RunSpec, run["spec"])
        state = RunState(kind=spec.kind, status=RunStatus(run["status"]), attempt=run["attempt"])
        return Live(spec.run_id, spec.parent_id, spec, state)

    def observe(self, run_id: str, seen: Observation) -> None:
        """Move a run on. When the record cannot store the step now (a full disk) it is tried again later."""
        live = self._live.get(run_id)
        if live is None:
            return
        try:
            self.apply(live, seen)
        except Exception:
            log.exception("Run %s: %r could not be stored; it is tried again", run_id, seen)
            self._unstored.append((self._clock() + RETRY_S, run_id, seen))

    def note_reason(self, live: Live, reason: str) -> None:
        """A run that waits waits for something else now. Only its words change, so that may be written later."""
        live.reason_written = self._clock()
        if live.state.status is not RunStatus.QUEUED or live.state.nodes:
            self.observe(live.run_id, Waiting(reason))
        elif reason != live.state.reason:
            live.state = replace(live.state, reason=reason)
            self._write_reason(live.run_id, RunStatus.QUEUED, reason)

    def apply(self, live: Live, seen: Observation) -> None:
        """Compute, store, act. Raises what the record raises; then nothing has changed. Once the step is stored it has
        happened: an action that fails is tried again, for nothing would ask for it a second time.

        Raises:
            ConflictError: the record says that the run is over.
        """
        new, todo = step(live.state, seen)
        new = stamp_attempts(new, utc_now()) if new.attempts else new
        warnings = [a.text for a in todo if isinstance(a, Warn)]
        if warnings or (new is not live.state and new != live.state):
            try:
                self._store(live, new, warnings)
            except (ConflictError, RunNotFoundError):
                # Ended by another way (as the child of a run that ended, or deleted): everything of it is let
                # go.
                self._do(live, End())
                self._forget(live)
                raise
        live.state = new
        if new.status.is_terminal:
            self._forget(live)
        elif live.run_id in self._live:
            self._sort(live)
        for action in todo:
            if not isinstance(action, Warn):
                self._act(live, action)

    def retry(self) -> bool:
        """Try again what could not be stored, and what could not be done. Whether something is left."""
        now = self._clock()
        unstored = [entry for entry in self._unstored if entry[0] <= now]
        self._unstored = [entry for entry in self._unstored if entry[0] > now]
        undone = [entry for entry in self._undone if entry[0] <= now]
        self._undone = [entry for entry in self._undone if entry[0] > now]
        for _when, run_id, seen in unstored:
            self.observe(run_id, seen)
        for _when, live, action in undone:
            if _is_still_wanted(live.state, action):
                self._act(live, action)
        return bool(self._unstored or self._undone)

    def _sort(self, live: Live) -> None:
        if live.state.nodes:
            self._with_agents[live.run_id] = live
        else:
            self._with_agents.pop(live.run_id, None)

    def _forget(self, live: Live) -> None:
        self._live.pop(live.run_id, None)
        self._with_agents.pop(live.run_id, None)

    def _act(self, live: Live, action: Action) -> None:
        try:
            self._do(live, action)
        except Exception:
            log.exception("Run %s: %r could not be done; it is tried again", live.run_id, action)
            self._undone.append((self._clock() + RETRY_S, live, action))

    def _store(self, live: Live, new: RunState, warnings: list[str]) -> None:
        self._record.runs.advance(
            live.run_id,
            status=new.status,
            reason=new.reason,
            attempt=new.attempt,
            state=store_state(new),
            error=self._error(live.run_id, new),
            warnings=warnings,
            answer=False,
        )

    def _error(self, run_id: str, new: RunState) -> Optional[dict[str, Any]]:
        """The cause to show. What the script itself said with `run.fail` is better than "exit code 1"."""
        cause = new.cause if new.status is RunStatus.FAILED else None
        if cause is None or cause.get("kind") != CauseKind.USER_ERROR or cause.get("exception"):
            return cause
        said = self._record.runs.get(run_id).get("error")
        if not said or not said.get("summary"):
            return cause
        return {
            **cause,
            "summary": said["summary"],
            "exception": said.get("exception"),
            "traceback": said.get("traceback") or cause.get("traceback"),
        }


def read_spec(text: str) -> RunSpec:
    return from_plain(RunSpec, json.loads(text))


def _is_still_wanted(state: RunState, action: Action) -> bool:
    """Whether an action that could not be done when its step was stored is still to be done."""
    if isinstance(action, ReleaseNodes):
        return not state.holding  # else it would take the nodes of the next try
    attempt = getattr(action, "attempt", state.attempt)
    return attempt == state.attempt and (not state.status.is_terminal or isinstance(action, End))
