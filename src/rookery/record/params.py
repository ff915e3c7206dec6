"""Parameters of a run: what it was started with, written once."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from rookery.errors import ConflictError
from rookery.record.database import Tx
from rookery.record.events import write_event
from rookery.record.schema_tracking import HEAD, run_params
from rookery.record.text import clean_map

__all__ = ["add_params"]

_BATCH = 500


def add_params(tx: Tx, run_id: str, params: Any) -> None:
    """Adds parameters; the same value again changes nothing.

    Raises:
        ConflictError: one exists with another value (details: key, value); then none is added.
    """
    wanted = {key: value or "" for key, value in clean_map(params, "params").items()}
    if not wanted:
        return
    have: dict[str, str] = {}
    keys = list(wanted)
    for i in range(0, len(keys), _BATCH):
        query = select(run_params.c.key, run_params.c.value).where(
            run_params.c.run_id == run_id, run_params.c.key.in_(keys[i : i + _BATCH])
        )
        have.update({row.key: row.value for row in tx.conn.execute(query)})
    for key, value in wanted.items():
        if key in have and have[key] != value:
            raise ConflictError(
                f"Parameter '{key:.80}' of run '{run_id}' is {have[key]!r:.200} already and parameters are written once. "
                "Use a tag for what changes.",
                details={"key": key, "value": have[key], "given": value},
            )
    new = {key: value for key, value in wanted.items() if key not in have}
    if new:
        rows = [{"run_id": run_id, "key": key, "value": value, "head": value[:HEAD]} for key, value in new.items()]
        tx.conn.execute(insert(run_params), rows)
        write_event(tx, run_id, "run", {"run": run_id, "params": new})
