"""Many callers, one transaction: what programs say about their runs is gathered while the one before is being stored.

A commit costs the same whether it holds one call or a hundred, so the more come at a time the less each costs; a single one
waits for nobody. Where the database is a file, and quick, the caller's own thread may store it (`try_now`): to hand it to another
thread and back takes longer than to write it.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Optional

from rookery.errors import RookeryError, ServiceError
from rookery.record.database import WriterBusy
from rookery.record.external import External, Said

__all__ = ["Intake"]

QUICK_CALLS = 64  # more than that, or more values, is not done while the caller's thread waits
QUICK_VALUES = 20_000
QUICK_S = 0.01  # how long it may take, most of the time
SLOW_FOR_S = 30.0  # for so long nothing is done there once it mostly took longer

MOST_TOGETHER = 256  # calls in one transaction: readers of the rows, and the bells, are not to wait for longer
log = logging.getLogger(__name__)

Done = Callable[[Optional[BaseException]], None]


class Intake:
    """Promises: `done` is called once for every call, after its commit, with None or with what was wrong; calls are stored in the
    order in which they came; what is wrong with one harms no other. `done` is called in a thread of ours and must be quick.
    """

    def __init__(self, external: External, is_file: bool) -> None:
        self._external, self._is_file = external, is_file
        self._slowness = 0.0  # the share of those that took too long, of late
        self._slow_until = 0.0
        self._num_handed = 0  # to the thread, and not stored yet
        self._waiting: queue.SimpleQueue[Optional[tuple[Said, Done]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: Optional[threading.Thread] = None
        self._closed = False

    def try_now(self, said: Sequence[Said]) -> Optional[list[Optional[BaseException]]]:
        """Stores them here, where that is likely to take a millisecond: what is wrong with each, or None. None altogether where it
        is not likely; then nothing is stored, and they are to be submitted.

        Only for one thread, which may be one that must not wait: the event loop's.
        """
        if not self._is_file or self._num_handed or self._closed or len(said) > QUICK_CALLS:
            return None
        if sum(chunk.count for one in said for _, chunk in one.metrics) > QUICK_VALUES:
            return None
        begin = time.monotonic()
        if begin < self._slow_until:
            return None
        try:
            return [*self._external.log_all(said, wait=False)]
        except WriterBusy:
            return None
        except RookeryError as error:
            return [error] * len(said)
        except Exception as error:
            return [error] if len(said) == 1 else None  # the thread finds out which of them it is
        finally:
            self._note(time.monotonic() - begin)

    def _note(self, seconds: float) -> None:
        """Some may be slow: the machine is busy, SQLite tidies up every few megabytes. When most are, it is the disk."""
        self._slowness += ((seconds > QUICK_S) - self._slowness) / 20
        if self._slowness > 0.5:
            self._slow_until, self._slowness = time.monotonic() + SLOW_FOR_S, 0.0

    def submit(self, said: Said, done: Done) -> None:
        with self._lock:
            self._num_handed += 1
        if self._thread is None:
            self._start()
        self._waiting.put((said, done))
        if self._closed:
            self._refuse_the_rest()

    def close(self) -> None:
        """Stores what has come, and ends. What comes later is refused."""
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._waiting.put(None)
            thread.join()
        self._refuse_the_rest()

    def _start(self) -> None:
        """With the first call: most keepers never get one."""
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        is_open = True
        while is_open:
            first = self._waiting.get()
            group = [] if first is None else [first]
            is_open = first is not None
            while is_open and len(group) < MOST_TOGETHER:
                try:
                    following = self._waiting.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    is_open = False
                else:
                    group.append(following)
            if group:
                self._store(group)

    def _store(self, group: list[tuple[Said, Done]]) -> None:
        problems: list[Optional[BaseException]]
        try:
            problems = [*self._external.log_all([said for said, _ in group])]
        except RookeryError as error:
            problems = [error] * len(group)
        except Exception as error:
            if len(group) > 1:
                # Something that nobody foresaw in one of them: the others are not to suffer from it.
                for one in group:
                    self._store([one])
                return
            problems = [error]
        with self._lock:
            self._num_handed -= len(group)
        for (_, done), problem in zip(group, problems):
            try:
                done(problem)
            except Exception:
                log.exception("Nobody could be told what became of a call")

    def _refuse_the_rest(self) -> None:
        while True:
            try:
                left = self._waiting.get_nowait()
            except queue.Empty:
                return
            if left is not None:
                left[1](ServiceError("The keeper is leaving; nothing of this call was stored. Send it again."))
