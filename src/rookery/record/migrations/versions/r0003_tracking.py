"""What trackers add to runs: parameters, inputs, logged models, latest values that can be searched, soft deletion."""

from __future__ import annotations

import datetime
import json
import struct

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# SQLite counts only INTEGER primary keys up by itself.
SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("runs", sa.Column("began_ms", sa.BigInteger(), nullable=True))
    op.add_column("runs", sa.Column("deleted_utc", sa.String(length=27), nullable=True))
    op.add_column("runs", sa.Column("heard_utc", sa.String(length=27), nullable=True))
    op.create_index(op.f("ix_runs_experiment_id_began_ms_seq"), "runs", ["experiment_id", "began_ms", "seq"])
    op.add_column("metrics", sa.Column("last_value", sa.Double(), nullable=True))
    op.add_column("metrics", sa.Column("last_step", sa.BigInteger(), nullable=True))
    op.add_column("metrics", sa.Column("last_time", sa.Double(), nullable=True))
    op.create_index(op.f("ix_metrics_name_last_value"), "metrics", ["name", "last_value"])
    for name, kind in (
        ("created_utc", sa.String(length=27)),
        ("modified_utc", sa.String(length=27)),
        ("description", sa.Text()),
        ("tags", sa.Text()),
        ("aliases", sa.Text()),
    ):
        op.add_column("model_names", sa.Column(name, kind, nullable=True))
    _create_tables()
    _fill_runs()
    _fill_metrics()


def _create_tables() -> None:
    op.create_table(
        "run_params",
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("key", sa.String(length=1024), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_params_run_id")),
        sa.PrimaryKeyConstraint("run_id", "key", name=op.f("pk_run_params")),
    )
    op.create_index(op.f("ix_run_params_key_head"), "run_params", ["key", "head"])
    op.create_table(
        "run_inputs",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("direction", sa.String(length=3), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=1024), nullable=False),
        sa.Column("digest", sa.String(length=255), nullable=False),
        sa.Column("context", sa.String(length=1024), nullable=True),
        sa.Column("data", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_inputs_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_inputs")),
    )
    op.create_index(op.f("ix_run_inputs_run_id"), "run_inputs", ["run_id"])
    op.create_index(op.f("ix_run_inputs_kind_name"), "run_inputs", ["kind", "name"])
    op.create_table(
        "logged_models",
        sa.Column("seq", SERIAL, nullable=False),
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("experiment_id", sa.String(length=36), nullable=False),
        sa.Column("run_id", sa.String(length=255), nullable=True),
        sa.Column("name", sa.String(length=1024), nullable=False),
        sa.Column("model_type", sa.String(length=1024), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("modified_ms", sa.BigInteger(), nullable=False),
        sa.Column("deleted_utc", sa.String(length=27), nullable=True),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], name=op.f("fk_logged_models_experiment_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_logged_models_run_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_logged_models")),
        sa.UniqueConstraint("id", name=op.f("uq_logged_models_id")),
    )
    op.create_index(op.f("ix_logged_models_experiment_id_created_ms"), "logged_models", ["experiment_id", "created_ms"])
    op.create_index(op.f("ix_logged_models_run_id"), "logged_models", ["run_id"])
    op.create_table(
        "logged_model_metrics",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("model_id", sa.String(length=255), nullable=False),
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("key", sa.String(length=1024), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("time_ms", sa.BigInteger(), nullable=False),
        sa.Column("dataset_name", sa.String(length=1024), nullable=False),
        sa.Column("dataset_digest", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["logged_models.id"], name=op.f("fk_logged_model_metrics_model_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_logged_model_metrics_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_logged_model_metrics")),
    )
    op.create_index(op.f("ix_logged_model_metrics_model_id_key"), "logged_model_metrics", ["model_id", "key"])
    op.create_table(
        "loose_files",
        sa.Column("name", sa.String(length=1024), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("modified_utc", sa.String(length=27), nullable=False),
        sa.ForeignKeyConstraint(["sha256"], ["content.sha256"], name=op.f("fk_loose_files_sha256")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_loose_files")),
    )
    op.create_table(
        "traces",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("experiment_id", sa.String(length=36), nullable=False),
        sa.Column("time_ms", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], name=op.f("fk_traces_experiment_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_traces")),
    )
    op.create_index(op.f("ix_traces_experiment_id_time_ms"), "traces", ["experiment_id", "time_ms"])


def _fill_runs() -> None:
    """Runs have begun when they were created, as far as ordering goes."""
    conn = op.get_bind()
    rows = conn.execute(sa.text("SELECT seq, created_utc FROM runs")).all()
    values = [{"row": seq, "ms": _milliseconds(text)} for seq, text in rows]
    if values:
        conn.execute(sa.text("UPDATE runs SET began_ms = :ms WHERE seq = :row"), values)


def _milliseconds(text: str) -> int:
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return int(moment.timestamp() * 1000)


def _fill_metrics() -> None:
    """The latest value of every metric that is a number, from its last block."""
    conn = op.get_bind()
    rows = conn.execute(
        sa.text(
            "SELECT m.id, m.last, m.total, b.steps, b.times FROM metrics m JOIN metric_blocks b "
            "ON b.metric_id = m.id AND b.number = m.tail WHERE m.kind IN ('scalar', 'list')"
        )
    ).all()
    values = []
    for row in rows:
        last = json.loads(row.last) if row.last else None
        if isinstance(last, (int, float)) and len(row.times) >= 8:
            step = struct.unpack("<q", row.steps[-8:])[0] if row.steps else row.total - 1
            number = float(last)
            values.append(
                {
                    "row": row.id,
                    "value": None if number != number else number,
                    "step": step,
                    "time": struct.unpack("<d", row.times[-8:])[0],
                }
            )
    if values:
        conn.execute(
            sa.text("UPDATE metrics SET last_value = :value, last_step = :step, last_time = :time WHERE id = :row"),
            values,
        )


def downgrade() -> None:
    op.drop_table("traces")
    op.drop_table("loose_files")
    op.drop_table("logged_model_metrics")
    op.drop_table("logged_models")
    op.drop_table("run_inputs")
    op.drop_table("run_params")
    for name in ("aliases", "tags", "description", "modified_utc", "created_utc"):
        op.drop_column("model_names", name)
    op.drop_index(op.f("ix_metrics_name_last_value"), table_name="metrics")
    for name in ("last_time", "last_step", "last_value"):
        op.drop_column("metrics", name)
    op.drop_index(op.f("ix_runs_experiment_id_began_ms_seq"), table_name="runs")
    for name in ("heard_utc", "deleted_utc", "began_ms"):
        op.drop_column("runs", name)
