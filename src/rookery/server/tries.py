"""Failed logins are slowed down: by name at one address, by address, and by name from anywhere."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from rookery.errors import TooManyTriesError

__all__ = ["Tries"]

FREE = {"pair": 5, "address": 20, "name": 50}  # failures before the first pause
LONGEST_S = 900.0
FORGOTTEN_S = 3600.0
MOST = 10_000


class Tries:
    """Promises: the pause doubles with every failure from one second to a quarter of an hour; memory is bounded; a success
    clears the name at that address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: OrderedDict[tuple[str, ...], tuple[int, float]] = OrderedDict()  # → (how many, when last)

    def check(self, address: str, name: str) -> None:
        """TooManyTriesError, with `retry_after_s` in its details, while a pause lasts."""
        now = self._clock()
        with self._lock:
            wait_s = max(self._left_s(key, now) for key in _keys(address, name))
        if wait_s > 0:
            seconds = math.ceil(wait_s)
            raise TooManyTriesError(
                f"Too many failed logins. Wait {seconds} s, then try again.", details={"retry_after_s": seconds}
            )

    def failed(self, address: str, name: str) -> None:
        now = self._clock()
        with self._lock:
            for key in _keys(address, name):
                count, last = self._failures.pop(key, (0, now))
                self._failures[key] = (1 if now - last > FORGOTTEN_S else count + 1, now)
            while len(self._failures) > MOST:
                self._failures.popitem(last=False)

    def succeeded(self, address: str, name: str) -> None:
        with self._lock:
            self._failures.pop(_keys(address, name)[0], None)

    def _left_s(self, key: tuple[str, ...], now: float) -> float:
        count, last = self._failures.get(key, (0, now))
        over = count - FREE[key[0]]
        if over < 0 or not count or now - last > FORGOTTEN_S:
            return 0.0
        return last + min(LONGEST_S, 2.0 ** min(over, 20)) - now


def _keys(address: str, name: str) -> tuple[tuple[str, ...], ...]:
    name = name.lower()[:64]
    return ("pair", address, name), ("address", address), ("name", name)
