"""Everything, as of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# SQLite counts only INTEGER primary keys up by itself.
SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "compute",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("modified_utc", sa.String(length=27), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_compute")),
    )
    op.create_table(
        "content",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_content")),
    )
    op.create_table(
        "events",
        sa.Column("seq", SERIAL, nullable=False),
        sa.Column("run_id", sa.String(length=255), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("start", sa.BigInteger(), nullable=True),
        sa.Column("length", sa.BigInteger(), nullable=True),
        sa.Column("data", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_events")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_events_run_id_seq"), "events", ["run_id", "seq"], unique=False)
    op.create_table(
        "experiments",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("archived_utc", sa.String(length=27), nullable=True),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("run_count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiments")),
        sa.UniqueConstraint("name", name=op.f("uq_experiments_name")),
    )
    op.create_table(
        "model_names",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_model_names")),
    )
    op.create_table(
        "snapshots",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("entries", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
    )
    op.create_table(
        "workspace",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_workspace")),
    )
    op.create_table(
        "runs",
        sa.Column("seq", SERIAL, nullable=False),
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("experiment_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("parent_id", sa.String(length=255), nullable=True),
        sa.Column("root_id", sa.String(length=255), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("compute", sa.String(length=255), nullable=False),
        sa.Column("target", sa.String(length=255), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("started_utc", sa.String(length=27), nullable=True),
        sa.Column("ended_utc", sa.String(length=27), nullable=True),
        sa.Column("submitted_by", sa.Text(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("phases", sa.Text(), nullable=False),
        sa.Column("snapshot_id", sa.String(length=64), nullable=True),
        sa.Column("state", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], name=op.f("fk_runs_experiment_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["runs.id"], name=op.f("fk_runs_parent_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_runs")),
        sa.UniqueConstraint("id", name=op.f("uq_runs_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_runs_compute_seq"), "runs", ["compute", "seq"], unique=False)
    op.create_index(op.f("ix_runs_experiment_id_seq"), "runs", ["experiment_id", "seq"], unique=False)
    op.create_index(op.f("ix_runs_parent_id_seq"), "runs", ["parent_id", "seq"], unique=False)
    op.create_index(op.f("ix_runs_root_id"), "runs", ["root_id"], unique=False)
    op.create_index(op.f("ix_runs_status_seq"), "runs", ["status", "seq"], unique=False)
    op.create_table(
        "artifacts",
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("modified_utc", sa.String(length=27), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_artifacts_run_id")),
        sa.ForeignKeyConstraint(["sha256"], ["content.sha256"], name=op.f("fk_artifacts_sha256")),
        sa.PrimaryKeyConstraint("run_id", "name", name=op.f("pk_artifacts")),
    )
    op.create_table(
        "journals",
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("node", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_journals_run_id")),
        sa.PrimaryKeyConstraint("run_id", "attempt", "node", "name", name=op.f("pk_journals")),
    )
    op.create_table(
        "logs",
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("loose", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_logs_run_id")),
        sa.PrimaryKeyConstraint("run_id", "name", name=op.f("pk_logs")),
    )
    op.create_table(
        "metrics",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=1024), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("tail", sa.Integer(), nullable=False),
        sa.Column("tail_count", sa.Integer(), nullable=False),
        sa.Column("tail_dtype", sa.String(length=1), nullable=False),
        sa.Column("tail_steps", sa.Integer(), nullable=False),
        sa.Column("last", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_metrics_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metrics")),
        sa.UniqueConstraint("run_id", "name", name=op.f("uq_metrics_run_id_name")),
    )
    op.create_table(
        "models",
        sa.Column("seq", SERIAL, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("run_id", sa.String(length=255), nullable=True),
        sa.Column("framework", sa.String(length=255), nullable=True),
        sa.Column("is_folder", sa.Integer(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("properties", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["name"], ["model_names.name"], name=op.f("fk_models_name")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_models_run_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_models")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_models_name_version")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_models_run_id"), "models", ["run_id"], unique=False)
    op.create_table(
        "run_properties",
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("key", sa.String(length=1024), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_properties_run_id")),
        sa.PrimaryKeyConstraint("run_id", "key", name=op.f("pk_run_properties")),
    )
    op.create_index(op.f("ix_run_properties_key"), "run_properties", ["key"], unique=False)
    op.create_table(
        "run_tags",
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("key", sa.String(length=1024), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_tags_run_id")),
        sa.PrimaryKeyConstraint("run_id", "key", name=op.f("pk_run_tags")),
    )
    op.create_index(op.f("ix_run_tags_key"), "run_tags", ["key"], unique=False)
    op.create_table(
        "samples",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("node", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_samples_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_samples")),
    )
    op.create_index(op.f("ix_samples_run_id_id"), "samples", ["run_id", "id"], unique=False)
    op.create_table(
        "metric_blocks",
        sa.Column("metric_id", SERIAL, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("dtype", sa.String(length=1), nullable=False),
        sa.Column("values", sa.LargeBinary(), nullable=False),
        sa.Column("steps", sa.LargeBinary(), nullable=True),
        sa.Column("times", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["metric_id"], ["metrics.id"], name=op.f("fk_metric_blocks_metric_id")),
        sa.PrimaryKeyConstraint("metric_id", "number", name=op.f("pk_metric_blocks")),
    )
    op.create_table(
        "model_files",
        sa.Column("model_seq", SERIAL, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["model_seq"], ["models.seq"], name=op.f("fk_model_files_model_seq")),
        sa.ForeignKeyConstraint(["sha256"], ["content.sha256"], name=op.f("fk_model_files_sha256")),
        sa.PrimaryKeyConstraint("model_seq", "path", name=op.f("pk_model_files")),
    )


def downgrade() -> None:
    op.drop_table("model_files")
    op.drop_table("metric_blocks")
    op.drop_index(op.f("ix_samples_run_id_id"), table_name="samples")
    op.drop_table("samples")
    op.drop_index(op.f("ix_run_tags_key"), table_name="run_tags")
    op.drop_table("run_tags")
    op.drop_index(op.f("ix_run_properties_key"), table_name="run_properties")
    op.drop_table("run_properties")
    op.drop_index(op.f("ix_models_run_id"), table_name="models")
    op.drop_table("models")
    op.drop_table("metrics")
    op.drop_table("logs")
    op.drop_table("journals")
    op.drop_table("artifacts")
    op.drop_index(op.f("ix_runs_status_seq"), table_name="runs")
    op.drop_index(op.f("ix_runs_root_id"), table_name="runs")
    op.drop_index(op.f("ix_runs_parent_id_seq"), table_name="runs")
    op.drop_index(op.f("ix_runs_experiment_id_seq"), table_name="runs")
    op.drop_index(op.f("ix_runs_compute_seq"), table_name="runs")
    op.drop_table("runs")
    op.drop_table("workspace")
    op.drop_table("snapshots")
    op.drop_table("model_names")
    op.drop_table("experiments")
    op.drop_index(op.f("ix_events_run_id_seq"), table_name="events")
    op.drop_table("events")
    op.drop_table("content")
    op.drop_table("compute")
