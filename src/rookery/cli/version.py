"""`rookery version`."""

from __future__ import annotations

import platform
import sys

from rookery import __version__
from rookery.cli import session
from rookery.cli.session import AsJson
from rookery.cli.terminal import print_json, say
from rookery.spec.protocol import PROTOCOL

__all__ = ["version"]


def version(json: AsJson = False) -> None:
    """Prints the version of Rookery, its protocol and its Python."""
    if session.current().json:
        print_json(
            {
                "version": __version__,
                "protocol": PROTOCOL,
                "python": platform.python_version(),
                "executable": sys.executable,
            }
        )
    else:
        say(f"rookery {__version__} (protocol {PROTOCOL}, Python {platform.python_version()} at {sys.executable})")
