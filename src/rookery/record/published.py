"""What is published: pipelines that can be started by their address, and endpoints that are versions of them under one name."""

from __future__ import annotations

import builtins
from typing import Any, Optional

from sqlalchemy import Connection, insert, select, update

from rookery.errors import ConflictError, NotFoundError, UserError
from rookery.record.clock import utc_now
from rookery.record.database import Database
from rookery.record.drafts import check_graph_data
from rookery.record.schema_pipeline import pipeline_endpoints, pipeline_published
from rookery.record.text import clean_text
from rookery.spec.names import new_guid

__all__ = ["ACTIVE", "ARCHIVED", "DISABLED", "PublishedPipelines"]

ACTIVE, DISABLED, ARCHIVED = "Active", "Disabled", "Archived"
STATUSES = (ACTIVE, DISABLED, ARCHIVED)


class PublishedPipelines:
    """Promises: what is published never changes, only whether it may be started; a version of an endpoint never means another
    pipeline."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # -- pipelines

    def publish(
        self, graph: Any, name: str, description: str, version: str, continue_on_failure: bool, created_by: str
    ) -> dict[str, Any]:
        row = {
            "id": new_guid(),
            "name": clean_text(name, "name", 255),
            "description": clean_text(description, "description", 5000),
            "version": clean_text(version, "version", 255),
            "status": ACTIVE,
            "graph": check_graph_data(graph),
            "continue_on_failure": int(continue_on_failure),
            "created_utc": utc_now(),
            "created_by": clean_text(created_by),
        }
        with self._db.write() as tx:
            tx.conn.execute(insert(pipeline_published).values(**row))
        return _pipeline(row)

    def list(self, active_only: bool = True) -> list[dict[str, Any]]:
        """The newest first."""
        query = select(pipeline_published).order_by(pipeline_published.c.created_utc.desc())
        if active_only:
            query = query.where(pipeline_published.c.status == ACTIVE)
        with self._db.read() as conn:
            return [_pipeline(row._mapping) for row in conn.execute(query)]

    def get(self, pipeline_id: str) -> dict[str, Any]:
        with self._db.read() as conn:
            return _pipeline(_find_pipeline(conn, pipeline_id)._mapping)

    def set_status(self, pipeline_id: str, status: str) -> dict[str, Any]:
        with self._db.write() as tx:
            _find_pipeline(tx.conn, pipeline_id)
            this = pipeline_published.c.id == pipeline_id
            tx.conn.execute(update(pipeline_published).where(this).values(status=_status(status)))
            return _pipeline(_find_pipeline(tx.conn, pipeline_id)._mapping)

    # -- endpoints

    def create_endpoint(self, name: str, description: str, pipeline_id: str, created_by: str) -> dict[str, Any]:
        """An endpoint whose version 0 is that pipeline."""
        now = utc_now()
        row = {
            "id": new_guid(),
            "name": clean_text(name, "name", 255),
            "description": clean_text(description, "description", 5000),
            "status": ACTIVE,
            "default_version": "0",
            "versions": [{"version": "0", "pipeline_id": pipeline_id}],
            "created_utc": now,
            "modified_utc": now,
            "created_by": clean_text(created_by),
        }
        with self._db.write() as tx:
            _find_pipeline(tx.conn, pipeline_id)
            if tx.conn.execute(select(pipeline_endpoints.c.id).where(pipeline_endpoints.c.name == row["name"])).first():
                raise ConflictError(
                    f"A pipeline endpoint called '{name:.255}' exists already. Add a version to it, or choose another name."
                )
            tx.conn.execute(insert(pipeline_endpoints).values(**row))
        return _endpoint(row)

    def endpoints(self, active_only: bool = True) -> builtins.list[dict[str, Any]]:
        query = select(pipeline_endpoints).order_by(pipeline_endpoints.c.modified_utc.desc())
        if active_only:
            query = query.where(pipeline_endpoints.c.status == ACTIVE)
        with self._db.read() as conn:
            return [_endpoint(row._mapping) for row in conn.execute(query)]

    def endpoint(self, endpoint_id: Optional[str] = None, name: Optional[str] = None) -> dict[str, Any]:
        """By its id, or by its name."""
        with self._db.read() as conn:
            return _endpoint(_find_endpoint(conn, endpoint_id, name)._mapping)

    def change_endpoint(
        self,
        endpoint_id: str,
        *,
        add: Optional[str] = None,
        make_default: bool = False,
        default_version: Optional[str] = None,
        status: Optional[str] = None,
        name: Optional[str] = None,
    ) -> dict[str, Any]:
        """`add` is a pipeline that becomes the next version, the default one with `make_default`."""
        with self._db.write() as tx:
            row = _find_endpoint(tx.conn, endpoint_id, None)
            versions, values = list(row.versions), {"modified_utc": utc_now()}
            if add is not None:
                _find_pipeline(tx.conn, add)
                number = str(max(int(each["version"]) for each in versions) + 1)
                versions.append({"version": number, "pipeline_id": add})
                if make_default:
                    default_version = number
            if default_version is not None:
                if str(default_version) not in [each["version"] for each in versions]:
                    raise _no_version(row.name, str(default_version), versions)
                values["default_version"] = str(default_version)
            if status is not None:
                values["status"] = _status(status)
            if name is not None:
                values["name"] = clean_text(name, "name", 255)
            this = pipeline_endpoints.c.id == endpoint_id
            tx.conn.execute(update(pipeline_endpoints).where(this).values(versions=versions, **values))
            return _endpoint(_find_endpoint(tx.conn, endpoint_id, None)._mapping)

    def version(self, endpoint: dict[str, Any], version: Optional[str] = None) -> dict[str, Any]:
        """The pipeline behind a version of an endpoint; None: the default one."""
        wanted = str(version) if version not in (None, "") else endpoint["default_version"]
        for each in endpoint["versions"]:
            if each["version"] == wanted:
                return self.get(each["pipeline_id"])
        raise _no_version(endpoint["name"], wanted, endpoint["versions"])


def _status(status: str) -> str:
    if status not in STATUSES:
        raise UserError(f"Status {status!r:.40} does not exist. Known: {', '.join(STATUSES)}.")
    return status


def _no_version(name: str, version: str, versions: Any) -> NotFoundError:
    known = ", ".join(each["version"] for each in versions)
    return NotFoundError(f"Pipeline endpoint '{name:.255}' has no version {version:.40}. It has: {known}.")


def _find_pipeline(conn: Connection, pipeline_id: str) -> Any:
    row = conn.execute(select(pipeline_published).where(pipeline_published.c.id == pipeline_id)).first()
    if row is None:
        raise NotFoundError(
            f"There is no published pipeline '{pipeline_id:.80}'. PublishedPipeline.list(ws) names them."
        )
    return row


def _find_endpoint(conn: Connection, endpoint_id: Optional[str], name: Optional[str]) -> Any:
    which = pipeline_endpoints.c.id == endpoint_id if endpoint_id else pipeline_endpoints.c.name == name
    row = conn.execute(select(pipeline_endpoints).where(which)).first()
    if row is None:
        raise NotFoundError(
            f"There is no pipeline endpoint '{endpoint_id or name!s:.255}'. PipelineEndpoint.list(ws) names them."
        )
    return row


def _pipeline(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "version": row["version"],
        "status": row["status"],
        "graph": row["graph"],
        "continue_on_failure": bool(row["continue_on_failure"]),
        "created_utc": row["created_utc"],
        "created_by": row["created_by"],
    }


def _endpoint(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "status": row["status"],
        "default_version": row["default_version"],
        "versions": row["versions"],
        "created_utc": row["created_utc"],
        "created_by": row["created_by"],
    }
