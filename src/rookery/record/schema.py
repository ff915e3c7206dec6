"""The tables. A change here needs a migration in `migrations/versions` and a new SCHEMA_REVISION; a test
compares the two.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator

__all__ = [
    "SCHEMA_REVISION",
    "JsonText",
    "artifacts",
    "compute",
    "content",
    "environment_builds",
    "environment_labels",
    "environments",
    "events",
    "experiments",
    "journals",
    "logs",
    "metadata",
    "metric_blocks",
    "metrics",
    "model_files",
    "model_names",
    "models",
    "run_properties",
    "run_tags",
    "runs",
    "samples",
    "secrets",
    "snapshots",
    "workspace",
]

SCHEMA_REVISION = "0010"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class JsonText(TypeDecorator[Any]):
    """JSON kept as text: the same bytes on every database, NaN included."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> Any:
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        return None if value is None else json.loads(value)


# SQLite counts only INTEGER primary keys up by itself; elsewhere they are 64 bits wide.
Serial = BigInteger().with_variant(Integer, "sqlite")

workspace = Table(
    "workspace",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", JsonText),
)

experiments = Table(
    "experiments",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", String(255), nullable=False, unique=True),
    Column("created_utc", String(27), nullable=False),
    Column("archived_utc", String(27)),
    Column("tags", JsonText, nullable=False),
    Column("run_count", Integer, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("seq", Serial, primary_key=True),  # the order of creation, and the cursor of listings
    Column("id", String(255), nullable=False, unique=True),
    Column("experiment_id", String(36), ForeignKey("experiments.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("parent_id", String(255), ForeignKey("runs.id")),
    Column("root_id", String(255), nullable=False),
    Column("display_name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("status", String(32), nullable=False),
    Column("reason", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("compute", String(255), nullable=False),
    Column("target", String(255), nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("started_utc", String(27)),
    Column("ended_utc", String(27)),
    Column("submitted_by", Text, nullable=False),
    Column("spec", JsonText, nullable=False),
    Column("error", JsonText),
    Column("warnings", JsonText, nullable=False),
    Column("phases", JsonText, nullable=False),
    Column("snapshot_id", String(64)),
    Column("state", JsonText),  # the controller's own, never shown
    Column("began_ms", BigInteger),  # what searches order by: when it began, as its client or the submit says
    Column("deleted_utc", String(27)),  # out of sight until it is restored
    Column("heard_utc", String(27)),  # of an external run: when its client was last heard of, to the half minute
    Index(None, "parent_id", "seq"),
    Index(None, "experiment_id", "seq"),
    Index(None, "status", "seq"),
    Index(None, "compute", "seq"),
    Index(None, "root_id"),
    Index(None, "experiment_id", "began_ms", "seq"),
    sqlite_autoincrement=True,
)

run_tags = Table(
    "run_tags",
    metadata,
    Column("run_id", String(255), ForeignKey("runs.id"), primary_key=True),
    Column("key", String(1024), primary_key=True),
    Column("value", Text),
    Index(None, "key"),
)

run_properties = Table(
    "run_properties",
    metadata,
    Column("run_id", String(255), ForeignKey("runs.id"), primary_key=True),
    Column("key", String(1024), primary_key=True),
    Column("value", Text),
    Index(None, "key"),
)

events = Table(
    "events",
    metadata,
    Column("seq", Serial, primary_key=True),
    Column("run_id", String(255)),  # null: of the workspace, such as `compute`
    Column("kind", String(16), nullable=False),
    Column("name", Text),  # the log or metric it tells of
    Column("start", BigInteger),
    Column("length", BigInteger),
    Column("data", JsonText),  # null for `log`: the bytes are in the file
    Index(None, "run_id", "seq"),
    sqlite_autoincrement=True,  # a number is never given twice, even after rows were merged away
)

logs = Table(
    "logs",
    metadata,
    Column("run_id", String(255), ForeignKey("runs.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("loose", Integer, nullable=False),  # event rows written since they were last merged
)

journals = Table(
    "journals",
    metadata,
    Column("run_id", String(255), ForeignKey("runs.id"), primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("node", Integer, primary_key=True),
    Column("name", String(255), primary_key=True),
    Column("offset", BigInteger, nullable=False),
)

metrics = Table(
    "metrics",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("run_id", String(255), ForeignKey("runs.id"), nullable=False),
    Column("name", String(1024), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("total", BigInteger, nullable=False),  # values, or rows, or items
    Column("tail", Integer, nullable=False),  # number of the block that may still grow
    Column("tail_count", Integer, nullable=False),
    Column("tail_dtype", String(1), nullable=False),
    Column("tail_steps", Integer, nullable=False),  # 1: that block has steps
    Column("last", JsonText),
    # Of the value with the largest step, then time: what searches compare. A null value is NaN; a null step: no number.
    Column("last_value", Double),
    Column("last_step", BigInteger),
    Column("last_time", Double),
    Column("rank", Integer),  # who logged its values: null: nobody said (a run of one), -1: several
    UniqueConstraint("run_id", "name"),
    Index(None, "name", "last_value"),
)

metric_blocks = Table(
    "metric_blocks",
    metadata,
    Column("metric_id", Serial, ForeignKey("metrics.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("total", Integer, nullable=False),
    Column("dtype", String(1), nullable=False),  # d: float64, q: int64 (little-endian), j: JSON, one chunk a line
    Column("values", LargeBinary, nullable=False),
    Column("steps", LargeBinary),
    Column("times", LargeBinary, nullable=False),
    Column(
        "ranks", LargeBinary
    ),  # who logged them: pairs of int32, the rank (-1: unknown) and how many in a row; null: nobody said
)

content = Table(
    "content",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("seen_utc", String(27)),  # last put or asked for, to the hour; what is younger is not collected
)

artifacts = Table(
    "artifacts",
    metadata,
    Column("run_id", String(255), ForeignKey("runs.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("sha256", String(64), ForeignKey("content.sha256"), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("modified_utc", String(27), nullable=False),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("files", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("entries", LargeBinary, nullable=False),  # JSON, deflated: a hundred bytes a file otherwise
)

model_names = Table(
    "model_names",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("last_version", Integer, nullable=False),  # a deleted version's number is not given again
    Column("created_utc", String(27)),
    Column("modified_utc", String(27)),
    Column("description", Text),
    Column("tags", JsonText),
    Column("aliases", JsonText),  # alias → version
)

models = Table(
    "models",
    metadata,
    Column("seq", Serial, primary_key=True),
    Column("name", String(255), ForeignKey("model_names.name"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
    Column("run_id", String(255), ForeignKey("runs.id")),
    Column("framework", String(255)),
    Column("is_folder", Integer, nullable=False),
    Column("tags", JsonText, nullable=False),
    Column("properties", JsonText, nullable=False),
    Column("facts", JsonText, nullable=False),  # everything else a Model shows
    UniqueConstraint("name", "version"),
    Index(None, "run_id"),
    sqlite_autoincrement=True,
)

model_files = Table(
    "model_files",
    metadata,
    Column("model_seq", Serial, ForeignKey("models.seq"), primary_key=True),
    Column("path", Text, primary_key=True),
    Column("sha256", String(64), ForeignKey("content.sha256"), nullable=False),
    Column("size", BigInteger, nullable=False),
)

compute = Table(
    "compute",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("spec", JsonText, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("modified_utc", String(27), nullable=False),
)

samples = Table(
    "samples",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("run_id", String(255), ForeignKey("runs.id"), nullable=False),
    Column("node", Integer, nullable=False),
    Column("data", JsonText, nullable=False),
    Index(None, "run_id", "id"),
)

environments = Table(
    "environments",
    metadata,
    Column("seq", Serial, primary_key=True),
    Column("name", String(255), nullable=False),
    Column("version", Integer, nullable=False),
    Column("hash", String(64), nullable=False),  # of the definition, and of marks of its secrets
    Column("definition", JsonText, nullable=False),
    Column("created_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
    UniqueConstraint("name", "version"),
    UniqueConstraint("name", "hash"),
    sqlite_autoincrement=True,
)

environment_labels = Table(
    "environment_labels",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("label", String(255), primary_key=True),
    Column("version", Integer, nullable=False),
)

environment_builds = Table(
    "environment_builds",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("key", String(64), nullable=False),  # of the specification; builds of one key are shared
    Column("spec", JsonText, nullable=False),
    Column("status", String(16), nullable=False),
    Column("error", Text, nullable=False),
    Column("built", JsonText),
    Column("created_utc", String(27), nullable=False),
    Column("ended_utc", String(27)),
    Column("created_by", Text, nullable=False),
    Index(None, "status"),
)

secrets = Table(
    "secrets",
    metadata,
    Column("owner", String(600), primary_key=True),  # run/<id> or environment/<name>/<version>
    Column("name", String(255), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
)
