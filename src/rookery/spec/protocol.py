"""The version of the protocol (docs/inside/protocol.md). Raised when an old client and a new keeper could misunderstand each other."""

from __future__ import annotations

__all__ = ["PREFIX", "PROTOCOL"]

PROTOCOL = 1
PREFIX = "/api/v1"
