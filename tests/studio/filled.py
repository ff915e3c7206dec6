"""A workspace with something on every page: runs that ended well and badly, a model, a target with nodes, an environment, data."""

from __future__ import annotations

import json
import struct
import time
import zlib
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
    _add_data(studio)
    studio.wait(good, "Completed")
    studio.wait(bad, "Failed")
    studio.python(REGISTERS, good)
    return {"base": studio.base, "good": good, "bad": bad, **_add_pipelines(studio)}


# Two steps that need no network and no training; what the second one makes are pictures to look at.
PIPELINES = """
import json
from rookery import Workspace
client = Workspace.from_config().client
graph = {"version": 1, "name": "both sides", "nodes": {
    "data": {"kind": "data", "dataset": "birds", "version": None},
    "convert": {"kind": "module", "module": "convert_to_image_directory", "inputs": {"input_dataset": {"node": "data", "port": "data"}}},
    "split": {"kind": "module", "module": "split_image_directory", "parameters": {"fraction": 0.5},
              "inputs": {"input_image_directory": {"node": "convert", "port": "output_image_directory"}}},
    "odd": {"kind": "module", "module": "weigh_feathers"}},
    "layout": {"data": {"x": 0, "y": 0}, "convert": {"x": 0, "y": 150}, "split": {"x": 0, "y": 300}, "odd": {"x": 300, "y": 150}},
    "notes": [{"id": "note", "text": "mind the hens", "x": 300, "y": 0, "width": 200, "height": 80}]}
draft = client.request("POST", "/pipelines/drafts", body={"graph": graph, "name": "both sides"})
del graph["nodes"]["odd"]
runs = [client.request("POST", "/pipelines/runs", body={"graph": graph, "experiment": "birds", "display_name": name})["id"] for name in ("left", "right")]
client.request("POST", "/pipelines/published", body={"graph": graph, "name": "both sides"})
print(json.dumps({"draft": draft["id"], "piped": runs[0], "piped_too": runs[1]}))
"""


def _add_pipelines(studio: Any) -> dict[str, str]:
    made: dict[str, str] = json.loads(studio.python(PIPELINES))
    for name in ("piped", "piped_too"):
        studio.wait(made[name], "Completed")
    return made


def _add_data(studio: Any) -> None:
    folder = studio.project.parent / "pictures"
    for path in ("east side/rook.png", "east side/crow.png", "west/jay.png"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(_picture(len(path) * 9))
    (folder / "notes.txt").write_text("seen in the morning\n")
    (folder.parent / "table.csv").write_text("bird,weight\nrook,0.45\njay,0.16\n")
    studio.cli("data", "add", "birds", str(folder), "--description", "two sides of the wood", "--tag", "camera=east")
    studio.cli("data", "add", "table", str(folder.parent / "table.csv"), "--table", "csv")


def _picture(shade: int) -> bytes:
    """A PNG of 48 × 32, without a library."""
    head = struct.pack(">IIBBBBB", 48, 32, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes((shade + x + y) % 256 for x in range(48)) for y in range(32))
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def settle(seen: Any, limit_s: float = 120.0) -> None:
    """Waits until nothing is being loaded that the page shows a place for."""
    deadline = time.monotonic() + limit_s
    while seen.page.get_by_label("Loading", exact=True).count():
        assert time.monotonic() < deadline, "the page still loads"
        seen.page.wait_for_timeout(50)


def forgive(seen: Any, status: int = 404) -> None:
    """For who has just deleted what a page shows: on a slow machine that page asks for it once more, which the browser notes."""
    seen.problems[:] = [problem for problem in seen.problems if f"status of {status}" not in problem]


def check_width(seen: Any, width: int, limit_s: float = 60.0) -> None:
    """Nothing is wider than the screen: a phone scrolls down, not sideways. A chart may be so for a moment, until it is fitted."""
    deadline = time.monotonic() + limit_s
    while (found := seen.page.evaluate("document.documentElement.scrollWidth")) > width:
        assert time.monotonic() < deadline, f"{seen.page.url} is {found} wide, the screen {width}"
        seen.page.wait_for_timeout(50)
