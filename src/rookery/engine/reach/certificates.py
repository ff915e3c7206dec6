"""What a node is given to verify the keeper's listener with. It goes into the ticket of every agent."""

from __future__ import annotations

from rookery.errors import ConfigError
from rookery.settings import get_setting
from rookery.worker.tls import certificates

__all__ = ["certificate_for_nodes", "read_certificates"]


def certificate_for_nodes(root: str) -> str:
    """PEM text for `KeeperAddress.certificate`: the authority of the setting agents_tls_ca, else the listener's own
    certificate, which is then the only one that agents accept. Empty where the listener speaks no TLS.

    Raises:
        ConfigError: a file that a setting names cannot be read, or holds no certificate.
    """
    own, authority = get_setting("agents_tls_cert", root), get_setting("agents_tls_ca", root)
    if not own:
        return ""
    if authority:
        return "".join(read_certificates("agents_tls_ca", authority))
    return read_certificates("agents_tls_cert", own)[0]


def read_certificates(setting: str, path: str) -> list[str]:
    """The certificates in a PEM file, never the key that may lie beside them; at least one."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            found = certificates(f.read())
    except OSError as error:
        raise ConfigError(
            f"{path} (setting {setting}) cannot be read: {error.strerror}. Give the path of a PEM file."
        ) from error
    if not found:
        raise ConfigError(
            f"{path} (setting {setting}) holds no certificate. It must be a PEM file (BEGIN CERTIFICATE)."
        )
    return found
