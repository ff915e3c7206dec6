"""Text from outside, made fit for every database: no lone surrogates, no NUL, no absurd length."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError

__all__ = ["MAX_NAME", "clean_map", "clean_name", "clean_text"]

MAX_NAME = 1024
MAX_TEXT = 1_000_000


def clean_text(value: Any, what: str = "A text", limit: int = MAX_TEXT) -> str:
    """The value as storable text; refused when longer than `limit` characters."""
    text = value if isinstance(value, str) else str(value)
    if len(text) > limit:
        raise UserError(f"{what} has {len(text)} characters; {limit} are allowed.")
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def clean_name(value: Any, what: str) -> str:
    """A non-empty name of at most 1,024 characters."""
    if not isinstance(value, str) or not value:
        raise UserError(f"{what} must be a non-empty text, not {value!r:.80}.")
    return clean_text(value, what, MAX_NAME)


def clean_map(values: Any, what: str) -> dict[str, Optional[str]]:
    """Tags or properties: names to texts. Numbers and booleans become text, null stays null."""
    if not isinstance(values, dict):
        raise UserError(f"{what} must be an object of names and texts, not {type(values).__name__}.")
    return {
        clean_name(key, f"{what}: a name"): None
        if value is None
        else clean_text(value, f"{what}: the value of '{key:.80}'")
        for key, value in values.items()
    }
