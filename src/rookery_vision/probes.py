"""What is fastest here, found by trying: each question is measured once on a machine, and the answer kept. Standard library only.

`ROOKERY_VISION_PROBES` (default `~/.cache/rookery/vision-probes`) has a small JSON file for every answer, with the times it was chosen by.
Kept, because two answers may differ in the last bit of a result, and the same seed is to give the same weights: remove a file, and it is
measured again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["fastest", "kept", "machine", "probes_folder", "seconds_of"]

MARGIN = 1.1  # a later candidate has to be this many times faster than an earlier one: noise is not to decide


def kept(question: str, about: Mapping[str, Any], measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answer to a question about this machine: that of last time, or what `measure` finds now.

    Args:
        about: what else the answer depends on (versions, sizes); plain JSON.
        measure: returns plain JSON.
    """
    key = {"machine": machine(), **about}
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    path = os.path.join(probes_folder(), f"{question}-{digest}.json")
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError), open(path, encoding="utf-8") as f:
        found = json.load(f)["answer"]
        if isinstance(found, dict):
            return found
    answer = measure()
    with contextlib.suppress(OSError):  # a folder that cannot be written to: measured again next time
        os.makedirs(probes_folder(), exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=probes_folder(), suffix=".part")
        with open(handle, "w", encoding="utf-8") as f:
            json.dump({"question": question, "about": key, "answer": answer}, f, indent=1)
        os.replace(partial, path)
    return answer


def fastest(times_s: Mapping[str, float], order: Sequence[str]) -> str:
    """The name with the shortest time; one that comes later in the order has to be clearly faster."""
    best = next(name for name in order if name in times_s)
    for name in order:
        if name in times_s and times_s[name] * MARGIN < times_s[best]:
            best = name
    return best


def seconds_of(action: Callable[[], object], times: int, limit_s: float = float("inf")) -> float:
    """The shortest of so many tries: what else the machine does can only make one longer. Ends early past the limit."""
    began, best = time.perf_counter(), float("inf")
    for _ in range(times):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - began > limit_s:
            break
    return best


def probes_folder() -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("ROOKERY_VISION_PROBES") or os.path.join(home, "rookery", "vision-probes")


@functools.lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """What makes two machines alike: the processor's name and abilities, and how many of them this process may use."""
    name = flags = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        for line in f:
            field, _, value = line.partition(":")
            if field.strip() == "model name":
                name = name or value.strip()
            elif field.strip() in ("flags", "Features"):
                flags = flags or value.strip()
    return {
        "processor": name or os.uname().machine,
        "abilities": hashlib.sha256(flags.encode()).hexdigest()[:12],
        "processors": len(os.sched_getaffinity(0)),
    }
