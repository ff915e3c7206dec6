"""A gang of real agents, one per node, each against a keeper that behaves; what the controller does between them is done here."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.agent.tree import find_attempt
from rookery.engine.outcome import Outcome, read_outcome
from rookery.engine.verdict import deciding_outcome
from rookery.spec.job import RankJob
from rookery.testing.agent_bench import Bench

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts")
FAILURE_GRACE_S = 0.5


@dataclass(frozen=True)
class Case:
    """One fault: of this kind, in this rank, with this launcher on this many nodes."""

    fault: str
    rank: int = 0
    nodes: int = 1
    per_node: int = 1
    launcher: str = "per_process"  # none | per_process | per_node
    stubborn: bool = False  # the ranks take no notice of SIGTERM

    def __str__(self) -> str:
        shape = f"{self.launcher}-{self.nodes}x{self.per_node}"
        return f"{self.fault}-rank{self.rank}-{shape}{'-stubborn' if self.stubborn else ''}"


@dataclass
class Result:
    """What became of it."""

    cause: dict[str, Any]
    ended: float  # unix time when the last rank of the last node was gone
    left: list[int]
    logs: dict[str, str] = field(default_factory=dict)


def play(case: Case, payload: str, number: int) -> Result:
    """Run the case to its end."""
    folder = tempfile.mkdtemp(prefix="rkf-")
    gang = _Gang(case, payload, folder, f"fault_{number}_{os.getpid()}")
    try:
        return gang.run()
    finally:
        gang.close()
        shutil.rmtree(folder, ignore_errors=True)


class _Gang:
    def __init__(self, case: Case, payload: str, folder: str, run_id: str) -> None:
        self.case, self.payload, self.folder, self.run_id = case, payload, folder, run_id
        self.benches = [self._bench(node) for node in range(case.nodes)]
        self.outcomes: list[Optional[dict[str, Any]]] = [None] * case.nodes
        self.first_bad: Optional[int] = None
        self.lock = threading.Lock()

    def _bench(self, node: int) -> Bench:
        place = os.path.join(self.folder, f"n{node}")
        os.makedirs(place)
        bench = Bench(place)
        bench.run_id = self.run_id
        return bench

    def run(self) -> Result:
        agents = [bench.start(self._job(bench, node)) for node, bench in enumerate(self.benches)]
        threads = [threading.Thread(target=self._follow, args=(node,)) for node in range(len(agents))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(150)
        left = find_attempt(f"{self.run_id}/1")
        for agent, bench in zip(agents, self.benches):
            assert agent.wait(90) == 0, bench.agent_log()
        outcomes: list[Optional[Outcome]] = [read_outcome(body) for body in self.outcomes]
        assert self.first_bad is not None, self.outcomes
        decided = deciding_outcome(outcomes, self.first_bad)
        logs = {name: bytes(data).decode() for b in self.benches for name, data in b.keeper.logs.items()}
        assert decided is not None
        assert decided.cause is not None, self.outcomes
        return Result(decided.cause, max(body["ended"] for body in self.outcomes if body), left, logs)

    def _follow(self, node: int) -> None:
        """As the controller does: the first node that ended badly stops the others."""
        bench = self.benches[node]
        deadline = time.monotonic() + 140
        while not (found := [body for kind, body in list(bench.keeper.events) if kind == "outcome"]):
            assert time.monotonic() < deadline, bench.agent_log()
            time.sleep(0.005)
        self.outcomes[node] = found[0]
        with self.lock:
            if found[0]["result"] == "completed" or self.first_bad is not None:
                return
            self.first_bad = node
        for other, one in enumerate(self.benches):
            if other != node:
                one.keeper.command("cancel", grace_s=FAILURE_GRACE_S)

    def _job(self, bench: Bench, node: int) -> Any:
        case = self.case
        job = bench.job()
        for name in os.listdir(SCRIPTS):
            if name.endswith(".py"):
                shutil.copy(os.path.join(SCRIPTS, name), os.path.join(job.work, name))
        world = case.nodes * case.per_node
        numbers = [node] if case.launcher == "per_node" else range(node * case.per_node, (node + 1) * case.per_node)
        return bench.job(
            ranks=tuple(self._rank(bench, node, number) for number in numbers),
            world_size=case.nodes if case.launcher == "per_node" else world,
            node=node,
            failure_grace_s=FAILURE_GRACE_S,
            cancel_grace_s=20.0,
            max_duration_s=1 if case.fault == "time_limit" else 120,
            stall_timeout_s=3.0 if case.fault == "stalled" and case.nodes == 1 else 0.0,
        )

    def _rank(self, bench: Bench, node: int, number: int) -> RankJob:
        case = self.case
        base = bench.job().ranks[0].variables
        paths = bench.paths.rank(number)
        variables = {
            **base,
            "ROOKERY_NODE": str(node),
            "ROOKERY_RANK": str(number),
            "ROOKERY_JOURNAL_DIR": paths.journal,
            "ROOKERY_UPLOADS_DIR": paths.uploads,
            "ROOKERY_ERRORS_DIR": paths.errors,
            "PYTHONPATH": os.path.join(self.payload, "first"),
            "FAULT": case.fault,
            "FAULT_RANK": str(case.rank),
            "WORLD_SIZE": str(case.nodes * case.per_node),
            "NODE_RANK": str(node),
            "GROUP_PATH": os.path.join(self.folder, "g"),
            "STUBBORN": "1" if case.stubborn else "",
        }
        if case.launcher == "per_process":
            variables.update(RANK=str(number), LOCAL_RANK=str(number - node * case.per_node))
        log = f"azureml-logs/70_driver_log_{number}.txt"
        if case.launcher == "per_node":
            shell = f"{sys.executable} torchrun.py {case.per_node} train.py"
            return RankJob(number, 0, shell=shell, variables=variables, log_name=log)
        script = "no_such.py" if case.fault == "script_not_found" and number == case.rank else "train.py"
        python = "/no/such/python" if case.fault == "command_not_found" and number == case.rank else sys.executable
        return RankJob(number, number % case.per_node, (python, script), variables=variables, log_name=log)

    def close(self) -> None:
        for bench in self.benches:
            bench.close()
