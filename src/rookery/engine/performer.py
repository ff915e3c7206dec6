"""Does what the lifecycle wants done. Every action may come twice, because a keeper can die between storing
and doing."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, Optional

from rookery.engine import actions as act
from rookery.engine import observations as obs
from rookery.engine.compute import Computes
from rookery.engine.engines.base import Engine, Place
from rookery.engine.holds import Holds
from rookery.engine.jobs import as_finisher, read_job, write_job
from rookery.engine.live import Live
from rookery.engine.placement import JobMaker
from rookery.engine.preparing import Preparing
from rookery.engine.queue import Request
from rookery.engine.recovery import outcome_on_disk, was_started
from rookery.engine.run_state import NodePhase
from rookery.errors import ComputeError, ComputeNotFoundError
from rookery.spec.compute import LOCAL
from rookery.spec.run import RunKind

__all__ = ["CANCEL_SLACK_S", "Performer"]

log = logging.getLogger(__name__)
CANCEL_SLACK_S = 20.0
Tell = Callable[[str, obs.Observation], None]


class Performer:
    """One method per action, called in the controller's thread only; slow ones go to workers that tell when
    they are done.

    Args:
        follow_up: tell of something seen here, to be handled right after this.
        post: have something done in the controller's thread, from any thread.
        get_live: the live run of an id, for looking at parents.
    """

    def __init__(
        self,
        record: Any,
        computes: Computes,
        engine: Engine,
        jobs: JobMaker,
        holds: Holds,
        follow_up: Tell,
        post: Callable[[Callable[[], Any]], None],
        get_live: Callable[[str], Optional[Live]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._record, self._computes, self._engine, self._jobs = record, computes, engine, jobs
        self._holds, self._follow_up, self._get_live, self._clock = holds, follow_up, get_live, clock
        self._preparing = Preparing(record, jobs, holds, follow_up, post)

    def stop(self) -> None:
        self._preparing.stop()

    def do(self, live: Live, action: act.Action) -> None:
        _DO[type(action)](self, live, action)

    # -- environment and queue -------------------------------------------------------------------------------

    def _prepare_environment(self, live: Live, _action: act.PrepareEnvironment) -> None:
        self._preparing.want(live)

    def _enqueue(self, live: Live, _action: act.Enqueue) -> None:
        if not self._holds.take(live.run_id, live.state.built):
            self._follow_up(live.run_id, obs.EnvironmentGone())
            return
        nested = live.spec.compute == LOCAL and any(True for _ in self._holding_parents(live.run_id))
        try:
            self._computes.ask(live.spec.compute, self._request(live, nested))
        except ComputeNotFoundError as error:
            self._follow_up(
                live.run_id, obs.Waiting(f"waits for '{live.spec.compute}', which is gone: {error.message}")
            )
            return
        self.give_out_nodes()
        reason = self._computes.reason(live.run_id)
        if reason:
            live.reason_written = self._clock()
            self._follow_up(live.run_id, obs.Waiting(reason))

    def _request(self, live: Live, nested: bool) -> Request:
        count = live.spec.node_count
        if not live.state.may_shrink:
            return Request(live.run_id, count, nested)
        return Request(live.run_id, count, nested, live.state.min_gang, self._clock() + self._jobs.elastic_wait_s)

    def _leave_queue(self, live: Live, _action: act.LeaveQueue) -> None:
        self._computes.leave(live.run_id)
        self.give_out_nodes()

    def _release_nodes(self, live: Live, _action: act.ReleaseNodes) -> None:
        self._computes.release(live.run_id)
        self.give_out_nodes()

    def give_out_nodes(self) -> None:
        """Let whoever's turn it is have what is free."""
        granted = self._computes.grant(parents=self._holding_parents)
        for one in granted:
            if one.scaling:
                self._follow_up(one.run_id, obs.Scaling(one.scaling))
            self._follow_up(one.run_id, obs.NodesGranted(one.grants, one.warnings))
        if granted:
            self._record.bell.ring("compute")

    def _holding_parents(self, run_id: str) -> Iterable[str]:
        """Runs above this one that hold nodes: they may be waiting for it."""
        live = self._get_live(run_id)
        seen = {run_id}
        while live is not None and live.spec.parent_id and live.spec.parent_id not in seen:
            seen.add(live.spec.parent_id)
            live = self._get_live(live.spec.parent_id)
            if live is not None and live.state.holding:
                yield live.run_id

    # -- agents ----------------------------------------------------------------------------------------------

    def _place_agents(self, live: Live, action: act.PlaceAgents) -> None:
        places = [self._jobs.place(live, i) for i, n in enumerate(live.state.nodes) if n.phase == NodePhase.PLACED]
        self._launch(live, action.attempt, places)

    def _launch(self, live: Live, attempt: int, places: list[Place]) -> None:
        try:
            for place in places:
                write_job(place.paths, self._jobs.make(live, place.node))
                live.heard[place.node] = self._clock()
            self._engine.place(places)
        except Exception as error:
            log.exception("Run %s: its agents could not be started", live.run_id)
            self._follow_up(live.run_id, obs.PlacementFailed(attempt, f"Its agents could not be started: {error}"))
        else:
            self._follow_up(live.run_id, obs.AgentsPlaced(attempt))

    def _adopt_agents(self, live: Live, action: act.AdoptAgents) -> None:
        self._holds.take(live.run_id, live.state.built)
        if live.state.holding:
            self._computes.retake(live.spec.compute, live.run_id, live.state.grants)
            if live.state.preempted is not None:
                taken = live.state.grants[live.state.preempted].id
                with contextlib.suppress(ComputeNotFoundError, ComputeError):
                    self._computes.preempt(live.spec.compute, taken, self._jobs.preempted_s, force=True)
        places = [self._jobs.place(live, i) for i, n in enumerate(live.state.nodes) if n.phase != NodePhase.SHIPPED]
        alive = self._engine.adopt(places)
        fresh = []
        for place in places:
            live.heard[place.node] = self._clock()
            if place in alive:
                continue
            if (
                action.launch
                and live.state.nodes[place.node].phase == NodePhase.PLACED
                and not was_started(place.paths)
            ):
                fresh.append(place)
            else:
                words = f"The agent of node {place.node} ended while the keeper was away."
                self._follow_up(
                    live.run_id,
                    obs.AgentLost(action.attempt, place.node, words, outcome_on_disk(place.paths)),
                )
        if fresh:
            self._launch(live, action.attempt, fresh)

    def _send_cancel(self, live: Live, action: act.SendCancel) -> None:
        live.cancel_deadline = self._clock() + self._jobs.grace_s(live.spec) + CANCEL_SLACK_S
        for node in range(len(live.state.nodes)):
            self._record.bell.ring(f"commands/{live.run_id}/{action.attempt}/{node}")

    def _send_preempt(self, live: Live, action: act.SendPreempt) -> None:
        live.cancel_deadline = self._clock() + live.state.preempt_grace_s + CANCEL_SLACK_S
        for node in range(len(live.state.nodes)):
            self._record.bell.ring(f"commands/{live.run_id}/{action.attempt}/{node}")

    def _kill_agent(self, live: Live, action: act.KillAgent) -> None:
        self._engine.kill(self._jobs.place(live, action.node))

    def _sweep_leftovers(self, live: Live, action: act.SweepLeftovers) -> None:
        killed = self._engine.sweep(self._jobs.place(live, action.node))
        if killed:
            log.info("Run %s: killed %d processes that its dead agent had left", live.run_id, len(killed))

    def _start_finisher(self, live: Live, action: act.StartFinisher) -> None:
        place = self._jobs.place(live, action.node)
        if self._engine.adopt([place]):
            return  # a keeper that died right here had started it
        try:
            write_job(place.paths, as_finisher(read_job(place.paths) or self._jobs.make(live, place.node)))
            live.heard[place.node] = self._clock()
            self._engine.place([place])
        except Exception as error:
            log.exception("Run %s: what it left cannot be shipped", live.run_id)
            self._follow_up(
                live.run_id,
                obs.AgentLost(action.attempt, action.node, f"No agent could be started to store it: {error}"),
            )

    def _end(self, live: Live, _action: act.End) -> None:
        self._computes.release(live.run_id)
        if live.spec.kind != RunKind.CHILD:
            self._holds.let_go(live.run_id, live.state.built)
            self._jobs.forget(live)
            self.give_out_nodes()


_DO: dict[type, Callable[[Performer, Live, Any], None]] = {
    act.PrepareEnvironment: Performer._prepare_environment,
    act.Enqueue: Performer._enqueue,
    act.LeaveQueue: Performer._leave_queue,
    act.PlaceAgents: Performer._place_agents,
    act.AdoptAgents: Performer._adopt_agents,
    act.SendCancel: Performer._send_cancel,
    act.SendPreempt: Performer._send_preempt,
    act.KillAgent: Performer._kill_agent,
    act.SweepLeftovers: Performer._sweep_leftovers,
    act.StartFinisher: Performer._start_finisher,
    act.ReleaseNodes: Performer._release_nodes,
    act.End: Performer._end,
}
