"""Pipelines: steps, drafts, what is published and when it runs, modules of one's own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pipeline_steps",
        sa.Column("pipeline_id", sa.String(length=255), nullable=False),
        sa.Column("node", sa.String(length=255), nullable=False),
        sa.Column("phase", sa.String(length=16), nullable=False),
        sa.Column("run_id", sa.String(length=255), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("parts", sa.Text(), nullable=True),
        sa.Column("origin", sa.String(length=512), nullable=False),
        sa.Column("reused_from", sa.String(length=255), nullable=True),
        sa.Column("reuse", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("outputs", sa.Text(), nullable=True),
        sa.Column("changed_utc", sa.String(length=27), nullable=False),
        sa.ForeignKeyConstraint(["pipeline_id"], ["runs.id"], name=op.f("fk_pipeline_steps_pipeline_id")),
        sa.PrimaryKeyConstraint("pipeline_id", "node", name=op.f("pk_pipeline_steps")),
    )
    op.create_index(op.f("ix_pipeline_steps_key"), "pipeline_steps", ["key"], unique=False)
    op.create_index(op.f("ix_pipeline_steps_run_id"), "pipeline_steps", ["run_id"], unique=False)
    op.create_index(
        op.f("ix_pipeline_steps_origin_changed_utc"), "pipeline_steps", ["origin", "changed_utc"], unique=False
    )
    op.create_table(
        "pipeline_drafts",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("graph", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("changed_utc", sa.String(length=27), nullable=False),
        sa.Column("last_run_id", sa.String(length=255), nullable=True),
        sa.Column("who", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline_drafts")),
    )
    op.create_table(
        "pipeline_published",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("graph", sa.Text(), nullable=False),
        sa.Column("continue_on_failure", sa.Integer(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline_published")),
    )
    op.create_table(
        "pipeline_endpoints",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("default_version", sa.String(length=16), nullable=False),
        sa.Column("versions", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("modified_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline_endpoints")),
        sa.UniqueConstraint("name", name=op.f("uq_pipeline_endpoints_name")),
    )
    op.create_table(
        "pipeline_schedules",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("next_utc", sa.String(length=27), nullable=True),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline_schedules")),
    )
    op.create_index(op.f("ix_pipeline_schedules_next_utc"), "pipeline_schedules", ["next_utc"], unique=False)
    op.create_table(
        "pipeline_modules",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("card", sa.Text(), nullable=False),
        sa.Column("snapshot_id", sa.String(length=64), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_pipeline_modules")),
    )


def downgrade() -> None:
    for table in ("modules", "schedules", "endpoints", "published", "drafts", "steps"):
        op.drop_table("pipeline_" + table)
