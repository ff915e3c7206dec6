"""Metrics as they are written: everything that one transaction adds, gathered first, then stored with four statements.

Values are stored in blocks: the last block of a metric is extended until it is full, then a new one begins. What the writer knows
of a metric (its row, and the block that may still grow) stays in its memory, so that the next value needs nothing to be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Optional

from sqlalchemy import Text, bindparam, insert, select, update

from rookery.record.database import Tx
from rookery.record.events import metric_row, write_events
from rookery.record.metric_ranks import add_rank, merge_rank, ranks_of
from rookery.record.metric_values import Chunk, latest_in
from rookery.record.prepared import Prepared
from rookery.record.schema import metric_blocks, metrics

__all__ = ["ITEM_KINDS", "TAIL_VALUES", "MetricBatch", "MetricState"]

# A block that is extended is written anew. With 160 values, their steps and their times it is what a page of SQLite (4,096 bytes)
# holds, so that one more value costs one page. Larger pieces are stored as they come.
TAIL_VALUES = 160
TAIL_BYTES = 16 * 1024  # of JSON, whose values have any size
ITEM_KINDS = ("image", "confusion_matrix", "accuracy_table", "residuals", "predictions")
_NAMES = 500
_FIELDS = (
    "kind", "total", "tail", "tail_count", "tail_dtype", "tail_steps", "last", "last_value", "last_step", "last_time", "rank",
)  # fmt: skip


class MetricBatch:
    """Everything that one transaction adds to metrics.

    `refused` collects what was not taken because the name has another kind; the caller makes warnings of it, or asks `refusal`
    before it adds anything.
    """

    taken = 0  # values of all batches of this process, for whoever watches it

    def __init__(self) -> None:
        self._chunks: dict[str, dict[str, list[tuple[str, Chunk]]]] = {}
        self.refused: list[tuple[str, str]] = []

    def add(self, run_id: str, name: str, kind: str, chunk: Chunk) -> None:
        self._chunks.setdefault(run_id, {}).setdefault(name, []).append((kind, chunk))

    def refusal(self, tx: Tx, run_id: str, names: Iterable[str], kind: str) -> Optional[str]:
        """Why metrics of these names cannot take values of this kind, or None. What was added to the batch counts."""
        added = self._chunks.get(run_id, {})
        stored = states_of(tx, run_id, list(names))
        for name in names:
            state = stored.get(name)
            have: Optional[str] = state.kind if state else None
            for given, _ in added.get(name, ()):
                have = given if have is None else _merged_kind(have, given) or have
            if have is not None and _merged_kind(have, kind) is None:
                return _refusal(name, have, kind)
        return None

    def write(self, tx: Tx) -> None:
        writes = _Writes()
        for run_id, named in self._chunks.items():
            self._gather(tx, run_id, named, writes)
        self._chunks.clear()
        writes.store(tx)

    def _gather(self, tx: Tx, run_id: str, named: dict[str, list[tuple[str, Chunk]]], writes: _Writes) -> None:
        states = states_of(tx, run_id, list(named))
        absent = [name for name in named if name not in states]
        if absent:
            _insert_metrics(tx, run_id, {name: named[name][0][0] for name in absent})
            states = states_of(tx, run_id, list(named))
        _load_tails(tx, (state for name, state in states.items() if state.joins(named[name][0][1])))
        for name, chunks in named.items():
            state = states[name]
            start = state.total
            for kind, chunk in chunks:
                merged = _merged_kind(state.kind, kind)
                if merged is None:
                    self.refused.append((run_id, _refusal(name, state.kind, kind)))
                    continue
                state.kind = merged
                state.append(chunk, writes)
            if state.total == start:
                continue
            MetricBatch.taken += state.total - start
            writes.events.append(metric_row(run_id, name, state.kind, start, state.total - start, state.last))
            writes.changed.append(state)


class MetricState:
    """The row of a metric as it is after this transaction, and, where it is known, the block that may still grow."""

    __slots__ = ("block", "id", *_FIELDS)

    def __init__(self, row: Sequence[Any]) -> None:
        self.id: int = row[0]
        self.kind: str = row[1]
        self.total: int = row[2]
        self.tail: int = row[3]  # the number of the last block
        self.tail_count: int = row[4]
        self.tail_dtype: str = row[5]
        self.tail_steps: int = row[6]
        self.last: Any = row[7]
        self.last_value: Optional[float] = row[8]
        self.last_step: Optional[int] = row[9]
        self.last_time: Optional[float] = row[10]
        self.rank: Optional[int] = row[11]
        self.block: Optional[_Block] = None

    def joins(self, chunk: Chunk) -> bool:
        """Whether the last block can take it, as far as its row tells."""
        return (
            self.tail >= 0
            and self.tail_count + chunk.count <= TAIL_VALUES
            and self.tail_dtype == chunk.dtype
            and bool(self.tail_steps) == (chunk.steps is not None)
        )

    def append(self, chunk: Chunk, writes: _Writes) -> None:
        """Extends the last block or begins a new one."""
        block = self.block
        if block is not None and self.joins(chunk) and block.has_room(chunk):
            block.extend(chunk)
            if not block.is_new:
                writes.grown[id(block)] = block
        else:
            self.tail += 1
            self.tail_dtype, self.tail_steps = chunk.dtype, int(chunk.steps is not None)
            block = _Block(
                self.id, self.tail, chunk.count, chunk.dtype, chunk.values, chunk.steps, chunk.times,
                ranks_of(chunk.rank, chunk.count),
            )  # fmt: skip
            block.is_new = True
            writes.new.append(block)
            self.block = block if chunk.count < TAIL_VALUES else None  # a full one is not kept in memory
        self.tail_count = block.total
        self._note_latest(chunk)
        if self.rank != chunk.rank:
            self.rank = merge_rank(self.rank, self.total, chunk.rank)
        self.total += chunk.count
        self.last = chunk.last

    def _note_latest(self, chunk: Chunk) -> None:
        """Keeps the value with the largest step, then the largest time: what a search compares."""
        found = latest_in(chunk, self.total)
        if found is None:
            return
        value, step, time = found
        new, old = (step, time), (self.last_step, self.last_time)
        if self.last_step is None or new > old or (new == old and _at_least(value, self.last_value)):
            self.last_value = None if value != value else value
            self.last_step, self.last_time = step, time


class _Block:
    __slots__ = ("dtype", "is_new", "metric_id", "number", "ranks", "steps", "times", "total", "values")

    def __init__(
        self,
        metric_id: int,
        number: int,
        total: int,
        dtype: str,
        values: bytes,
        steps: Optional[bytes],
        times: bytes,
        ranks: Optional[bytes],
    ) -> None:
        self.metric_id, self.number, self.total, self.dtype = metric_id, number, total, dtype
        self.values, self.steps, self.times, self.ranks = values, steps, times, ranks
        self.is_new = False  # not stored yet

    def has_room(self, chunk: Chunk) -> bool:
        """Besides what its row tells: whether it is still what a page holds."""
        if len(self.values) + len(chunk.values) > TAIL_BYTES:
            return False
        return self.ranks is None or 24 * (self.total + chunk.count) + len(self.ranks) <= 24 * TAIL_VALUES

    def extend(self, chunk: Chunk) -> None:
        if self.ranks is not None or chunk.rank is not None:
            self.ranks = add_rank(self.ranks, self.total, chunk.rank, chunk.count)
        self.values += chunk.values
        self.times += chunk.times
        if chunk.steps is not None and self.steps is not None:
            self.steps += chunk.steps
        self.total += chunk.count


class _Writes:
    """What goes to the database at the end."""

    def __init__(self) -> None:
        self.new: list[_Block] = []
        self.grown: dict[int, _Block] = {}
        self.changed: list[MetricState] = []
        self.events: list[dict[str, Any]] = []

    def store(self, tx: Tx) -> None:
        _GROW_BLOCK.run_many(
            tx.conn,
            [(b.total, b.values, b.steps, b.times, b.ranks, b.metric_id, b.number) for b in self.grown.values()],
        )
        _NEW_BLOCK.run_many(
            tx.conn, [(b.metric_id, b.number, b.total, b.dtype, b.values, b.steps, b.times, b.ranks) for b in self.new]
        )
        for block in self.new:
            block.is_new = False
        _CHANGE_METRIC.run_many(
            tx.conn,
            [
                (
                    s.kind, s.total, s.tail, s.tail_count, s.tail_dtype, s.tail_steps,
                    None if s.last is None else json.dumps(s.last), s.last_value, s.last_step, s.last_time, s.rank, s.id,
                )
                for s in self.changed
            ],
        )  # fmt: skip
        write_events(tx, self.events)


_CHANGE_METRIC = Prepared(
    update(metrics)
    .where(metrics.c.id == bindparam("row"))
    .values({f: bindparam("new_" + f, type_=Text() if f == "last" else None) for f in _FIELDS}),
    (*("new_" + f for f in _FIELDS), "row"),
)
_GROW_BLOCK = Prepared(
    update(metric_blocks)
    .where(metric_blocks.c.metric_id == bindparam("row"), metric_blocks.c.number == bindparam("block"))
    .values({f: bindparam("new_" + f) for f in ("total", "values", "steps", "times", "ranks")}),
    ("new_total", "new_values", "new_steps", "new_times", "new_ranks", "row", "block"),
)
_BLOCK_FIELDS = ("metric_id", "number", "total", "dtype", "values", "steps", "times", "ranks")
_NEW_BLOCK = Prepared(
    insert(metric_blocks).values({f: bindparam("new_" + f) for f in _BLOCK_FIELDS}).inline(),
    ["new_" + f for f in _BLOCK_FIELDS],
)


def states_of(tx: Tx, run_id: str, names: Sequence[str]) -> dict[str, MetricState]:
    """Those of these metrics that there are: remembered, or read and remembered from now on."""
    known = tx.memory.metrics_of(run_id)
    unknown = [name for name in names if name not in known]
    for i in range(0, len(unknown), _NAMES):
        query = _STATES.where(metrics.c.run_id == run_id, metrics.c.name.in_(unknown[i : i + _NAMES]))
        for name, *row in tx.conn.execute(query):
            tx.memory.add_metric(run_id, name, MetricState(row))
    return {name: known[name] for name in names if name in known}


_STATES = select(metrics.c.name, metrics.c.id, *(metrics.c[f] for f in _FIELDS))


def _insert_metrics(tx: Tx, run_id: str, kinds: dict[str, str]) -> None:
    tx.conn.execute(
        insert(metrics),
        [
            {"run_id": run_id, "name": name, "kind": kind, "total": 0, "tail": -1, "tail_count": 0, "tail_dtype": "",
             "tail_steps": 0, "last": None, "last_value": None, "last_step": None, "last_time": None, "rank": None}
            for name, kind in kinds.items()
        ],
    )  # fmt: skip


def _load_tails(tx: Tx, states: Iterable[MetricState]) -> None:
    """Reads the blocks that will be extended, where they are not remembered."""
    wanted = {state.id: state for state in states if state.block is None}
    ids = list(wanted)
    for i in range(0, len(ids), _NAMES):
        query = select(*(metric_blocks.c[f] for f in _BLOCK_FIELDS)).join(
            metrics, (metrics.c.id == metric_blocks.c.metric_id) & (metrics.c.tail == metric_blocks.c.number)
        )
        for row in tx.conn.execute(query.where(metrics.c.id.in_(ids[i : i + _NAMES]))):
            wanted[row[0]].block = _Block(*row)


def _at_least(value: float, old: Optional[float]) -> bool:
    return old is None or value >= old


def _merged_kind(have: str, given: str) -> Optional[str]:
    if have == given:
        return have
    return "list" if {have, given} == {"scalar", "list"} else None


def _refusal(name: str, have: str, given: str) -> str:
    return f"Metric '{name:.80}' is of kind {have}; a {given} under the same name was not stored. Use another name."
