"""The API and the process that serves it."""

from rookery.server.app import create_app
from rookery.server.keeper import KeeperOptions, keep

__all__ = ["KeeperOptions", "create_app", "keep"]
