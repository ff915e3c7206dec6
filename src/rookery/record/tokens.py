"""Tokens: the owner's, and those that belong to one run. The keeper's secret signs them; nothing is stored
per token.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import secrets
import time
from typing import Any, Optional

from rookery.errors import AuthenticationError, StorageError
from rookery.record.storage import storage_errors

__all__ = ["KINDS", "Tokens", "read_or_make"]

KINDS = (
    "run",
    "agent",
    "track",
    "session",
)  # track: of nobody's run, for trackers only; session: the owner's, in a cookie only
OWNER_PREFIX = "rko_"
RUN_PREFIX = "rkr_"


class Tokens:
    """Promises: compared in constant time; a token says which run it is for, until when and for whom."""

    def __init__(self, secret: bytes, owner_token: str, hours: float) -> None:
        self._secret = secret
        self._owner = owner_token.encode("ascii")
        self._hours = hours

    def make(
        self, run_id: str, kind: str = "run", expires: Optional[float] = None, by: str = "", pass_id: str = ""
    ) -> str:
        """A token for one run; `kind` is 'run' (user code) or 'agent'. Or, without a run, 'track': for trackers only.

        by: who asked for it. pass_id: the user's token or session that it was asked for with, and that it ends with.
        """
        if kind not in KINDS:
            raise ValueError(f"token kind {kind!r} does not exist. Known: {', '.join(KINDS)}.")
        claims = {"run": run_id, "exp": int(expires if expires is not None else self.expiry()), "kind": kind}
        if by:
            claims["by"] = by  # what a tracker does is theirs
        if pass_id:
            claims["pass"] = pass_id
        body = _encode(json.dumps(claims, separators=(",", ":")).encode("utf-8"))
        return f"{RUN_PREFIX}{body}.{_encode(self._sign(body))}"

    def expiry(self) -> float:
        """When a token made now ends, in unix seconds."""
        return time.time() + self._hours * 3600

    def is_owner(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._owner)

    def read(self, token: str) -> dict[str, Any]:
        """The claims of a run's token: run, exp, kind.

        Raises:
            AuthenticationError: it is not one of ours, was changed, or is over.
        """
        body, _, signature = token[len(RUN_PREFIX) :].partition(".")
        try:
            valid = token.startswith(RUN_PREFIX) and hmac.compare_digest(_decode(signature), self._sign(body))
            claims = json.loads(_decode(body)) if valid else None
        except (ValueError, binascii.Error):
            claims = None
        if not isinstance(claims, dict) or claims.get("kind") not in KINDS:
            raise AuthenticationError(
                "The token is not one of this workspace. Use the one in its keeper/token, or `rookery token`."
            )
        if claims["exp"] < time.time():
            raise AuthenticationError(
                "The tracking token has expired. Ask for another address: ws.get_mlflow_tracking_uri()."
                if claims["kind"] == "track"
                else "The session has expired. `rookery studio` opens a new one."
                if claims["kind"] == "session"
                else "The run's token has expired. The setting 'run_token_hours' says how long they are valid."
            )
        return claims

    def _sign(self, body: str) -> bytes:
        return hmac.new(self._secret, body.encode("utf-8"), hashlib.sha256).digest()


def read_or_make(path: str, make: bool = True, *, text: bool = False) -> bytes:
    """The bytes of a secret file (mode 600), made at first use so that two makers agree on one."""
    with storage_errors(path):
        try:
            with open(path, "rb") as f:
                data = f.read()
        except FileNotFoundError:
            if not make:
                raise
            _make(path, _owner_token() if text else secrets.token_bytes(32))
            return read_or_make(path, make=False, text=text)
    if len(data) < 32:
        raise StorageError(
            f"{path} is damaged: it has {len(data)} bytes. Remove it; a new one is made (and old tokens end)."
        )
    return data


def _make(path: str, data: bytes) -> None:
    """Complete or absent: written aside, then linked to its name, which fails when somebody was faster."""
    temporary = f"{path}.{secrets.token_hex(8)}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(fd, data)
        os.close(fd)
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)


def _owner_token() -> bytes:
    return (OWNER_PREFIX + secrets.token_urlsafe(32)).encode("ascii")


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
