"""A channel's folder behind HTTP on loopback: with a password, with a certificate, or with nothing to say."""

from __future__ import annotations

import base64
import contextlib
import http.server
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from rookery.testing.ports import free_port


@contextlib.contextmanager
def serving(folder: Path, login: str = "", certificate: tuple[Path, Path] | None = None) -> Iterator[str]:
    """Serve a folder; yields 'host:port'. `login` is user:password; certificate is (certificate, key)."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, directory=str(folder), **more)

        def do_GET(self) -> None:
            expected = "Basic " + base64.b64encode(login.encode()).decode()
            if login and self.headers.get("Authorization") != expected:
                self.send_error(401)
                return
            super().do_GET()

        def do_HEAD(self) -> None:
            self.send_error(405)

        def log_message(self, *arguments) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *arguments: None  # type: ignore[method-assign]  a client that does not trust us goes
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def closed_port() -> str:
    """A port where nobody is."""
    return f"127.0.0.1:{free_port()}"


def make_certificates(folder: Path) -> tuple[Path, Path, Path]:
    """A certificate authority of our own and a certificate of it for loopback: (authority, certificate, key)."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    (folder / "leaf.ext").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=our own authority")
    openssl("req", *key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=loopback")
    signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "leaf.ext")
    openssl("x509", "-req", "-in", "leaf.csr", "-out", "leaf.pem", *signing)
    return folder / "ca.pem", folder / "leaf.pem", folder / "leaf.key"
