"""Run by Alembic, on the connection that `record.upgrade` hands over."""

from __future__ import annotations

from alembic import context

from rookery.record.schema import metadata
from rookery.record.schema_people import users as _users  # noqa: F401  (its tables are part of the metadata)
from rookery.record.schema_tracking import traces as _traces  # noqa: F401  (its tables are part of the metadata)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite alters tables by copying them
    transactional_ddl=False,  # the transaction is the caller's
)
context.run_migrations()
