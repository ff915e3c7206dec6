"""What pipelines name: snapshots and definitions in graphs of drafts, of what is published and of runs, and in modules."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import select, type_coerce
from sqlalchemy.types import Text

from rookery.record.schema import runs
from rookery.record.schema_pipeline import pipeline_drafts, pipeline_modules, pipeline_published
from rookery.spec.run import RunKind

__all__ = ["definitions_of_pipelines", "snapshots_of_pipelines"]

_SNAPSHOT = re.compile(r"[0-9a-f]{64}")
_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def snapshots_of_pipelines(conn: Any) -> set[str]:
    """Their ids; what only looks like one does no harm."""
    found = set(conn.execute(select(pipeline_modules.c.snapshot_id)).scalars())
    return found | _named(conn, _SNAPSHOT)


def definitions_of_pipelines(conn: Any) -> set[str]:
    return _named(conn, _GUID)


def _named(conn: Any, pattern: re.Pattern[str]) -> set[str]:
    spec = type_coerce(runs.c.spec, Text)
    queries = (
        select(type_coerce(pipeline_drafts.c.graph, Text)),
        select(type_coerce(pipeline_published.c.graph, Text)),
        select(spec).where(runs.c.kind.in_(RunKind.DRIVEN)),  # a tuning may be of a pipeline
    )
    found: set[str] = set()
    for query in queries:
        for (text,) in conn.execute(query, execution_options={"yield_per": 100}):
            found.update(pattern.findall(text))
    return found
