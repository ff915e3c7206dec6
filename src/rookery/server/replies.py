"""What several requests have to store, gathered by the event loop and answered together.

Requests that are read in the same turn of the loop are stored in one transaction, at its end: in the loop itself where that is
quick, else by the intake's thread, which then wakes the loop once for all that are ready.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Optional

from rookery.record.external import Said
from rookery.record.intake import Intake

__all__ = ["Replies"]


class Replies:
    """To be used in one event loop."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._group: list[tuple[Said, asyncio.Future[Any]]] = []
        self._ready: deque[tuple[asyncio.Future[Any], Any]] = deque()
        self._is_coming = False

    async def store(self, said: Said) -> Optional[BaseException]:
        """None once it is committed; or what is wrong with it, and then nothing of it is stored."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Optional[BaseException]] = loop.create_future()
        self._group.append((said, future))
        if len(self._group) == 1:
            loop.call_soon(self._store_group, loop)  # after all that were read in this turn
        return await future

    def _store_group(self, loop: asyncio.AbstractEventLoop) -> None:
        group, self._group = self._group, []
        problems = self._intake.try_now([said for said, _ in group])
        if problems is None:
            for said, future in group:
                self._intake.submit(said, self._teller(loop, future))
            return
        for (_, future), problem in zip(group, problems):
            _tell(future, problem)

    def _teller(self, loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any]) -> Callable[[Any], None]:
        def tell(problem: Any) -> None:  # in the intake's thread
            self._ready.append((future, problem))
            # Unset before the loop takes them: one put in between is taken, or asks again, or both.
            if not self._is_coming:
                self._is_coming = True
                try:
                    loop.call_soon_threadsafe(self._deliver)
                except RuntimeError:
                    pass  # the loop is closed: nobody waits any more

        return tell

    def _deliver(self) -> None:
        self._is_coming = False
        while self._ready:
            _tell(*self._ready.popleft())


def _tell(future: asyncio.Future[Any], problem: Any) -> None:
    if not future.done():
        future.set_result(problem)
