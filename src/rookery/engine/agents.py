"""What agents say and are told. Every call that changes a run returns after the change is stored."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rookery.engine import observations as obs
from rookery.engine.engines.registry import Engines
from rookery.engine.live import Live, LiveRuns
from rookery.engine.loop import Loop
from rookery.engine.outcome import COMPLETED, FAILED, Outcome, read_outcome
from rookery.engine.placement import JobMaker
from rookery.engine.run_state import NodePhase
from rookery.engine.verdict import data_cause, lost_with
from rookery.errors import ConflictError, RookeryError, UserError

__all__ = ["AgentDesk"]

COMING_S = 180.0  # an agent that its engine has started on another machine must have been heard of within this time
FINISHER_S = 180.0  # an agent that fetches what a dead one left must have been heard of within this time
BUSY_S = 3600.0  # or within this, when it waits for its machine, which others use


class AgentDesk:
    """The controller's side of `/agent/{run}/{attempt}/{node}/…`.

    Promises: a call of an attempt that is over raises ConflictError; beats never wait for the controller;
    commands follow from
    the run's state alone, so that they need no table and survive a restart.
    """

    def __init__(
        self,
        record: Any,
        loop: Loop,
        runs: LiveRuns,
        engines: Engines,
        jobs: JobMaker,
        heartbeat_s: float,
        missed: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._record, self._loop, self._runs, self._engines, self._jobs, self._clock = (
            record,
            loop,
            runs,
            engines,
            jobs,
            clock,
        )
        self.heartbeat_s, self._missed = heartbeat_s, missed
        self._keeping = threading.Lock()

    def hello(self, run_id: str, attempt: int, node: int, body: Any = None) -> dict[str, Any]:
        machine = body.get("machine") if isinstance(body, dict) else None
        return self._tell(run_id, obs.AgentHello(attempt, node, machine if isinstance(machine, str) else ""))

    def job(self, run_id: str, attempt: int, node: int) -> str:
        """The job of a node whose machine does not see our files, as it was written for it.

        Raises:
            ConflictError: the attempt is over, or its job is not written yet.
        """
        live = self._find(run_id, attempt, node)
        live.heard[node] = self._clock()
        try:
            with open(self._jobs.place(live, node).paths.job, encoding="utf-8") as f:
                return f.read()
        except OSError as error:
            raise ConflictError(f"Attempt {attempt}, node {node} of run '{run_id}' has no job.") from error

    def running(self, run_id: str, attempt: int, node: int) -> None:
        self._tell(run_id, obs.RanksRunning(attempt, node))

    def open_rendezvous(self, run_id: str, attempt: int, node: int, body: Any) -> None:
        """Node 0 says where it waits for the others."""
        address, port = (body.get("address"), body.get("port")) if isinstance(body, dict) else (None, None)
        if not isinstance(address, str) or not address or type(port) is not int or not 0 < port < 65536:
            raise UserError(f"{body!r:.200} is no rendezvous: it has an `address` and a `port` between 1 and 65535.")
        self._tell(run_id, obs.RendezvousOpened(attempt, node, address, port))
        self._record.bell.ring(f"rendezvous/{run_id}/{attempt}")

    def rendezvous(self, run_id: str, attempt: int, node: int) -> dict[str, Any]:
        """Where node 0 waits, once it does. Never blocks; asking counts as a sign of life."""
        live = self._find(run_id, attempt, node)
        live.heard[node] = self._clock()
        found = live.state.rendezvous
        if found is None or found.get("attempt") != attempt:
            return {"address": None, "port": None, "cancel": live.state.stop}
        return {"address": found["address"], "port": found["port"], "cancel": live.state.stop}

    def outcome(self, run_id: str, attempt: int, node: int, body: Any) -> None:
        outcome = read_outcome(body)
        if outcome is None:
            raise UserError(f"{body!r:.200} is not an outcome: result must be completed, failed, canceled or lost.")
        live = self._find(run_id, attempt, node)
        if outcome.result != COMPLETED or not live.spec.outputs:
            self._tell(run_id, obs.RanksEnded(attempt, node, outcome))
            return
        with self._keeping:  # of two nodes that end together one is the last
            outcome = self._keep_outputs(live, attempt, node, outcome)
            self._tell(run_id, obs.RanksEnded(attempt, node, outcome))

    def _keep_outputs(self, live: Live, attempt: int, node: int, outcome: Outcome) -> Outcome:
        """What a run wrote becomes data when the last of its nodes has brought its share back, and before it is shown as
        completed. Where it cannot, the run has failed."""
        others = [n for i, n in enumerate(live.state.nodes) if i != node]
        if any(n.outcome is None or n.outcome.result != COMPLETED for n in others):
            return outcome
        from rookery.data import complete_outputs

        try:
            complete_outputs(self._record, live.run_id)
        except RookeryError as error:
            return Outcome(FAILED, {**data_cause(error.message), "attempt": attempt}, outcome.ranks)
        return outcome

    def finished(self, run_id: str, attempt: int, node: int, body: Any) -> None:
        warnings = [str(w) for w in (body.get("warnings") if isinstance(body, dict) else None) or ()]
        live = self._find(run_id, attempt, node)
        mine = live.state.nodes[node].outcome
        if live.spec.outputs and mine is not None and mine.result == COMPLETED:
            # Once more, for an outcome that a keeper found on disk; what is kept already stays as it is.
            kept = self._keep_outputs(live, attempt, node, mine)
            if kept.result != COMPLETED:
                warnings.append(str((kept.cause or {}).get("summary")))
        self._tell(run_id, obs.Shipped(attempt, node, tuple(warnings)))

    def beat(self, run_id: str, attempt: int, node: int, body: Any) -> dict[str, Any]:
        live = self._find(run_id, attempt, node)
        live.heard[node] = self._clock()
        if node in live.state.silent:
            self._tell(run_id, obs.HeardAgain(attempt, node))
        still_s = body.get("still_s") if isinstance(body, dict) else None
        if isinstance(still_s, (int, float)):
            live.still[node] = (live.state.attempt, float(still_s))
        doing = body.get("doing") if isinstance(body, dict) else None
        if isinstance(doing, str) and doing and doing not in live.state.reason:
            busy = obs.NodeBusy(attempt, node, doing[:200])
            self._loop.post(lambda: self._runs.observe(run_id, busy))  # nobody waits for it
        answer = {"cancel": live.state.stop, "still_s": self._still_s(live)}
        return {**answer, "grace_s": self._jobs.stop_grace_s(live)}

    def _still_s(self, live: Live) -> float:
        """How long every node of the attempt has been standing still; 0 while one has not said so."""
        nodes = [i for i, state in enumerate(live.state.nodes) if state.phase in NodePhase.BUSY]
        told = [live.still.get(i, (0, 0.0)) for i in nodes]
        return (
            min((s for attempt, s in told if attempt == live.state.attempt), default=0.0)
            if all(attempt == live.state.attempt for attempt, _ in told)
            else 0.0
        )

    def commands(self, run_id: str, attempt: int, node: int, after: int) -> list[dict[str, Any]]:
        live = self._find(run_id, attempt, node)
        state = live.state
        told: list[dict[str, Any]] = []
        if state.preempted is not None:
            taken = {"node": state.preempted, "name": state.grants[state.preempted].id}
            told.append({"n": 1, "command": "preempt", "grace_s": state.preempt_grace_s, **taken})
        if state.stop:
            told.append({"n": 2, "command": "cancel", "grace_s": self._jobs.stop_grace_s(live)})
        return [command for command in told if command["n"] > after]

    def look(self) -> None:
        """Called every tick: who is silent, whose time to stop is over."""
        now = self._clock()
        limit = self._missed * self.heartbeat_s
        for live in self._runs.with_agents():
            if live.cancel_deadline is not None and now >= live.cancel_deadline:
                live.cancel_deadline = None
                self._runs.observe(live.run_id, obs.CancelOverdue())
            for node, state in enumerate(live.state.nodes):
                silent_s = now - live.heard.setdefault(node, now)
                if live.finishers and state.phase == NodePhase.ENDED:
                    self._look_at_finisher(live, node, silent_s)
                if state.phase in NodePhase.BUSY and self._is_lost(live, node, silent_s):
                    self._engines.kill(self._jobs.place(live, node))
                    continue
                if state.phase not in NodePhase.BUSY or node in live.state.silent or silent_s < limit:
                    continue
                if self._is_coming(live, node, silent_s):
                    continue
                if self._engines.is_alive(self._jobs.place(live, node)):
                    self._runs.observe(
                        live.run_id,
                        obs.Silence(live.state.attempt, node, self._silence_words(node, silent_s)),
                    )

    def _is_coming(self, live: Live, node: int, silent_s: float) -> bool:
        """Whether an agent on another machine has not come up yet: it may wait in its engine's queue for days, and then has to
        fetch its code."""
        if (
            live.state.nodes[node].phase != NodePhase.PLACED
            or live.state.nodes[node].machine
            or not self._jobs.is_far(live)
        ):
            return False
        if self._engines.waiting(self._jobs.place(live, node)):
            live.heard[node] = self._clock()
            return True
        return silent_s < COMING_S

    def _is_lost(self, live: Live, node: int, silent_s: float) -> bool:
        """Whether an agent has been silent for so long that one whose engine cannot see it is given up."""
        if silent_s < self._missed * self.heartbeat_s:
            return False
        if not live.state.nodes[node].machine and not self._jobs.visits(live):
            return False  # one that has never come is waited for
        after_s = self._engines.lost_after_s(self._jobs.place(live, node).target)
        return bool(after_s) and silent_s >= after_s

    def _look_at_finisher(self, live: Live, node: int, silent_s: float) -> None:
        """One that was sent to another machine and does not come up there is not waited for for ever."""
        if node not in live.finishers or silent_s < FINISHER_S:
            return
        machine, place = live.state.nodes[node].machine, self._jobs.place(live, node)
        state = next((n.state for n in self._engines.census(live.spec.compute) if n.name == machine), "gone")
        if state not in ("down", "gone") and silent_s < BUSY_S and self._engines.waiting(place):
            return  # its machine is there and busy with others
        del live.finishers[node]
        self._engines.kill(place)
        warnings = (lost_with(machine, f"not answering for {silent_s:.0f} s"),)
        self._runs.observe(live.run_id, obs.Shipped(live.state.attempt, node, warnings))

    def _silence_words(self, node: int, silent_s: float) -> str:
        return (
            f"the agent of node {node} is there but has not been heard of for {silent_s:.0f} s "
            f"(settings missed_heartbeats={self._missed}, heartbeat_s={self.heartbeat_s:g})"
        )

    def _tell(self, run_id: str, seen: obs.NodeObservation) -> dict[str, Any]:
        return self._loop.call(lambda: self._hear(run_id, seen))

    def _hear(self, run_id: str, seen: obs.NodeObservation) -> dict[str, Any]:
        live = self._find(run_id, seen.attempt, seen.node)
        live.heard[seen.node] = self._clock()
        live.finishers.pop(seen.node, None)
        if seen.node in live.state.silent and not isinstance(seen, obs.HeardAgain):
            self._runs.apply(live, obs.HeardAgain(seen.attempt, seen.node))
        self._runs.apply(live, seen)
        return {"cancel": live.state.stop}

    def _find(self, run_id: str, attempt: int, node: int) -> Live:
        live = self._runs.get(run_id)
        if live is None:
            status = self._record.runs.get(run_id)["status"]
            raise ConflictError(f"Run '{run_id}' is {status}; attempt {attempt} is over.", details={"status": status})
        nodes = live.state.nodes
        if attempt != live.state.attempt or not 0 <= node < len(nodes) or nodes[node].phase == NodePhase.SHIPPED:
            raise ConflictError(
                f"Attempt {attempt}, node {node} of run '{run_id}' is over; it is at attempt {live.state.attempt}."
            )
        return live
