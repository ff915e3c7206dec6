"""Machines of one's own over OpenSSH. See docs/inside/ssh.md."""

from __future__ import annotations

from rookery.engine.engines.ssh.engine import SshEngine

__all__ = ["SshEngine"]
