"""Users, their tokens and sessions, the audit log, webhooks and their deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# SQLite counts only INTEGER primary keys up by itself.
SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "users",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_users")),
    )
    op.create_table(
        "user_tokens",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("user_name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("expires_utc", sa.String(length=27), nullable=False),
        sa.Column("last_used_utc", sa.String(length=27), nullable=True),
        sa.ForeignKeyConstraint(["user_name"], ["users.name"], name=op.f("fk_user_tokens_user_name")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_user_tokens_hash")),
    )
    op.create_index(op.f("ix_user_tokens_user_name"), "user_tokens", ["user_name"], unique=False)
    op.create_table(
        "audit",
        sa.Column("seq", SERIAL, nullable=False),
        sa.Column("time_utc", sa.String(length=27), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=255), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_audit")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_audit_who_seq"), "audit", ["who", "seq"], unique=False)
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("seen_seq", sa.BigInteger(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", SERIAL, nullable=False),
        sa.Column("webhook_id", sa.String(length=16), nullable=False),
        sa.Column("event", sa.String(length=64), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_utc", sa.String(length=27), nullable=False),
        sa.Column("answer", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_utc", sa.String(length=27), nullable=False),
        sa.Column("ended_utc", sa.String(length=27), nullable=True),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_deliveries_webhook_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_webhook_deliveries_state_next_utc"), "webhook_deliveries", ["state", "next_utc"])
    op.create_index(op.f("ix_webhook_deliveries_webhook_id_id"), "webhook_deliveries", ["webhook_id", "id"])


def downgrade() -> None:
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
    op.drop_table("audit")
    op.drop_table("user_tokens")
    op.drop_table("users")
