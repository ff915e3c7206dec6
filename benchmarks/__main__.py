"""Run the benchmarks: `python -m benchmarks [NAME …]`. Prints ours, the peer's and the ratio; exits 1 when a goal is missed."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time

from benchmarks import peer
from benchmarks.result import print_table

ALL = (
    "imports",
    "log_cost",
    "ingest",
    "submit",
    "environments",
    "launch",
    "engines",
    "first_failure",
    "snapshot",
    "data",
    "keeper",
    "listing",
    "mlflow_server",
    "studio",
    "designer",
    "scale",
    "tune",
    "pipeline",
    "serve",
    "vision",
)


def main() -> int:
    names = sys.argv[1:] or list(ALL)
    unknown = [n for n in names if n not in ALL]
    if unknown:
        print(f"unknown benchmark {', '.join(unknown)}; known: {', '.join(ALL)}")
        return 2
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if not peer.is_there():
        print("The peer is not installed (make bench installs it); our numbers only.")
    results = []
    with tempfile.TemporaryDirectory(
        prefix="rookery-bench-", ignore_cleanup_errors=True
    ) as home:  # its keeper is just leaving
        os.environ["ROOKERY_HOME"] = home
        from rookery.sdk import Workspace

        ws = Workspace.create("bench", exist_ok=True)
        try:
            for name in names:
                start = time.perf_counter()
                results += importlib.import_module("benchmarks." + name).measure(ws)
                print(f"{name}: measured in {time.perf_counter() - start:.0f} s", flush=True)
        finally:
            ws.client.request("POST", "/keeper/stop")
    print_table(results)
    return 0 if all(r.holds for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
