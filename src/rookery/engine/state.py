"""The lifecycle of a run: `step(state, observation) -> (state, actions)`. No clock, no I/O.

    NotStarted → Starting (→ Preparing) → Queued → Provisioning → Running → Finalizing → Completed | Failed
                                            ▲                                    │
                                            └── another attempt, while a budget ◄┘ lasts
    CancelRequested and NotResponding lie beside Running. A terminal state is never left.

What always holds (tests/engine/test_state.py):
- nodes that were granted are released once, when the last rank has ended, before anything is shipped;
- once somebody asked to stop the run no agent is started that could start ranks, and there is no other
  attempt;
- a run that was asked to stop before its ranks had ended ends as Canceled;
- a lost node and an error of the user's code spend different budgets; a preempted node is a lost one;
- every try that got nodes is noted in `attempts`, and has a result once the run has left it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Callable, Optional

from rookery.engine import actions as act
from rookery.engine import observations as obs
from rookery.engine.attempts import close_attempt, note_attempt
from rookery.engine.outcome import CANCELED, COMPLETED, FAILED, LOST, Grant, Outcome
from rookery.engine.preemption import preempted_cause, preempting_words
from rookery.engine.run_state import NodePhase, NodeState, RunState
from rookery.engine.verdict import bad_cause, deciding_outcome, lost_cause, placement_cause
from rookery.spec.cause import CauseKind
from rookery.spec.run import RunKind
from rookery.spec.status import RunStatus

__all__ = ["MAX_FINISHERS", "Step", "step"]

MAX_FINISHERS = 3
Step = tuple[RunState, tuple[act.Action, ...]]


def step(state: RunState, seen: obs.Observation) -> Step:
    """What a run becomes when something is seen, and what is to be done about it."""
    if isinstance(seen, obs.NodesGranted) and not _wants_nodes(state):
        return state, () if state.holding else (act.ReleaseNodes(),)  # nobody wants them any more
    if state.status.is_terminal or _is_old_news(state, seen):
        return state, ()
    state, todo = _STEPS[type(seen)](state, seen)
    return note_attempt(state), todo


def _is_old_news(state: RunState, seen: obs.Observation) -> bool:
    if isinstance(seen, obs.AttemptObservation) and (seen.attempt != state.attempt or not state.nodes):
        return True
    return isinstance(seen, obs.NodeObservation) and not 0 <= seen.node < len(state.nodes)


def _wants_nodes(state: RunState) -> bool:
    return state.status in (RunStatus.QUEUED, RunStatus.PROVISIONING) and not state.nodes


# -- from submit to nodes ------------------------------------------------------------------------------------


def _submitted(s: RunState, _seen: obs.Submitted) -> Step:
    if s.status is not RunStatus.NOT_STARTED:
        return s, ()
    if s.kind == RunKind.CHILD:
        return replace(s, status=RunStatus.RUNNING), ()
    if s.kind == RunKind.INTERACTIVE:
        return replace(s, status=RunStatus.RUNNING, nodes=(NodeState(),)), (act.PlaceAgents(s.attempt),)
    return replace(s, status=RunStatus.STARTING, reason="its environment is looked at"), (act.PrepareEnvironment(),)


def _recovered(s: RunState, _seen: obs.Recovered) -> Step:
    if s.status is RunStatus.NOT_STARTED:
        return _submitted(s, obs.Submitted())
    if s.status in (RunStatus.STARTING, RunStatus.PREPARING):
        return s, (act.PrepareEnvironment(),)
    if s.nodes:
        adopt = act.AdoptAgents(s.attempt, launch=not s.stop and s.preempted is None)
        if s.stop:
            return s, (adopt, act.SendCancel(s.attempt))
        return s, (adopt,) if s.preempted is None else (adopt, act.SendPreempt(s.attempt))
    return s, (act.Enqueue(again=True),) if _wants_nodes(s) else ()


def _environment_building(s: RunState, seen: obs.EnvironmentBuilding) -> Step:
    if s.status not in (RunStatus.STARTING, RunStatus.PREPARING):
        return s, ()
    return replace(s, status=RunStatus.PREPARING, reason=seen.reason), ()


def _environment_ready(s: RunState, seen: obs.EnvironmentReady) -> Step:
    if s.status not in (RunStatus.STARTING, RunStatus.PREPARING):
        return s, ()
    warnings = tuple(act.Warn(text) for text in seen.built.deviations)
    s = replace(s, status=RunStatus.QUEUED, reason=_wait_words(s), built=seen.built)
    return s, (*warnings, act.Enqueue())


def _environment_gone(s: RunState, _seen: obs.EnvironmentGone) -> Step:
    if not _wants_nodes(s):
        return s, ()
    s = replace(s, status=RunStatus.STARTING, reason="its environment was removed and is looked at again", built=None)
    return s, (act.LeaveQueue(), act.PrepareEnvironment())


def _environment_failed(s: RunState, seen: obs.EnvironmentFailed) -> Step:
    if s.status not in (RunStatus.STARTING, RunStatus.PREPARING):
        return s, ()
    return _end(s, RunStatus.FAILED, seen.cause)


def _waiting(s: RunState, seen: obs.Waiting) -> Step:
    return (replace(s, status=RunStatus.QUEUED, reason=seen.reason) if _wants_nodes(s) else s), ()


def _scaling(s: RunState, seen: obs.Scaling) -> Step:
    return (replace(s, status=RunStatus.PROVISIONING, reason=seen.reason) if _wants_nodes(s) else s), ()


def _nodes_granted(s: RunState, seen: obs.NodesGranted) -> Step:
    s = replace(
        s,
        status=RunStatus.PROVISIONING,
        reason=_start_words(seen.grants),
        holding=True,
        grants=seen.grants,
        nodes=tuple(NodeState() for _ in seen.grants),
        silent=(),
        first_bad=None,
        preempted=None,
        stop=False,
    )
    return s, (*(act.Warn(text) for text in seen.warnings), act.PlaceAgents(s.attempt))


def _start_words(grants: Sequence[Grant]) -> str:
    return f"its agents start on {', '.join(g.id for g in grants)}"


def _wait_words(s: RunState) -> str:
    return f"waits for {s.gang} node{'s' if s.gang > 1 else ''} of '{s.compute}'"


# -- while agents are there ----------------------------------------------------------------------------------


def _nothing(s: RunState, _seen: obs.Observation) -> Step:
    return s, ()


def _placement_failed(s: RunState, seen: obs.PlacementFailed) -> Step:
    outcome = Outcome(LOST, placement_cause(s.attempt, seen.words))
    fresh = tuple(
        replace(n, phase=NodePhase.SHIPPED, outcome=n.outcome or outcome) if n.phase == NodePhase.PLACED else n
        for n in s.nodes
    )
    failed = next((i for i, n in enumerate(s.nodes) if n.phase == NodePhase.PLACED), None)
    if failed is None:
        return s, ()
    s, todo = _after_end(replace(s, nodes=fresh, first_bad=failed if s.first_bad is None else s.first_bad))
    return _after_shipped(s, todo)


def _placement_waits(s: RunState, seen: obs.PlacementWaits) -> Step:
    if s.status is not RunStatus.PROVISIONING or s.stop or all(n.phase != NodePhase.PLACED for n in s.nodes):
        return s, ()
    return replace(s, reason=seen.reason or _start_words(s.grants)), ()


def _agent_hello(s: RunState, seen: obs.AgentHello) -> Step:
    return (_with_node(s, seen.node, machine=seen.machine) if seen.machine else s), ()


def _node_busy(s: RunState, seen: obs.NodeBusy) -> Step:
    if s.status is not RunStatus.PROVISIONING or s.stop or s.nodes[seen.node].phase != NodePhase.PLACED:
        return s, ()
    return replace(s, reason=seen.words if len(s.nodes) == 1 else f"node {seen.node}: {seen.words}"), ()


def _ranks_running(s: RunState, seen: obs.RanksRunning) -> Step:
    if s.nodes[seen.node].phase != NodePhase.PLACED:
        return s, ()
    s = _with_node(s, seen.node, phase=NodePhase.RUNNING)
    return _show_active(s), ()


def _rendezvous_opened(s: RunState, seen: obs.RendezvousOpened) -> Step:
    return replace(s, rendezvous={"attempt": seen.attempt, "address": seen.address, "port": seen.port}), ()


def _silence(s: RunState, seen: obs.Silence) -> Step:
    if s.nodes[seen.node].phase not in NodePhase.BUSY or seen.node in s.silent:
        return s, ()
    s = replace(s, silent=(*s.silent, seen.node))
    if s.status in (RunStatus.RUNNING, RunStatus.PROVISIONING):
        s = replace(s, status=RunStatus.NOT_RESPONDING, reason=seen.words)
    return s, ()


def _heard_again(s: RunState, seen: obs.HeardAgain) -> Step:
    if seen.node not in s.silent:
        return s, ()
    return _show_active(replace(s, silent=tuple(n for n in s.silent if n != seen.node))), ()


def _show_active(s: RunState) -> RunState:
    """The status of an attempt whose ranks are not all gone; a request to stop outlives everything but the
    end."""
    if s.status not in (RunStatus.RUNNING, RunStatus.PROVISIONING, RunStatus.NOT_RESPONDING) or s.silent:
        return s
    if s.kind == RunKind.INTERACTIVE or all(n.phase != NodePhase.PLACED for n in s.nodes):
        return replace(s, status=RunStatus.RUNNING, reason=_running_words(s))
    return replace(s, status=RunStatus.PROVISIONING, reason="its agents start its processes")


def _running_words(s: RunState) -> str:
    if s.preempted is None or s.stop:
        return ""
    return preempting_words(s.grants[s.preempted].id, s.preempt_grace_s)


def _node_preempted(s: RunState, seen: obs.NodePreempted) -> Step:
    if s.kind != RunKind.SCRIPT or s.nodes[seen.node].phase not in NodePhase.BUSY or s.stop or s.preempted is not None:
        return s, ()  # it is going anyway
    s = _show_active(replace(s, preempted=seen.node, preempt_grace_s=seen.grace_s, preempt_away_s=seen.away_s))
    return s, (act.SendPreempt(s.attempt),)


def _cancel_requested(s: RunState, _seen: obs.CancelRequested) -> Step:
    if not s.nodes:
        leave = () if s.kind == RunKind.CHILD else (act.LeaveQueue(),)
        s, todo = _end(replace(s, cancel=True), RunStatus.CANCELED, None)
        return s, (*leave, *todo)
    if s.all_ended:
        return replace(s, no_retry=True), ()
    if s.cancel:
        return s, ()
    s = replace(s, cancel=True, stop=True)
    if s.status is not RunStatus.FINALIZING:
        s = replace(s, status=RunStatus.CANCEL_REQUESTED, reason="its processes are being stopped")
    return s, (act.SendCancel(s.attempt),)


def _cancel_overdue(s: RunState, _seen: obs.CancelOverdue) -> Step:
    if not s.stop and s.preempted is None:
        return s, ()
    return s, tuple(act.KillAgent(s.attempt, i) for i, n in enumerate(s.nodes) if n.phase in NodePhase.BUSY)


def _status_reported(s: RunState, seen: obs.StatusReported) -> Step:
    if s.kind == RunKind.CHILD:
        if seen.status.is_terminal:
            return _end(s, seen.status, seen.cause if seen.status is RunStatus.FAILED else None)
        return replace(s, status=RunStatus.RUNNING), ()
    if s.kind != RunKind.INTERACTIVE or not seen.status.is_terminal or s.all_ended or s.cancel or not s.nodes:
        return s, ()
    result = {RunStatus.COMPLETED: COMPLETED, RunStatus.FAILED: FAILED, RunStatus.CANCELED: CANCELED}[seen.status]
    s = replace(
        s,
        declared=Outcome(result, seen.cause),
        stop=True,
        status=RunStatus.FINALIZING,
        reason="what it left is being stored",
    )
    return s, (act.SendCancel(s.attempt),)


# -- the end of an attempt -----------------------------------------------------------------------------------


def _ranks_ended(s: RunState, seen: obs.RanksEnded) -> Step:
    node = s.nodes[seen.node]
    if node.phase in NodePhase.BUSY:
        return _after_end(_note_end(s, seen.node, seen.outcome))
    if node.outcome and node.outcome.result == LOST and seen.outcome.result != LOST:
        return _with_node(s, seen.node, outcome=seen.outcome), ()  # the finisher found out more than we knew
    return s, ()


def _agent_lost(s: RunState, seen: obs.AgentLost) -> Step:
    node = s.nodes[seen.node]
    if node.phase == NodePhase.SHIPPED:
        return s, ()
    if node.phase == NodePhase.ENDED:
        return _restart_finisher(s, seen)
    watches = s.kind == RunKind.INTERACTIVE
    if watches and seen.outcome is None and not s.stop and node.restarts < MAX_FINISHERS:
        # The user's own process is not ours to end: another agent takes its place beside it.
        s = replace(_with_node(s, seen.node, restarts=node.restarts + 1, phase=NodePhase.PLACED), silent=())
        return _show_active(s), (
            act.Warn(f"{seen.words} Another agent has taken over."),
            act.PlaceAgents(s.attempt),
        )
    outcome = seen.outcome or Outcome(LOST, _lost_cause(s, seen))
    s, todo = _after_end(_note_end(s, seen.node, outcome))
    sweep = () if watches else (act.SweepLeftovers(s.attempt, seen.node),)
    return s, (*sweep, *todo, act.StartFinisher(s.attempt, seen.node))


def _lost_cause(s: RunState, seen: obs.AgentLost) -> dict[str, Any]:
    if seen.node == s.preempted:
        return preempted_cause(s.attempt, seen.node, s.grants[seen.node].id)
    return lost_cause(s.attempt, seen, s.nodes[seen.node].machine)


def _restart_finisher(s: RunState, seen: obs.AgentLost) -> Step:
    node = s.nodes[seen.node]
    if node.restarts < MAX_FINISHERS:
        return _with_node(s, seen.node, restarts=node.restarts + 1), (act.StartFinisher(s.attempt, seen.node),)
    s = _with_node(s, seen.node, phase=NodePhase.SHIPPED)
    words = (
        f"Some logs, metrics or outputs of node {seen.node} may be missing: what stores them "
        f"ended {MAX_FINISHERS + 1} times. {seen.words}"
    )
    return _after_shipped(s, (act.Warn(words),))


def _shipped(s: RunState, seen: obs.Shipped) -> Step:
    todo: tuple[act.Action, ...] = tuple(act.Warn(text) for text in seen.warnings)
    if s.nodes[seen.node].phase in NodePhase.BUSY:  # an agent that never said how its ranks ended
        words = f"The agent of node {seen.node} finished without an outcome."
        s, more = _after_end(_note_end(s, seen.node, Outcome(LOST, placement_cause(s.attempt, words))))
        todo = (*todo, *more)
    return _after_shipped(_with_node(s, seen.node, phase=NodePhase.SHIPPED), todo)


def _note_end(s: RunState, node: int, outcome: Outcome) -> RunState:
    s = _with_node(s, node, phase=NodePhase.ENDED, outcome=outcome)
    if outcome.result != COMPLETED and s.first_bad is None:
        s = replace(s, first_bad=node)
    return replace(s, silent=tuple(n for n in s.silent if n != node))


def _after_end(s: RunState) -> Step:
    """When one node has ended badly the others stop; when all have ended the nodes go back."""
    if not s.all_ended:
        if s.first_bad is None or s.stop or s.preempted is not None:  # preempted: all were told to stop already
            return _show_active(s), ()
        return replace(_show_active(s), stop=True), (act.SendCancel(s.attempt),)
    todo: tuple[act.Action, ...] = (act.ReleaseNodes(),) if s.holding else ()
    return replace(
        s, status=RunStatus.FINALIZING, reason="what it left is being stored", holding=False, silent=()
    ), todo


def _after_shipped(s: RunState, todo: tuple[act.Action, ...]) -> Step:
    if not s.all_shipped:
        return s, todo
    s, more = _conclude(s)
    return s, (*todo, *more)


def _conclude(s: RunState) -> Step:
    """Everything of the attempt is stored: the run ends, or tries again."""
    if s.cancel:
        return _end(s, RunStatus.CANCELED, None)
    bad = s.declared or _deciding(s)
    if bad is None or bad.result == COMPLETED:
        return _end(s, RunStatus.COMPLETED, None)
    if bad.result == CANCELED:
        return _end(s, RunStatus.CANCELED, None)
    cause = bad_cause(s.attempt, bad)
    lost = bad.result == LOST
    budget = s.lost_budget if lost else s.user_budget
    if s.kind != RunKind.SCRIPT or budget <= 0 or cause.get("kind") == CauseKind.TIME_LIMIT:
        return _end(s, RunStatus.FAILED, cause, bad.result)
    if s.no_retry:
        return _end(s, RunStatus.CANCELED, None)
    s = close_attempt(s, bad.result, cause)
    words = f"Attempt {s.attempt} ended: {cause.get('summary', 'it failed')} Attempt {s.attempt + 1} follows."
    s = replace(
        s,
        attempt=s.attempt + 1,
        status=RunStatus.QUEUED,
        reason=_wait_words(s),
        nodes=(),
        grants=(),
        stop=False,
        first_bad=None,
        preempted=None,
        lost_budget=s.lost_budget - lost,
        user_budget=s.user_budget - (not lost),
    )
    return s, (act.Warn(words), act.Enqueue())


def _deciding(s: RunState) -> Optional[Outcome]:
    """The outcome that decides a try that did not complete. Where a node was taken away, that: its peers may have failed
    because it was gone before their own agents heard of it."""
    taken = s.nodes[s.preempted].outcome if s.preempted is not None else None
    if s.first_bad is None or (taken is not None and taken.result == LOST):
        return taken if s.first_bad is not None else None
    return deciding_outcome([n.outcome for n in s.nodes], s.first_bad)


def _end(s: RunState, status: RunStatus, cause: Optional[dict[str, Any]], result: str = "") -> Step:
    s = close_attempt(s, result or status.value.lower(), cause)
    return replace(s, status=status, reason="", cause=cause), (act.End(),)


def _with_node(s: RunState, node: int, **changes: Any) -> RunState:
    changed = replace(s.nodes[node], **changes)
    return replace(s, nodes=(*s.nodes[:node], changed, *s.nodes[node + 1 :]))


_STEPS: dict[type, Callable[[RunState, Any], Step]] = {
    obs.Submitted: _submitted,
    obs.Recovered: _recovered,
    obs.EnvironmentBuilding: _environment_building,
    obs.EnvironmentReady: _environment_ready,
    obs.EnvironmentGone: _environment_gone,
    obs.EnvironmentFailed: _environment_failed,
    obs.Waiting: _waiting,
    obs.Scaling: _scaling,
    obs.NodesGranted: _nodes_granted,
    obs.AgentsPlaced: _nothing,
    obs.PlacementFailed: _placement_failed,
    obs.PlacementWaits: _placement_waits,
    obs.AgentHello: _agent_hello,
    obs.NodeBusy: _node_busy,
    obs.RanksRunning: _ranks_running,
    obs.RendezvousOpened: _rendezvous_opened,
    obs.Silence: _silence,
    obs.HeardAgain: _heard_again,
    obs.CancelRequested: _cancel_requested,
    obs.CancelOverdue: _cancel_overdue,
    obs.NodePreempted: _node_preempted,
    obs.StatusReported: _status_reported,
    obs.RanksEnded: _ranks_ended,
    obs.AgentLost: _agent_lost,
    obs.Shipped: _shipped,
}
