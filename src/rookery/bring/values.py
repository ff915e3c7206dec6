"""The values of metrics, carried in blocks; of a metric that is here in part only what is missing."""

from __future__ import annotations

import base64
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Optional

from rookery.bring.base import Run, Source, Value
from rookery.errors import ConflictError, RookeryError, ServiceError
from rookery.worker.http import quote_path

__all__ = ["carry_values"]

MOST = 50_000  # values in one request


def carry_values(
    client: Any, source: Source, run: Run, have: dict[str, int]
) -> Iterator[tuple[str, int, Optional[str]]]:
    """(metric, how many values it has there, what went wrong) of every metric of the run."""
    sender = _Sender(client, run.id)
    for name in run.metrics:
        try:
            if have.get(name, 0) == 0:
                there = _carry_all(sender, name, iter(source.values(run, name)))
            else:
                there = _carry_missing(client, sender, source, run, name, have[name])
        except ServiceError:
            raise
        except RookeryError as error:
            yield name, 0, f"metric '{name}': {error}"
            continue
        yield name, there, None
    try:
        sender.flush()
    except ConflictError as error:
        yield str(error.details.get("name")), 0, f"{error} Somebody else writes to it, too: import it again."


def _carry_all(sender: _Sender, name: str, values: Iterator[Value]) -> int:
    total = 0
    while True:
        part = list(islice(values, MOST))
        if not part:
            return total
        sender.add(name, total, part)
        total += len(part)


def _carry_missing(client: Any, sender: _Sender, source: Source, run: Run, name: str, have: int) -> int:
    there = list(source.values(run, name))
    if len(there) > have:
        stored = client.request("GET", f"/runs/{quote_path(run.id)}/metrics", query={"name": name})["metrics"]
        missing = _missing(there, stored[0] if stored else {})
        for start in range(0, len(missing), MOST):
            sender.add(name, have + start, missing[start : start + MOST])
    return len(there)


def _missing(there: Sequence[Value], stored: dict[str, Any]) -> list[Value]:
    """What of `there` is not stored, counted: the same value may have been logged twice."""
    values = stored.get("values") or []
    steps = stored.get("steps") or [0] * len(values)
    have = Counter(_key((v, s, round(t * 1000))) for v, s, t in zip(values, steps, stored.get("times") or []))
    missing = []
    for value in there:
        key = _key(value)
        if have[key]:
            have[key] -= 1
        else:
            missing.append(value)
    return missing


def _key(value: Value) -> tuple[bytes, int, int]:
    number = float(value[0])
    return b"nan" if number != number else struct.pack("<d", number), value[1], value[2]


class _Sender:
    """Gathers blocks and sends them; each says how many values its metric has before it, so none is stored twice."""

    def __init__(self, client: Any, run_id: str) -> None:
        self._client, self._path = client, f"/past/runs/{quote_path(run_id)}/values"
        self._blocks: list[dict[str, Any]] = []
        self._waiting = 0

    def add(self, name: str, at: int, values: Sequence[Value]) -> None:
        numbers = [float(value) for value, _, _ in values]
        self._blocks.append(
            {
                "name": name,
                "at": at,
                "n": len(values),
                "dtype": "d",
                "values": _pack("d", numbers),
                "steps": _pack("q", [step for _, step, _ in values]),
                "times": _pack("d", [time / 1000 for _, _, time in values]),
            }
        )
        self._waiting += len(values)
        if self._waiting >= MOST or len(self._blocks) >= 1000:
            self.flush()

    def flush(self) -> None:
        blocks, self._blocks, self._waiting = self._blocks, [], 0
        if blocks:
            self._client.request("POST", self._path, body={"blocks": blocks})


def _pack(code: str, numbers: Sequence[Any]) -> str:
    data = array(code, numbers)
    if sys.byteorder == "big":
        data.byteswap()
    return base64.b64encode(data.tobytes()).decode("ascii")
