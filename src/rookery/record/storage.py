"""A full disk, a read-only folder and a locked one become StorageError with a sentence that says what to do."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from typing import Optional

from sqlalchemy.exc import DBAPIError, OperationalError

from rookery.errors import RookeryError, StorageError, UserError

__all__ = ["storage_errors"]

_SENTENCES = {
    errno.ENOSPC: "The disk that holds {where} is full. Free some space; nothing that was acknowledged is lost.",
    errno.EDQUOT: "Your disk quota for {where} is used up. Free some space; nothing that was acknowledged is lost.",
    errno.EROFS: "{where} lies on a read-only file system. Mount it writable, or use a workspace elsewhere.",
    errno.EACCES: "{where} may not be written by this user. Change its permissions, or use a workspace elsewhere.",
    errno.EPERM: "{where} may not be written by this user. Change its permissions, or use a workspace elsewhere.",
    errno.EIO: "The disk that holds {where} reports an input/output error. Check the disk.",
}
# What SQLite says, and which of the above it means.
_SQLITE = (
    ("disk is full", errno.ENOSPC),
    ("readonly database", errno.EROFS),
    ("unable to open database", errno.EACCES),
    ("disk i/o error", errno.EIO),
)
_DAMAGED = ("file is not a database", "disk image is malformed")
_DAMAGED_SENTENCE = (
    "{where} is not an SQLite database, or is damaged. Give another file; a record is brought back from a backup with "
    "`rookery db copy sqlite:////path/of/backup.db URL`."
)

# What PostgreSQL says to a text longer than its column, a number that does not fit, a name longer than an index takes.
_TOO_LARGE = ("22001", "22003", "22021", "54000")


@contextlib.contextmanager
def storage_errors(where: str) -> Iterator[None]:
    """Inside it, errors of the disk leave as StorageError; everything else as it is."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        sentence = _SENTENCES.get(error.errno or 0)
        if sentence is None:
            raise
        raise _storage_error(sentence, where, error) from error
    except DBAPIError as error:
        said = str(error.orig).lower()
        number = _errno_of(said)
        if number is not None:
            raise _storage_error(_SENTENCES[number], where, error) from error
        if any(words in said for words in _DAMAGED):
            raise _storage_error(_DAMAGED_SENTENCE, where, error) from error
        raise _from_postgres(error, where) or error from error


def _from_postgres(error: DBAPIError, where: str) -> Optional[RookeryError]:
    """What PostgreSQL refuses and SQLite would have taken, or cannot do now; None for anything else."""
    state = getattr(error.orig, "sqlstate", None) or ""
    words = str(error.orig).splitlines()[0][:300] if str(error.orig) else type(error.orig).__name__
    if state in _TOO_LARGE or "NUL (0x00)" in words:
        return UserError(f"The database cannot hold a value that was given: {words}. Give a shorter or smaller one.")
    if state in ("53100", "53200") or state.startswith("58"):
        return StorageError(f"The database {where} has run out of room or memory: {words}", error)
    if (
        error.connection_invalidated
        or state.startswith("08")
        or state in ("57P01", "57P02", "57P03", "53300", "28P01", "3D000")
    ):
        return StorageError(
            f"The database {where} cannot be used now: {words}. Look whether it runs and lets us in.", error
        )
    if isinstance(error, OperationalError) and not state and hasattr(error.orig, "sqlstate"):
        return StorageError(
            f"The database {where} cannot be reached: {words}. Look whether it runs and lets us in.", error
        )
    return None


def _errno_of(message: str) -> Optional[int]:
    return next((number for words, number in _SQLITE if words in message), None)


def _storage_error(sentence: str, where: str, error: Exception) -> StorageError:
    text = sentence.format(where=where)
    return StorageError(text[0].upper() + text[1:], error)
