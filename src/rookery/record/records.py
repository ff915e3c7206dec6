"""Journal records become rows. One bad record is a warning on the run, never a reason to stop the others.

How to add a kind: a line in RECORDS (its length and what it does), a row in docs/inside/protocol.md, a test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from sqlalchemy import select

from rookery.errors import RookeryError, UserError
from rookery.record.causes import plain_cause
from rookery.record.clock import from_unix
from rookery.record.database import Tx
from rookery.record.metric_batch import ITEM_KINDS, MetricBatch
from rookery.record.metric_values import chunk_from_block, chunk_of_items, chunk_of_values
from rookery.record.run_queries import is_within
from rookery.record.run_rows import run_row
from rookery.record.run_steps import (
    add_properties,
    add_tags,
    add_warning,
    create_run,
    remember_error,
    remove_tags,
    rename,
    set_status,
)
from rookery.record.schema import experiments, runs
from rookery.record.text import clean_name, clean_text
from rookery.spec.names import check_run_id
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus

__all__ = ["apply_records", "check_records"]

_SCALARS = (str, bool, int, float, type(None))


def apply_records(
    tx: Tx, run_id: str, blocks: Sequence[Any], records: Sequence[Any], rank: Optional[int] = None
) -> None:
    """Stores what a process of `run_id` said, in order. Records may name runs that earlier records of the
    batch create. `rank`: which one of several it was.
    """
    batch = _Batch(tx, run_id, rank)
    # Runs are made first, because the blocks of a batch may belong to a child that the batch creates.
    for record in records:
        if _kind(record) == "c":
            batch.apply(record)
    for block in blocks:
        batch.apply_block(block)
    for record in records:
        if _kind(record) != "c":
            batch.apply(record)
    batch.finish()


def check_records(records: Any) -> list[Any]:
    """The list, or UserError naming the first record that is none."""
    if not isinstance(records, list):
        raise UserError(f"records must be a list, not {type(records).__name__}.")
    for number, record in enumerate(records):
        try:
            _check(record)
        except UserError as error:
            raise UserError(f"Record {number}: {error}") from error
    return records


class _Batch:
    def __init__(self, tx: Tx, run_id: str, rank: Optional[int]) -> None:
        self.tx = tx
        self.run_id = run_id
        self.rank = rank
        self.metrics = MetricBatch()
        self.scalars: dict[tuple[str, str], list[tuple[Any, Optional[int], float]]] = {}
        self._family: dict[str, bool] = {}

    def apply(self, record: Any) -> None:
        try:
            _check(record)
            _, action = RECORDS[record[0]]
            run_id = self.run_id if record[0] == "c" else self.run_of(record[1])
            if record[0] not in ("m",):
                self.flush_scalars()
            action(self, run_id, *record[1 if record[0] == "c" else 2 :])
        except (RookeryError, TypeError, ValueError, OverflowError) as error:
            self.warn(f"A record was not stored: {error}")

    def apply_block(self, block: Any) -> None:
        try:
            chunk = chunk_from_block(block, self.rank)
            self.metrics.add(
                self.run_of(block.get("run")),
                clean_name(block.get("name"), "A metric's name"),
                "scalar",
                chunk,
            )
        except (RookeryError, TypeError, ValueError, OverflowError) as error:
            self.warn(f"A block of metrics was not stored: {error}")

    def run_of(self, run_id: Optional[str]) -> str:
        """The run that a record means: the journal's own, or one below it."""
        if run_id is None or run_id == self.run_id:
            return self.run_id
        if run_id not in self._family:
            self._family[run_id] = is_within(self.tx.conn, run_id, self.run_id)
        if not self._family[run_id]:
            del self._family[run_id]
            raise UserError(f"run '{str(run_id)[:80]}' is not a child of run '{self.run_id}'.")
        return run_id

    def warn(self, text: str) -> None:
        add_warning(self.tx, self.run_id, text)

    def flush_scalars(self) -> None:
        for (run_id, name), values in self.scalars.items():
            columns = list(zip(*values))
            self.metrics.add(run_id, name, "scalar", chunk_of_values(columns[0], columns[1], columns[2], self.rank))
        self.scalars.clear()

    def finish(self) -> None:
        self.flush_scalars()
        self.metrics.write(self.tx)
        for run_id, text in self.metrics.refused:
            add_warning(self.tx, run_id, text)


def _scalar(batch: _Batch, run_id: str, name: Any, value: Any, step: Any, time: Any) -> None:
    if not isinstance(value, _SCALARS):
        raise UserError(f"metric '{name!s:.80}': {type(value).__name__} is no scalar.")
    key = (run_id, clean_name(name, "A metric's name"))
    checked_step, moment = None if step is None else _int64(step), float(time)
    before = batch.scalars.get(key)
    if before and (before[-1][1] is None) != (checked_step is None):
        batch.flush_scalars()  # a block has steps for all of its values or for none
    batch.scalars.setdefault(key, []).append((value, checked_step, moment))


def _list(batch: _Batch, run_id: str, name: Any, values: Any, time: Any) -> None:
    _expect(values, list, "a list")
    if values:
        chunk = chunk_of_values(values, None, [float(time)] * len(values), batch.rank)
        batch.metrics.add(run_id, clean_name(name, "A metric's name"), "list", chunk)


def _row(batch: _Batch, run_id: str, name: Any, columns: Any, time: Any) -> None:
    _expect(columns, dict, "an object")
    batch.metrics.add(run_id, clean_name(name, "A metric's name"), "row", chunk_of_items([columns], 1, [float(time)]))


def _table(batch: _Batch, run_id: str, name: Any, columns: Any, time: Any) -> None:
    _expect(columns, dict, "an object")
    for values in columns.values():
        _expect(values, list, "a list per column")
    rows = max((len(values) for values in columns.values()), default=0)
    padded = {key: values + [None] * (rows - len(values)) for key, values in columns.items()}
    batch.metrics.add(
        run_id, clean_name(name, "A metric's name"), "table", chunk_of_items([padded], rows, [float(time)])
    )


def _item(batch: _Batch, run_id: str, name: Any, kind: Any, data: Any, time: Any) -> None:
    if kind not in ITEM_KINDS:
        raise UserError(f"metric kind {kind!r:.40} does not exist. Known: {', '.join(ITEM_KINDS)}.")
    batch.metrics.add(run_id, clean_name(name, "A metric's name"), kind, chunk_of_items([data], 1, [float(time)]))


def _tags(batch: _Batch, run_id: str, tags: Any) -> None:
    add_tags(batch.tx, run_id, tags)


def _untag(batch: _Batch, run_id: str, keys: Any) -> None:
    _expect(keys, list, "a list")
    remove_tags(batch.tx, run_id, keys)


def _properties(batch: _Batch, run_id: str, properties: Any) -> None:
    _expect(properties, dict, "an object")
    for key, value in properties.items():
        try:
            add_properties(batch.tx, run_id, {key: value})
        except RookeryError as error:
            add_warning(batch.tx, run_id, str(error))


def _names(batch: _Batch, run_id: str, names: Any) -> None:
    _expect(names, dict, "an object")
    rename(batch.tx, run_id, names)


def _upload(batch: _Batch, run_id: str, name: Any, file: Any) -> None:
    """Nothing: the agent has sent the bytes as an artifact."""


def _child(batch: _Batch, _run_id: str, child_id: Any, parent_id: Any, name: Any, tags: Any, time: Any) -> None:
    parent = run_row(batch.tx.conn, batch.run_of(parent_id))
    if batch.tx.conn.execute(select(runs.c.id).where(runs.c.id == check_run_id(child_id))).first():
        batch.run_of(child_id)
        return
    experiment = batch.tx.conn.execute(
        select(experiments.c.name).where(experiments.c.id == parent.experiment_id)
    ).scalar()
    spec = RunSpec(
        run_id=child_id, experiment=str(experiment), kind=RunKind.CHILD, parent_id=parent.id, display_name=clean_text(name or ""),
        compute=parent.compute, target=parent.target, tags=tags or {},
    )  # fmt: skip
    create_run(batch.tx, spec, parent.submitted_by, from_unix(float(time)))
    batch._family[child_id] = True


def _status(batch: _Batch, run_id: str, status: Any, error: Any) -> None:
    wanted = RunStatus(status)
    cause = plain_cause(error) if error is not None else None
    if run_id == batch.run_id:
        # The status of a run belongs to whoever reaps its process; the script can only say why it is going to fail.
        if wanted == RunStatus.FAILED:
            remember_error(batch.tx, run_id, cause or plain_cause(None))
        return
    if run_row(batch.tx.conn, run_id).kind != RunKind.CHILD:
        raise UserError(f"run '{run_id}' has a process of its own; its status is not this run's to set.")
    if wanted == RunStatus.FAILED and cause is None:
        cause = plain_cause(None)
    set_status(batch.tx, run_id, wanted, error=cause)


def _warning(batch: _Batch, run_id: str, text: Any) -> None:
    add_warning(batch.tx, run_id, str(text))


# kind → (how long the record is, what it does)
RECORDS: dict[str, tuple[int, Callable[..., None]]] = {
    "m": (6, _scalar),
    "l": (5, _list),
    "r": (5, _row),
    "t": (5, _table),
    "d": (6, _item),
    "g": (3, _tags),
    "-g": (3, _untag),
    "p": (3, _properties),
    "n": (3, _names),
    "u": (4, _upload),
    "c": (6, _child),
    "s": (4, _status),
    "w": (3, _warning),
}


def _kind(record: Any) -> Any:
    return record[0] if isinstance(record, list) and record else None


def _check(record: Any) -> None:
    kind = _kind(record)
    if not isinstance(kind, str) or kind not in RECORDS:
        raise UserError(f"record kind {kind!r:.40} does not exist. Known: {', '.join(RECORDS)}.")
    length, _ = RECORDS[kind]
    if len(record) != length:
        raise UserError(f"a record of kind '{kind}' has {length} fields, not {len(record)}.")
    if record[1] is not None and not isinstance(record[1], str):
        raise UserError(f"a record of kind '{kind}' names its run by text, not {type(record[1]).__name__}.")


def _expect(value: Any, kind: type, words: str) -> None:
    if not isinstance(value, kind):
        raise UserError(f"expected {words}, got {type(value).__name__}.")


def _int64(value: Any) -> int:
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise UserError(f"step {value!r:.40} does not fit in 64 bits.")
    return number
