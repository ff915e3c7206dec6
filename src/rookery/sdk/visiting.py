"""An agent beside this process, for a run of it that a server elsewhere keeps.

On one machine the keeper starts the agent that watches an interactive run. A server cannot see this process: so its job is fetched
from there, and the agent started here. It ships the journal and ./outputs, beats, and tells the end, also when this process is killed.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

from rookery.errors import ConflictError
from rookery.settings import rookery_home
from rookery.spec.paths import NodePaths
from rookery.spec.run import RunSpec
from rookery.worker.http import quote_path

__all__ = ["start_agent", "visit_paths"]

JOB_PATIENCE_S = 30.0  # the server writes the job beside its answer
KEPT_S = 7 * 86400.0  # what a visit leaves: until then an agent may still have something to tell


def visit_paths(run_id: str) -> NodePaths:
    """The folder of the run's agent on this machine: $ROOKERY_HOME/visits/<run>."""
    return NodePaths(os.path.join(_visits(), run_id))


def start_agent(client: Any, spec: RunSpec, paths: NodePaths) -> None:
    """Fetch the job of the agent that watches this process, and start it, detached.

    Raises:
        RookeryError: the server does not give it.
    """
    job = _fetch(client, spec.run_id)
    job.update(
        work=os.getcwd(),
        collect_outputs=spec.collect_outputs,
        watch_folders=list(spec.watch_folders),
        keeper={"url": client.url, "certificate": client.certificate},
        socket=os.path.join(_sockets(), f"v-{hashlib.sha256(os.fsencode(paths.root)).hexdigest()[:20]}.sock"),
        payload_root="",
        content_root="",
    )
    with open(os.open(paths.job, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as f:
        json.dump(job, f)
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with open(paths.agent_log, "ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "rookery.agent", paths.root],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=variables,
            start_new_session=True,
        )
    # It outlives us; while we live it is our child, and would stay a zombie when it has left.
    threading.Thread(target=process.wait, name="rookery-agent-reaper", daemon=True).start()
    _sweep()


def _fetch(client: Any, run_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + JOB_PATIENCE_S
    while True:
        try:
            answer: dict[str, Any] = client.request("POST", f"/runs/{quote_path(run_id)}/visit")
            return answer["job"]
        except ConflictError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _visits() -> str:
    return os.path.join(rookery_home(), "visits")


def _sockets() -> str:
    """A short, private folder: the paths of sockets are limited to about 108 bytes."""
    folder = f"/tmp/rookery-{os.getuid()}"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.lstat(folder)  # a link that somebody else placed here must not be followed
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        return tempfile.mkdtemp(prefix="rookery-", dir="/tmp")
    return folder


def _sweep() -> None:
    """What visits of long ago have left."""
    for pattern in (os.path.join(glob.escape(_visits()), "*"), f"/tmp/rookery-{os.getuid()}/v-*.sock"):
        for path in glob.glob(pattern):
            with contextlib.suppress(OSError):
                if time.time() - os.lstat(path).st_mtime < KEPT_S:
                    continue
                if os.path.isdir(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    os.unlink(path)
