"""Which rank logged a value, in runs of several ranks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("metrics", sa.Column("rank", sa.Integer(), nullable=True))
    op.add_column("metric_blocks", sa.Column("ranks", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    op.drop_column("metric_blocks", "ranks")
    op.drop_column("metrics", "rank")
