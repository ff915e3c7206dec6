"""The tables of what trackers add to runs: parameters, inputs and outputs, models that a run has logged, files that belong
to no run, traces. `schema.py` has the rest; a change here needs a migration as one there does."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, String, Table, Text

from rookery.record.schema import JsonText, Serial, metadata

__all__ = ["logged_model_metrics", "logged_models", "loose_files", "run_inputs", "run_params", "traces"]

HEAD = 64  # characters of a value that are indexed: a whole one may be longer than an index takes

run_params = Table(
    "run_params",
    metadata,
    Column("run_id", String(255), ForeignKey("runs.id"), primary_key=True),
    Column("key", String(1024), primary_key=True),
    Column("value", Text, nullable=False),
    Column("head", String(HEAD), nullable=False),  # the value's beginning
    Index(None, "key", "head"),
)

run_inputs = Table(
    "run_inputs",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("run_id", String(255), ForeignKey("runs.id"), nullable=False),
    Column("direction", String(3), nullable=False),  # in, out
    Column("kind", String(16), nullable=False),  # dataset, model
    Column("name", String(1024), nullable=False),  # of the dataset, or the model's id
    Column("digest", String(255), nullable=False),
    Column("context", String(1024)),  # what it was used for, such as `training`
    Column("data", JsonText, nullable=False),
    Index(None, "run_id"),
    Index(None, "kind", "name"),
)

logged_models = Table(
    "logged_models",
    metadata,
    Column("seq", Serial, primary_key=True),
    Column("id", String(255), nullable=False, unique=True),
    Column("experiment_id", String(36), ForeignKey("experiments.id"), nullable=False),
    Column("run_id", String(255), ForeignKey("runs.id")),
    Column("name", String(1024), nullable=False),
    Column("model_type", String(1024), nullable=False),
    Column("status", String(32), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
    Column("deleted_utc", String(27)),
    Column("tags", JsonText, nullable=False),
    Column("params", JsonText, nullable=False),
    Index(None, "experiment_id", "created_ms"),
    Index(None, "run_id"),
)

logged_model_metrics = Table(
    "logged_model_metrics",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("model_id", String(255), ForeignKey("logged_models.id"), nullable=False),
    Column("run_id", String(255), ForeignKey("runs.id"), nullable=False),
    Column("key", String(1024), nullable=False),
    Column("value", Double),  # null is NaN
    Column("step", BigInteger, nullable=False),
    Column("time_ms", BigInteger, nullable=False),
    Column("dataset_name", String(1024), nullable=False),
    Column("dataset_digest", String(255), nullable=False),
    Index(None, "model_id", "key"),
)

loose_files = Table(
    "loose_files",
    metadata,
    Column("name", String(1024), primary_key=True),  # a path; what it lies under says whose it is
    Column("sha256", String(64), ForeignKey("content.sha256"), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("modified_utc", String(27), nullable=False),
)

traces = Table(
    "traces",
    metadata,
    Column("id", String(255), primary_key=True),
    Column("experiment_id", String(36), ForeignKey("experiments.id"), nullable=False),
    Column("time_ms", BigInteger, nullable=False),
    Column("data", JsonText, nullable=False),
    Index(None, "experiment_id", "time_ms"),
)
