"""What this machine has: the cores this process may use, and its GPUs. Counted once; GPUs in the
background."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable

__all__ = ["GpuCount", "list_cpus"]

TIMEOUT_S = 30.0


def list_cpus() -> tuple[int, ...]:
    """The core numbers that this process may run on."""
    try:
        return tuple(sorted(os.sched_getaffinity(0)))
    except (AttributeError, OSError):
        return tuple(range(os.cpu_count() or 1))


class GpuCount:
    """Asks nvidia-smi once. Where there is no nvidia-smi the answer is there at once; else it comes from a
    thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._gpus: tuple[int, ...] | None = None
        program = shutil.which("nvidia-smi")
        if program is None:
            self._gpus = ()
        else:
            threading.Thread(target=self._ask, args=(program,), name="rookery-gpus", daemon=True).start()

    @property
    def gpus(self) -> tuple[int, ...] | None:
        with self._lock:
            return self._gpus

    def when_counted(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if self._gpus is None:
                self._callbacks.append(callback)
                return
        callback()

    def _ask(self, program: str) -> None:
        try:
            done = subprocess.run(
                [program, "--query-gpu=index,memory.total,name", "--format=csv,noheader"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            text = done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
        except (OSError, subprocess.TimeoutExpired):
            text = ""  # a driver that does not answer has no GPU that a run could use
        with self._lock:
            self._gpus = tuple(
                int(line.split(",")[0]) for line in text.splitlines() if line.split(",")[0].strip().isdigit()
            )
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
