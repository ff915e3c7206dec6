"""HTTPS that trusts what it is told to trust: a certificate that was handed over, one of an authority, or the machine's.

Runs on Python 3.6. Its text is also sent to nodes that have nothing of ours yet (engine/probe.py): it imports nothing else.
"""

import base64
import hashlib
import http.client
import re
import ssl

__all__ = ["TlsConnection", "certificates", "tls_connector"]

# X509_V_FLAG_PARTIAL_CHAIN: a certificate that is trusted needs no authority above it. Named by `ssl` since 3.10 only.
PARTIAL_CHAIN = 0x80000
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END CERTIFICATE-----")


def certificates(pem):
    """The certificates in a PEM text, each as a text of its own; keys and remarks that may be beside them are left out."""
    return [found.group(0) + "\n" for found in _CERTIFICATE.finditer(pem)]


def tls_connector(host, port, ca_pem="", timeout=60.0):
    """A function that makes connections to `host`. `ca_pem`: what is trusted; empty: what the machine trusts.

    A server that shows one of these very certificates is accepted by whatever name it is called: nobody else has its
    key. One whose certificate was merely signed by one of them must also have the right name.

    Raises:
        ValueError: there is no certificate in `ca_pem`, or it is damaged.
    """
    trust = _Trust(ca_pem)
    return lambda: TlsConnection(host, port, trust, timeout)


class TlsConnection(http.client.HTTPConnection):
    """http.client over TLS, verified by a _Trust."""

    default_port = 443

    def __init__(self, host, port, trust, timeout=60.0):
        super(TlsConnection, self).__init__(host, port, timeout=timeout)
        self._trust = trust

    def connect(self):
        self._wrap(self._trust.by_name)
        if self._trust.by_name or self._trust.is_pinned(self.sock):
            return
        self.sock.close()  # not close(): a request may be under way that waits for this connection
        self.sock = None
        self._wrap(True)
        self._trust.by_name = True  # the next connections need no second try

    def _wrap(self, by_name):
        super(TlsConnection, self).connect()
        plain = self.sock
        try:
            self.sock = self._trust.context(by_name).wrap_socket(plain, server_hostname=self.host)
        except BaseException as error:
            plain.close()
            self.sock = None
            if isinstance(error, ssl.CertificateError) and not isinstance(error, OSError):  # Python 3.6
                raise OSError("certificate verify failed: {}".format(error)) from error
            raise


class _Trust(object):
    """What is trusted, and whether the name has to be right too."""

    def __init__(self, pem):
        self._pem = "".join(certificates(pem))
        if pem and not self._pem:
            raise ValueError("There is no certificate (BEGIN CERTIFICATE) in the text that is to be trusted.")
        try:
            self._pins = set(
                hashlib.sha256(base64.b64decode("".join(found.group(1).split()))).digest()
                for found in _CERTIFICATE.finditer(pem)
            )
            self._contexts = {True: self._make(True)}
            if self._pins:
                self._contexts[False] = self._make(False)
        except (ValueError, ssl.SSLError) as error:
            raise ValueError("The certificate that is to be trusted is damaged: {}.".format(error)) from error
        self.by_name = not self._pins

    def context(self, by_name):
        return self._contexts[by_name]

    def is_pinned(self, sock):
        return hashlib.sha256(sock.getpeercert(binary_form=True)).digest() in self._pins

    def _make(self, by_name):
        if not self._pem:
            return ssl.create_default_context()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if hasattr(context, "minimum_version"):
            context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.check_hostname = by_name
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= PARTIAL_CHAIN
        context.load_verify_locations(cadata=self._pem)
        return context
