"""Entering the studio without a password: who may ask the keeper already gets a code, and a browser that brings it is logged in.

`rookery studio` asks for a code with the rights it has (the socket file, or a token) and opens an address with it. A code is good once
and for a minute; only its hash is kept, in memory.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.server.auth import Principal

__all__ = ["VALID_S", "EntryCodes"]

VALID_S = 60.0
MOST = 1000  # at a time; the oldest go first


@dataclass
class EntryCodes:
    """Promises: a code works once, for the one who asked for it, for a minute."""

    _codes: dict[str, tuple[float, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def make(self, principal: Principal) -> str:
        code = secrets.token_urlsafe(24)
        now = time.monotonic()
        with self._lock:
            self._codes = {key: kept for key, kept in self._codes.items() if kept[0] > now}
            while len(self._codes) >= MOST:
                self._codes.pop(next(iter(self._codes)))
            self._codes[_hash(code)] = (now + VALID_S, principal)
        return code

    def take(self, code: str) -> Optional[Principal]:
        """Whose it is, and it is gone; None for one that never was, was used, or is too old."""
        with self._lock:
            until, principal = self._codes.pop(_hash(code), (0.0, None))
        return principal if until > time.monotonic() else None


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()
