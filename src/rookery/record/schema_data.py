"""The tables of data: datastores, definitions, data sets and their versions, manifests, what runs used and made.
`schema.py` has the rest; a change here needs a migration as one there does."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from rookery.record.schema import JsonText, Serial, metadata

__all__ = ["data_definitions", "data_manifests", "data_names", "data_versions", "datastores", "run_data"]

datastores = Table(
    "datastores",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("spec", JsonText, nullable=False),  # without credentials: those are in `secrets`
    Column("is_default", Integer, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("modified_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
)

data_definitions = Table(
    "data_definitions",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("definition", JsonText, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
)

data_names = Table(
    "data_names",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("last_version", Integer, nullable=False),  # an unregistered version's number is not given again
    Column("created_utc", String(27), nullable=False),
    Column("modified_utc", String(27), nullable=False),
)

data_manifests = Table(
    "data_manifests",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("head", JsonText, nullable=False),  # everything but the entries
    Column("entries", LargeBinary, nullable=False),  # JSON, deflated
    Index(None, "fingerprint"),
)

data_versions = Table(
    "data_versions",
    metadata,
    Column("seq", Serial, primary_key=True),
    Column("name", String(255), ForeignKey("data_names.name"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("definition_id", String(36), ForeignKey("data_definitions.id"), nullable=False),
    Column("manifest_id", String(64)),  # null: it was not resolved when it was registered
    Column("fingerprint", String(64), nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("description", Text, nullable=False),
    Column("tags", JsonText, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
    Column("run_id", String(255)),  # that made it; stays when the run is gone
    Column("output", String(255), nullable=False),  # which of that run's outputs it was
    UniqueConstraint("name", "version"),
    Index(None, "definition_id"),
    Index(None, "run_id"),
    sqlite_autoincrement=True,
)

run_data = Table(
    "run_data",
    metadata,
    Column("run_id", String(255), ForeignKey("runs.id"), primary_key=True),
    Column("direction", String(3), primary_key=True),  # in, out
    Column("name", String(255), primary_key=True),  # of the input or output
    Column("mode", String(16), nullable=False),
    Column("definition_id", String(36), nullable=False),
    Column("data_name", String(255), nullable=False),  # empty: it has none
    Column("data_version", Integer),
    Column("manifest_id", String(64), nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("is_single", Integer, nullable=False),
    Index(None, "data_name", "data_version"),
    Index(None, "definition_id"),
    Index(None, "fingerprint"),
)
