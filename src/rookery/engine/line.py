"""The runs that wait for one target, in order. Every question is answered without walking the line."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Optional

__all__ = ["Line", "Request"]


@dataclass(frozen=True)
class Request:
    """A run that wants `count` nodes together. `nested`: a parent that holds a node of this target waits for
    it. From `flexible_at` on (monotonic clock) `min_count` are enough for it."""

    run_id: str
    count: int
    nested: bool = False
    min_count: int = 0
    flexible_at: Optional[float] = None

    def least(self, now: float) -> int:
        """How many nodes it takes at this time, if there are not all."""
        if self.min_count and self.flexible_at is not None and now >= self.flexible_at:
            return min(self.min_count, self.count)
        return self.count

    @property
    def least_ever(self) -> int:
        return min(self.min_count or self.count, self.count)


class Line:
    """First come, first served. Those that can never fit stand aside; they keep their place."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._next = 0
        self._numbers: dict[str, int] = {}  # run → its number; numbers only grow
        self._order: list[int] = []  # all numbers, ascending: a place in the line is found by bisection
        self._requests: dict[int, Request] = {}
        # Ordered dicts, not dicts: taking the first one away again and again must not leave holes to walk over.
        self._fits: OrderedDict[int, Request] = OrderedDict()
        self._nested: OrderedDict[int, Request] = OrderedDict()
        self._flexible: dict[int, Request] = {}
        self._cursor = 0  # the number where the last look ended

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Request]:
        return (self._requests[number] for number in self._order)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._numbers

    def get(self, run_id: str) -> Optional[Request]:
        return self._requests.get(self._numbers.get(run_id, -1))

    def add(self, request: Request) -> bool:
        """At the end; whether it was not there before."""
        if request.run_id in self._numbers:
            return False
        number, self._next = self._next, self._next + 1
        self._numbers[request.run_id] = number
        self._order.append(number)
        self._requests[number] = request
        if request.nested:
            self._nested[number] = request
        if request.flexible_at is not None:
            self._flexible[number] = request
        if request.least_ever <= self._size:
            self._fits[number] = request
        return True

    def remove(self, run_id: str) -> bool:
        number = self._numbers.pop(run_id, None)
        if number is None:
            return False
        del self._order[bisect_left(self._order, number)]
        del self._requests[number]
        for some in (self._fits, self._nested, self._flexible):
            some.pop(number, None)
        return True

    def resize(self, size: int) -> None:
        """Which of them can never fit depends on the target's size."""
        if size == self._size:
            return
        self._size = size
        self._fits = OrderedDict((n, self._requests[n]) for n in self._order if self._requests[n].least_ever <= size)

    def position(self, run_id: str) -> int:
        """Counted from 1; 0 when it does not wait here."""
        number = self._numbers.get(run_id)
        return 0 if number is None else bisect_left(self._order, number) + 1

    def first(self, now: float) -> Optional[Request]:
        """Whose turn it is: nested ones first, then the first that fits into the target as it is."""
        for request in self._nested.values():
            return request
        for request in self._fits.values():
            if request.least(now) <= self._size:
                return request
        return None

    def next_flexible(self, now: float) -> Optional[float]:
        """When the next one is content with fewer nodes."""
        times = (r.flexible_at for r in self._flexible.values() if r.flexible_at is not None and r.flexible_at > now)
        return min(times, default=None)

    def look(self, head: int, more: int) -> list[tuple[Request, int]]:
        """The first `head` and then `more` of the others, each with its place; every look goes on where the last one ended, so that
        all are seen in turn."""
        count = len(self._order)
        chosen = list(range(min(head, count)))
        if count <= head + more:
            chosen = list(range(count))
        elif more:
            start = max(head, bisect_right(self._order, self._cursor))
            rest = count - head
            chosen += [head + (start - head + i) % rest for i in range(min(more, rest))]
            self._cursor = self._order[chosen[-1]]
        return [(self._requests[self._order[i]], i + 1) for i in chosen]
