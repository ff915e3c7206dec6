"""MLflow in ranks that have no address of the keeper's to ask: its calls are taken at a port of loopback, and go the agent's own way.

So they work on other machines, where the keeper is reached through files only, where it shows a certificate that clients do not
trust, and while it is away for a moment. The port is no way in: a call without a token is refused here, because the agent's way
may be the keeper's socket, where it would be the owner's; what a token may is for the keeper to say.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import replace
from socketserver import TCPServer, ThreadingMixIn
from typing import Optional

from rookery.agent.keeper import Keeper
from rookery.agent.relay import Handler
from rookery.spec.job import NODE_TRACKING, Job

__all__ = ["TrackingRelay", "with_tracking"]

UNREAD = 16 << 20  # bytes of a refused body that are waited for


class TrackingRelay:
    """Listens once it is made; `url` is for MLFLOW_TRACKING_URI."""

    def __init__(self, keeper: Keeper) -> None:
        self._server = _Server(keeper)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.5,), name="tracking", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Serve no more. An agent simply leaves instead."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


def with_tracking(job: Job, keeper: Keeper) -> tuple[Job, Optional[TrackingRelay]]:
    """The job with the address of a relay in its ranks' variables, and that relay, where they ask for one."""
    if not any(NODE_TRACKING in rank.variables.values() for rank in job.ranks):
        return job, None
    relay = TrackingRelay(keeper)
    ranks = tuple(
        replace(rank, variables={k: relay.url if v == NODE_TRACKING else v for k, v in rank.variables.items()})
        for rank in job.ranks
    )
    return replace(job, ranks=ranks), relay


class _Server(ThreadingMixIn, TCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, keeper: Keeper) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.keeper, self.token, self.last_use = keeper, "", 0.0

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a rank that went away in the middle of an answer


class _Handler(Handler):
    """All but our own routes, which ranks ask at the agent's socket."""

    disable_nagle_algorithm = True

    def answer(self) -> None:
        if self.path.startswith("/api/v1/"):
            self._refuse(404, "not_found", "This address is for MLflow's calls only.")
        elif self.headers.get("Transfer-Encoding"):
            self._refuse(411, "user_error", "A body must say how long it is (Content-Length). MLflow's client does.")
        elif not self._brings_token():
            self._refuse(401, "authentication", "This address needs the run's token: MLFLOW_TRACKING_TOKEN.")
        else:
            self.pass_on()

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Answer, and hang up: of a body that nobody wants only the beginning is read."""
        self.close_connection = True
        self.fail(status, code, message)
        # A socket that is closed with bytes unread in it takes the answer along.
        self.request.shutdown(socket.SHUT_WR)
        self.request.settimeout(1.0)
        with contextlib.suppress(OSError):
            left = UNREAD
            while left > 0 and (piece := self.request.recv(65536)):
                left -= len(piece)

    def _brings_token(self) -> bool:
        scheme, _, token = self.headers.get("Authorization", "").strip().partition(" ")
        return scheme.lower() in ("bearer", "basic") and bool(token.strip())
