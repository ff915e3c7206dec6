"""A version of an endpoint: its revisions, of which one serves, and the requests that wait for it."""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any, Optional

from rookery.serve.front.replica import Replica, request_head
from rookery.serve.front.revision import Revision
from rookery.serve.front.wire import Request, refusal

__all__ = ["Version"]

SERVER_VERSION = "rookery"
REPEATS = 1  # a request that kills whoever has it is not handed on from process to process


class Version:
    """Promises: a request goes to the newest revision that has come up; older ones are drained then; a request is answered once.

    Args:
        sockets: what the names of the sockets of its processes begin with.
        on_change: something is to be told to the keeper, or kept for the next front.
        count: (version, total ms, run ms, queue ms, batch, whether it is an error)
    """

    def __init__(self, name: str, sockets: str, on_change: Callable[[], None], count: Callable[..., None]) -> None:
        self.name, self._sockets, self._on_change, self._count = name, sockets, on_change, count
        self.traffic, self.is_default = 100.0, True
        self.config: dict[str, Any] = {}
        self.revisions: dict[int, Revision] = {}
        self.serving: Optional[Revision] = None
        self.waiting: deque[Request] = deque()
        self._old: list[Revision] = []  # dismissed, and still finishing what they have

    # -- what is wanted

    def want(self, told: dict[str, Any], adopted: dict[int, list[dict[str, Any]]], was_serving: int = 0) -> None:
        self.traffic, self.is_default = float(told["traffic"]), bool(told["is_default"])
        self.config = dict(told["config"])
        wanted = {one["revision"]: one for one in told["revisions"]}
        floor = max(self.serving.number if self.serving else 0, was_serving if was_serving in wanted else 0)
        for number, one in sorted(wanted.items()):
            if number not in self.revisions and number >= floor:
                self.revisions[number] = Revision(one, self._sockets, self, adopted.get(number, []))
        # The one that serves stays until another does: the keeper may not know yet that it has come up.
        for number in [n for n, one in self.revisions.items() if n not in wanted and one is not self.serving]:
            self._dismiss(number)
        self.wake()

    def _dismiss(self, number: int) -> None:
        gone = self.revisions.pop(number)
        if self.serving is gone:
            self.serving = None
        gone.leave()
        self._old.append(gone)

    def leave(self) -> None:
        for number in list(self.revisions):
            self._dismiss(number)

    @property
    def is_gone(self) -> bool:
        return not self.waiting and not any(one.replicas for one in (*self.revisions.values(), *self._old))

    # -- requests

    def take(self, request: Request) -> None:
        request.version = self.name
        if len(self.waiting) >= int(self.config["max_queue"]):
            self._refuse(request, 503, f"{len(self.waiting)} requests wait already (max_queue). Try again later.")
            return
        self.waiting.append(request)
        self.wake()

    def wake(self) -> None:
        """Hands out what waits, to those who have the least to do."""
        serving = self.serving
        if serving is None or not self.waiting:
            return
        while self.waiting:
            best: Optional[Replica] = None
            for one in serving.replicas:
                if one.free > 0 and (best is None or len(one.under_way) < len(best.under_way)):
                    best = one
            if best is None:
                return
            request = self.waiting.popleft()
            request.sent = time.perf_counter()
            if not best.send(request, request_head(request, bool(best.told.get("raw")))):
                self.waiting.appendleft(request)
                best.kill()  # it has hung up, so it is dead or about to be; another one may be free

    def answered(self, request: Request, head: dict[str, Any], body: bytes) -> None:
        now = time.perf_counter()
        status, timings = int(head["s"]), head.get("t") or {}
        total, queue = (now - request.arrived) * 1000, (request.sent - request.arrived) * 1000
        run, batch = float(timings.get("run", 0.0)), int(head.get("b", 1))
        stages = "".join(f", {name};dur={value:.3f}" for name, value in timings.items())
        together = f", batch;desc={batch}" if batch > 1 else ""
        headers = [
            *common_headers(request, self.name),
            ("x-ms-run-fn-exec-ms", f"{run:.3f}"),
            ("Server-Timing", f"queue;dur={queue:.3f}{stages}, total;dur={total:.3f}{together}"),
        ]
        if head.get("f"):
            headers.append(("x-ms-run-function-failed", "True"))
        headers += [(name, value) for name, value in head.get("h") or ()]
        request.answer(status, headers, body, head.get("c") or "application/json")
        self.wake()
        self._count(self.name, total, run, queue, batch, status >= 500)  # when nobody waits for it any more

    def take_back(self, request: Request, may_repeat: bool, words: str) -> None:
        """A process died over it, or before it came to it: it is asked once more, where that can do no harm."""
        request.tries += 1
        if may_repeat and request.tries <= REPEATS:
            self.waiting.appendleft(request)
            self.wake()
            return
        self._refuse(request, 502, f"No answer: {words} while it had this request.")

    def over_time(self, replica: Replica, timeout_s: float) -> None:
        number, request = replica.under_way.popitem(last=False)
        del number
        replica.kill()
        replica.busy_since = time.monotonic()
        replica.is_first_waiting = True  # what waited behind it has not begun: it is asked again elsewhere
        words = f"run() took longer than {timeout_s:g} s (scoring_timeout_ms); its process is replaced."
        self._refuse(request, 504, words)

    def _refuse(self, request: Request, status: int, words: str) -> None:
        total = (time.perf_counter() - request.arrived) * 1000
        self._count(self.name, total, 0.0, total, 1, True)
        body, content_type = refusal(status, words)
        request.answer(status, common_headers(request, self.name), body, content_type)

    # -- revisions

    def revision_ready(self, revision: Revision) -> None:
        if self.serving is not None and self.serving.number > revision.number:
            return
        self.serving = revision
        for number in [n for n in self.revisions if n < revision.number]:
            self._dismiss(number)
        self.serving = revision
        self._on_change()
        self.wake()

    def revision_failed(self, revision: Revision) -> None:
        self._on_change()

    # -- the clock

    def look(self) -> None:
        now, clock = time.monotonic(), time.perf_counter()
        timeout_s = float(self.config["scoring_timeout_ms"]) / 1000
        for one in (*self.revisions.values(), *self._old):
            one.look(now, timeout_s, len(self.waiting) if one is self.serving else 0)
        self._old = [one for one in self._old if one.replicas]
        wait_s = float(self.config["max_request_wait_ms"]) / 1000
        while self.waiting and clock - self.waiting[0].arrived > wait_s:
            words = f"No process was free within {wait_s:g} s (max_request_wait_ms)."
            self._refuse(self.waiting.popleft(), 503, words)
        if self.waiting and self.serving is None and not self._may_come():
            while self.waiting:
                self._refuse(self.waiting.popleft(), 502, "No process of this endpoint is running; look at its logs.")

    def _may_come(self) -> bool:
        return any(one.state in ("starting", "ready") for one in self.revisions.values())

    def describe(self) -> dict[str, Any]:
        return {
            "serving": self.serving.number if self.serving else None,
            "ready": len(self.serving.ready) if self.serving else 0,
            "waiting": len(self.waiting),
            "revisions": {str(number): one.describe() for number, one in self.revisions.items()},
        }


def common_headers(request: Request, version: str = "") -> list[tuple[str, str]]:
    """Those of every answer."""
    given = request.headers
    headers = [("x-ms-request-id", given.get("x-ms-request-id") or str(uuid.uuid4()))]
    if "x-ms-client-request-id" in given:
        headers.append(("x-ms-client-request-id", given["x-ms-client-request-id"]))
    headers.append(("x-ms-server-version", SERVER_VERSION))
    if version:
        headers.append(("x-rookery-endpoint-version", version))
    return headers
