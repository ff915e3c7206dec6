"""One scoring process as its front sees it: started or taken over, connected, asked, drained, seen to die."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import signal
import subprocess
import time
from collections import OrderedDict
from typing import Any, Optional

from rookery.serve.front.link import ANSWER, FAILED, READY, SCORE, STOP, HostLink
from rookery.serve.front.wire import Request

__all__ = ["Replica"]

CONNECT_S = 0.02  # between two tries, while the process is not up yet
GRACE_S = 5.0  # to leave after it was told to
_to_json = json.JSONEncoder(separators=(",", ":")).encode  # json.dumps would make one every time


class Replica:
    """Promises: `on_end` is called once, whatever the way; requests that were under way are then in `under_way`, in the order they
    were sent.

    Args:
        launch: what starts one: argv, env, cwd, log.
        owner: whoever is told: `replica_ready`, `replica_answered`, `replica_ended`.
    """

    def __init__(
        self, launch: dict[str, Any], socket: str, owner: Any, adopted: Optional[dict[str, Any]] = None
    ) -> None:
        self.launch, self.socket, self._owner = launch, socket, owner
        self.state = "starting"
        self.under_way: OrderedDict[int, Request] = OrderedDict()
        self.told: dict[str, Any] = {}
        self.failure: Optional[dict[str, Any]] = None  # what it said when init() failed
        self.exit_code: Optional[int] = None
        self.verdict = ""  # why it was ended by us, where that was its own doing
        self.is_dismissed = False  # one less is wanted
        self.is_first_waiting = False  # what is first in `under_way` has not begun: what it had was answered for it
        self.since = time.time()
        self.ready_at = 0.0
        self.busy_since = 0.0
        self.capacity = 1
        self._number = 0
        self._link: Optional[HostLink] = None
        self._pidfd = -1
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._task: Optional[asyncio.Task[None]] = None
        self._ended = False
        if adopted:
            self.pid, self.ticks = int(adopted["pid"]), int(adopted["ticks"])
        else:
            self._start()
        self._watch()

    def _start(self) -> None:
        log = os.open(self.launch["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._process = subprocess.Popen(
                [*self.launch["argv"], self.socket],
                env=self.launch["env"],
                cwd=self.launch["cwd"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        finally:
            os.close(log)
        self.pid, self.ticks = self._process.pid, start_ticks(self._process.pid) or 0

    def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._pidfd = os.pidfd_open(self.pid)
            if self._process is None and start_ticks(self.pid) != self.ticks:
                raise ProcessLookupError
            loop.add_reader(self._pidfd, self._died)
        except ProcessLookupError:  # gone already
            loop.call_soon(self._died)
            return
        self._task = loop.create_task(self._connect())

    async def _connect(self) -> None:
        while not self._ended:
            link = HostLink(self._on_message, self._on_lost)
            try:
                await link.connect(self.socket)
            except OSError:
                await asyncio.sleep(CONNECT_S)
                continue
            if self._ended:
                link.close()
            else:
                self._link = link
            return

    # -- asking

    @property
    def free(self) -> int:
        """How many more requests it may be sent now. None, once it is dead: for a moment its state does not say so yet."""
        return self.capacity - len(self.under_way) if self.state == "ready" and not self._ended else 0

    def send(self, request: Request, head: bytes) -> bool:
        self._number = (self._number + 1) & 0xFFFFFFFF
        if self._link is None or not self._link.send(self._number, SCORE, head, request.body):
            return False
        if not self.under_way:
            self.busy_since = time.monotonic()
        self.under_way[self._number] = request
        return True

    def _on_message(self, number: int, kind: int, head: dict[str, Any], body: bytes) -> None:
        if kind == ANSWER:
            request = self.under_way.pop(number, None)
            self.busy_since = time.monotonic()
            self.is_first_waiting = False  # it was quicker than its end, and has gone on to the next one
            if request is not None:
                self._owner.replica_answered(self, request, head, body)
            if self.state == "draining" and not self.under_way:
                self._tell_to_leave()
        elif kind == READY and self.state == "starting":
            self.told, self.state, self.ready_at = head, "ready", time.monotonic()
            self._owner.replica_ready(self)
        elif kind == FAILED:
            self.failure = head
            if self._link is not None:
                self._link.close()

    # -- leaving

    def drain(self) -> None:
        """No more requests; it leaves when those under way are answered."""
        if self.state == "draining":
            return
        was, self.state = self.state, "draining"
        if was == "starting":
            self.kill()
        elif not self.under_way:
            self._tell_to_leave()

    def dismiss(self) -> None:
        """As `drain`, and nobody takes its place."""
        self.is_dismissed = True
        self.drain()

    def condemn(self, words: str) -> None:
        """Ends it for what it did, which its log and `how_it_ended` then say."""
        self.verdict = words
        with contextlib.suppress(OSError), open(self.launch["log"], "a", encoding="utf-8") as f:
            f.write(f"rookery: process {self.pid}: {words}\n")
        self.kill()

    def _tell_to_leave(self) -> None:
        if self._link is None or not self._link.send(0, STOP, b"{}"):
            self.kill()
            return
        asyncio.get_running_loop().call_later(GRACE_S, self.kill)

    def kill(self) -> None:
        """Ends it and what it has started. Harmless when it is gone."""
        if self._ended:
            return
        self.state = "draining"  # until its death is seen nobody may give it another request
        if start_ticks(self.pid) == self.ticks:
            for end in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    end(self.pid, signal.SIGKILL)

    def _on_lost(self, link: HostLink) -> None:
        """A process that hangs up is dead, or about to be."""
        if self._link is not link:
            return
        self._link = None
        if not self._ended and self.state != "draining" and self.failure is None:
            self.kill()

    def _died(self) -> None:
        if self._ended:
            return
        self._ended = True
        loop = asyncio.get_running_loop()
        if self._pidfd >= 0:
            loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
        if self._process is not None:
            self.exit_code = self._process.wait()
        if self._task is not None:
            self._task.cancel()
        with contextlib.suppress(OSError):
            os.unlink(self.socket)
        # What it said last may still be on the way through the socket: a failed init() above all.
        loop.call_later(0.05, self._tell_end)

    def _tell_end(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
        self.state = "gone"
        self._owner.replica_ended(self)

    def describe(self) -> dict[str, Any]:
        return {"pid": self.pid, "ticks": self.ticks, "socket": self.socket, "state": self.state, "since": self.since}

    def how_it_ended(self) -> str:
        """In words."""
        if self.verdict:
            return self.verdict
        if self.failure:
            return f"init() failed: {self.failure.get('summary', '')}"
        if self.exit_code is None:
            return "the scoring process is gone"
        if self.exit_code < 0:
            name = (
                signal.Signals(-self.exit_code).name
                if -self.exit_code in list(signal.Signals)
                else str(-self.exit_code)
            )
            return f"the scoring process was killed by {name}"
        return f"the scoring process ended with exit code {self.exit_code}"


def start_ticks(pid: int) -> Optional[int]:
    """Which tells a reused number apart; None: gone, or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def request_head(request: Request, is_raw: bool) -> bytes:
    """What the scoring process is told of a request; all headers only where it asks for them."""
    if not is_raw:
        return _short_head(request.method, request.headers.get("content-type", ""), request.query)
    told = {"m": request.method, "c": request.headers.get("content-type", ""), "q": request.query, "p": request.path}
    return _to_json({**told, "h": list(request.headers.items()), "a": request.connection.peer}).encode("utf-8")


@functools.lru_cache(maxsize=64)
def _short_head(method: str, content_type: str, query: str) -> bytes:
    """Kept, because most requests are alike."""
    told = {"m": method, "c": content_type}
    return _to_json({**told, "q": query} if query else told).encode("utf-8")
