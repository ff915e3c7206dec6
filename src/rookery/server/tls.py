"""TLS of a listener: certificate and key from files."""

from __future__ import annotations

import ssl
from typing import Optional

from rookery.errors import ConfigError

__all__ = ["server_context"]


def server_context(certificate: str, key: str = "") -> Optional[ssl.SSLContext]:
    """The context of a listener that shows this certificate (a PEM file, its chain after it); None where none is given.

    Raises:
        ConfigError: the files cannot be read, are damaged, or do not belong together.
    """
    if not certificate:
        if key:
            raise ConfigError(f"A key ({key}) is given and no certificate. TLS needs both.")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # An empty password, so that a key that has one fails instead of asking a terminal that nobody reads.
        context.load_cert_chain(certificate, key or None, password="")
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"TLS cannot be served with the certificate {certificate} and the key {key or 'in the same file'}: "
            f"{error}. Both are PEM files; the key belongs to the certificate and has no password."
        ) from error
    return context
