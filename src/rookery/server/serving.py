"""Endpoints in the keeper: the manager, loaded when there is one to manage."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from rookery.serve.manager import Manager
    from rookery.server.services import Services

__all__ = ["Serving"]

LOOPBACK = "127.0.0.1"


class Serving:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()
        self._manager: Optional[Manager] = None
        self.host = LOOPBACK
        self.tls: tuple[str, str] = ("", "")  # certificate and key of the keeper's own port

    def start(self) -> None:
        """Endpoints that there are come up; where there are none nothing is loaded."""
        if self._services.record.endpoints.count():
            self.manager().start()

    def manager(self) -> Manager:
        with self._lock:
            if self._manager is None:
                from rookery.serve.manager import Manager

                self._manager = Manager(self._services.record, self._services.paths, self._address)
            return self._manager

    def stop(self) -> None:
        with self._lock:
            manager, self._manager = self._manager, None
        if manager is not None:
            manager.stop()

    def _address(self) -> dict[str, Any]:
        """Fronts listen where the keeper does."""
        return {"host": self.host, "tls_cert": self.tls[0], "tls_key": self.tls[1]}
