"""A full disk, a read-only folder and a locked one become StorageError with a sentence that says what to do."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from typing import Optional

from sqlalchemy.exc import DBAPIError

from rookery.errors import StorageError

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
        number = _errno_of(str(error.orig).lower())
        if number is None:
            raise
        raise _storage_error(_SENTENCES[number], where, error) from error


def _errno_of(message: str) -> Optional[int]:
    return next((number for words, number in _SQLITE if words in message), None)


def _storage_error(sentence: str, where: str, error: Exception) -> StorageError:
    text = sentence.format(where=where)
    return StorageError(text[0].upper() + text[1:], error)
