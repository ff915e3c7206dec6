"""Errors as given by people and programs, brought into the form of a Cause."""

from __future__ import annotations

from typing import Any

from rookery.record.text import clean_text
from rookery.spec.cause import Cause, CauseKind
from rookery.spec.plain import from_plain, to_plain

__all__ = ["plain_cause"]

MAX_SUMMARY = 100_000


def plain_cause(data: Any) -> dict[str, Any]:
    """The plain form of a Cause: `data` as it is when it is one, else a user's error that says the same."""
    if isinstance(data, dict):
        try:
            return to_plain(from_plain(Cause, data))
        except ValueError:
            words = data.get("summary") or data.get("message") or data.get("error") or data
            exception = data.get("exception") or data.get("code")
            return to_plain(
                Cause(
                    CauseKind.USER_ERROR,
                    _sentence(words),
                    exception=None if exception is None else _sentence(exception),
                )
            )
    return to_plain(Cause(CauseKind.USER_ERROR, _sentence(data) if data else "The run was marked as failed."))


def _sentence(words: Any) -> str:
    return clean_text(str(words)[:MAX_SUMMARY])
