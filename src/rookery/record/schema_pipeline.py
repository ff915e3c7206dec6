"""The tables of pipelines: their steps, drafts, what is published and when it runs, modules of one's own.
`schema.py` has the rest; a change here needs a migration as one there does. The graph of a run is the `plan` of its spec."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table, Text

from rookery.record.schema import JsonText, metadata

__all__ = [
    "pipeline_drafts",
    "pipeline_endpoints",
    "pipeline_modules",
    "pipeline_published",
    "pipeline_schedules",
    "pipeline_steps",
]

pipeline_steps = Table(
    "pipeline_steps",
    metadata,
    Column("pipeline_id", String(255), ForeignKey("runs.id"), primary_key=True),
    Column("node", String(255), primary_key=True),
    Column("phase", String(16), nullable=False),
    Column("run_id", String(255)),  # decided before the run is made, so no foreign key
    Column("tries", Integer, nullable=False),
    Column("key", String(64), nullable=False),  # what it is reused by; empty: not known yet
    Column("parts", JsonText),  # what the key is made of, so that a difference can be named
    Column("origin", String(512), nullable=False),  # pipeline and node by name: whom to compare it with
    Column("reused_from", String(255)),
    Column("reuse", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("outputs", JsonText),  # port → definition, fingerprint …
    Column("changed_utc", String(27), nullable=False),
    Index(None, "key"),
    Index(None, "run_id"),
    Index(None, "origin", "changed_utc"),
)

pipeline_drafts = Table(
    "pipeline_drafts",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", Text, nullable=False),
    Column("graph", JsonText, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("facts", JsonText, nullable=False),  # description, experiment, tags …
    Column("created_utc", String(27), nullable=False),
    Column("changed_utc", String(27), nullable=False),
    Column("last_run_id", String(255)),
    Column("who", Text, nullable=False),
)

pipeline_published = Table(
    "pipeline_published",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("graph", JsonText, nullable=False),
    Column("continue_on_failure", Integer, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
)

pipeline_endpoints = Table(
    "pipeline_endpoints",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", String(255), nullable=False, unique=True),
    Column("description", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("default_version", String(16), nullable=False),
    Column("versions", JsonText, nullable=False),  # [{"version", "pipeline_id"}]
    Column("created_utc", String(27), nullable=False),
    Column("modified_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
)

pipeline_schedules = Table(
    "pipeline_schedules",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("facts", JsonText, nullable=False),  # what it runs, when, with which parameters
    Column("state", JsonText, nullable=False),  # what it has seen of a datastore, the run it is about to make
    Column("next_utc", String(27)),  # null: it never runs again
    Column("created_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
    Index(None, "next_utc"),
)

pipeline_modules = Table(
    "pipeline_modules",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("card", JsonText, nullable=False),
    Column("snapshot_id", String(64), nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
)
