"""Journals: what processes inside runs wrote, taken over exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import insert, select, update

from rookery.errors import ConflictError, UserError
from rookery.record.database import Database
from rookery.record.records import apply_records, check_records
from rookery.record.run_rows import run_row
from rookery.record.schema import journals
from rookery.record.text import clean_name
from rookery.spec.status import TERMINAL

__all__ = ["Journals"]

MAX_RANK = 2**31 - 1


class Journals:
    """Promises: an offset and everything before it are stored in one transaction, so a repeated push changes
    nothing.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def offsets(self, run_id: str, attempt: int, node: int) -> dict[str, int]:
        """Where each journal of this node goes on from."""
        query = select(journals.c.name, journals.c.offset).where(
            journals.c.run_id == run_id, journals.c.attempt == attempt, journals.c.node == node
        )
        with self._db.read() as conn:
            return {row.name: row.offset for row in conn.execute(query)}

    def apply(
        self,
        run_id: str,
        attempt: int,
        node: int,
        journal: str,
        start: int,
        end: int,
        blocks: Sequence[Any],
        records: Sequence[Any],
        rank: Optional[int] = None,
    ) -> int:
        """Stores the bytes [start, end) of a journal, as packed by the agent; returns the offset that is stored now.

        rank: whose journal it is, in a run of several ranks.

        Raises:
            ConflictError: `start` is not where the stored part ends; details have the `offset` to go on from.
        """
        name = clean_name(journal, "A journal's name")
        if start < 0 or end < start:
            raise UserError(f"A journal goes from {start} to {end}: the end must not be before the start.")
        if rank is not None and not 0 <= rank <= MAX_RANK:
            raise UserError(f"A journal of rank {rank}: ranks are whole numbers from 0 to {MAX_RANK}.")
        key = (
            journals.c.run_id == run_id,
            journals.c.attempt == attempt,
            journals.c.node == node,
            journals.c.name == name,
        )
        with self._db.write() as tx:
            stored = tx.conn.execute(select(journals.c.offset).where(*key)).scalar()
            if stored is None:
                run_row(tx.conn, run_id)
            have = stored or 0
            if end <= have:
                return have
            if start != have:
                raise ConflictError(
                    f"Journal '{name}' is stored up to {have}; a part that starts at {start} does not follow.",
                    details={"offset": have},
                )
            apply_records(tx, run_id, blocks, records, rank)
            if stored is None:
                tx.conn.execute(
                    insert(journals).values(run_id=run_id, attempt=attempt, node=node, name=name, offset=end)
                )
            else:
                tx.conn.execute(update(journals).where(*key).values(offset=end))
            return end

    def apply_loose(self, run_id: str, records: Any) -> None:
        """Records that come from outside a run, without a journal: all are well formed, or none is stored."""
        checked = check_records(records)
        with self._db.write() as tx:
            row = run_row(tx.conn, run_id)
            if row.status in TERMINAL and any(record[0] == "c" for record in checked):
                # Nothing would ever end it: a child ends with its parent.
                raise ConflictError(
                    f"Run '{run_id}' is {row.status}: it can have no more children. Start a run for them, or end it later."
                )
            apply_records(tx, run_id, (), checked)
