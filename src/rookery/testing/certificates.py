"""Certificates for tests, made by the openssl program: an authority, and what it signs."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import Optional

from rookery.testing.debian import ensure_programs

__all__ = ["Certificate", "make_certificate"]


@dataclass(frozen=True)
class Certificate:
    """Paths of PEM files."""

    cert: str
    key: str

    @property
    def pem(self) -> str:
        with open(self.cert, encoding="ascii") as f:
            return f.read()


def make_certificate(
    folder: str, name: str, host: str = "127.0.0.1", authority: Optional[Certificate] = None, days: int = 2
) -> Certificate:
    """A certificate for `host`, in `folder`/`name`.pem: its own authority, or signed by one."""
    openssl = ensure_programs({"openssl": "openssl"})["openssl"]
    made = Certificate(os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key"))
    kind = "IP" if host[:1].isdigit() else "DNS"
    if authority is None:
        _run(
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-addext", f"subjectAltName={kind}:{host}", "-keyout", made.key, "-out", made.cert,
        )  # fmt: skip
        return made
    request, more = os.path.join(folder, name + ".csr"), os.path.join(folder, name + ".ext")
    _run(
        openssl, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
        "-keyout", made.key, "-out", request,
    )  # fmt: skip
    with open(more, "w", encoding="ascii") as f:
        f.write(f"subjectAltName={kind}:{host}\nbasicConstraints=CA:FALSE\n")
    _run(
        openssl, "x509", "-req", "-in", request, "-CA", authority.cert, "-CAkey", authority.key, "-CAcreateserial",
        "-days", str(days), "-extfile", more, "-out", made.cert,
    )  # fmt: skip
    return made


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])} failed: {done.stderr[-500:]}")
