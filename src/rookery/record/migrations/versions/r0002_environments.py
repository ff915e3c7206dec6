"""The registry of environments, builds without a run, and secret values."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# SQLite counts only INTEGER primary keys up by itself.
SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "environments",
        sa.Column("seq", SERIAL, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_environments")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_environments_name_version")),
        sa.UniqueConstraint("name", "hash", name=op.f("uq_environments_name_hash")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "environment_labels",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("label", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", "label", name=op.f("pk_environment_labels")),
    )
    op.create_table(
        "environment_builds",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("built", sa.Text(), nullable=True),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("ended_utc", sa.String(length=27), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environment_builds")),
    )
    op.create_index(op.f("ix_environment_builds_status"), "environment_builds", ["status"], unique=False)
    op.create_table(
        "secrets",
        sa.Column("owner", sa.String(length=600), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "name", name=op.f("pk_secrets")),
    )


def downgrade() -> None:
    op.drop_table("secrets")
    op.drop_index(op.f("ix_environment_builds_status"), table_name="environment_builds")
    op.drop_table("environment_builds")
    op.drop_table("environment_labels")
    op.drop_table("environments")
