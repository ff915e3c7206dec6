"""Encrypting small values with the standard library: a stream from HMAC-SHA256 in counter mode, then a tag over all of it.

HMAC-SHA256 under a secret key is a pseudo-random function, which is all that counter mode and a message tag ask for. The
two keys are derived from the keeper's secret, so that neither signs tokens.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from rookery.errors import StorageError

__all__ = ["Sealer"]

NONCE, TAG = 16, 32
_FORM = b"\x01"


class Sealer:
    """Promises: the same value sealed twice looks different; what was changed, or belongs to another `place`, is refused."""

    def __init__(self, secret: bytes) -> None:
        self._stream_key = _derive(secret, b"rookery/sealing/stream/1")
        self._tag_key = _derive(secret, b"rookery/sealing/tag/1")
        self._mark_key = _derive(secret, b"rookery/sealing/mark/1")

    def seal(self, place: str, value: str) -> bytes:
        """The value encrypted for one place (a row's key): moved elsewhere it cannot be opened."""
        nonce = secrets.token_bytes(NONCE)
        data = self._mix(nonce, value.encode("utf-8", "surrogatepass"))
        body = _FORM + nonce + data
        return body + self._tag(place, body)

    def open(self, place: str, sealed: bytes) -> str:
        """
        Raises:
            StorageError: it was sealed with another secret or for another place, or was changed.
        """
        body, tag = sealed[:-TAG], sealed[-TAG:]
        if len(sealed) < 1 + NONCE + TAG or body[:1] != _FORM or not hmac.compare_digest(tag, self._tag(place, body)):
            raise StorageError(
                f"The secret value of {place} cannot be opened: keeper/secret is not the one that it was sealed with. "
                "Restore that file, or give the value again."
            )
        return self._mix(body[1 : 1 + NONCE], body[1 + NONCE :]).decode("utf-8", "surrogatepass")

    def mark(self, value: str) -> str:
        """Equal for equal values and useless without the keeper's secret: so that contents can be compared."""
        return hmac.new(self._mark_key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def _mix(self, nonce: bytes, data: bytes) -> bytes:
        stream = bytearray()
        while len(stream) < len(data):
            counter = (len(stream) // 32).to_bytes(8, "big")
            stream += hmac.new(self._stream_key, nonce + counter, hashlib.sha256).digest()
        return bytes(a ^ b for a, b in zip(data, stream))

    def _tag(self, place: str, body: bytes) -> bytes:
        where = place.encode("utf-8", "surrogatepass")
        return hmac.new(self._tag_key, len(where).to_bytes(8, "big") + where + body, hashlib.sha256).digest()


def _derive(secret: bytes, purpose: bytes) -> bytes:
    return hmac.new(secret, purpose, hashlib.sha256).digest()
