"""One thread that does what it is asked, in order, wakes for what has changed, and looks at the clock."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Optional

__all__ = ["DriverThread"]

log = logging.getLogger(__name__)
GATHER_S = 0.005  # a step that writes a thousand lines a second rings a thousand times; they are looked at together
RETRY_S = 1.0


class DriverThread:
    """Calls `look(key)` for everything that was marked, and `tick()`, which says in how many seconds it is to be called again.

    Promises: starts with the first thing that is to be done; nothing is called by two threads; what raises is tried again.
    """

    def __init__(self, name: str, look: Callable[[str], None], tick: Callable[[], Optional[float]]) -> None:
        self._name, self._look, self._tick = name, look, tick
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._tasks: deque[Callable[[], None]] = deque()
        self._marked: dict[str, None] = {}
        self._thread: Optional[threading.Thread] = None
        self._stopped = threading.Event()

    def mark(self, key: str) -> None:
        """From any thread, and quick: something happened to `key`."""
        with self._lock:
            self._marked[key] = None
        self._wake.set()

    def post(self, task: Callable[[], None]) -> None:
        """From any thread: have it done, and do not wait."""
        with self._lock:
            self._tasks.append(task)
        self._wake.set()
        self.start()

    def call(self, task: Callable[[], Any]) -> Any:
        """From any other thread: have it done, and give what it returns or raises."""
        done: Future[Any] = Future()

        def run() -> None:
            try:
                done.set_result(task())
            except BaseException as error:
                done.set_exception(error)

        self.post(run)
        return done.result(timeout=60)

    def start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._wake.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(10)

    def _run(self) -> None:
        wait_s: Optional[float] = 0.0
        while not self._stopped.is_set():
            if self._wake.wait(wait_s) and not self._tasks:
                self._stopped.wait(GATHER_S)
            self._wake.clear()
            if self._stopped.is_set():
                return
            again = self._do_all()
            try:
                wait_s = self._tick()
            except Exception:
                log.exception("%s: its clock failed; it is looked at again", self._name)
                wait_s = RETRY_S
            if again:
                wait_s = RETRY_S if wait_s is None else min(wait_s, RETRY_S)

    def _do_all(self) -> bool:
        """Whether something failed and is to be tried again."""
        with self._lock:
            tasks, self._tasks = self._tasks, deque()
        for task in tasks:
            try:
                task()
            except Exception:
                log.exception("%s: a task failed", self._name)
        with self._lock:
            marked, self._marked = self._marked, {}
        failed = []
        for key in marked:
            try:
                self._look(key)
            except Exception:
                log.exception("%s: %s could not be looked at; it is tried again", self._name, key)
                failed.append(key)
        with self._lock:
            self._marked.update(dict.fromkeys(failed))
        return bool(failed)
