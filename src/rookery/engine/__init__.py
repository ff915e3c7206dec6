"""Queue, lifecycle and engines: who runs where, and what became of it."""

from __future__ import annotations

from rookery.engine.controller import Controller
from rookery.engine.runtime import agent_socket, runtime_folder, socket_path

__all__ = ["Controller", "agent_socket", "runtime_folder", "socket_path"]
