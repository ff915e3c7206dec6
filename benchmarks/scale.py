"""How long the controller takes to decide, with 1,000 fake nodes and ever more waiting runs: its growth is what counts.

Ticks are given in processor time of the controller's thread, which a busy machine changes least, and by the wall clock; growth in
processor time.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass

from benchmarks.result import Result

__all__ = ["measure"]

NODES = 1_000
QUEUES = (1_000, 10_000, 100_000)
DECISIONS = 100
TICKS = 30


def measure(ws) -> list[Result]:
    """Medians: a tick, and what it takes from a run's end to the next one's start being stored."""
    found = {}
    for count in QUEUES:
        folder = tempfile.mkdtemp(prefix="rookery-scale-")
        try:
            found[count] = _measure(folder, count)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    results = []
    for count, (tick, decision, start) in found.items():
        goal = 10.0 if count == 10_000 else None
        results.append(Result(f"tick, 1,000 nodes, {count:,} queued (cpu)", tick.cpu_s * 1000, "ms", goal))
        results.append(Result("  the same, by the wall clock", tick.wall_s * 1000, "ms", goal))
        results.append(
            Result(f"one run ends, the next is given its node, {count:,}", decision.wall_s * 1000, "ms", None)
        )
        results.append(Result(f"controller takes up {count:,} queued runs", start, "s", None))
    (first, *_, last) = found.values()
    span = f"{QUEUES[0]:,} → {QUEUES[-1]:,} runs"
    results.append(Result(f"growth of a tick, {span}", last[0].cpu_s / first[0].cpu_s, "×", 2.0))
    results.append(Result(f"growth of a decision, {span}", last[1].cpu_s / first[1].cpu_s, "×", 2.0))
    return results


@dataclass(frozen=True)
class Took:
    """Medians of the wall clock, and of the processor time of the controller's thread."""

    wall_s: float
    cpu_s: float


def _measure(folder: str, count: int) -> tuple[Took, Took, float]:
    from rookery.engine import Controller
    from rookery.record import Record
    from rookery.spec.paths import WorkspacePaths
    from rookery.testing.fake_cluster import FakeCluster, Life
    from rookery.testing.fake_engine import FakeEngine

    paths = WorkspacePaths(folder)
    record = Record(paths)
    cluster = FakeCluster(NODES, cpus=1, life_of=lambda place: Life(3600.0))
    cluster.beat_s = 60.0
    try:
        fill(record, count + NODES)
        controller = Controller(
            record, paths, make_engine=lambda *args: FakeEngine(cluster), ensure_payload=lambda p: p.root
        )
        cluster.controller = controller
        began = time.perf_counter()
        controller.start()
        try:
            _wait(lambda: controller.compute("far")["running_runs"] == NODES)
            took = time.perf_counter() - began
            _wait(lambda: _running(record) == NODES)
            ticks = [_tick(controller) for _ in range(TICKS)]
            decisions = [_decide(controller, cluster) for _ in range(DECISIONS)]
            return _median(ticks), _median(decisions), took
        finally:
            controller.stop()
    finally:
        cluster.close()
        record.close()


def _tick(controller) -> Took:
    """One tick, as they come once a second: what the one before has left to the writer of reasons is written by then."""
    _wait(lambda: controller._reasons.is_idle)
    return controller._loop.call(lambda: _timed(controller._tick))


def _decide(controller, cluster) -> Took:
    """One run ends; its answer comes when the next one has been given its node and that is stored."""
    agent = next(a for a in list(cluster.agents.values()) if a.is_alive)
    place = agent.place
    cpu = controller._loop.call(time.thread_time)
    began = time.perf_counter()
    controller.agent_outcome(place.run_id, place.attempt, place.node, {"result": "completed"})
    cpu = controller._loop.call(time.thread_time) - cpu  # after what followed from it
    took = time.perf_counter() - began
    controller.agent_finished(place.run_id, place.attempt, place.node, {"warnings": []})
    cluster.end(place, exit_code=0)
    return Took(took, cpu)


def _timed(job) -> Took:
    began, cpu = time.perf_counter(), time.thread_time()
    job()
    return Took(time.perf_counter() - began, time.thread_time() - cpu)


def _median(taken: list[Took]) -> Took:
    return Took(statistics.median(t.wall_s for t in taken), statistics.median(t.cpu_s for t in taken))


def _running(record) -> int:
    from sqlalchemy import func, select

    from rookery.record.schema import runs

    with record.database.read() as conn:
        return conn.execute(select(func.count()).where(runs.c.status == "Running")).scalar_one()


def _wait(condition, timeout_s: float = 600.0) -> None:
    until = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("the controller did not come so far")
        time.sleep(0.02)


def fill(record, count: int, num_nodes: int = NODES) -> None:
    """A target 'far' and `count` runs that wait for it, written straight into the record."""
    import sys

    from sqlalchemy import insert

    from rookery.engine.run_state import RunState, store_state
    from rookery.environments import BuiltEnvironment
    from rookery.record.schema import experiments, runs
    from rookery.spec.compute import ClusterSpec, Reach
    from rookery.spec.plain import to_plain
    from rookery.spec.run import EnvironmentSpec, RunSpec
    from rookery.spec.status import RunStatus

    reach = Reach(keeper_url="http://10.0.0.1:1", transport="http", shared_files=True, shared_environments=True)
    record.compute.put("far", to_plain(ClusterSpec(engine="slurm", max_nodes=num_nodes, reach=reach)))
    when = "2026-11-15T20:00:00.000000Z"
    spec = to_plain(
        RunSpec("", "many", script="train.py", compute="far", environment=EnvironmentSpec(python=sys.executable))
    )
    state = store_state(
        RunState(
            status=RunStatus.QUEUED, reason="waits for 1 node of 'far'", compute="far",
            built=BuiltEnvironment(sys.executable, os.path.dirname(sys.executable)),
        )
    )  # fmt: skip
    row = {
        "experiment_id": "e1", "kind": "script", "parent_id": None, "display_name": "", "description": "",
        "status": "Queued", "reason": "waits for 1 node of 'far'", "attempt": 1, "compute": "far", "target": "far",
        "created_utc": when, "started_utc": None, "ended_utc": None, "submitted_by": "bench", "error": None,
        "warnings": [], "phases": [], "snapshot_id": None, "state": state,
    }  # fmt: skip
    with record.database.write() as tx:
        tx.conn.execute(
            insert(experiments).values(
                id="e1", name="many", created_utc=when, archived_utc=None, tags={}, run_count=count
            )
        )
        for start in range(0, count, 5000):
            ids = [f"many_{i}" for i in range(start, min(start + 5000, count))]
            rows = [
                {**row, "id": i, "root_id": i, "number": start + n + 1, "spec": {**spec, "run_id": i}}
                for n, i in enumerate(ids)
            ]
            tx.conn.execute(insert(runs), rows)
