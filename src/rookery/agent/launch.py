"""Starting the ranks of this node, by whichever launcher the run asks for."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional

from rookery.agent.process import Ranks
from rookery.errors import RookeryError
from rookery.spec.job import RankJob
from rookery.spec.launch import Launcher
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.agent.agent import Agent
    from rookery.agent.launch_meeting import Meeting

__all__ = ["launch"]

TF_PORT = 2222


def launch(agent: Agent, ranks: Ranks) -> Optional[str]:
    """Start the ranks. Returns what went wrong on our side; None too when the run was stopped before they had started."""
    plan = agent.job.launch
    if plan is None:
        _start_all(agent, ranks, {})
        return None
    from rookery.agent.launch_meeting import LaunchError

    try:
        if plan.launcher == Launcher.MPI:
            from rookery.agent.launch_mpi import launch_mpi

            launch_mpi(agent, ranks)
        else:
            _launch_each(agent, ranks)
    except LaunchError as error:
        return str(error)
    for text in plan.warnings if agent.job.node == 0 else ():
        tell(agent, text)
    return None


def tell(agent: Agent, text: str) -> None:
    """A warning that is shown with the run now, and not when it has ended."""
    agent.say("warning: " + text)
    try:
        route = f"/runs/{quote_path(agent.job.run_id)}/records"
        agent.keeper.once(lambda client: client.request("POST", route, body={"records": [["w", None, text]]}))
    except RookeryError:
        agent.warn(text)


def _launch_each(agent: Agent, ranks: Ranks) -> None:
    """per_process, per_node, tensorflow, parallel_task: the agent starts every process itself."""
    from rookery.agent.launch_meeting import meet
    from rookery.agent.launch_ports import claim_port, own_address

    job = agent.job
    assert job.launch is not None
    mine: dict[str, Any] = {"address": own_address(job)}
    if job.launch.launcher == Launcher.TENSORFLOW:
        claims = [claim_port(TF_PORT) for _ in job.ranks]
        agent.claims += claims
        mine["ports"] = [claim.number for claim in claims]
    meeting = meet(agent, mine)
    if meeting is None:
        return
    if meeting.claim is not None:
        agent.claims.append(meeting.claim)
    _start_all(agent, ranks, {rank.rank: with_meeting(agent, rank, meeting) for rank in job.ranks})


def with_meeting(agent: Agent, rank: RankJob, meeting: Meeting) -> RankJob:
    """The rank, with the variables that the agents agreed on."""
    from rookery.agent.launch_variables import meeting_variables

    more = meeting_variables(agent.job, rank, meeting.address, meeting.port, meeting.nodes, os.environ)
    return replace(rank, variables={**rank.variables, **more})


def _start_all(agent: Agent, ranks: Ranks, changed: dict[int, RankJob]) -> None:
    agent.children.prepare(agent.job.work)
    more = agent.children.variables()
    for rank in agent.job.ranks:
        wanted = changed.get(rank.rank, rank)
        wanted = replace(wanted, variables={**wanted.variables, **more}) if more else wanted
        ranks.start(wanted, agent.paths.rank(rank.rank), agent.job.work)
        agent.watcher.add(agent.paths.rank(rank.rank).log)
    agent.roots = ranks.pids
