"""Models that were logged or registered elsewhere, brought here with the ids and version numbers that they have there."""

from __future__ import annotations

import math
from typing import Any, Optional

from sqlalchemy import Connection, func, insert, select, update

from rookery.errors import ConflictError, ModelError, ModelNotFoundError, UserError
from rookery.record.artifacts import artifacts_below
from rookery.record.clock import from_unix, utc_now
from rookery.record.content import require_content
from rookery.record.database import Database, Tx
from rookery.record.models import FACTS, find_version
from rookery.record.schema import experiments, model_files, model_names, models, runs
from rookery.record.schema_tracking import logged_model_metrics, logged_models, loose_files
from rookery.record.text import clean_map, clean_name, clean_text
from rookery.spec.names import check_artifact_name, check_free_name

__all__ = ["PastModels"]

STATES = ("pending", "ready", "failed")
_METRIC = ("run_id", "key", "value", "step", "time_ms", "dataset_name", "dataset_digest")


class PastModels:
    """Promises: each call is one transaction; the same call again changes nothing; a version keeps its number."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add_logged(self, body: dict[str, Any]) -> dict[str, Any]:
        """`id`, `experiment`, `run_id`, `name`, `model_type`, `status`, `created_ms`, `modified_ms`, `deleted`, `tags`, `params`,
        `metrics`, `files` (path, sha256: content that is stored). Returns how many metrics, files and bytes it has now."""
        model_id = clean_name(body.get("id"), "The id of a model")
        if body.get("status") not in STATES:
            raise UserError(f"status={body.get('status')!r:.40} does not exist. Known: {', '.join(STATES)}.")
        tags, params = clean_map(body.get("tags") or {}, "tags"), clean_map(body.get("params") or {}, "params")
        with self._db.write() as tx:
            row = tx.conn.execute(select(logged_models).where(logged_models.c.id == model_id)).first()
            if row is None:
                created = _ms(body.get("created_ms") or 0)
                values = {
                    "id": model_id,
                    "experiment_id": _experiment(tx.conn, body.get("experiment")),
                    "run_id": _known_run(tx.conn, body.get("run_id")),
                    "name": clean_text(body.get("name") or "", "A name", 1024),
                    "model_type": clean_text(body.get("model_type") or "", "A type", 1024),
                    "status": body["status"],
                    "created_ms": created,
                    "modified_ms": _ms(body.get("modified_ms") or 0) or created,
                    "deleted_utc": utc_now() if body.get("deleted") else None,
                }
                tx.conn.execute(insert(logged_models).values(tags=tags, params=params, **values))
            else:
                merged = {"tags": {**tags, **row.tags}, "params": {**params, **row.params}}
                if merged != {"tags": row.tags, "params": row.params}:
                    tx.conn.execute(update(logged_models).where(logged_models.c.id == model_id).values(**merged))
            row = tx.conn.execute(select(logged_models).where(logged_models.c.id == model_id)).one()
            _add_metrics(tx, model_id, body.get("metrics") or [])
            below = f"{row.experiment_id}/models/{model_id}/artifacts/"  # where trackers' clients look for them
            for file in body.get("files") or []:
                _link(tx, below, file)
            found = select(loose_files.c.name, loose_files.c.size).where(
                func.substr(loose_files.c.name, 1, len(below)) == below
            )
            files = tx.conn.execute(found).all()
            number = select(func.count()).select_from(logged_model_metrics)
            counted = tx.conn.execute(number.where(logged_model_metrics.c.model_id == model_id)).scalar()
            return {
                "metrics": int(counted or 0),
                "sizes": {file.name[len(below) :]: file.size for file in files},
            }

    def add_registered(self, body: dict[str, Any]) -> dict[str, Any]:
        """`name`, `description`, `tags`, `created_ms`, `modified_ms`, `aliases` {alias: version}, `versions` [version, created_ms,
        modified_ms, description, stage, source, source_link, tags, created_by, run_id, and where its files are here:
        `files_of_run` with `path`, or `files_of_model`]. Returns the numbers of versions and aliases that are here.

        Raises:
            ConflictError: a version of that number is another one.
        """
        name = check_free_name(body.get("name"), "model")
        tags = clean_map(body.get("tags") or {}, "tags")
        with self._db.write() as tx:
            row = tx.conn.execute(select(model_names).where(model_names.c.name == name)).first()
            if row is None:
                created = _moment(body.get("created_ms")) or utc_now()
                modified = _moment(body.get("modified_ms")) or created
                values = {"created_utc": created, "modified_utc": modified, "tags": tags, "aliases": {}}
                described = clean_text(body.get("description") or "")
                tx.conn.execute(insert(model_names).values(name=name, last_version=0, description=described, **values))
                row = tx.conn.execute(select(model_names).where(model_names.c.name == name)).one()
            for version in body.get("versions") or []:
                self._add_version(tx, name, version)
            aliases = {**{str(k): int(v) for k, v in (body.get("aliases") or {}).items()}, **(row.aliases or {})}
            for version in aliases.values():
                find_version(tx.conn, name, version)
            last = tx.conn.execute(select(func.max(models.c.version)).where(models.c.name == name)).scalar()
            changed = {
                "last_version": max(row.last_version, int(last or 0)),
                "aliases": aliases,
                "tags": {**tags, **(row.tags or {})},
            }
            tx.conn.execute(update(model_names).where(model_names.c.name == name).values(**changed))
            versions = tx.conn.execute(select(models.c.version).where(models.c.name == name)).scalars().all()
            return {"versions": sorted(versions), "aliases": aliases}

    def _add_version(self, tx: Tx, name: str, body: dict[str, Any]) -> None:
        number = body.get("version")
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ModelError(f"version={number!r:.40} must be a whole number from 1 on.")
        created = _moment(body.get("created_ms")) or utc_now()
        row = tx.conn.execute(select(models).where(models.c.name == name, models.c.version == number)).first()
        if row is not None:
            if row.created_utc != created:
                raise ConflictError(
                    f"Model '{name}' has a version {number} here that is another one (made {row.created_utc}, not {created}). "
                    "Rename one of the two models, then bring it again."
                )
            return
        files, is_folder = _files(tx.conn, body)
        run_id = _known_run(tx.conn, body.get("run_id"))
        facts = {key: body.get(key) for key in FACTS}
        facts.update(
            description=clean_text(body.get("description") or ""),
            datasets=[],
            logged_model_id=body.get("files_of_model") or None,
            modified_utc=_moment(body.get("modified_ms")) or created,
            # What has its files here is had from here; the address that it had there is a property.
            source=None if files else body.get("source"),
        )
        values = {
            "created_utc": created,
            "created_by": clean_text(body.get("created_by") or ""),
            "run_id": run_id,
            "framework": body.get("framework"),
            "is_folder": int(is_folder),
            "tags": clean_map(body.get("tags") or {}, "tags"),
            "properties": clean_map({"source": body["source"]} if body.get("source") else {}, "properties"),
        }
        tx.conn.execute(insert(models).values(name=name, version=number, facts=facts, **values))
        seq = find_version(tx.conn, name, number).seq
        if files:
            tx.conn.execute(insert(model_files), [{"model_seq": seq, **file} for file in files])


def _files(conn: Connection, body: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """Where they are here; none where they were never brought."""
    if body.get("files_of_model"):
        row = conn.execute(select(logged_models).where(logged_models.c.id == body["files_of_model"])).first()
        if row is None:
            return [], True
        below = f"{row.experiment_id}/models/{row.id}/artifacts/"
        query = select(loose_files).where(func.substr(loose_files.c.name, 1, len(below)) == below)
        return [
            {"path": f"{row.name}/{file.name[len(below) :]}", "sha256": file.sha256, "size": file.size}
            for file in conn.execute(query.order_by(loose_files.c.name))
        ], True
    if body.get("files_of_run") and body.get("path"):
        try:
            return artifacts_below(conn, body["files_of_run"], check_artifact_name(body["path"]))
        except ModelNotFoundError:
            return [], True
    return [], True


def _add_metrics(tx: Tx, model_id: str, given: list[dict[str, Any]]) -> None:
    table = logged_model_metrics
    query = select(table).where(table.c.model_id == model_id)
    have = {tuple(row[key] for key in _METRIC) for row in tx.conn.execute(query).mappings()}
    new = []
    for metric in given:
        value = float(metric["value"])
        row = {
            "run_id": _known_run(tx.conn, metric.get("run_id")),
            "key": clean_name(metric.get("key"), "A metric's name"),
            "value": None if math.isnan(value) else value,
            "step": int(metric.get("step") or 0),
            "time_ms": _ms(metric.get("time_ms")),
            "dataset_name": clean_text(metric.get("dataset_name") or ""),
            "dataset_digest": clean_text(metric.get("dataset_digest") or ""),
        }
        if row["run_id"] is not None and tuple(row[key] for key in _METRIC) not in have:
            have.add(tuple(row[key] for key in _METRIC))
            new.append({"model_id": model_id, **row})
    if new:
        tx.conn.execute(insert(table), new)


def _link(tx: Tx, below: str, file: dict[str, Any]) -> None:
    name = below + check_artifact_name(file.get("path"))
    sha256 = str(file.get("sha256"))
    values = {"sha256": sha256, "size": require_content(tx.conn, sha256), "modified_utc": utc_now()}
    if tx.conn.execute(select(loose_files.c.name).where(loose_files.c.name == name)).first() is None:
        tx.conn.execute(insert(loose_files).values(name=name, **values))


def _experiment(conn: Connection, name: Any) -> str:
    found = conn.execute(select(experiments.c.id).where(experiments.c.name == name)).scalar()
    if found is None:
        raise UserError(f"Experiment {name!r:.255} is not here yet. Bring it first.")
    return str(found)


def _known_run(conn: Connection, run_id: Any) -> Optional[str]:
    if not run_id:
        return None
    return conn.execute(select(runs.c.id).where(runs.c.id == run_id)).scalar()


def _ms(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise UserError(f"{value!r:.40} must be unix milliseconds.")
    return value


def _moment(milliseconds: Any) -> Optional[str]:
    return None if milliseconds is None else from_unix(_ms(milliseconds) / 1000)
