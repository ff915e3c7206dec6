"""The heartbeat: that we are there, and what the ranks use of CPU, memory and GPUs."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, Optional

from rookery.agent.keeper import Keeper
from rookery.agent.proc import TICKS_PER_S, all_stats
from rookery.errors import ConflictError, RookeryError

__all__ = ["Heart", "Sampler", "memory_total_bytes", "oom_kill_count"]

MAX_KEPT = 2000


class Sampler:
    """Looks at the tree below a process. `peak_bytes` is the most memory it was ever seen to use."""

    def __init__(self, roots: Callable[[], list[int]], disk: str = "") -> None:
        self._roots = roots
        self._disk = disk  # a folder whose file system is told of; empty: none is
        self._before: dict[int, int] = {}
        self._when = time.monotonic()
        self._smi = shutil.which("nvidia-smi")
        self.peak_bytes = 0
        self.last_gpus: list[dict[str, Any]] = []

    def sample(self) -> dict[str, Any]:
        stats = all_stats()
        children: dict[int, list[int]] = {}
        for stat in stats.values():
            children.setdefault(stat.parent, []).append(stat.pid)
        todo, tree = list(self._roots()), set()
        while todo:
            pid = todo.pop()
            if pid in stats and pid not in tree:
                tree.add(pid)
                todo += children.get(pid, [])
        now = time.monotonic()
        ticks = {pid: stats[pid].cpu_ticks for pid in tree}
        used = sum(t - self._before.get(pid, 0) for pid, t in ticks.items())
        percent = 100.0 * used / TICKS_PER_S / max(now - self._when, 1e-3)
        memory = sum(stats[pid].rss_bytes for pid in tree)
        self._before, self._when = ticks, now
        self.peak_bytes = max(self.peak_bytes, memory)
        self.last_gpus = self._gpus()
        return {
            "time": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "cpu_percent": round(percent, 1),
            "memory_bytes": memory,
            "gpus": self.last_gpus,
            **self._disk_use(),
        }

    def _disk_use(self) -> dict[str, int]:
        """Of the whole file system: what a run has written itself would take a walk over its files."""
        if not self._disk:
            return {}
        try:
            found = os.statvfs(self._disk)
        except OSError:
            return {}
        return {
            "disk_free_bytes": found.f_bavail * found.f_frsize,
            "disk_used_bytes": (found.f_blocks - found.f_bfree) * found.f_frsize,
        }

    def _gpus(self) -> list[dict[str, Any]]:
        if not self._smi:
            return []
        query = ["--query-gpu=index,utilization.gpu,memory.used", "--format=csv,noheader,nounits"]
        try:
            text = subprocess.run([self._smi, *query], capture_output=True, text=True, timeout=10, check=False).stdout
        except (OSError, subprocess.SubprocessError):
            self._smi = None
            return []
        found = []
        for line in text.splitlines():
            try:
                index, util, memory = (part.strip() for part in line.split(","))
                found.append({"index": int(index), "util_percent": float(util), "memory_bytes": int(memory) * 2**20})
            except ValueError:
                continue
        return found


class Heart:
    """Beats until stopped. `on_cancel` is called when the keeper's answer asks for it, `on_over` when the
    attempt is over."""

    def __init__(
        self,
        keeper: Keeper,
        sampler: Sampler,
        every_s: float,
        on_cancel: Callable[[Optional[float]], None],
        on_over: Callable[[str], None],
    ) -> None:
        self._keeper, self._sampler, self._every_s = keeper, sampler, every_s
        self._on_cancel, self._on_over = on_cancel, on_over
        self._stopped = threading.Event()
        self.state = "running"
        self.extra: Callable[[], dict[str, Any]] = dict  # more to say with every beat
        self.answer: dict[str, Any] = {}  # to the last one
        self._thread = threading.Thread(target=self._run, name="beat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        kept: list[dict[str, Any]] = []
        while not self._stopped.wait(self._every_s):
            if self.state == "running":
                kept = [*kept, self._sampler.sample()][-MAX_KEPT:]
            try:
                body = {"samples": kept, "state": self.state, **self.extra()}
                path = self._keeper.base + "beat"
                answer = self._keeper.once(lambda client, p=path, b=body: client.request("POST", p, body=b))  # type: ignore[misc]
                kept = []
                self.answer = answer
                if answer.get("cancel"):
                    grace_s = answer.get("grace_s")
                    self._on_cancel(None if grace_s is None else float(grace_s))
            except ConflictError as error:
                self._on_over(str(error))
                return
            except RookeryError:  # a beat that is missed is sent with the next one
                if not self._keeper.is_wanted():
                    self._on_over("its folder is gone")
                    return


def oom_kill_count() -> Optional[int]:
    """How often the kernel killed for lack of memory in our cgroup; None where it does not say."""
    for path in _memory_events():
        try:
            with open(path, encoding="ascii") as f:
                for line in f:
                    if line.startswith("oom_kill "):
                        return int(line.split()[1])
        except (OSError, ValueError):
            continue
    return None


def _memory_events() -> list[str]:
    found = []
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as f:
            for line in f:
                number, controllers, path = line.rstrip("\n").split(":", 2)
                if number == "0":
                    found.append(f"/sys/fs/cgroup{path.rstrip('/')}/memory.events")
                elif "memory" in controllers.split(","):
                    found.append(f"/sys/fs/cgroup/memory{path.rstrip('/')}/memory.oom_control")
    except (OSError, ValueError):
        pass
    return found


def memory_total_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
