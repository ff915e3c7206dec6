"""Slurm's words in ours: why a job waits, and why it ended."""

from __future__ import annotations

from typing import Optional

from rookery.engine.engines.slurm.listing import SlurmJob

__all__ = ["end_words", "never_starts", "waiting_words"]

# By the beginning of Slurm's reason, the longest that fits; {job} {nodes} {partition} are filled in.
_REASONS = {
    "None": "Slurm has not looked at it yet",
    "Resources": "it needs {nodes} free together",
    "Priority": "jobs with a higher priority are before it",
    "Dependency": "it depends on another job",
    "BeginTime": "its begin time is not reached; `scontrol update jobid={job} StartTime=now` starts it now",
    "JobHeldUser": "it is held; `scontrol release {job}` lets it go",
    "JobHeldAdmin": "an administrator of the cluster holds it; ask them, or `scontrol release {job}` as one",
    "job requeued in held state": "it is held; `scontrol release {job}` lets it go",
    "launch failed requeued held": "it could not be started and is held; `scontrol release {job}` tries again",
    "PartitionDown": "the partition {partition} is down: it starts nothing until an administrator sets it up again",
    "PartitionInactive": "the partition {partition} is inactive: it starts nothing until an administrator sets it up again",
    "PartitionNodeLimit": "it needs {nodes}, more than the partition {partition} gives now (down and drained ones do not count)",
    "PartitionTimeLimit": "its time limit is above that of the partition {partition}; give a smaller time_limit",
    "ReqNodeNotAvail": "nodes that it needs are not there: down, drained or reserved",
    "NodeDown": "a node that it needs is down",
    "BadConstraints": "no node of the cluster has what it asks for; look at constraint, gres, mem and nodelist",
    "Nodes required for job are DOWN": "nodes that it needs are down, drained or reserved",
    "Reservation": "the reservation has not begun or has no room",
    "Licenses": "a license that it needs is taken",
    "InvalidAccount": "the account is not known to Slurm; give another account",
    "InvalidQOS": "the quality of service is not known to Slurm; give another qos",
    "QOSNotAllowed": "the quality of service is not allowed here; give another qos or partition",
    "AccountNotAllowed": "the account may not use the partition {partition}; give another account or partition",
    "QOS": "a limit of its quality of service is reached",
    "Assoc": "a limit of its account is reached",
    "MaxArraySize": "a limit of the cluster is reached",
    "Prolog": "Slurm prepares the nodes",
    "Cleaning": "Slurm clears up after its last try",
}
# Slurm keeps such jobs in its queue for ever and says nothing.
_NEVER = ("BadConstraints", "PartitionTimeLimit", "InvalidAccount", "InvalidQOS", "QOSNotAllowed", "AccountNotAllowed")

_ENDS = {
    "BOOT_FAIL": "a node could not be booted for it",
    "CANCELLED": "it was canceled in Slurm (scancel)",
    "COMPLETED": "its batch script ended and said nothing about this node",
    "DEADLINE": "its deadline was reached",
    "FAILED": "its batch script failed",
    "NODE_FAIL": "a node of it failed",
    "OUT_OF_MEMORY": "it used more memory than it had reserved (option mem)",
    "PREEMPTED": "Slurm took its nodes away for a job with a higher priority (preempted)",
    "TIMEOUT": "it reached its time limit",
}


def waiting_words(job: SlurmJob) -> str:
    """Why it waits, as a clause that follows "waits for"."""
    nodes = f"{job.num_nodes} node{'' if job.num_nodes == '1' else 's'}"
    if job.state == "CONFIGURING":
        return f"Slurm job {job.id} has its nodes; Slurm brings them up"
    best = max((key for key in _REASONS if job.reason.startswith(key)), key=len, default="")
    words = _REASONS.get(best, "").format(job=job.id, nodes=nodes, partition=f"'{job.partition}'")
    detail = f" ({words})" if words else ""
    return f"Slurm job {job.id} waits: {job.reason}{detail}"


def never_starts(job: SlurmJob) -> Optional[str]:
    """A whole sentence when a waiting job will wait for ever."""
    if job.is_waiting and job.reason.startswith(_NEVER):
        return f"{waiting_words(job)}. It would never start, so it was taken back."
    return None


def end_words(job: SlurmJob) -> str:
    """Why a job that has ended did."""
    reason = "" if job.reason in ("None", "NonZeroExitCode") else f"; Slurm's reason: {job.reason}"
    return f"Slurm job {job.id} is {job.state}: {_ENDS.get(job.state, 'it has ended')}{reason}."
