"""From what Slurm says about a job to the deaths of its agents."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from typing import Optional

from rookery.engine.engines.base import Death
from rookery.engine.engines.slurm.asking import Asking
from rookery.engine.engines.slurm.gangs import Gang
from rookery.engine.engines.slurm.listing import End, SlurmJob
from rookery.engine.engines.slurm.words import end_words

__all__ = ["Deaths", "find_deaths"]

Deaths = list[Death]
JOB_WORDS_S = 1.5


def find_deaths(gang: Gang, job: SlurmJob, asking: Asking, output: str) -> Deaths:
    """Agents of this gang that have ended and were not told yet."""
    left = _left_nodes(gang, job, asking)
    found: Deaths = []
    for node in gang.open_nodes:
        end, host, place = job.ends.get(node), gang.host_of(node), gang.places[node]
        if end is None and host and host in left:
            found.append(Death(place, reason=_node_words(node, host, asking) or _shrunk(node, host, job)))
        elif end is not None and not _wait_for_job(gang, node, end, job):
            found.append(_by_code(gang, node, end, job, asking))
        elif end is None and job.has_ended:
            found.append(_by_job(gang, node, job, asking, output))
    return found


def _left_nodes(gang: Gang, job: SlurmJob, asking: Asking) -> frozenset[str]:
    """Machines that Slurm has taken out of a running job, because they failed (--no-kill)."""
    if not gang.hosts or job.has_ended or job.is_waiting or not job.nodelist or job.nodelist == gang.hosts_text:
        return frozenset()
    return frozenset(gang.hosts) - frozenset(asking.hosts(job.nodelist))


def _wait_for_job(gang: Gang, node: int, end: End, job: SlurmJob) -> bool:
    """An agent that a signal ended may have been ended by Slurm, with all of its job: a moment later the job says why."""
    if job.has_ended or node in gang.kills or not _signal_name(end.code) or end.words == "preempted":
        return False
    return time.monotonic() < gang.signaled.setdefault(node, time.monotonic()) + JOB_WORDS_S


def _by_code(gang: Gang, node: int, end: End, job: SlurmJob, asking: Asking) -> Death:
    place, host = gang.places[node], gang.host_of(node)
    if node in gang.kills:
        return Death(place, signal="SIGKILL")
    if end.code and (words := _node_words(node, host, asking)):
        return Death(place, reason=words)
    if _signal_name(end.code) and end.words == "preempted":
        return Death(
            place, signal=_signal_name(end.code), reason=end_words(replace(job, state="PREEMPTED", reason="None"))
        )
    if _signal_name(end.code) and job.has_ended and job.state not in ("COMPLETED", "FAILED"):
        return Death(place, signal=_signal_name(end.code), reason=end_words(job))
    said = f" It said: {end.words}" if end.words else ""
    if end.code in (126, 127):
        return Death(
            place,
            end.code,
            reason=f"The agent of node {node} could not be started on {host or 'its machine'}: the Python of the compute "
            f"target is not there (exit code {end.code}).{said} Give one that is there (3.9 or newer) as python.",
        )
    if name := _signal_name(end.code):
        return Death(place, signal=name)
    where = f" on {host}" if host else ""
    full = f"The agent of node {node}{where} ended with exit code {end.code}.{said}" if said else ""
    return Death(place, end.code, reason=full)


def _by_job(gang: Gang, node: int, job: SlurmJob, asking: Asking, output: str) -> Death:
    place, host = gang.places[node], gang.host_of(node)
    if node in gang.kills:
        back = "" if gang.hosts else f"Slurm job {job.id} was taken back while it waited."
        return Death(place, signal="SIGKILL", reason=back)
    if words := _node_words(node, host, asking):
        return Death(place, reason=words)
    down = [each for h in gang.hosts if (each := _down_words(h, asking))]
    if job.state == "NODE_FAIL" and down:
        return Death(place, reason=f"{end_words(job)} {' '.join(down)}")
    said = _last_lines(output) if job.state in ("FAILED", "COMPLETED") else ""
    return Death(place, reason=end_words(job) + (f" It said: {said}" if said else ""))


def _node_words(node: int, host: str, asking: Asking) -> Optional[str]:
    down = _down_words(host, asking) if host else None
    return f"The agent of node {node} is lost with its machine. {down}" if down else None


def _down_words(host: str, asking: Asking) -> Optional[str]:
    found = asking.node(host)
    if found is None or found.state != "down":
        return None
    return f"Node {host} of the Slurm cluster is down ({found.detail})."


def _shrunk(node: int, host: str, job: SlurmJob) -> str:
    return f"The agent of node {node} is lost: Slurm has taken the node {host} out of job {job.id}."


def _signal_name(code: int) -> str:
    if code <= 128:
        return ""
    try:
        return signal.Signals(code - 128).name
    except ValueError:
        return ""


def _last_lines(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return " ".join(f.read()[-400:].split())
    except OSError:
        return ""
