"""Does what the lifecycle wants done. Every action may come twice, because a keeper can die between storing
and doing."""

from __future__ import annotations

import contextlib
import copy
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Optional

from rookery.engine import actions as act
from rookery.engine import observations as obs
from rookery.engine.compute import Computes
from rookery.engine.engines.base import Engine, Place
from rookery.engine.engines.registry import Engines
from rookery.engine.holds import Holds
from rookery.engine.jobs import as_finisher, read_job, write_job
from rookery.engine.live import Live
from rookery.engine.placement import JobMaker
from rookery.engine.preparing import Preparing
from rookery.engine.queue import Request
from rookery.engine.recovery import outcome_on_disk, was_started
from rookery.engine.run_state import NodePhase
from rookery.engine.verdict import lost_with
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
        note_reason: a waiting run has another reason.
    """

    def __init__(
        self,
        record: Any,
        computes: Computes,
        engines: Engines,
        jobs: JobMaker,
        holds: Holds,
        follow_up: Tell,
        post: Callable[[Callable[[], Any]], None],
        get_live: Callable[[str], Optional[Live]],
        note_reason: Callable[[Live, str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._record, self._computes, self._engines, self._jobs = record, computes, engines, jobs
        self._holds, self._follow_up, self._get_live, self._clock = holds, follow_up, get_live, clock
        self._post, self._note_reason = post, note_reason
        self._preparing = Preparing(record, jobs, holds, follow_up, post)
        self.is_taking_up = False  # a keeper starts: nodes are given out when all runs are there, by the first tick

    def stop(self) -> None:
        self._preparing.stop()

    def do(self, live: Live, action: act.Action) -> None:
        _DO[type(action)](self, live, action)

    # -- environment and queue -------------------------------------------------------------------------------

    def _prepare_environment(self, live: Live, _action: act.PrepareEnvironment) -> None:
        self._preparing.want(live)

    def _enqueue(self, live: Live, action: act.Enqueue) -> None:
        if not self._holds.take(live.run_id, live.state.built):
            self._follow_up(live.run_id, obs.EnvironmentGone())
            return
        compute = live.state.compute or live.spec.compute  # its spec may not have been read yet, and need not be
        nested = compute == LOCAL and any(True for _ in self._holding_parents(live.run_id))
        try:
            self._computes.ask(compute, self._request(live, nested))
        except ComputeNotFoundError as error:
            self._follow_up(live.run_id, obs.Waiting(f"waits for '{compute}', which is gone: {error.message}"))
            return
        if not self.is_taking_up:
            self.give_out_nodes()
        reason = "" if action.again and live.state.reason else self._computes.reason(live.run_id)
        if reason:
            self._note_reason(live, reason)

    def _request(self, live: Live, nested: bool) -> Request:
        count = live.state.gang
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
        while live is not None and live.parent_id and live.parent_id not in seen:
            seen.add(live.parent_id)
            live = self._get_live(live.parent_id)
            if live is not None and live.state.holding:
                yield live.run_id

    # -- agents ----------------------------------------------------------------------------------------------

    def _place_agents(self, live: Live, action: act.PlaceAgents) -> None:
        if live.spec and live.unreadable:  # it is read by now
            self._follow_up(live.run_id, obs.PlacementFailed(action.attempt, live.unreadable))
            return
        places = [self._jobs.place(live, i) for i, n in enumerate(live.state.nodes) if n.phase == NodePhase.PLACED]
        self._launch(live, action.attempt, places)

    def _launch(self, live: Live, attempt: int, places: list[Place]) -> None:
        now = copy.copy(live)  # the jobs may be written in another thread, by the state of this moment

        def write_jobs() -> None:
            for place in places:
                write_job(place.paths, self._jobs.make(now, place.node))

        def placed(words: str) -> None:
            seen = obs.PlacementFailed(attempt, words) if words else obs.AgentsPlaced(attempt)
            self._tell_of(places[0], live.run_id, seen)

        for place in places:
            live.heard[place.node] = self._clock()
        self._engines.place(places, write_jobs, placed)

    def _tell_of(self, place: Place, run_id: str, seen: obs.Observation) -> None:
        """What became of something that an engine was asked for: engines on other machines answer in threads of their own."""
        if self._engines.is_here(place.target):
            self._follow_up(run_id, seen)
        else:
            self._post(lambda: self._follow_up(run_id, seen))

    def _adopt_agents(self, live: Live, action: act.AdoptAgents) -> None:
        self._holds.take(live.run_id, live.state.built)
        if live.state.holding:
            self._computes.retake(live.spec.compute, live.run_id, live.state.grants)
            if live.state.preempted is not None:
                taken, away_s = live.state.grants[live.state.preempted].id, live.state.preempt_away_s
                away_s = self._jobs.preempted_s if away_s is None else away_s
                with contextlib.suppress(ComputeNotFoundError, ComputeError):
                    self._computes.preempt(live.spec.compute, taken, away_s, force=True)
        places = []
        for i, node in enumerate(live.state.nodes):
            live.heard[i] = self._clock()
            if node.phase != NodePhase.SHIPPED and not self._adopt_finisher(live, i):
                places.append(self._jobs.place(live, i))

        def found(alive: set[Place]) -> None:
            if places and not self._engines.is_here(places[0].target):
                self._post(lambda: self._adopted(live, action, places, alive))
            else:
                self._adopted(live, action, places, alive)

        self._engines.adopt(places, found)

    def _adopt_finisher(self, live: Live, node: int) -> bool:
        """Whether an agent of this machine looks after what a node on another one has left."""
        if not self._jobs.is_far(live) or live.state.nodes[node].phase != NodePhase.ENDED:
            return False
        return bool(self._engines.here.adopt([self._jobs.place_here(live, node)]))

    def _adopted(self, live: Live, action: act.AdoptAgents, places: list[Place], alive: set[Place]) -> None:
        """It is known which agents still live; of a run on other machines perhaps much later."""
        if self._get_live(live.run_id) is not live or live.state.attempt != action.attempt:
            return
        fresh = []
        for place in places:
            node = live.state.nodes[place.node]
            if place in alive or node.phase == NodePhase.SHIPPED:
                continue
            if action.launch and node.phase == NodePhase.PLACED and not node.machine and not was_started(place.paths):
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
        if live.state.cancel and self._jobs.is_far(live):
            self._withdraw(live)

    def _withdraw(self, live: Live) -> None:
        """Agents that wait in the queue of their engine hear no command, and nothing of theirs is to be saved."""
        for i, node in enumerate(live.state.nodes):
            place = self._jobs.place(live, i)
            if node.phase == NodePhase.PLACED and not node.machine and self._engines.waiting(place):
                self._engines.kill(place)

    def _send_preempt(self, live: Live, action: act.SendPreempt) -> None:
        live.cancel_deadline = self._clock() + live.state.preempt_grace_s + CANCEL_SLACK_S
        for node in range(len(live.state.nodes)):
            self._record.bell.ring(f"commands/{live.run_id}/{action.attempt}/{node}")

    def _kill_agent(self, live: Live, action: act.KillAgent) -> None:
        self._engines.kill(self._jobs.place(live, action.node))

    def _sweep_leftovers(self, live: Live, action: act.SweepLeftovers) -> None:
        self._engines.sweep(self._jobs.place(live, action.node))

    def _start_finisher(self, live: Live, action: act.StartFinisher) -> None:
        live.heard[action.node] = self._clock()
        if self._jobs.is_far(live) and not self._jobs.shares_files(live):
            self._finish_there(live, action)
            return
        place = (
            self._jobs.place_here(live, action.node) if self._jobs.is_far(live) else self._jobs.place(live, action.node)
        )
        if self._engines.here.adopt([place]):
            return  # a keeper that died right here had started it
        try:
            before = None if self._jobs.is_far(live) else read_job(place.paths)
            write_job(place.paths, as_finisher(before or self._jobs.make(live, place.node, here=True)))
            self._engines.here.place([place])
        except Exception as error:
            log.exception("Run %s: what it left cannot be shipped", live.run_id)
            words = f"No agent could be started to store it: {error}"
            self._follow_up(live.run_id, obs.AgentLost(action.attempt, action.node, words))

    def _finish_there(self, live: Live, action: act.StartFinisher) -> None:
        """What a node has left lies only there: an agent goes to that very machine, if it is still there."""
        machine = live.state.nodes[action.node].machine
        if not machine:  # its agent never came so far as to say hello: it has left nothing
            self._follow_up(live.run_id, obs.Shipped(action.attempt, action.node))
            return
        place = replace(self._jobs.place(live, action.node), on=machine)
        now = copy.copy(live)
        live.finishers[action.node] = self._clock()

        def send(engine: Engine) -> None:
            state = next((n.state for n in engine.nodes() if n.name == machine), "gone")
            if state in ("down", "gone"):
                seen: obs.Observation = obs.Shipped(action.attempt, action.node, (lost_with(machine, state),))
                self._tell_of(place, live.run_id, seen)
                return
            write_job(place.paths, as_finisher(self._jobs.make(now, place.node)))
            engine.place([place])

        def failed(error: Exception) -> None:
            words = f"No agent could be started on machine {machine} to store it: {error}"
            self._tell_of(place, live.run_id, obs.AgentLost(action.attempt, action.node, words))

        self._engines.ask(place.target, send, failed)

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
