"""One thread that does everything in turn, so that nothing about runs needs a long lock."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Optional, TypeVar

from rookery.errors import KeeperUnavailableError

__all__ = ["Loop"]

log = logging.getLogger(__name__)
SOON_S = 1.0  # a tick that is no further away than this needs not be asked for again
T = TypeVar("T")
Job = Callable[[], Any]


class Loop:
    """An inbox and a thread.

    `post` hands something over; `call` does that and waits for the result; `follow_up`, from inside the
    thread only, is done
    before anything else in the inbox. `on_tick` is called between them, when the time that it asked for has
    come, and after a job when that time is far away: the job may need it sooner.
    """

    def __init__(
        self, on_tick: Callable[[], Optional[float]], name: str = "rookery-controller", soon_s: float = SOON_S
    ) -> None:
        self._inbox: queue.SimpleQueue[Optional[tuple[Job, Optional[Future[Any]]]]] = queue.SimpleQueue()
        self._follow_ups: deque[Job] = deque()
        self._on_tick, self._soon_s = on_tick, soon_s
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Finish what is under way; what is still in the inbox is refused."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._inbox.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def post(self, job: Job) -> None:
        with self._lock:
            if not self._closed:
                self._inbox.put((job, None))

    def call(self, job: Callable[[], T]) -> T:
        """Do it in the thread and return its result, or raise what it raised."""
        if threading.current_thread() is self._thread:
            return job()
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise _stopping()
            self._inbox.put((job, future))
        return future.result()

    def follow_up(self, job: Job) -> None:
        self._follow_ups.append(job)

    def _run(self) -> None:
        due = self._tick()
        while True:
            while self._follow_ups:
                self._do(self._follow_ups.popleft(), None)
            now = time.monotonic()
            if due is not None and now >= due:
                due = self._tick()
                continue
            try:
                item = self._inbox.get(timeout=None if due is None else due - now)
            except queue.Empty:
                continue
            if item is None:
                break
            self._do(*item)
            if due is None or due > time.monotonic() + self._soon_s:
                due = time.monotonic()  # it may have begun something that needs the clock long before that
        self._refuse_rest()

    def _tick(self) -> Optional[float]:
        try:
            return self._on_tick()
        except Exception:
            log.exception("The controller's tick failed")
            return time.monotonic() + 1.0

    def _do(self, job: Job, future: Optional[Future[Any]]) -> None:
        try:
            result = job()
        except Exception as error:
            if future is None:
                log.exception("The controller could not do %r", job)
            else:
                future.set_exception(error)
        else:
            if future is not None:
                future.set_result(result)

    def _refuse_rest(self) -> None:
        while True:
            try:
                item = self._inbox.get_nowait()
            except queue.Empty:
                return
            if item is not None and item[1] is not None:
                item[1].set_exception(_stopping())


def _stopping() -> KeeperUnavailableError:
    return KeeperUnavailableError("The keeper is leaving. Ask again: another one starts by itself.")
