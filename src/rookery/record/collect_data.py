"""Manifests and definitions that no version and no run names. Whoever resolves or saves one again makes it young again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import delete, exists, func, select, type_coerce
from sqlalchemy.types import Text

from rookery.record.collect_pipelines import definitions_of_pipelines
from rookery.record.database import Database
from rookery.record.schema import runs
from rookery.record.schema_data import data_definitions, data_manifests, data_versions, run_data

__all__ = ["unused_definitions", "unused_manifests"]

_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNUSED_MANIFEST = (
    ~exists(select(data_versions.c.seq).where(data_versions.c.manifest_id == data_manifests.c.id)),
    ~exists(select(run_data.c.run_id).where(run_data.c.manifest_id == data_manifests.c.id)),
)
_UNUSED_DEFINITION = (
    ~exists(select(data_versions.c.seq).where(data_versions.c.definition_id == data_definitions.c.id)),
    ~exists(select(run_data.c.run_id).where(run_data.c.definition_id == data_definitions.c.id)),
)


def unused_manifests(db: Database, dry_run: bool, before: str, add: Callable[[int, bool], None]) -> None:
    """Calls `add(bytes, whether it is gone)` for each that nobody has asked for since `before`."""
    old = (data_manifests.c.created_utc < before, *_UNUSED_MANIFEST)
    with db.read() as conn:
        found = conn.execute(select(data_manifests.c.id, func.length(data_manifests.c.entries)).where(*old)).all()
    for manifest_id, size in found:
        gone = not dry_run and _remove(db, delete(data_manifests).where(data_manifests.c.id == manifest_id, *old))
        add(int(size or 0), gone)


def unused_definitions(db: Database, dry_run: bool, before: str, add: Callable[[int, bool], None]) -> None:
    """The same for definitions. What a run was submitted with stays as long as the run, whether it came to use it or not."""
    old = (data_definitions.c.created_utc < before, *_UNUSED_DEFINITION)
    definition = type_coerce(data_definitions.c.definition, Text)
    with db.read() as conn:
        found = conn.execute(select(data_definitions.c.id, func.length(definition)).where(*old)).all()
        named = _in_specs(conn) if found else set()
    for definition_id, size in found:
        if definition_id not in named:
            this = data_definitions.c.id == definition_id
            add(int(size or 0), not dry_run and _remove(db, delete(data_definitions).where(this, *old)))


def _remove(db: Database, statement: Any) -> bool:
    """In a transaction of its own, with the conditions: what was unused a moment ago may be in use now."""
    with db.write() as tx:
        return bool(tx.conn.execute(statement).rowcount)


def _in_specs(conn: Any) -> set[str]:
    spec = type_coerce(runs.c.spec, Text)
    query = select(spec).where(spec.like('%"definition_id"%'))
    found: set[str] = set()
    for (text,) in conn.execute(query, execution_options={"yield_per": 500}):
        found.update(_GUID.findall(text))
    return found | definitions_of_pipelines(conn)
