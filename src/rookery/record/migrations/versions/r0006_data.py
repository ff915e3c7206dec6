"""Datastores, data sets and their versions, manifests, what runs used and made."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# SQLite counts only INTEGER primary keys up by itself.
SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "datastores",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("is_default", sa.Integer(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("modified_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_datastores")),
    )
    op.create_table(
        "data_definitions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_data_definitions")),
    )
    op.create_table(
        "data_names",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("modified_utc", sa.String(length=27), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_data_names")),
    )
    op.create_table(
        "data_manifests",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("files", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("entries", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_data_manifests")),
    )
    op.create_index(op.f("ix_data_manifests_fingerprint"), "data_manifests", ["fingerprint"], unique=False)
    op.create_table(
        "data_versions",
        sa.Column("seq", SERIAL, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("definition_id", sa.String(length=36), nullable=False),
        sa.Column("manifest_id", sa.String(length=64), nullable=True),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("files", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("run_id", sa.String(length=255), nullable=True),
        sa.Column("output", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["name"], ["data_names.name"], name=op.f("fk_data_versions_name")),
        sa.ForeignKeyConstraint(
            ["definition_id"], ["data_definitions.id"], name=op.f("fk_data_versions_definition_id")
        ),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_data_versions")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_data_versions_name_version")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_data_versions_definition_id"), "data_versions", ["definition_id"], unique=False)
    op.create_index(op.f("ix_data_versions_run_id"), "data_versions", ["run_id"], unique=False)
    op.create_table(
        "run_data",
        sa.Column("run_id", sa.String(length=255), nullable=False),
        sa.Column("direction", sa.String(length=3), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("mode", sa.String(length=16), nullable=False),
        sa.Column("definition_id", sa.String(length=36), nullable=False),
        sa.Column("data_name", sa.String(length=255), nullable=False),
        sa.Column("data_version", sa.Integer(), nullable=True),
        sa.Column("manifest_id", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("files", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("is_single", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_data_run_id")),
        sa.PrimaryKeyConstraint("run_id", "direction", "name", name=op.f("pk_run_data")),
    )
    op.create_index(op.f("ix_run_data_data_name_data_version"), "run_data", ["data_name", "data_version"], unique=False)
    op.create_index(op.f("ix_run_data_definition_id"), "run_data", ["definition_id"], unique=False)
    op.create_index(op.f("ix_run_data_fingerprint"), "run_data", ["fingerprint"], unique=False)


def downgrade() -> None:
    for table in ("run_data", "data_versions", "data_manifests", "data_names", "data_definitions", "datastores"):
        op.drop_table(table)
