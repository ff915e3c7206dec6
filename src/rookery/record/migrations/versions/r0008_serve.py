"""Endpoints, their versions and numbers, and profiles of models."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "endpoints",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("requests", sa.BigInteger(), nullable=False),
        sa.Column("errors", sa.BigInteger(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("updated_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_endpoints")),
    )
    op.create_table(
        "endpoint_versions",
        sa.Column("endpoint", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("traffic", sa.Double(), nullable=False),
        sa.Column("is_default", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("last_revision", sa.Integer(), nullable=False),
        sa.Column("wanted", sa.Text(), nullable=True),
        sa.Column("serving", sa.Text(), nullable=True),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("updated_utc", sa.String(length=27), nullable=False),
        sa.ForeignKeyConstraint(["endpoint"], ["endpoints.name"], name=op.f("fk_endpoint_versions_endpoint")),
        sa.PrimaryKeyConstraint("endpoint", "name", name=op.f("pk_endpoint_versions")),
    )
    op.create_table(
        "endpoint_latency",
        sa.Column("endpoint", sa.String(length=64), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["endpoint"], ["endpoints.name"], name=op.f("fk_endpoint_latency_endpoint")),
        sa.PrimaryKeyConstraint("endpoint", "version", "start", name=op.f("pk_endpoint_latency")),
    )
    op.create_table(
        "model_profiles",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("ended_utc", sa.String(length=27), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_model_profiles")),
    )


def downgrade() -> None:
    for table in ("model_profiles", "endpoint_latency", "endpoint_versions", "endpoints"):
        op.drop_table(table)
