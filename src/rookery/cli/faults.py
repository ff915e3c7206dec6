"""`rookery faults demo`: ten runs that fail in ten ways, and the ten causes as Rookery tells them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from typing import Any

import typer

from rookery.cli import session
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import clean, next_step, note, paint, print_json, say

__all__ = ["app"]

app = typer.Typer(help="Faults, and how they are explained: demo.", no_args_is_help=True, rich_markup_mode=None)

# name → what is shown before the cause; each happens in rank 1 of two.
TEN = {
    "out_of_memory": "memory runs out",
    "segmentation_fault": "compiled code crashes",
    "missing_module": "a module is missing",
    "port_in_use": "a port is taken",
    "nccl_without_cuda": "NCCL without CUDA",
    "different_code_paths": "ranks part ways",
    "disk_full": "the disk is full",
    "killed": "killed by hand",
    "time_limit": "the time is over",
    "stalled": "nothing moves any more",
}
STALL_TIMEOUT_S = 3
TIME_LIMIT_S = 4
PATIENCE_S = 180.0


@app.callback()
def faults() -> None:
    """Faults, and how they are explained: demo."""


@app.command("demo")
def demo(json: AsJson = False, workspace: InWorkspace = None) -> int:
    """Runs ten faults and prints the ten causes. Takes about half a minute."""
    from rookery.cli import fault_script

    folder = tempfile.mkdtemp(prefix="rookery-faults-")
    try:
        shutil.copy(fault_script.__file__, os.path.join(folder, "train.py"))
        runs = {fault: _submit(folder, fault) for fault in TEN}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not session.current().json:
        note(f"{len(runs)} runs of two ranks are submitted; each will fail in its own way.")
    found = [_told(number, fault, _wait(runs[fault])) for number, fault in enumerate(runs, 1)]
    right = sum(one["recognised"] for one in found)
    if session.current().json:
        print_json({"faults": found, "recognised": right})
    else:
        say(f"{right} of {len(found)} recognised.")
        next_step(f"rookery show {found[1]['run']}")
    return 0 if right == len(found) else 1


def _submit(folder: str, fault: str) -> Any:
    from rookery.sdk import Environment, Experiment, PyTorchConfiguration, ScriptRunConfig

    environment = Environment("faults-demo")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable
    limits = {"max_run_duration_seconds": TIME_LIMIT_S} if fault == "time_limit" else {}
    config = ScriptRunConfig(
        source_directory=folder,
        script="train.py",
        arguments=[fault],
        compute_target="local",
        environment=environment,
        distributed_job_config=PyTorchConfiguration("Gloo", process_count=2),
        **limits,
    )
    if fault == "stalled":
        config.run_config.environment_variables = {"ROOKERY_STALL_TIMEOUT_S": str(STALL_TIMEOUT_S)}
    return Experiment(session.sdk_workspace(), "faults-demo").submit(config)


def _wait(run: Any) -> dict[str, Any]:
    client = session.client()
    deadline = time.monotonic() + PATIENCE_S
    while True:
        data: dict[str, Any] = client.request("GET", f"/runs/{run.id}")
        if data["status"] in ("Completed", "Failed", "Canceled") or time.monotonic() > deadline:
            return data
        time.sleep(0.1)


def _told(number: int, fault: str, run: dict[str, Any]) -> dict[str, Any]:
    """Print one of them, and what goes into JSON."""
    cause = run["error"] or {}
    told = {
        "fault": fault,
        "run": run["id"],
        "status": run["status"],
        "recognised": cause.get("fault") == fault,
        "cause": cause,
    }
    if session.current().json:
        return told
    where = [f"rank {cause['rank']}" if cause.get("rank") is not None else "", f"node {cause.get('node')}"]
    where += [str(cause.get("signal") or ""), f"exit code {cause['exit_code']}" if cause.get("exit_code") else ""]
    mark = paint("ok ", "green") if told["recognised"] else paint("?? ", "red")
    say(f"{mark}{number:2d}  {paint(TEN[fault], 'bold')}  ({', '.join(w for w in where if w and 'None' not in w)})")
    say(f"        {clean(cause.get('summary') or run['status'])}")
    for line in (cause.get("advice") or [])[:1]:
        say(paint(f"        Try: {clean(line)}", "dim"))
    return told
