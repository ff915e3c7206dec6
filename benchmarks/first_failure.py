"""A rank dies: how long until the others are gone, and until the cause is shown, beside torchrun.

Each rank notes its pid and waits; the last one raises when all have come. The clock starts at the line that raises. "Shown" is, for us, the
moment at which a client that follows the run has its cause, and for torchrun the end of its launchers with their summary. Whether the
ranks of torchrun's other node hear of it depends on which node holds the rendezvous: in some rounds they go on until we stop waiting
(PEER_PATIENCE_S).
"""

from __future__ import annotations

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

from benchmarks.result import Result

ROUNDS = 3
GOAL_S = 1.0
PATIENCE_S = 90.0
PEER_PATIENCE_S = 15.0
SCRIPT = """
import os, sys, time
folder, count = sys.argv[1], int(sys.argv[2])
rank = int(os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "-1")))
with open(os.path.join(folder, "new-%d" % rank), "w") as f:
    f.write(str(os.getpid()))
os.rename(f.name, os.path.join(folder, "rank-%d" % rank))
while len([n for n in os.listdir(folder) if n.startswith("rank-")]) < count:
    time.sleep(0.02)
if rank != count - 1:
    time.sleep(600)
time.sleep(1.0)
with open(os.path.join(folder, "new"), "w") as f:
    f.write(repr(time.time()))
os.rename(f.name, os.path.join(folder, "died"))
raise RuntimeError("bad shape (3, 4)")
"""


class Measured(NamedTuple):
    gone_s: float
    shown_s: float


def measure(ws: Any) -> list[Result]:
    from rookery.sdk import AmlCompute, ComputeTarget, MpiConfiguration, PyTorchConfiguration
    from rookery.testing.openmpi import ensure_openmpi

    ensure_openmpi()
    ComputeTarget.create(ws, "two", AmlCompute.provisioning_configuration(max_nodes=2))
    shapes = {
        "2 × 2": ((2, 2), PyTorchConfiguration("Gloo", process_count=4, node_count=2)),
        "2 × 2, mpi": ((2, 2), MpiConfiguration(2, 2)),
        "1 × 2": ((1, 2), PyTorchConfiguration("Gloo", process_count=2, node_count=1)),
    }
    ours: dict[str, list[Measured]] = {name: [] for name in shapes}
    theirs: dict[tuple[int, int], list[Measured]] = {(1, 2): [], (2, 2): []}
    for _ in range(ROUNDS):
        for name, ((nodes, each), distributed) in shapes.items():
            ours[name].append(_ours(ws, distributed, nodes * each))
        for nodes, each in theirs:
            theirs[nodes, each].append(_torchrun(nodes, each))
    results = []
    for name, (shape, _) in shapes.items():
        (gone, shown), (peer_gone, peer_shown) = _median(ours[name]), _median(theirs[shape])
        peer = "torchrun" if peer_gone < PEER_PATIENCE_S else "torchrun, when we stopped waiting"
        results += [
            Result(f"a rank dies → the others are gone, {name}", gone, "s", GOAL_S, peer_gone, peer),
            Result(f"a rank dies → its cause is shown, {name}", shown, "s", GOAL_S, peer_shown, peer),
        ]
    return results


def _median(found: list[Measured]) -> Measured:
    return Measured(*(statistics.median(column) for column in zip(*found)))


def _ours(ws: Any, distributed: Any, ranks: int) -> Measured:
    from rookery.sdk import Environment, Experiment, ScriptRunConfig
    from rookery.sdk.streaming import run_events

    env = Environment("bench")
    env.python.user_managed_dependencies = True
    env.python.interpreter_path = sys.executable
    with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(source, "train.py"), "w") as f:
            f.write(SCRIPT)
        src = ScriptRunConfig(
            source,
            script="train.py",
            arguments=[folder, ranks],
            compute_target="two",
            environment=env,
            distributed_job_config=distributed,
        )
        run = Experiment(ws, "bench-failure").submit(src)
        died, pids = _wait_for_death(folder, ranks)
        gone = _wait_until_gone(pids, PATIENCE_S)
        shown = 0.0
        for event in run_events(ws.client, run.id, kinds="status"):
            if event.data["status"] == "Failed":
                shown, cause = time.time(), event.data["error"]
        if not shown or "bad shape" not in (cause["exception"] or "") or cause["rank"] != ranks - 1:
            raise AssertionError(f"the cause is wrong: {run.get_details()}")
    return Measured(gone - died, shown - died)


def _torchrun(nodes: int, each: int) -> Measured:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "train.py")
        with open(script, "w") as f:
            f.write(SCRIPT)
        options = [
            f"--nnodes={nodes}",
            f"--nproc_per_node={each}",
            "--rdzv_backend=c10d",
            "--rdzv_id=bench",
            "--local_addr=127.0.0.1",
        ]
        command = [sys.executable, "-m", "torch.distributed.run", *options, f"--rdzv_endpoint=127.0.0.1:{port}"]
        launchers = [
            subprocess.Popen(
                [*command, script, folder, str(nodes * each)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            for _ in range(nodes)
        ]
        try:
            died, pids = _wait_for_death(folder, nodes * each)
            try:
                gone = _wait_until_gone(pids, PEER_PATIENCE_S)
                for launcher in launchers:
                    launcher.wait(PEER_PATIENCE_S)
            except (TimeoutError, subprocess.TimeoutExpired):
                return Measured(PEER_PATIENCE_S, PEER_PATIENCE_S)
            return Measured(gone - died, time.time() - died)
        finally:
            for launcher in launchers:
                launcher.terminate()  # it ends its ranks
            for launcher in launchers:
                launcher.wait(PATIENCE_S)


def _wait_for_death(folder: str, ranks: int) -> tuple[float, list[int]]:
    """(when the rank died, the pids of the others)."""
    deadline = time.monotonic() + PATIENCE_S
    path = os.path.join(folder, "died")
    while not os.path.exists(path):
        if time.monotonic() > deadline:
            raise AssertionError(f"the ranks did not come: {os.listdir(folder)}")
        time.sleep(0.002)
    pids = []
    for rank in range(ranks - 1):
        with open(os.path.join(folder, f"rank-{rank}")) as f:
            pids.append(int(f.read()))
    with open(path) as f:
        return float(f.read()), pids


def _wait_until_gone(pids: list[int], patience_s: float) -> float:
    """The time at which the last of them was gone. A zombie is gone: it runs nothing."""
    deadline = time.monotonic() + patience_s
    while any(_is_running(pid) for pid in pids):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{pids} are still there after {patience_s:g} s")
        time.sleep(0.002)
    return time.time()


def _is_running(pid: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as f:
        return f.read().rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")
    return False
