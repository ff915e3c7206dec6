"""A bench for agents: a real one, in a folder of its own, against a keeper that behaves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

from rookery.agent.tree import stop_attempt
from rookery.spec.job import Job, KeeperAddress, RankJob
from rookery.spec.logs import DRIVER_LOG
from rookery.spec.paths import NodePaths
from rookery.spec.plain import to_plain
from rookery.testing.fake_keeper import FakeKeeper

__all__ = ["Bench", "wait_until"]


class Bench:
    """One attempt: makes job.json, starts agents, cleans up whatever is left."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.keeper = FakeKeeper(folder).start()
        self.run_id = f"exp_{os.getpid()}_abc"  # of this process: other sessions stop what carries their own
        self.paths = NodePaths(os.path.join(folder, "node with 'quotes'"))
        os.makedirs(self.paths.root)
        self.agents: list[subprocess.Popen[bytes]] = []

    def job(self, script: str = "", argv: tuple[str, ...] = (), **fields: Any) -> Job:
        """A job whose script lies in the working folder already."""
        rank = self.paths.rank(0)
        work = self.paths.work(self.run_id)
        os.makedirs(work, exist_ok=True)
        if script:
            with open(os.path.join(work, "train.py"), "w", encoding="utf-8") as f:
                f.write(script)
        variables = {
            "ROOKERY_RUN_ID": self.run_id,
            "ROOKERY_EXPERIMENT": "exp",
            "ROOKERY_ATTEMPT": "1",
            "ROOKERY_NODE": "0",
            "ROOKERY_RANK": "0",
            "ROOKERY_WORLD_SIZE": "1",
            "ROOKERY_AGENT_SOCKET": os.path.join(self.folder, "a.sock"),
            "ROOKERY_JOURNAL_DIR": rank.journal,
            "ROOKERY_UPLOADS_DIR": rank.uploads,
            "ROOKERY_ERRORS_DIR": rank.errors,
            "ROOKERY_RUN_TOKEN": "rkr_run",
            "ROOKERY_ATTEMPT_KEY": f"{self.run_id}/1",
        }
        job = Job(
            run_id=self.run_id,
            attempt=1,
            node=0,
            mode="run",
            token="rkr_agent",
            keeper=KeeperAddress(endpoint_file=self.keeper.endpoint),
            ranks=(RankJob(0, 0, argv or (sys.executable, "train.py"), variables=variables, log_name=DRIVER_LOG),),
            work=work,
            cancel_grace_s=1.0,
            heartbeat_s=0.2,
            socket=os.path.join(self.folder, "a.sock"),
        )
        return replace(job, **fields)

    def start(self, job: Job) -> subprocess.Popen[bytes]:
        with open(self.paths.job, "w", encoding="utf-8") as f:
            json.dump(to_plain(job), f)
        with open(self.paths.agent_log, "ab") as log:
            agent = subprocess.Popen(
                [sys.executable, "-m", "rookery.agent", self.paths.root],
                stdout=log,
                stderr=log,
                cwd="/",
                env=_own_variables(),
            )
        self.agents.append(agent)
        return agent

    def run(self, job: Job, timeout_s: float = 120.0) -> dict[str, Any]:
        """Run an agent to its end; the outcome it reported."""
        agent = self.start(job)
        code = agent.wait(timeout_s)
        assert code == 0, self.agent_log()
        outcome: dict[str, Any] = self.keeper.wait_for("outcome", 0)
        return outcome

    def log(self) -> str:
        return self.keeper.log(DRIVER_LOG).decode()

    def agent_log(self) -> str:
        with open(self.paths.agent_log, encoding="utf-8") as f:
            return f.read()

    def wait_for_log(self, text: str) -> None:
        self.keeper.wait_until(lambda: text.encode() in self.keeper.logs.get(DRIVER_LOG, b""))

    def close(self) -> None:
        for agent in self.agents:
            if agent.poll() is None:
                agent.kill()
                agent.wait()
        stop_attempt(f"{self.run_id}/1", 0.0)
        self.keeper.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _own_variables() -> dict[str, str]:
    """A copy: pytest names the test in a variable while other threads start agents, and a child that reads them just then ends with
    "Bad address"."""
    return {name: value for name in list(os.environ) if (value := os.environ.get(name)) is not None}


def wait_until(condition: Any, timeout_s: float = 90.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)
