"""The tables of people and of what the server does for them: users, their tokens and sessions, the audit log, webhooks.
`schema.py` has the rest; a change here needs a migration as one there does."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, String, Table, Text

from rookery.record.schema import JsonText, Serial, metadata

__all__ = ["audit", "user_tokens", "users", "webhook_deliveries", "webhooks"]

users = Table(
    "users",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("role", String(16), nullable=False),
    Column("password", Text),  # what `passwords.hash_password` makes; null: no password, tokens only
    Column("created_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
)

user_tokens = Table(
    "user_tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("user_name", String(64), ForeignKey("users.name"), nullable=False),
    Column("kind", String(16), nullable=False),  # token, session
    Column("name", String(255), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),  # SHA-256 of the token, which is stored nowhere
    Column("created_utc", String(27), nullable=False),
    Column("expires_utc", String(27), nullable=False),
    Column("last_used_utc", String(27)),
    Index(None, "user_name"),
)

audit = Table(
    "audit",
    metadata,
    Column("seq", Serial, primary_key=True),
    Column("time_utc", String(27), nullable=False),
    Column("who", Text, nullable=False),
    Column("action", String(255), nullable=False),  # method and route: PATCH /runs/{run_id}
    Column("path", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("address", String(64), nullable=False),
    Column("request_id", String(64), nullable=False),
    Index(None, "who", "seq"),
    sqlite_autoincrement=True,
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("url", Text, nullable=False),
    Column("events", JsonText, nullable=False),
    Column("sealed", LargeBinary, nullable=False),  # the secret that deliveries are signed with
    Column("seen_seq", BigInteger, nullable=False),  # events up to this one have become deliveries
    Column("created_utc", String(27), nullable=False),
    Column("created_by", Text, nullable=False),
)

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("webhook_id", String(16), ForeignKey("webhooks.id"), nullable=False),
    Column("event", String(64), nullable=False),
    Column("payload", JsonText, nullable=False),
    Column("state", String(16), nullable=False),  # waiting, delivered, failed
    Column("tries", Integer, nullable=False),
    Column("next_utc", String(27), nullable=False),  # when it is tried again
    Column("answer", Integer),  # the HTTP status of the last try
    Column("error", Text, nullable=False),  # of the last try, in words
    Column("created_utc", String(27), nullable=False),
    Column("ended_utc", String(27)),
    Index(None, "state", "next_utc"),
    Index(None, "webhook_id", "id"),
    sqlite_autoincrement=True,
)
