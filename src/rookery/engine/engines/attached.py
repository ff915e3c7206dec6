"""One engine on other machines, with threads of its own: nobody else ever waits for it."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Optional

from rookery.engine.engines.base import Death, Engine, NodeInfo, Place
from rookery.errors import RookeryError

__all__ = ["Attached"]

log = logging.getLogger(__name__)
CENSUS_S = 10.0  # how old what is known of the machines may be
INSIST_PAUSE_S = 2.0
AGAIN_S = (2.0, 5.0, 10.0, 30.0, 60.0)  # between tries to start an engine
Job = Callable[[Engine], None]


class Attached:
    """Starts an engine, tries again while it cannot be started, asks it about its machines, and does with it what others want,
    in order.

    `fault` says in words why the engine cannot be used now; empty when it can. What is wanted of it meanwhile waits.

    Args:
        make: makes the engine; raises RookeryError when it cannot.
        on_change: called, from threads of this, when `fault` or `census` have changed.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], Engine],
        on_death: Callable[[Death], None],
        on_change: Callable[[str], None] = lambda name: None,
        on_notice: Callable[[Place, float, str], None] = lambda place, grace_s, words: None,
    ) -> None:
        self.name = name
        self.engine: Optional[Engine] = None
        self.fault = f"the engine of '{name}' is being started"
        self.held = ""  # why it is not to be used yet although it could be
        self.census: tuple[NodeInfo, ...] = ()
        self.num_addable = 0  # Engine.num_addable
        self.counted_at: Optional[float] = None  # monotonic; None: never yet
        self._make, self._on_death, self._on_change, self._on_notice = make, on_death, on_change, on_notice
        self._jobs: queue.SimpleQueue[Optional[tuple[Job, float]]] = queue.SimpleQueue()
        self._usable = threading.Event()
        self._tried = threading.Event()
        self._closing = threading.Event()
        self._look = threading.Event()
        self._rounds = threading.Condition()
        self._num_begun = self._num_done = 0  # rounds in which the machines were asked about
        self._threads = [
            threading.Thread(target=self._watch, name=f"rookery-{name}-watch", daemon=True),
            threading.Thread(target=self._work, name=f"rookery-{name}-work", daemon=True),
        ]

    @property
    def problem(self) -> str:
        """Why no run may have its machines now; empty when they may."""
        return self.held or self.fault

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self, wait_s: float = 5.0) -> None:
        """The engine watches no more; agents are left alone. What has not been begun is not done."""
        self._closing.set()
        self._look.set()
        self._usable.set()
        self._tried.set()
        with self._rounds:
            self._rounds.notify_all()
        self._jobs.put(None)
        for thread in self._threads:
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(wait_s)
        if self.engine is not None:
            self.engine.stop()

    def do(self, job: Job, insist_s: float = 0.0) -> None:
        """Have something done with the engine, after everything that was wanted before. Never blocks. What the engine refuses
        is tried again for `insist_s`: it may be away for a while."""
        self._jobs.put((job, insist_s))

    def refresh(self) -> None:
        """Ask about the machines soon."""
        self._look.set()

    def recount(self, wait_s: float = 3.0) -> None:
        """For whoever may wait: ask about the machines now. What was known before serves when no answer comes in time."""
        if self._usable.is_set() and not self._closing.is_set():
            with self._rounds:
                # A round that has begun may have asked before whatever the caller wants to see.
                wanted = self._num_begun + 1
                self._look.set()
                self._rounds.wait_for(lambda: self._num_done >= wanted or self._closing.is_set(), wait_s)

    def wait_usable(self, timeout_s: float) -> bool:
        """For whoever may wait: whether the engine could be used within that time. One that says no is not waited for."""
        self._tried.wait(timeout_s)
        return self._usable.is_set() and not self._closing.is_set() and not self.fault

    # -- in its threads --------------------------------------------------------------------------------------

    def _watch(self) -> None:
        failures = 0
        while not self._closing.is_set():
            with self._rounds:
                self._num_begun += 1
            if self.engine is None:
                self._try_start()
            if self.engine is not None:
                self._count()
            self._tried.set()
            with self._rounds:
                self._num_done = self._num_begun
                self._rounds.notify_all()
            failures = failures + 1 if self.fault else 0
            pause_s = AGAIN_S[min(failures, len(AGAIN_S)) - 1] if failures else CENSUS_S
            self._look.wait(pause_s)
            self._look.clear()

    def _try_start(self) -> None:
        try:
            engine = self._make()
            engine.on_notice = self._on_notice
            engine.start(self._on_death)
        except RookeryError as error:
            self._tell(error.message)
        except Exception as error:
            log.exception("The engine of '%s' could not be started", self.name)
            self._tell(f"The engine of '{self.name}' could not be started: {error!r}.")
        else:
            if self._closing.is_set():
                engine.stop()
            else:
                self.engine = engine

    def _count(self) -> None:
        assert self.engine is not None
        try:
            census, num_addable = tuple(self.engine.nodes()), self.engine.num_addable()
        except RookeryError as error:
            self._tell(error.message)
            return
        except Exception as error:
            log.exception("The machines of '%s' could not be counted", self.name)
            self._tell(f"The machines of '{self.name}' could not be counted: {error!r}.")
            return
        changed = (census, num_addable) != (self.census, self.num_addable) or self.counted_at is None
        self.census, self.num_addable, self.counted_at = census, num_addable, time.monotonic()
        self._usable.set()  # before it is said: whoever hears of it may ask
        self._tell("", changed)

    def _tell(self, problem: str, changed: bool = False) -> None:
        if problem != self.fault:
            if problem:
                log.warning("'%s': %s", self.name, problem)
            self.fault, changed = problem, True
        if changed and not self._closing.is_set():
            self._on_change(self.name)

    def _work(self) -> None:
        self._usable.wait()
        while not self._closing.is_set():
            wanted = self._jobs.get()
            if wanted is None or self.engine is None:
                return
            self._insist(*wanted)

    def _insist(self, job: Job, insist_s: float) -> None:
        assert self.engine is not None
        until = time.monotonic() + insist_s
        while True:
            try:
                job(self.engine)
                return
            except RookeryError as error:
                if time.monotonic() >= until:
                    log.warning("'%s' does not do what is asked of it: %s", self.name, error.message)
                    return
            except Exception:
                log.exception("'%s': %r could not be done", self.name, job)
                return
            if self._closing.wait(INSIST_PAUSE_S):
                return
