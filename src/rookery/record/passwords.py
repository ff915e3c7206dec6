"""Passwords: kept as what scrypt makes of them, with its parameters and a salt."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
from typing import Optional

from rookery.errors import UserError

__all__ = ["check_password", "hash_password", "is_password"]

SHORTEST, LONGEST = 8, 1024
_N, _R, _P = 2**14, 8, 5  # 16 MiB, a few dozen milliseconds; kept with each hash, so they can be raised later
# Each takes 16 MiB and a core: a flood of logins must not take the machine.
_few = threading.Semaphore(2)


def hash_password(password: str) -> str:
    """`scrypt$n$r$p$salt$hash`."""
    salt = secrets.token_bytes(16)
    return f"scrypt${_N}${_R}${_P}${_text(salt)}${_text(_scrypt(password, salt, _N, _R, _P))}"


def is_password(password: str, stored: Optional[str]) -> bool:
    """Whether it is the one; takes as long where there is none, so that nobody learns which names exist."""
    kind, n, r, p, salt, wanted = (stored or _nobodys()).split("$")
    assert kind == "scrypt"
    found = _scrypt(password, base64.b64decode(salt), int(n), int(r), int(p))
    return hmac.compare_digest(found, base64.b64decode(wanted)) and stored is not None


def check_password(password: object) -> str:
    """One that may be set, or UserError; never quoted."""
    if not isinstance(password, str) or not SHORTEST <= len(password) <= LONGEST:
        raise UserError(
            f"A password has {SHORTEST} to {LONGEST} characters. Take a sentence, or let a program make one."
        )
    return password


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    with _few:
        return hashlib.scrypt(
            password[:LONGEST].encode("utf-8", "surrogatepass"), salt=salt, n=n, r=r, p=p, maxmem=256 * n * r, dklen=32
        )


_nobody: list[str] = []


def _nobodys() -> str:
    if not _nobody:
        _nobody.append(f"scrypt${_N}${_R}${_P}${_text(bytes(16))}${_text(bytes(32))}")
    return _nobody[0]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
