"""Drafts of pipelines: graphs that people work on, saved by themselves. Who saves says which revision they had."""

from __future__ import annotations

import json
from typing import Any, Optional

from sqlalchemy import Connection, delete, insert, select, update

from rookery.errors import ConflictError, NotFoundError, UserError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.events import write_event
from rookery.record.schema_pipeline import pipeline_drafts
from rookery.record.text import clean_text
from rookery.spec.names import new_guid

__all__ = ["Drafts", "check_graph_data"]

MAX_GRAPH = 8 * 1024 * 1024


class Drafts:
    """Promises: what somebody saved is never overwritten by who had an older revision."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def create(
        self, graph: Any, name: Optional[str], who: str, facts: Optional[dict[str, Any]] = None
    ) -> dict[str, Any]:
        plain = check_graph_data(graph)
        now = utc_now()
        row = {
            "id": new_guid(),
            "name": clean_text(name or str(plain.get("name") or "") or "pipeline", "name", 255),
            "graph": plain,
            "revision": 1,
            "facts": facts or {},
            "created_utc": now,
            "changed_utc": now,
            "last_run_id": None,
            "who": clean_text(who),
        }
        with self._db.write() as tx:
            tx.conn.execute(insert(pipeline_drafts).values(**row))
            _tell(tx, str(row["id"]), 1)
        return _plain(row)

    def list(self) -> list[dict[str, Any]]:
        """Without their graphs, the last changed first."""
        with self._db.read() as conn:
            rows = conn.execute(select(pipeline_drafts).order_by(pipeline_drafts.c.changed_utc.desc())).all()
        return [{**_plain(row._mapping), "graph": None, "num_nodes": len(row.graph.get("nodes") or {})} for row in rows]

    def get(self, draft_id: str) -> dict[str, Any]:
        with self._db.read() as conn:
            return _plain(_find(conn, draft_id)._mapping)

    def save(
        self,
        draft_id: str,
        revision: Optional[int],
        *,
        graph: Any = None,
        name: Optional[str] = None,
        facts: Optional[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """The draft, one revision further.

        Raises:
            ConflictError: somebody else has saved since `revision`; details have theirs.
        """
        with self._db.write() as tx:
            row = _find(tx.conn, draft_id)
            if revision is not None and revision != row.revision:
                raise ConflictError(
                    f"Draft '{row.name}' was saved by somebody else: it has revision {row.revision}, yours is {revision}. "
                    "Open it again, or save yours as another draft.",
                    details={"revision": row.revision},
                )
            values: dict[str, Any] = {"revision": row.revision + 1, "changed_utc": utc_now()}
            if graph is not None:
                values["graph"] = check_graph_data(graph)
                values["name"] = clean_text(str(values["graph"].get("name") or row.name), "name", 255)
            if name is not None:
                values["name"] = clean_text(name, "name", 255)
            if facts is not None:
                values["facts"] = {**row.facts, **facts}
            tx.conn.execute(update(pipeline_drafts).where(pipeline_drafts.c.id == draft_id).values(**values))
            _tell(tx, draft_id, values["revision"])
            return _plain(_find(tx.conn, draft_id)._mapping)

    def note_run(self, draft_id: str, run_id: str) -> None:
        """Its last run; a draft that is gone meanwhile does not matter."""
        with self._db.write() as tx:
            this = pipeline_drafts.c.id == draft_id
            row = tx.conn.execute(select(pipeline_drafts).where(this)).first()
            if row is None or row.last_run_id == run_id:
                return
            facts = {**row.facts, "run_before_id": row.last_run_id} if row.last_run_id else row.facts
            tx.conn.execute(update(pipeline_drafts).where(this).values(last_run_id=run_id, facts=facts))
            _tell(tx, draft_id, row.revision)

    def runs_before(self, draft_id: str, run_id: str) -> tuple[str, ...]:
        """What was made of it before this run, the newest first; last the run that it is a clone of."""
        with self._db.read() as conn:
            row = conn.execute(select(pipeline_drafts).where(pipeline_drafts.c.id == draft_id)).first()
        if row is None:
            return ()
        known = (row.last_run_id, row.facts.get("run_before_id"), row.facts.get("parent_run_id"))
        return tuple(dict.fromkeys(str(each) for each in known if each and each != run_id))

    def delete(self, draft_id: str) -> None:
        with self._db.write() as tx:
            _find(tx.conn, draft_id)
            tx.conn.execute(delete(pipeline_drafts).where(pipeline_drafts.c.id == draft_id))
            write_event(tx, None, "draft", {"id": draft_id, "revision": None}, draft_id)


def check_graph_data(graph: Any) -> dict[str, Any]:
    """A graph as far as it can be kept: an object of a bearable size. What is wrong in it is the validator's to tell."""
    if not isinstance(graph, dict):
        raise UserError(
            f"A graph is a JSON object, not {type(graph).__name__}. docs/inside/pipeline.md says what is in it."
        )
    if not isinstance(graph.get("nodes", {}), dict):
        raise UserError("`nodes` of a graph is an object: {id: node}.")
    if len(json.dumps(graph)) > MAX_GRAPH:
        raise UserError(
            f"The graph is larger than {MAX_GRAPH // 1024 // 1024} MB. Keep data in data sets, not in the graph."
        )
    return graph


def _tell(tx: Any, draft_id: str, revision: int) -> None:
    write_event(tx, None, "draft", {"id": draft_id, "revision": revision}, draft_id)


def _find(conn: Connection, draft_id: str) -> Any:
    row = conn.execute(select(pipeline_drafts).where(pipeline_drafts.c.id == draft_id)).first()
    if row is None:
        raise NotFoundError(f"There is no draft '{draft_id:.80}'. It may have been deleted.")
    return row


def _plain(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "graph": row["graph"],
        "num_nodes": len(row["graph"].get("nodes") or {}),
        "revision": row["revision"],
        "facts": row["facts"],
        "created": row["created_utc"],
        "changed": row["changed_utc"],
        "last_run_id": row["last_run_id"],
        "who": row["who"],
    }
