"""A workspace with something on every page: runs that ended well and badly, a model, a target with nodes, an environment."""

from __future__ import annotations

import time
from typing import Any

TRAINS = """
import os
from azureml.core import Run
run = Run.get_context()
for step in range(30):
    run.log("train/loss", 1 / (step + 1))
    run.log("val/acc", 1 - 1 / (step + 1.5))
os.makedirs("outputs", exist_ok=True)
with open("outputs/notes.txt", "w") as f:
    f.write("crows and rooks\\n")
with open("outputs/model.pt", "wb") as f:
    f.write(bytes(2000))
print("trained")
"""

BREAKS = "raise ValueError('expected 3 channels, got 4')\n"

REGISTERS = """
import sys
from rookery import Environment, Run, Workspace
ws = Workspace.from_config()
run = Run.get(ws, sys.argv[1])
run.register_model("birds", "outputs", tags={"camera": "east"}, description="tells crows from rooks")
environment = Environment("corvids")
environment.python.conda_dependencies.add_pip_package("pillow==10.4.0")
environment.register(ws)
"""


def fill(studio: Any) -> dict[str, str]:
    """Names of what is there: base (the address), good and bad (runs)."""
    good = studio.run("trains.py", TRAINS, "--experiment", "birds", "--name", "good one")
    bad = studio.run("breaks.py", BREAKS, "--experiment", "birds", "--name", "broken one")
    studio.cli("compute", "create", "nest", "--max-nodes", "2", "--min-nodes", "1", "--vm-priority", "lowpriority")
    studio.wait(good, "Completed")
    studio.wait(bad, "Failed")
    studio.python(REGISTERS, good)
    return {"base": studio.base, "good": good, "bad": bad}


def settle(seen: Any, limit_s: float = 60.0) -> None:
    """Waits until nothing is being loaded that the page shows a place for."""
    deadline = time.monotonic() + limit_s
    while seen.page.get_by_label("Loading", exact=True).count():
        assert time.monotonic() < deadline, "the page still loads"
        seen.page.wait_for_timeout(50)
