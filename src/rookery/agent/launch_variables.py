"""The variables that follow from what the agents agreed on: where the master is, who else is there. Pure."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from rookery.spec.job import Job, RankJob
from rookery.spec.launch import Launcher

__all__ = ["meeting_variables"]

LOOPBACK = "lo"


def meeting_variables(
    job: Job, rank: RankJob, address: str, port: int, nodes: list[dict[str, Any]], inherited: Mapping[str, str]
) -> dict[str, str]:
    """What to add to a rank's own variables."""
    launch = job.launch
    assert launch is not None
    found = {"MASTER_ADDR": address, "MASTER_PORT": str(port)}
    if launch.one_machine:
        # A machine's own name may lead to an address that nobody listens at: gloo and tensorpipe need not ask.
        for name in ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME"):
            if name not in rank.variables and name not in inherited:
                found[name] = LOOPBACK
    found.update(_batch(job, address, port, nodes))
    if launch.launcher in (Launcher.PER_PROCESS, Launcher.PER_NODE):
        # Older samples give it, and $AZ_BATCHAI_TASK_INDEX, to init_process_group themselves.
        host = f"[{address}]" if ":" in address else address
        found["AZ_BATCHAI_PYTORCH_INIT_METHOD"] = f"tcp://{host}:{port}"
    if launch.launcher == Launcher.TENSORFLOW:
        found["TF_CONFIG"] = json.dumps(_tf_config(job, rank, nodes))
    return found


def _batch(job: Job, address: str, port: int, nodes: list[dict[str, Any]]) -> dict[str, str]:
    found = {
        "AZ_BATCHAI_MPI_MASTER_NODE": address,
        "AZ_BATCHAI_JOB_MASTER_NODE_IP": address,
        "AZ_BATCH_HOST_LIST": ",".join(str(node.get("host") or node.get("address") or address) for node in nodes),
        "AZ_BATCHAI_JOB_TEMP": os.path.dirname(job.work),
    }
    if len(nodes) > 1:
        found["AZ_BATCH_MASTER_NODE"] = f"{address}:{port}"
    return found


def _tf_config(job: Job, rank: RankJob, nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """As TensorFlow reads it; parameter servers live on node 0, behind its workers."""
    assert job.launch is not None
    each = job.launch.processes_per_node
    at = [[f"{node.get('address')}:{port}" for port in node.get("ports", ())] for node in nodes]
    cluster = {"worker": [place for places in at for place in places[:each]]}
    servers = at[0][each:]
    if servers:
        cluster["ps"] = servers
    workers = job.launch.workers
    task = {"type": "ps", "index": rank.rank - workers} if rank.background else {"type": "worker", "index": rank.rank}
    return {"cluster": cluster, "task": task, "environment": "cloud"}
