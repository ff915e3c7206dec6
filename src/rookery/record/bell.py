"""The bell: who waits for something is woken when it is there. No polling, no thread held while waiting."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

__all__ = ["Bell"]

log = logging.getLogger(__name__)


class Bell:
    """Rings by key.

    Keys: `run/<id>` (an event row of this run), `events` (any event row), `commands/<run>/<attempt>/<node>`, `compute`.
    Promises: thread-safe; a callback is called in the thread that rings, after what it tells is committed; one that
    raises is logged and harms nobody else. Callbacks must be quick: set a flag, wake a loop.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: dict[str, dict[int, Callable[[], None]]] = {}
        self._next = 0

    def ring(self, key: str) -> None:
        with self._lock:
            callbacks = list(self._callbacks.get(key, {}).values())
        for callback in callbacks:
            try:
                callback()
            except Exception:
                log.exception("A callback of the bell '%s' failed", key)

    def ring_all(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.ring(key)

    def subscribe(self, key: str, callback: Callable[[], None]) -> Callable[[], None]:
        """Calls `callback` at every ring of `key` until the function returned here is called (twice is harmless)."""
        with self._lock:
            self._next += 1
            number = self._next
            self._callbacks.setdefault(key, {})[number] = callback

        def unsubscribe() -> None:
            with self._lock:
                found = self._callbacks.get(key)
                if found is not None:
                    found.pop(number, None)
                    if not found:
                        del self._callbacks[key]

        return unsubscribe
