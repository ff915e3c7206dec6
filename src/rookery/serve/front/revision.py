"""The scoring processes of one revision of a version: as many as are wanted, brought back when they die, replaced when they take too much."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from typing import Any, Optional

from rookery.serve.front import memory
from rookery.serve.front.replica import Replica
from rookery.serve.front.scaling import Scaling
from rookery.serve.front.wire import Request

__all__ = ["Revision"]

MAX_PAUSE_S = 30.0
STEADY_S = 10.0  # a process that has lived so long did not die of its start
START_TRIES = 3  # for one that is killed while it comes up; one that says why it failed gets no second
LAST_LINES = 40
MEMORY_S = 1.0  # between two looks at how much memory they have


class Revision:
    """Promises: once it has been ready it is never given up; before that a failed init() is its end.

    Args:
        told: of desired.json: revision, launch, num_replicas, autoscale, max_batch, startup_timeout_s, memory_gb, no_code.
        owner: the version: `revision_ready`, `revision_failed`, `answered`, `take_back`, `wake`.
    """

    def __init__(self, told: dict[str, Any], sockets: str, owner: Any, adopted: list[dict[str, Any]]) -> None:
        self.number: int = told["revision"]
        self.told, self._sockets, self._owner = told, sockets, owner
        self.replicas: list[Replica] = []
        self.state = "starting"  # starting, ready (has been, once), failed, leaving
        self.error: Optional[dict[str, Any]] = None
        self.restarts = 0
        self._quick_deaths = 0
        self._deadline = time.monotonic() + float(told.get("startup_timeout_s") or 600)
        self._timers: set[asyncio.TimerHandle] = set()
        scale = told.get("autoscale")
        self._scaling = Scaling(scale, time.monotonic(), len(adopted)) if scale else None
        self._together = 1  # requests that one process scores at once
        self._may_start = self._weighed = 0.0
        for one in adopted[: self._wanted]:
            self.replicas.append(Replica(told["launch"], one["socket"], self, one))
        self._start_missing()

    @property
    def _wanted(self) -> int:
        return self._scaling.wanted if self._scaling else int(self.told.get("num_replicas") or 1)

    @property
    def ready(self) -> list[Replica]:
        return [one for one in self.replicas if one.state == "ready"]

    @property
    def is_raw(self) -> bool:
        return any(one.told.get("raw") for one in self.ready)

    def swagger(self, version: str) -> Any:
        for one in self.ready:
            return (one.told.get("swagger") or {}).get(version)
        return None

    def _start_one(self) -> bool:
        """False: it could not be started, for now or for good."""
        socket = f"{self._sockets}-{self.number}-{secrets.token_hex(4)}.sock"
        try:
            self.replicas.append(Replica(self.told["launch"], socket, self))
            return True
        except OSError as error:  # no memory, no space, too many files
            words = f"The scoring process cannot be started: {error}."
            if self.state == "starting":
                self._fail(words, [])
            else:
                self.error = {"code": "scoring_process", "summary": words, "last_lines": []}
                self._quick_deaths += 1
                self._start_later()
            return False

    # -- what replicas tell

    def replica_ready(self, replica: Replica) -> None:
        batches = bool(replica.told.get("batches"))
        # One more than can be scored at once waits in the process itself: it need not ask for it. Where a script has several
        # processes it waits here: another one may be free sooner.
        alone = 2 if self._wanted == 1 and not self._scaling else 1
        self._together = int(self.told.get("max_batch") or 1) if batches else 1
        replica.capacity = 2 * self._together if batches else alone
        if self.state == "starting" and len(self.ready) >= self._wanted:
            self.state = "ready"
            self._owner.revision_ready(self)
        self._owner.wake()

    def replica_answered(self, replica: Replica, request: Request, head: dict[str, Any], body: bytes) -> None:
        self._owner.answered(request, head, body)

    def replica_ended(self, replica: Replica) -> None:
        if replica in self.replicas:
            self.replicas.remove(replica)
        under_way = list(replica.under_way.values())
        replica.under_way.clear()
        # Of a script's requests the first may have done something already; a model has no memory, so all are asked again.
        # One that took too much memory for it would take it again.
        is_pure = bool(self.told.get("no_code")) and not replica.verdict
        for place, request in enumerate(under_way):
            is_untouched = place > 0 or replica.is_first_waiting
            self._owner.take_back(request, may_repeat=is_pure or is_untouched, words=replica.how_it_ended())
        if self.state in ("leaving", "failed") or replica.is_dismissed:
            self._owner.wake()
            return
        self._bring_back(replica)

    def _bring_back(self, replica: Replica) -> None:
        words, lines = replica.how_it_ended(), last_lines(self.told["launch"]["log"])
        if self.state == "starting":
            self._quick_deaths += 1
            hopeless = replica.failure or replica.verdict or (replica.exit_code or 0) > 0
            if hopeless or self._quick_deaths >= START_TRIES:
                self._fail(words, lines, replica.failure, _code(replica))
                return
        elif replica.ready_at and time.monotonic() - replica.ready_at > STEADY_S:
            self._quick_deaths = 0
        else:
            self._quick_deaths += 1
        self.restarts += 1
        self.error = {"code": _code(replica), "summary": f"{words}; it is started again.", "last_lines": lines}
        self._start_later()

    def _start_later(self) -> None:
        """The more have died in a row, the later."""
        pause = 0.0 if self._quick_deaths <= 1 else min(MAX_PAUSE_S, 0.1 * 2 ** min(self._quick_deaths, 20))
        self._may_start = time.monotonic() + pause
        self._later(pause, self._start_missing)

    def _start_missing(self) -> None:
        while self.state in ("starting", "ready") and len(self._staying) < self._wanted:
            if not self._start_one():
                return

    @property
    def _staying(self) -> list[Replica]:
        return [one for one in self.replicas if not one.is_dismissed]

    def _fail(
        self, words: str, lines: list[str], failure: Optional[dict[str, Any]] = None, code: str = "scoring_process"
    ) -> None:
        if failure and failure.get("traceback"):
            lines = str(failure["traceback"]).rstrip().splitlines()[-LAST_LINES:]
        self.error = {"code": code, "summary": words, "last_lines": lines}
        self.state = "failed"
        for one in list(self.replicas):
            one.drain()
        self._owner.revision_failed(self)

    # -- the clock

    def look(self, now: float, timeout_s: float, num_waiting: int = 0) -> None:
        """Ends what takes too long or too much, and starts or ends processes by what there is to do."""
        if self.state == "starting" and now > self._deadline:
            lines = last_lines(self.told["launch"]["log"])
            self._fail(f"init() was not done within {self.told.get('startup_timeout_s')} s (startup_timeout_s).", lines)
        for one in self.replicas:
            if one.under_way and now - one.busy_since > timeout_s and one.state in ("ready", "draining"):
                self._owner.over_time(one, timeout_s)
        if now - self._weighed >= MEMORY_S:
            self._weighed = now
            self._weigh()
        if self._scaling is not None and self.state == "ready":
            self._scale(self._scaling, now, num_waiting)

    def _weigh(self) -> None:
        """A process that has more memory than it may is ended, as a container would be."""
        allowed = float(self.told.get("memory_gb") or 0) * memory.GB
        if not allowed:
            return
        for one in self.replicas:
            used = memory.tree_bytes(one.pid, allowed) if not one.verdict else 0
            if used > allowed:
                one.condemn(
                    f"the scoring process had {used / memory.GB:.2f} GB of memory and may have {allowed / memory.GB:g} (memory_gb): "
                    "deploy it with more, or send it less at once"
                )

    def _scale(self, scaling: Scaling, now: float, num_waiting: int) -> None:
        under_way = [len(one.under_way) for one in self.replicas]
        busy = sum(-(-count // self._together) for count in (*under_way, num_waiting))
        scaling.look(now, busy)
        if now >= self._may_start:
            self._start_missing()
        # Those that are not up yet go first, then those that have nothing to do; what the others have they finish.
        by_use = sorted(self._staying, key=lambda one: (one.state == "ready", len(one.under_way)))
        for one in by_use[: max(0, len(by_use) - scaling.wanted)]:
            one.dismiss()

    def leave(self) -> None:
        """Every process finishes what it has, and ends."""
        if self.state != "failed":
            self.state = "leaving"
        for timer in self._timers:
            timer.cancel()
        for one in list(self.replicas):
            one.drain()

    def _later(self, seconds: float, action: Any) -> None:
        timer = asyncio.get_running_loop().call_later(seconds, action)
        self._timers = {one for one in self._timers if not one.cancelled() and one.when() > time.monotonic()}
        self._timers.add(timer)

    def describe(self) -> dict[str, Any]:
        return {
            "revision": self.number,
            "state": self.state,
            "error": self.error,
            "restarts": self.restarts,
            "scaling": self._scaling.describe() if self._scaling else None,
            "replicas": [one.describe() for one in self.replicas],
        }


def _code(replica: Replica) -> str:
    return "memory" if replica.verdict else "scoring_process"


def last_lines(path: str) -> list[str]:
    """What was written last to a log."""
    try:
        with open(path, "rb") as f:
            f.seek(0, os.SEEK_END)
            f.seek(max(0, f.tell() - 16384))
            return f.read().decode("utf-8", "replace").splitlines()[-LAST_LINES:]
    except OSError:
        return []
