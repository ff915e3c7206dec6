"""A port for a program that opens it itself, later, and can only be told a number."""

from __future__ import annotations

import random
import socket

__all__ = ["free_port"]

# Below those that Linux hands out unasked: one of these may be somebody else's a moment later.
FIRST, LAST = 20_000, 32_000


def free_port() -> int:
    """One that can be opened on all addresses now, and that nobody is given by chance."""
    for port in random.SystemRandom().sample(range(FIRST, LAST), 1000):
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind(("", port))
            except OSError:
                continue
            return port
    raise RuntimeError(f"Of a thousand ports from {FIRST} to {LAST} none can be opened.")
