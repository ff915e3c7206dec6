"""Trials of tunings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "trials",
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("child_id", sa.String(length=255), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("phase", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("stopped", sa.Text(), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("resumed_from", sa.String(length=255), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("best", sa.Double(), nullable=True),
        sa.Column("best_at", sa.Integer(), nullable=True),
        sa.Column("last", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_trials_run_id")),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_trials")),
    )


def downgrade() -> None:
    op.drop_table("trials")
