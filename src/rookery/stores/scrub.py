"""Words of libraries without the credentials that they may quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["scrub", "secret_words"]

_IN_URL = re.compile(r"(?i)(://)[^/@\s]+@")
_PARAMETER = re.compile(
    r"(?i)\b(sig|signature|x-amz-[a-z-]+|token|password|secret|access_?key|account_?key|api_?key)=[^&\s'\"]+"
)


def scrub(text: object, secrets: Iterable[str] = ()) -> str:
    """The text on one line, at most 300 characters, secrets replaced."""
    words = " ".join(str(text).split())
    for secret in secrets:
        if len(secret) >= 4:
            words = words.replace(secret, "***")
    return _PARAMETER.sub(r"\1=***", _IN_URL.sub(r"\1***@", words))[:300]


def secret_words(credentials: Mapping[str, Any]) -> tuple[str, ...]:
    """Every text in some credentials, the longest first."""
    found: set[str] = set()
    todo: list[Any] = [credentials]
    while todo:
        value = todo.pop()
        if isinstance(value, Mapping):
            todo.extend(value.values())
        elif isinstance(value, (list, tuple)):
            todo.extend(value)
        elif isinstance(value, str):
            found.add(value)
    return tuple(sorted(found, key=len, reverse=True))
