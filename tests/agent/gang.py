"""Several agents of one attempt against a keeper that behaves, for the tests of launching."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rookery.spec.job import Job, RankJob
from rookery.spec.launch import LaunchJob
from rookery.spec.logs import driver_log_name
from rookery.spec.paths import NodePaths
from rookery.spec.plain import to_plain
from rookery.testing.agent_bench import Bench


class Gang:
    """`nodes` agents with `each` ranks, all running train.py."""

    def __init__(self, bench: Bench, launcher: str, nodes: int, each: int, script: str, **launch: Any) -> None:
        self.bench = bench
        self.paths = [NodePaths(os.path.join(bench.folder, f"node {n}")) for n in range(nodes)]
        self.agents: list[subprocess.Popen[bytes]] = []
        self.on_node: Callable[[int, list[str]], list[str]] = lambda node, argv: argv  # where a node's agent is started
        fields = {"launcher": launcher, "node_count": nodes, "processes_per_node": each, "secret": "s3cret"}
        fields |= {"address": "127.0.0.1", "workers": nodes * each, **launch}
        self.jobs = [self._job(n, each, nodes * each, script, fields) for n in range(nodes)]

    def _job(self, node: int, each: int, world: int, script: str, fields: dict[str, Any]) -> Job:
        paths, bench = self.paths[node], self.bench
        work = paths.work(bench.run_id)
        os.makedirs(work)
        with open(os.path.join(work, "train.py"), "w", encoding="utf-8") as f:
            f.write(script)
        ranks = tuple(self._rank(paths, node, node * each + i, i, world) for i in range(each))
        base = bench.job()
        return replace(
            base,
            node=node,
            world_size=world,
            ranks=ranks,
            work=work,
            socket=os.path.join(bench.folder, f"a{node}.sock"),
            launch=LaunchJob(**fields, channel=os.path.join(bench.folder, f"m{node}.sock")),
        )

    def _rank(self, paths: NodePaths, node: int, rank: int, local: int, world: int) -> RankJob:
        files = paths.rank(rank)
        variables = {
            "ROOKERY_RUN_ID": self.bench.run_id,
            "ROOKERY_NODE": str(node),
            "ROOKERY_RANK": str(rank),
            "ROOKERY_JOURNAL_DIR": files.journal,
            "ROOKERY_ERRORS_DIR": files.errors,
            "ROOKERY_ATTEMPT_KEY": f"{self.bench.run_id}/1",
            "RANK": str(rank),
            "LOCAL_RANK": str(local),
        }
        argv = (sys.executable, "train.py", "$LOCAL_RANK")
        return RankJob(rank, local, argv, variables=variables, log_name=driver_log_name(rank, world))

    def start(self, *nodes: int) -> None:
        for node in nodes or range(len(self.jobs)):
            with open(self.paths[node].job, "w", encoding="utf-8") as f:
                json.dump(to_plain(self.jobs[node]), f)
            with open(self.paths[node].agent_log, "ab") as log:
                argv = [sys.executable, "-m", "rookery.agent", self.paths[node].root]
                agent = subprocess.Popen(self.on_node(node, argv), stdout=log, stderr=log, cwd="/")
            self.agents.append(agent)
            self.bench.agents.append(agent)

    def run(self, timeout_s: float = 150.0) -> list[dict[str, Any]]:
        """To the end; the outcomes, by node."""
        self.start()
        for agent in self.agents:
            assert agent.wait(timeout_s) == 0, self.agent_logs()
        return self.outcomes()

    def outcomes(self) -> list[dict[str, Any]]:
        return [self.outcomes_of(node) for node in range(len(self.paths))]

    def outcomes_of(self, node: int) -> dict[str, Any]:
        with open(self.paths[node].outcome, encoding="utf-8") as f:
            found: dict[str, Any] = json.load(f)
        return found

    def log(self, rank: int) -> str:
        return self.bench.keeper.log(f"azureml-logs/70_driver_log_{rank}.txt").decode()

    def agent_logs(self) -> str:
        texts = []
        for paths in self.paths:
            if os.path.exists(paths.agent_log):
                with open(paths.agent_log, encoding="utf-8") as f:
                    texts.append(f.read())
        return "\n---\n".join(texts)
