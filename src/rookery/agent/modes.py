"""The three modes of an agent: run, watch, finish (spec/job.py)."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, Optional

from rookery.agent.agent import Agent
from rookery.agent.beat import oom_kill_count
from rookery.agent.cause import explain_lost, explain_time_limit, explain_watched
from rookery.agent.container import Enclosure
from rookery.agent.disk import read_json
from rookery.agent.failure import Witness
from rookery.agent.launch import launch
from rookery.agent.logs import tail
from rookery.agent.preempt import announce_stop, first_to_tell, let_leave, preempted_cause
from rookery.agent.proc import is_same_process
from rookery.agent.process import RankEnd, Ranks, become_subreaper
from rookery.agent.stall import StallWatch
from rookery.agent.tree import stop_attempt
from rookery.agent.words import signal_name
from rookery.errors import RookeryError, SnapshotError
from rookery.spec.cause import Cause, CauseKind
from rookery.spec.job import NODE_TRACKING
from rookery.spec.plain import to_plain

__all__ = ["finish", "run", "watch"]

LEFTOVER_GRACE_S = 1.0  # for what a rank leaves behind when it has ended
POLL_WATCHED_S = 0.5


def run(agent: Agent) -> None:
    """Start the ranks, wait for their end, report it."""
    job = agent.job
    become_subreaper()
    agent.wake.on_signals()
    agent.hello()
    enclosure = enclosure_of(agent)
    ranks, oom_before = Ranks(enclosure), oom_kill_count()
    if enclosure is not None:
        agent.roots_now = enclosure.pids
        enclosure.protect()
    problem = None if agent.cancel_grace_s is not None else _start(agent, ranks)
    started = time.monotonic()
    _serve(agent)
    if problem is None and agent.cancel_grace_s is None:
        body = {"ranks": [{"rank": rank, "pid": pid} for rank, pid in ranks.started]}
        agent.told(lambda: agent.keeper.call("POST", "running", body=body))
    agent.rank_pids = lambda: ranks.started
    witness, stall = Witness(agent, ranks), StallWatch(agent)
    witness.start()
    stall.start()
    why = _wait_for_ranks(agent, ranks, started, witness, stall)
    if why == "stalled" or (why == "cancel" and 0 < stall.timeout_s / 2 <= stall.still_s):
        stall.keep_stacks()  # also where another node noticed first
    if why == "stalled":
        stall.wait_for_others()
    stall.stop()
    witness.stopping()
    first: set[int] = set()
    if why not in ("ended", "failed"):
        announce_stop(agent, why)
    if agent.preempt is not None and why == "preempt":
        grace_s, first = agent.preempt.grace_s, first_to_tell(agent.children.pids() or ranks.pids)
        if ranks.foreign is not None:
            grace_s = let_leave(ranks, grace_s)
    elif why in ("cancel", "time", "over", "terminated"):
        grace_s = agent.cancel_grace_s if agent.cancel_grace_s is not None else job.cancel_grace_s
    else:
        grace_s = LEFTOVER_GRACE_S if all(end.ok for end in ranks.ends) else job.failure_grace_s
    if enclosure is not None:
        left = enclosure.stop(agent.key, grace_s, ranks)
        enclosure.release()
    else:
        left = stop_attempt(agent.key, grace_s, os.getpid(), reap=ranks.reap, node=job.node, first=first)
    ranks.reap()  # one may have ended between the last look and now
    if left:
        agent.warn(f"Processes {', '.join(map(str, left))} could not be stopped.")
    oom = oom_before is not None and (oom_kill_count() or 0) > oom_before
    children = agent.children.ends(witness.statuses)
    outcome = _outcome(agent, ranks, why, problem, oom, witness, stall.cause, children)
    if outcome["result"] == "completed" and job.data_outputs:
        outcome = _with_outputs(agent, outcome)
    agent.end({**outcome, "ranks": _as_list(children)} if children else outcome)


def watch(agent: Agent) -> None:
    """Follow the user's own process until it completes its run, or is gone."""
    job = agent.job
    agent.wake.on_signals()
    for paths in agent.rank_paths():
        for folder in (paths.journal, paths.uploads, paths.errors):
            os.makedirs(folder, exist_ok=True)
    agent.roots = [job.watched_pid]
    agent.hello()
    _serve(agent)
    agent.told(lambda: agent.keeper.call("POST", "running", body={"ranks": [{"rank": 0, "pid": job.watched_pid}]}))
    agent.end(_watched_outcome(agent, _wait_for_watched(agent)))


def finish(agent: Agent) -> None:
    """Bring an attempt whose agent died to its end: ship what is on disk, report what is known."""
    job = agent.job
    stop_attempt(agent.key, 0.0, node=job.node)  # nothing of it may still write
    enclosure = enclosure_of(agent)
    if enclosure is not None:
        enclosure.remove()
    agent.hello()
    agent.ship()
    outcome = read_json(agent.paths.outcome)
    if outcome is None:
        cause = explain_lost(
            f"The agent of node {job.node} died, and the run's processes with it.", job.attempt, job.node
        )
        outcome = _as_outcome("lost", cause)
    agent.heart.start()
    agent.end(outcome, write=False)


def enclosure_of(agent: Agent) -> Optional[Enclosure]:
    """The containers of an agent's ranks, where they have some."""
    if not agent.job.container:
        return None
    return Enclosure(agent.job.container, agent.job, agent.paths, agent.data_mounts)


def _start(agent: Agent, ranks: Ranks) -> Optional[str]:
    """Snapshot, socket, ranks. Returns what went wrong on our side."""
    from rookery.agent.snapshot import materialise

    job = agent.job
    try:
        materialise(agent.keeper, job, agent.warn, agent.pulse)
    except SnapshotError as error:
        return str(error)
    if agent.cancel_grace_s is not None:
        return None  # nothing is started any more
    if "node" in job.extra:
        problem = _prepare_node(agent)
        if problem is not None or agent.cancel_grace_s is not None or agent.wake.terminated:
            return problem
    problem = _prepare_data(agent)
    if problem is not None or agent.cancel_grace_s is not None or agent.wake.terminated:
        return problem
    if any(NODE_TRACKING in rank.variables.values() for rank in job.ranks):
        from rookery.agent.tracking import with_tracking

        agent.job, _ = with_tracking(agent.job, agent.keeper)
    return launch(agent, ranks)


def _prepare_data(agent: Agent) -> Optional[str]:
    """Inputs to be there, folders for outputs, and the variables that tell of them."""
    if not agent.job.inputs and not agent.job.data_outputs:
        return None
    from rookery.agent.data_inputs import deliver_inputs, with_variables
    from rookery.agent.data_outputs import make_output_folders
    from rookery.agent.data_progress import DeliveryStopped

    try:
        variables = {**deliver_inputs(agent), **make_output_folders(agent)}
    except DeliveryStopped:
        return None  # nothing is started any more
    except RookeryError as error:
        agent.data_failed = True
        return str(error)
    agent.job = with_variables(agent.job, variables)
    return None


def _prepare_node(agent: Agent) -> Optional[str]:
    """What an agent on another machine gets ready first: the run's checkpoints, its environment."""
    from rookery.agent.environment import EnvironmentProblem, prepare_environment

    try:
        agent.checkpoints.fetch()
    except (OSError, RookeryError) as error:
        return f"What the attempts before have left for node {agent.job.node} could not be fetched: {error}"
    try:
        prepare_environment(agent)
    except EnvironmentProblem as error:
        agent.environment_failed = True
        return str(error)
    return None


def _serve(agent: Agent) -> None:
    """The threads; started after the ranks, because forking a process with threads is asking for trouble."""
    from rookery.agent.relay import Relay

    if agent.socket is not None:
        token = next(
            (r.variables["ROOKERY_RUN_TOKEN"] for r in agent.job.ranks if "ROOKERY_RUN_TOKEN" in r.variables),
            "",
        )
        agent.relay = Relay(agent.socket, agent.keeper, agent, token or agent.job.token)
        agent.relay.start()
    agent.ship()
    agent.checkpoints.start()
    agent.heart.start()
    agent.listener.start()


def _wait_for_ranks(agent: Agent, ranks: Ranks, started: float, witness: Witness, stall: StallWatch) -> str:
    """'ended', 'failed', 'stalled', 'preempt', 'cancel', 'time', 'over' or 'terminated'."""
    limit_s = agent.job.max_duration_s
    while True:
        ranks.reap()
        if witness.has_failure():
            return "failed"  # before cancel: a rank that failed first has failed
        if agent.preempt is not None:
            return "preempt"
        if agent.cancel_grace_s is not None:
            return "cancel"
        if agent.over is not None:
            return "over"
        if agent.wake.terminated and not ranks.pids and not ranks.ends:
            return "terminated"  # before any had started
        if not ranks.pids and witness.wait_s is None:
            return "ended"
        if agent.wake.terminated:
            return "terminated"
        if stall.stalled:
            return "stalled"
        left = None if limit_s is None else started + limit_s - time.monotonic()
        if left is not None and left <= 0:
            return "time"
        agent.wake.wait(min((s for s in (left, witness.wait_s) if s is not None), default=None))


def _outcome(
    agent: Agent,
    ranks: Ranks,
    why: str,
    problem: Optional[str],
    oom: bool,
    witness: Witness,
    stalled: Optional[Cause],
    children: list[RankEnd],
) -> dict[str, Any]:
    job = agent.job
    if problem is not None:
        kind = CauseKind.ENVIRONMENT if agent.environment_failed else CauseKind.SYSTEM_ERROR
        advice = "Correct the environment and submit again." if agent.environment_failed else "Submit the run again."
        if agent.data_failed:
            kind, advice = CauseKind.DATA, "Look at the data set with `rookery data show`, and submit the run again."
        cause = Cause(kind, problem, job.attempt, job.node, advice=(advice,), time=time.time())
        return _as_outcome("failed", cause, ranks.ends)
    if agent.preempt is not None and why == "preempt":
        taken = preempted_cause(agent, agent.preempt, ranks.ends, children)
        return _as_outcome("lost" if taken else "completed", taken, ranks.ends)
    found = witness.first_cause(oom)
    if why in ("cancel", "over"):
        # A rank may have broken just before: if the cancel was because of another node, this one may be the reason.
        return _as_outcome("canceled", found[0] if found else stalled, ranks.ends)
    if why == "stalled":
        return _as_outcome("failed", stalled, ranks.ends)
    first = job.ranks[0] if job.ranks else None
    if why == "terminated":
        text = (
            f"The agent of node {job.node} was asked to end (SIGTERM): its machine is shutting down, "
            "or somebody stopped it."
        )
        return _as_outcome("lost", explain_lost(text, job.attempt, job.node), ranks.ends)
    if why == "time":
        name, path = agent.children.log_of(None) or (
            (agent.children.node_log_name(first.log_name), agent.paths.rank(first.rank).log) if first else ("", "")
        )
        cause = explain_time_limit(job.max_duration_s or 0, job.attempt, job.node, tail(path), name)
        return _as_outcome("failed", cause, ranks.ends)
    if found is None:
        return _as_outcome("completed", None, ranks.ends)
    return _as_outcome("failed", found[0], ranks.ends, found[1])


def _with_outputs(agent: Agent, outcome: dict[str, Any]) -> dict[str, Any]:
    """The outcome once its outputs are back: where one is not, the run has failed. Before it is told, so that nobody takes a
    half for the whole."""
    from rookery.agent.data_outputs import send_outputs

    problem = send_outputs(agent)
    if problem is None:
        return outcome
    cause = Cause(CauseKind.DATA, problem, agent.job.attempt, agent.job.node, time=time.time())
    return {**outcome, "result": "failed", "cause": to_plain(cause)}


def _recorded(folder: str, pid: int) -> Optional[Mapping[str, Any]]:
    """What the rank itself recorded; else, for a command that started Python, the first of its processes
    that did."""
    own = read_json(os.path.join(folder, f"{pid}.json"))
    if own:
        return dict(own)
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return None
    found = [data for data in (read_json(os.path.join(folder, name)) for name in names) if data]
    return min(found, key=lambda data: data.get("time") or 0) if found else None


def _wait_for_watched(agent: Agent) -> str:
    """'finish', 'cancel', 'gone', 'time', 'over' or 'terminated'."""
    job, started = agent.job, time.monotonic()
    try:
        fds = [os.pidfd_open(job.watched_pid)]
    except (AttributeError, OSError):
        fds = []
    while True:
        if agent.finish_asked is not None:
            return "finish"
        if agent.cancel_grace_s is not None:
            return "cancel"
        if agent.over is not None:
            return "over"
        if agent.wake.terminated:
            return "terminated"
        if not is_same_process(job.watched_pid, job.watched_start_ticks):
            return "gone"
        left = None if job.max_duration_s is None else started + job.max_duration_s - time.monotonic()
        if left is not None and left <= 0:
            return "time"
        pause = None if fds else POLL_WATCHED_S
        agent.wake.wait(left if pause is None else pause if left is None else min(pause, left), fds)


def _watched_outcome(agent: Agent, why: str) -> dict[str, Any]:
    job = agent.job
    if why == "finish":
        status, error = agent.finish_asked or ("Completed", None)
        result = {"Completed": "completed", "Canceled": "canceled"}.get(status, "failed")
        return {**_as_outcome(result, None), "cause": error}
    if why in ("cancel", "over"):
        return _as_outcome("canceled", None)
    if why == "terminated":
        return _as_outcome(
            "lost",
            explain_lost("The agent that watched the process was asked to end.", job.attempt, job.node),
        )
    if why == "time":
        return _as_outcome("failed", explain_time_limit(job.max_duration_s or 0, job.attempt, job.node))
    recorded = _recorded(agent.paths.rank(0).errors, job.watched_pid)
    return _as_outcome("failed", explain_watched(job.watched_pid, job.attempt, recorded))


def _as_outcome(
    result: str, cause: Optional[Cause], ends: Optional[list[RankEnd]] = None, shown: Optional[RankEnd] = None
) -> dict[str, Any]:
    """As the protocol has it."""
    ends = ends or []
    if shown is None and result == "completed":
        shown = ends[0] if ends else None
    return {
        "result": result,
        "exit_code": shown.exit_code if shown else None,
        "signal": signal_name(shown.signal) if shown and shown.signal is not None else None,
        "cause": to_plain(cause) if cause else None,
        "ranks": _as_list(ends),
        "ended": time.time(),
    }


def _as_list(ends: list[RankEnd]) -> list[dict[str, Any]]:
    return [
        {"rank": e.rank, "exit_code": e.exit_code, "signal": signal_name(e.signal) if e.signal is not None else None}
        for e in sorted(ends, key=lambda e: e.rank)
    ]
