"""The controller: sees what happens to runs, asks the lifecycle what follows, stores that, and has it
done."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Optional

from rookery.engine import observations as obs
from rookery.engine.agents import AgentDesk
from rookery.engine.checks import check_feasible
from rookery.engine.compute import Computes
from rookery.engine.compute_words import show_nodes
from rookery.engine.drivers import Driver, Drivers
from rookery.engine.engines import Death, EmbeddedEngine, Engine, Place
from rookery.engine.engines.registry import Engines, MakeEngine, make_engine
from rookery.engine.engines.visitors import VISITORS
from rookery.engine.exporting import make_export
from rookery.engine.ground import is_remote
from rookery.engine.holds import Holds
from rookery.engine.live import Live, LiveRuns
from rookery.engine.loop import Loop
from rookery.engine.outcome import LOST, Outcome
from rookery.engine.performer import Performer
from rookery.engine.placement import JobMaker
from rookery.engine.reach.attaching import Attaching, Listener
from rookery.engine.reasons import ReasonWriter
from rookery.engine.recovery import find_live_runs, last_words, outcome_on_disk, without_collecting
from rookery.engine.run_state import NodePhase
from rookery.engine.verdict import lost_cause
from rookery.errors import ConflictError, UserError
from rookery.settings import get_setting
from rookery.spec.compute import ClusterSpec
from rookery.spec.paths import WorkspacePaths
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus

__all__ = ["Controller"]

log = logging.getLogger(__name__)
TICK_S = 1.0
REASONS_PER_TICK = 25  # with hundreds of waiting runs their places in the queue are written in turn, not all at once
_REPORTED = {s.value: s for s in (RunStatus.RUNNING, RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELED)}


def _ensure_payload(paths: WorkspacePaths) -> str:
    from rookery.engine.payload import ensure_payload

    return ensure_payload(paths)


class Controller:
    """Owns every run that is not over, and all compute targets.

    Promises: one thread changes runs, each step is stored before anything is done about it, and everything
    that is done can be
    done again, so a keeper that is killed at any moment is followed by one that carries on. No public call
    blocks on slow
    work; calls of agents return when their consequence is stored.
    """

    def __init__(
        self,
        record: Any,
        paths: WorkspacePaths,
        *,
        engine: Optional[Engine] = None,
        make_engine: MakeEngine = make_engine,
        ensure_payload: Callable[[WorkspacePaths], str] = _ensure_payload,
    ) -> None:
        self._record, self._paths = record, paths
        self._drivers = Drivers()
        self._engines = Engines(
            engine or EmbeddedEngine(), paths, boot=lambda gang: self._jobs.boot(gang), make=make_engine
        )
        self._loop = Loop(self._tick)
        self._computes = Computes(
            record,
            self._engines,
            get_setting("local_slots", paths.root),
            low_priority_retries=get_setting("low_priority_retries", paths.root),
        )
        jobs = self._jobs = JobMaker(record, paths, self._engines, ensure_payload, self._computes.find_spec)
        self._holds = Holds()
        self._reasons = ReasonWriter(record)
        self._runs = LiveRuns(
            record,
            lambda live, action: self._performer.do(live, action),
            lost_retries=self._computes.lost_retries,
            write_reason=self._reasons.write,
        )
        self._performer = Performer(
            record,
            self._computes,
            self._engines,
            jobs,
            self._holds,
            follow_up=self._follow_up,
            post=self._loop.post,
            get_live=self._runs.get,
            note_reason=self._runs.note_reason,
        )
        self._attaching = Attaching(self._computes, self._engines, paths)
        heartbeat_s = get_setting("heartbeat_s", paths.root)
        missed = get_setting("missed_heartbeats", paths.root)
        self._desk = AgentDesk(record, self._loop, self._runs, self._engines, jobs, heartbeat_s, missed)
        self._tick_s = min(TICK_S, heartbeat_s)

    def start(self) -> None:
        """Take up every run that is not over, then go on."""
        self._reasons.start()
        self._engines.start(self._agent_died, self._engine_changed, self._node_noticed)
        self._performer.is_taking_up = True
        with without_collecting():
            for live in find_live_runs(self._record, self._runs):
                self._runs.observe(live.run_id, obs.Recovered())
        self._performer.is_taking_up = False
        self._engines.here.when_counted(lambda: self._loop.post(self._performer.give_out_nodes))
        self._loop.start()
        self._drivers.start()

    def add_driver(self, driver: Driver) -> None:
        """Before `start`: who drives the runs of a kind that have no process."""
        self._drivers.add(driver)

    def driver(self, kind: str) -> Any:
        """Who drives runs of a kind, for what only that driver can do."""
        return self._drivers.of(kind)

    def stop(self) -> None:
        """Stop, and leave agents alone."""
        self._drivers.stop()
        self._loop.stop()
        self._engines.stop()
        self._performer.stop()
        self._reasons.stop()

    # -- runs ------------------------------------------------------------------------------------------------

    def check(self, spec: RunSpec) -> None:
        """Raise ComputeError, ComputeNotFoundError, RunConfigError or UnsupportedError for what can never
        run."""
        if spec.kind in RunKind.DRIVEN:
            self._drivers.of(spec.kind).check(spec)
        else:
            check_feasible(spec, self._computes, self._engines)

    def submitted(self, run_id: str) -> None:
        """The record has a new run. Told twice it is taken up once."""
        kind = self._record.runs.kind(run_id)
        if kind in RunKind.DRIVEN:
            self._drivers.of(kind).submitted(run_id)
        else:
            self._loop.call(lambda: self._take_up(run_id))

    def cancel(self, run_id: str) -> None:
        """Stop a run; harmless when it is over. Returns when the wish is stored."""
        kind = self._record.runs.kind(run_id)
        if kind in RunKind.DRIVEN:
            self._drivers.of(kind).cancel(run_id)
            return
        self._loop.call(lambda: self._see(run_id, obs.CancelRequested(), lenient=True))

    def report_status(self, run_id: str, status: str, error: Optional[dict[str, Any]] = None) -> None:
        """What the owner of a child or interactive run says of it.

        Raises:
            ConflictError: the run is over, or its status belongs to its agent.
        """
        if status not in _REPORTED:
            raise UserError(f"status={status!r} cannot be set. Allowed: {', '.join(_REPORTED)}.")
        self._loop.call(lambda: self._see(run_id, obs.StatusReported(_REPORTED[status], error)))

    def counts(self) -> dict[str, int]:
        """How many runs are not over, how many of them wait, how many have agents. Children count with their
        parents."""
        live, running, driven = len(self._runs), len(self._runs.with_agents()), self._drivers.count()
        return {"live_runs": live + driven, "queued_runs": live - running, "running_runs": running + driven}

    def has_work(self) -> bool:
        """Whether something is not over, or has its hour: then a keeper that is killed has to come back."""
        return len(self._runs) > 0 or self._drivers.count() > 0

    # -- agents ----------------------------------------------------------------------------------------------

    def agent_hello(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> dict[str, Any]:
        told = self._desk.hello(run_id, attempt, node, body)
        live = self._runs.get(run_id)
        if live is not None:
            self._holds.take_for_agent(run_id, live.state.built, node, body)
        return told

    def agent_job(self, run_id: str, attempt: int, node: int) -> str:
        """job.json of a node that does not see our files; its program asks for it before there is an agent."""
        return self._desk.job(run_id, attempt, node)

    def agent_running(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> None:
        self._desk.running(run_id, attempt, node)

    def agent_open_rendezvous(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> None:
        self._desk.open_rendezvous(run_id, attempt, node, body)

    def agent_rendezvous(self, run_id: str, attempt: int, node: int) -> dict[str, Any]:
        """Where node 0 of the attempt waits for the others. Never blocks."""
        return self._desk.rendezvous(run_id, attempt, node)

    def agent_beat(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> dict[str, Any]:
        return self._desk.beat(run_id, attempt, node, body)

    def agent_outcome(self, run_id: str, attempt: int, node: int, outcome: dict[str, Any]) -> None:
        self._desk.outcome(run_id, attempt, node, outcome)

    def agent_finished(self, run_id: str, attempt: int, node: int, body: dict[str, Any]) -> None:
        self._desk.finished(run_id, attempt, node, body)

    def commands(self, run_id: str, attempt: int, node: int, after: int) -> list[dict[str, Any]]:
        """What an agent is to do that it has not been told yet. Never blocks."""
        return self._desk.commands(run_id, attempt, node, after)

    def manifests(self, run_id: str) -> dict[str, Any]:
        """What starts the agents of a run that waits for Kubernetes, with their token. May take a second.

        Raises:
            ConflictError: the run is over, or does not wait for its agents yet.
            UserError: its target is no Kubernetes.
        """
        live = self._runs.get(run_id)
        if live is None:
            status = self._record.runs.get(run_id)["status"]
            raise ConflictError(
                f"Run '{run_id}' is {status}: nothing can be started for it.", details={"status": status}
            )
        return make_export(live, self._jobs, self._paths)

    # -- compute ---------------------------------------------------------------------------------------------

    def create_compute(
        self, name: str, spec: ClusterSpec, *, listener: Optional[Listener] = None, check: bool = True
    ) -> dict[str, Any]:
        """Create a cluster of this machine, or attach one of others: then it is checked from one of its nodes, unless that
        is not wanted, and what was found out is kept. `listener` opens the address for agents that faces a machine.

        Raises:
            ComputeError: it cannot be, or a node cannot do what it must; `details` has the checks.
        """
        if not is_remote(spec):
            return self._computes.create(name, spec)
        return self._attaching.attach(name, spec, listener, check)

    def check_compute(self, name: str, listener: Optional[Listener] = None) -> list[dict[str, Any]]:
        """Look at a target from end to end: `{"check","ok","words","advice"}` of everything. May take a minute."""
        return self._attaching.check(name, listener)

    def compute(self, name: str) -> dict[str, Any]:
        return self._computes.get(name)

    def computes(self) -> list[dict[str, Any]]:
        return self._computes.all()

    def update_compute(self, name: str, changes: dict[str, Any]) -> dict[str, Any]:
        changed = self._computes.update(name, changes)
        self._loop.post(self._performer.give_out_nodes)
        return changed

    def delete_compute(self, name: str) -> None:
        self._computes.delete(name)

    def nodes(self, name: str) -> list[dict[str, Any]]:
        """What a target has, and what runs on it. May wait a moment for an engine on other machines."""
        attached = self._engines.attached(name)
        if attached is not None:
            attached.recount()
        nodes, machines = self._computes.nodes(name), {}
        for node in nodes:
            live = self._runs.get(node.run_id) if node.run_id else None
            if live is not None and node.index < len(live.state.nodes):
                place = self._jobs.place(live, node.index)
                machines[node.id] = live.state.nodes[node.index].machine or self._engines.machine(place)
        return show_nodes(nodes, self._engines.census(name), machines)

    def preempt(
        self,
        name: str,
        node: Optional[str] = None,
        *,
        grace_s: Optional[float] = None,
        away_s: Optional[float] = None,
        force: bool = False,
    ) -> dict[str, Any]:
        """Take a node of a low-priority cluster away, as its owner might: its run has a grace to save its work, then goes
        back to the queue.

        Raises:
            ComputeError: the target is dedicated (and no force), or has no such node.
        """
        for what, value in (("grace_s", grace_s), ("away_s", away_s)):
            if value is not None and not 0 <= value < float("inf"):
                raise UserError(f"{what}={value} must be a number of seconds, 0 or more.")
        grace = self._jobs.preempt_grace_s if grace_s is None else grace_s
        away = self._jobs.preempted_s if away_s is None else away_s
        return self._loop.call(lambda: self._preempt(name, node, grace, away, force))

    # -- in the thread ---------------------------------------------------------------------------------------

    def _preempt(self, name: str, node: Optional[str], grace_s: float, away_s: float, force: bool) -> dict[str, Any]:
        taken, run_id = self._computes.preempt(name, node, away_s, force)
        live = self._runs.get(run_id) if run_id else None
        index = next((i for i, g in enumerate(live.state.grants) if g.id == taken), None) if live else None
        if live is not None and index is not None:
            self._runs.apply(live, obs.NodePreempted(live.state.attempt, index, grace_s, away_s))
        self._record.bell.ring("compute")
        return {"node": taken, "run_id": run_id, "grace_s": grace_s if run_id else 0.0, "away_s": away_s}

    def _take_up(self, run_id: str) -> None:
        if self._runs.get(run_id) is not None:
            return
        run = self._record.runs.get(run_id)
        if run["kind"] in (RunKind.CHILD, *RunKind.DRIVEN) or RunStatus(run["status"]).is_terminal:
            return
        live = self._runs.add(run, self._record.runs.state(run_id))
        self._runs.observe(live.run_id, obs.Submitted())

    def _see(self, run_id: str, seen: obs.Observation, lenient: bool = False) -> None:
        live = self._runs.get(run_id) or self._without_agent(run_id)
        if live is None:
            if lenient:
                return
            raise ConflictError(
                f"Run '{run_id}' is {self._record.runs.get(run_id)['status']} already; its status cannot change."
            )
        if isinstance(seen, obs.StatusReported) and live.spec.kind == RunKind.SCRIPT:
            raise ConflictError(
                f"Run '{run_id}' was submitted: its status is what its agent sees. Stop it with cancel."
            )
        self._runs.apply(live, seen)

    def _without_agent(self, run_id: str) -> Optional[Live]:
        """A run that is not in the table: a child, or one that was created and not handed over yet. None: it
        is over."""
        run = self._record.runs.get(run_id)
        if RunStatus(run["status"]).is_terminal:
            return None
        if run["kind"] == RunKind.CHILD:
            return self._runs.temporary(run)
        return self._runs.add(run, self._record.runs.state(run_id))

    def _agent_died(self, death: Death) -> None:
        """In a thread of the engine."""
        place = death.place

        def tell() -> None:
            if self._runs.get(place.run_id) is None:
                return
            outcome, words = outcome_on_disk(place.paths), last_words(place.paths)
            seen = obs.AgentLost(place.attempt, place.node, death.words, outcome, death.signal, death.exit_code, words)
            if place.target == VISITORS and outcome is None:
                # No other agent can be put beside a process on a machine that is not ours: this is its end.
                seen = replace(seen, outcome=Outcome(LOST, lost_cause(place.attempt, seen)))
            self._runs.observe(place.run_id, seen)

        self._loop.post(tell)

    def _engine_changed(self, name: str) -> None:
        """In a thread of the engine: it can be used again, or cannot, or its machines have changed."""

        def look() -> None:
            self._computes.count_again(name)
            self._performer.give_out_nodes()
            self._record.bell.ring("compute")

        self._loop.post(look)

    def _node_noticed(self, place: Place, grace_s: float, words: str) -> None:
        """In a thread of the engine: it will take the node of an agent away in so many seconds."""

        def tell() -> None:
            log.info("Run %s, node %d: %s", place.run_id, place.node, words)
            self._runs.observe(place.run_id, obs.NodePreempted(place.attempt, place.node, max(0.0, grace_s), 0.0))

        self._loop.post(tell)

    def _follow_up(self, run_id: str, seen: obs.Observation) -> None:
        self._loop.follow_up(lambda: self._runs.observe(run_id, seen))

    def _tick(self) -> Optional[float]:
        """What needs the clock; returns when to be called again."""
        self._desk.look()
        is_waiting = self._runs.retry()
        self._refresh_reasons()
        if self._computes.scale_down():
            self._record.bell.ring("compute")
        self._performer.give_out_nodes()  # the clock alone may have freed some, or made fewer enough
        if is_waiting or len(self._runs):
            return time.monotonic() + self._tick_s
        return self._computes.next_change()

    def _refresh_reasons(self) -> None:
        """Write the reasons that have changed, at most one a second per run and a few at a time, the oldest
        first."""
        now = time.monotonic()
        stale = []
        for run_id, reason in self._computes.waiting():
            live = self._runs.get(run_id)
            if live is not None and live.state.reason != reason and now - live.reason_written >= TICK_S:
                stale.append((live.reason_written, run_id, reason, live))
        for _written, _run_id, reason, live in sorted(stale, key=lambda s: s[0])[:REASONS_PER_TICK]:
            self._runs.note_reason(live, reason)
        if self._engines.has_attached:
            self._refresh_placements(now)

    def _refresh_placements(self, now: float) -> None:
        """The same for runs whose agents wait in the queue of an engine on other machines."""
        for live in self._runs.with_agents():
            state = live.state
            if state.status is not RunStatus.PROVISIONING or now - live.reason_written < TICK_S:
                continue
            node = next((i for i, n in enumerate(state.nodes) if n.phase == NodePhase.PLACED), None)
            if node is None or state.nodes[node].machine or self._engines.is_here(live.spec.compute):
                continue
            reason = self._engines.waiting(self._jobs.place(live, node))
            if reason != live.engine_reason:
                live.reason_written, live.engine_reason = now, reason
                self._runs.observe(live.run_id, obs.PlacementWaits(state.attempt, reason))
