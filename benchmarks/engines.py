"""From submit to the first line of the user's script on the caller's screen: this machine, Ray and Slurm, beside what the clusters
themselves offer for it, `ray job submit` and `sbatch`, on the very same clusters. Everything is warm, samples take turns and lie apart.

The clusters are real ones in network namespaces of this machine (root), started and stopped here.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from benchmarks.result import Result

__all__ = ["measure"]

ROUNDS = 5
PAUSE_S = 1.5  # Slurm and Ray tidy up after a job; the next one is not to wait for that
LINE = "first line"

# Ray's own client in a process that stays: without the second or two that its command takes to be imported.
JOBS_API = """
import sys, time
from ray.job_submission import JobSubmissionClient
client = JobSubmissionClient(sys.argv[1])
for _ in sys.stdin:
    start = time.perf_counter()
    job = client.submit_job(entrypoint=sys.argv[2])
    while "first line" not in client.get_job_logs(job):
        time.sleep(0.02)
    print(time.perf_counter() - start, flush=True)
"""


def measure(ws) -> list[Result]:
    from rookery.testing.ray_cluster import RayCluster
    from rookery.testing.slurm_cluster import SlurmCluster

    with tempfile.TemporaryDirectory(prefix="rookery-bench-engines-") as folder:
        script = os.path.join(folder, "hello.py")
        with open(script, "w") as f:
            f.write(f"print('{LINE}', flush=True)\n")
        embedded, bare = _in_turns(_ours(ws, folder, None), lambda: _until_line([sys.executable, script]))
        with SlurmCluster(own_pids=True) as slurm:
            target = _attach(ws, "bench-slurm", "slurm", {"conf": slurm.conf})
            ours_slurm, sbatch = _in_turns(_ours(ws, folder, target), lambda: _sbatch(slurm, folder, script))
            target.detach()
        with RayCluster(own_pids=True, dashboard=True) as ray:
            target = _attach(ws, "bench-ray", "ray", ray.options)
            entry = f"{sys.executable} {script}"
            with _warm(ray, entry) as api:
                ours_ray, command, warm = _in_turns(
                    _ours(ws, folder, target), lambda: _until_line(_ray_submit(ray, entry), ray.variables), api
                )
            target.detach()
    what = "submit → first line"
    return [
        Result(f"{what}, this machine", embedded, "s", None, bare, "bare python"),
        Result(f"{what}, Slurm", ours_slurm, "s", None, sbatch, "sbatch"),
        Result(f"{what}, Ray", ours_ray, "s", None, command, "ray job submit"),
        Result(f"{what}, Ray, beside a warm client", ours_ray, "s", None, warm, "Ray's Jobs API, imported already"),
    ]


def _in_turns(*samples: Callable[[], float]) -> list[float]:
    """Medians; one round goes before them that does not count."""
    taken: list[list[float]] = [[] for _ in samples]
    for n in range(ROUNDS + 1):
        for sample, times in zip(samples, taken):
            time.sleep(PAUSE_S)
            took = sample()
            if n:
                times.append(took)
    return [statistics.median(times) for times in taken]


# -- ours --------------------------------------------------------------------------------------------------------------


def _attach(ws, name: str, engine: str, options: dict):
    from rookery.sdk import RayCompute, SlurmCompute
    from rookery.sdk.compute import ComputeTarget

    kind = {"ray": RayCompute, "slurm": SlurmCompute}[engine]
    return ComputeTarget.attach(ws, name, kind.attach_configuration(**options))


def _ours(ws, folder: str, target) -> Callable[[], float]:
    from benchmarks.submit import _to_first_line
    from rookery.sdk import Environment, Experiment, ScriptRunConfig

    here = Environment("bench-here")
    here.python.user_managed_dependencies = True
    here.python.interpreter_path = sys.executable
    config = ScriptRunConfig(folder, script="hello.py", environment=here, compute_target=target or "local")
    return lambda: _to_first_line(ws, Experiment(ws, "bench-engines"), config)


# -- the others' -------------------------------------------------------------------------------------------------------


def _until_line(command: list[str], variables: dict[str, str] | None = None) -> float:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables)
    assert process.stdout is not None
    took = next((time.perf_counter() - start for line in process.stdout if line.strip() == LINE), None)
    process.communicate()
    if took is None:
        raise AssertionError(f"{command} never printed its line")
    return took


def _sbatch(slurm, folder: str, script: str) -> float:
    output = os.path.join(folder, f"sbatch-{time.monotonic_ns()}.txt")
    start = time.perf_counter()
    done = slurm.run("sbatch", f"--output={output}", "--wrap", f"{sys.executable} {script}")
    assert done.returncode == 0, done.stderr
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if os.path.exists(output) and os.path.getsize(output):
            return time.perf_counter() - start
        time.sleep(0.005)
    raise AssertionError("the job of sbatch never printed its line")


def _ray_submit(ray, entry: str) -> list[str]:
    return [
        os.path.join(os.path.dirname(ray.python), "ray"),
        "job",
        "submit",
        "--address",
        ray.dashboard_url,
        "--",
        *entry.split(),
    ]


class _warm:
    """A process with Ray's client in it; calling it submits one job."""

    def __init__(self, ray, entry: str) -> None:
        command = [ray.python, "-c", JOBS_API, ray.dashboard_url, entry]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ray.variables
        )

    def __call__(self) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def __enter__(self) -> _warm:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=30)
