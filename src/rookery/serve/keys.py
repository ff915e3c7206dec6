"""Keys and tokens that open an endpoint."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
from typing import Any, Optional

from rookery.errors import EndpointError

__all__ = ["TOKEN_S", "check_key", "digest", "make_keys", "make_token", "new_key"]

TOKEN_S = 3600
_KEY = re.compile(r"[\x21-\x7e]{8,256}\Z")


def new_key() -> str:
    return secrets.token_urlsafe(24)


def make_keys(primary: Optional[str] = None, secondary: Optional[str] = None) -> dict[str, str]:
    """Both keys, the secret that tokens are signed with, and the one by which the keeper itself asks."""
    return {
        "primary": check_key(primary) if primary else new_key(),
        "secondary": check_key(secondary) if secondary else new_key(),
        "signing": secrets.token_hex(32),
        "relay": secrets.token_urlsafe(32),
    }


def check_key(key: str) -> str:
    if not isinstance(key, str) or not _KEY.match(key):
        raise EndpointError("A key has 8 to 256 characters of ASCII, without spaces.")
    return key


def digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8")).hexdigest()


def make_token(name: str, signing: str) -> dict[str, Any]:
    """Good for an hour, at this endpoint; `front/service.py` checks it."""
    now = int(time.time())
    claims = json.dumps({"endpoint": name, "exp": now + TOKEN_S})
    payload = base64.urlsafe_b64encode(claims.encode("utf-8")).decode("ascii").rstrip("=")
    signature = hmac.new(signing.encode("ascii"), payload.encode("ascii"), hashlib.sha256).hexdigest()
    return {
        "access_token": f"rke_{payload}.{signature}",
        "token_type": "Bearer",
        "refresh_after": now + TOKEN_S // 2,
        "expiry_on": now + TOKEN_S,
    }
