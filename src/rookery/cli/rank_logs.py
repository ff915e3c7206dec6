"""The logs of a run's ranks: which one is meant, and all of them merged line by line under `[rank N]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any, Optional

from rookery.cli.terminal import paint
from rookery.errors import ArtifactNotFoundError
from rookery.spec.launch import starts_ranks
from rookery.spec.logs import DRIVER_LOG, driver_log_name, is_driver_log
from rookery.spec.status import TERMINAL

__all__ = ["Merged", "expected_log", "log_of_rank", "rank_logs", "rank_of_log"]

_NUMBER = re.compile(r"_(\d+)\.txt$")
_COLOURS = ("cyan", "green", "yellow", "blue")


def rank_of_log(name: str) -> Optional[int]:
    """The rank that wrote a log; None for one that no rank wrote."""
    if not is_driver_log(name):
        return None
    found = None if name == DRIVER_LOG else _NUMBER.search(name)
    return int(found.group(1)) if found else 0


def rank_logs(names: list[str]) -> list[str]:
    """The logs of ranks, in the order of their ranks."""
    return sorted((n for n in names if is_driver_log(n)), key=lambda n: rank_of_log(n) or 0)


def log_of_rank(run: dict[str, Any], names: list[str], rank: int) -> Optional[str]:
    """The log of one rank; None when it may still come.

    Raises:
        ArtifactNotFoundError: the run has no such rank.
    """
    found = next((n for n in names if rank_of_log(n) == rank), None)
    may_come = rank < num_ranks(run) or starts_ranks(run["spec"].get("command") or "")
    if found or (may_come and run["status"] not in TERMINAL):
        return found
    known = ", ".join(str(rank_of_log(n)) for n in rank_logs(names)) or "none"
    raise ArtifactNotFoundError(
        f"Run {run['id']} has no log of rank {rank}. Ranks with a log: {known}.", details={"logs": names}
    )


def num_ranks(run: dict[str, Any]) -> int:
    """How many processes Rookery itself starts; a launcher in the command may start more."""
    spec = run["spec"]
    return int(spec["node_count"] * spec["processes_per_node"])


def expected_log(run: dict[str, Any], rank: int) -> str:
    """What the log of a rank that has none yet will be called."""
    return driver_log_name(rank, 2 if starts_ranks(run["spec"].get("command") or "") else num_ranks(run))


class Merged:
    """Lines of several ranks on one stream, each under its rank; a line that is not whole yet waits for its end."""

    def __init__(self, names: list[str], write: Optional[Callable[[bytes], None]] = None) -> None:
        self._write = write or _to_stdout
        self._open: dict[str, bytes] = {}
        self._width = max((len(str(rank_of_log(n))) for n in names), default=1)

    def take(self, name: str, data: bytes) -> None:
        """More bytes of a log."""
        *whole, rest = (self._open.get(name, b"") + data).split(b"\n")
        self._open[name] = rest
        if whole:
            prefix = self._prefix(name)
            self._write(b"".join(prefix + line + b"\n" for line in whole))

    def close(self) -> None:
        """What has no end yet is shown as it is, on a line of its own."""
        for name in rank_logs(list(self._open)):
            if self._open[name]:
                self._write(self._prefix(name) + self._open[name] + b"\n")
        self._open.clear()

    def _prefix(self, name: str) -> bytes:
        rank = rank_of_log(name) or 0
        return (paint(f"[rank {rank:>{self._width}}]", _COLOURS[rank % len(_COLOURS)]) + " ").encode()


def _to_stdout(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
