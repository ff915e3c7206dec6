"""Models as runs log them, before anybody registers one: an id, a name, parameters, tags, and metrics measured on them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Optional

from sqlalchemy import Connection, insert, select, update

from rookery.errors import ConflictError, ModelNotFoundError
from rookery.record.clock import utc_now
from rookery.record.database import Database, Tx
from rookery.record.run_rows import run_row
from rookery.record.schema_tracking import logged_model_metrics, logged_models
from rookery.record.text import clean_map, clean_text

__all__ = ["LoggedModels", "add_model_metrics"]


class LoggedModels:
    """Promises: a deleted one is out of sight, not gone; parameters are written once."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def create(
        self,
        model_id: str,
        experiment_id: str,
        name: str,
        *,
        run_id: Optional[str] = None,
        model_type: str = "",
        params: Optional[dict[str, Any]] = None,
        tags: Optional[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        now = _now_ms()
        with self._db.write() as tx:
            if run_id:
                run_row(tx.conn, run_id)
            tx.conn.execute(
                insert(logged_models).values(
                    id=model_id, experiment_id=experiment_id, run_id=run_id or None, name=clean_text(name, "A name", 1024),
                    model_type=clean_text(model_type, "A type", 1024), status="pending", created_ms=now, modified_ms=now,
                    tags=clean_map(tags or {}, "tags"), params=clean_map(params or {}, "params"),
                )
            )  # fmt: skip
            return _plain(tx.conn, _find(tx.conn, model_id))

    def get(self, model_id: str) -> dict[str, Any]:
        with self._db.read() as conn:
            return _plain(conn, _find(conn, model_id))

    def change(
        self,
        model_id: str,
        *,
        status: Optional[str] = None,
        tags: Optional[dict[str, Any]] = None,
        remove_tags: Sequence[str] = (),
        params: Optional[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """Sets what is given. status: pending, ready or failed."""
        with self._db.write() as tx:
            row = _find(tx.conn, model_id)
            new_params = clean_map(params or {}, "params")
            for key, value in new_params.items():
                if row.params.get(key, value) != value:
                    raise ConflictError(
                        f"Parameter '{key:.80}' of model '{model_id}' is {row.params[key]!r:.200} already and parameters "
                        "are written once."
                    )
            labels = {**row.tags, **clean_map(tags or {}, "tags")}
            values = {
                "status": status or row.status,
                "tags": {k: v for k, v in labels.items() if k not in set(remove_tags)},
                "params": {**row.params, **new_params},
                "modified_ms": _now_ms(),
            }
            tx.conn.execute(update(logged_models).where(logged_models.c.id == model_id).values(**values))
            return _plain(tx.conn, _find(tx.conn, model_id))

    def delete(self, model_id: str) -> None:
        with self._db.write() as tx:
            _find(tx.conn, model_id)
            tx.conn.execute(update(logged_models).where(logged_models.c.id == model_id).values(deleted_utc=utc_now()))

    def list(self, experiment_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Those of these experiments that are not deleted, newest first."""
        query = (
            select(logged_models)
            .where(logged_models.c.experiment_id.in_(list(experiment_ids)), logged_models.c.deleted_utc.is_(None))
            .order_by(logged_models.c.created_ms.desc(), logged_models.c.seq.desc())
        )
        with self._db.read() as conn:
            return [_plain(conn, row) for row in conn.execute(query).all()]


def add_model_metrics(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    """Rows: model_id, run_id, key, value, step, time_ms, dataset_name, dataset_digest. Unknown models are left out."""
    ids = {row["model_id"] for row in rows}
    query = select(logged_models.c.id).where(logged_models.c.id.in_(list(ids)))
    known = {found for (found,) in tx.conn.execute(query)}
    new = [
        {**row, "value": None if math.isnan(row["value"]) else row["value"]} for row in rows if row["model_id"] in known
    ]
    if new:
        tx.conn.execute(insert(logged_model_metrics), new)


def _find(conn: Connection, model_id: str) -> Any:
    query = select(logged_models).where(logged_models.c.id == model_id, logged_models.c.deleted_utc.is_(None))
    row = conn.execute(query).first()
    if row is None:
        raise ModelNotFoundError(f"Logged model '{model_id:.255}' does not exist in this workspace.")
    return row


def _plain(conn: Connection, row: Any) -> dict[str, Any]:
    query = (
        select(logged_model_metrics)
        .where(logged_model_metrics.c.model_id == row.id)
        .order_by(logged_model_metrics.c.id)
    )
    latest: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    for metric in conn.execute(query).mappings():
        key = (metric["key"], metric["run_id"], metric["dataset_name"], metric["dataset_digest"])
        old = latest.get(key)
        if old is None or (metric["step"], metric["time_ms"]) >= (old["step"], old["time_ms"]):
            latest[key] = {**metric, "value": math.nan if metric["value"] is None else metric["value"]}
    return {**{key: value for key, value in row._mapping.items() if key != "seq"}, "metrics": list(latest.values())}


def _now_ms() -> int:
    return int(time.time() * 1000)
