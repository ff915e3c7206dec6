"""When content was last put or asked for, so that what nothing refers to yet is not collected too soon."""

from __future__ import annotations

import datetime

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("content", sa.Column("seen_utc", sa.String(length=27), nullable=True))
    # An upload may be under way: everything counts as seen just now.
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    op.get_bind().execute(sa.text("UPDATE content SET seen_utc = :now"), {"now": now})


def downgrade() -> None:
    op.drop_column("content", "seen_utc")
