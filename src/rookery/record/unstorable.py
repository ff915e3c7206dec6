"""What no database can hold: numbers beyond 64 bits, halves of characters, NUL in a text. It is the sender's mistake, not ours.

Most values are looked at before they get here; this is for those that nobody has thought of, in conditions of queries too.
"""

from __future__ import annotations

from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DataError

from rookery.errors import UserError

__all__ = ["refuse_unstorable"]


def refuse_unstorable(*engines: Engine) -> None:
    """Lets these engines raise UserError for such values, instead of what their driver does."""
    for engine in engines:
        event.listen(engine, "handle_error", _refuse)


def _refuse(context: ExceptionContext) -> None:
    error = context.original_exception
    if isinstance(context.sqlalchemy_exception, DataError) or isinstance(error, (OverflowError, UnicodeEncodeError)):
        what = str(error).partition("\n")[0]
        raise UserError(f"A value of the request is none that can be stored ({what:.200}).") from error
