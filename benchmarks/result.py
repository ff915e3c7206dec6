"""One line of the table: what was measured, ours, the peer's, the goal of DESIGN.md."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

__all__ = ["Result", "format_number", "median_of", "print_table"]


@dataclass(frozen=True)
class Result:
    what: str
    ours: float
    unit: str  # s, µs, MB, values/s
    goal: Optional[float]
    peer: Optional[float] = None
    peer_name: str = ""
    more_is_better: bool = False

    @property
    def holds(self) -> bool:
        if self.goal is None:
            return True
        return self.ours >= self.goal if self.more_is_better else self.ours <= self.goal

    @property
    def ratio(self) -> Optional[float]:
        """How many times better than the peer we are."""
        if not self.peer or not self.ours:
            return None
        return self.ours / self.peer if self.more_is_better else self.peer / self.ours


def print_table(results: list[Result]) -> None:
    header = f"{'what':<52} {'ours':>14} {'goal':>14} {'':<6} {'peer':>14} {'ratio':>9}  peer is"
    print("\n" + header + "\n" + "-" * len(header))
    for r in results:
        sign = "≥" if r.more_is_better else "≤"
        goal = f"{sign} {format_number(r.goal, r.unit)}" if r.goal is not None else "-"
        peer = format_number(r.peer, r.unit) if r.peer is not None else "-"
        ratio = f"{r.ratio:.1f} ×" if r.ratio else "-"
        print(
            f"{r.what:<52} {format_number(r.ours, r.unit):>14} {goal:>14} {'ok' if r.holds else 'MISSED':<6} {peer:>14} {ratio:>9}  {r.peer_name}"
        )


def format_number(value: Optional[float], unit: str) -> str:
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f} {unit}"
    return f"{value:.3g} {unit}"


def median_of(times: int, measure: Callable[[], object]) -> float:
    """Median wall-clock seconds of a call."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        measure()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)
