"""What handlers work with: the record, the controller, who waits, and what the keeper is doing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Optional

from fastapi import Depends, Request

from rookery.engine.builds import Builds
from rookery.record import Record
from rookery.server.metrics import RequestNumbers
from rookery.server.replies import Replies
from rookery.server.tries import Tries
from rookery.spec.paths import WorkspacePaths

if TYPE_CHECKING:
    from rookery.server.agents import AgentsListener
    from rookery.server.entry import EntryCodes
    from rookery.server.serving import Serving
    from rookery.server.spool import Spool
    from rookery.server.webhook_sender import WebhookSender

__all__ = ["Activity", "Served", "Services", "Waiter", "get_services"]


@dataclass
class Activity:
    """How busy the keeper is; it leaves when this stays quiet."""

    open_requests: int = 0
    open_streams: int = 0
    last_request: float = field(default_factory=time.monotonic)

    def idle_s(self) -> float:
        return 0.0 if self.open_requests or self.open_streams else time.monotonic() - self.last_request


@dataclass
class Services:
    """One per keeper, in `app.state.services`."""

    record: Record
    controller: Any
    paths: WorkspacePaths
    identity: dict[str, Any]
    stop: Callable[[], None] = lambda: None
    endpoint: dict[str, Any] = field(default_factory=dict)  # what keeper.json says, once it listens
    activity: Activity = field(default_factory=Activity)
    started: float = field(default_factory=time.monotonic)
    leaving: bool = False
    tracking_until: float = 0.0  # unix time until which a tracking client is expected: it was given an address
    testing: bool = False  # a server for foreign test suites, which may empty it; on loopback only
    waiters: set[Waiter] = field(default_factory=set)
    prefix: str = ""  # of the paths of all addresses, behind a proxy
    proxies: tuple[Any, ...] = ()  # networks of proxies whose X-Forwarded-* headers count
    logs_requests: bool = False
    requests: RequestNumbers = field(default_factory=RequestNumbers)
    tries: Tries = field(default_factory=Tries)
    replies: Replies = field(init=False)
    entry: EntryCodes = field(init=False)
    builds: Builds = field(init=False)
    agents: AgentsListener = field(init=False)
    spool: Spool = field(init=False)
    webhooks: WebhookSender = field(init=False)
    serving: Serving = field(init=False)

    def __post_init__(self) -> None:
        from rookery.server.agents import AgentsListener
        from rookery.server.entry import EntryCodes
        from rookery.server.serving import Serving
        from rookery.server.spool import Spool
        from rookery.server.webhook_sender import WebhookSender

        self.entry = EntryCodes()
        self.replies = Replies(self.record.intake)
        self.builds = Builds(self.record)
        self.agents = AgentsListener(self)
        self.spool = Spool(self)
        self.webhooks = WebhookSender(self.record, self.identity)
        self.serving = Serving(self)

    def own_url(self) -> Optional[str]:
        """Where a browser on this machine finds the studio; None before anything listens."""
        host, port = self.endpoint.get("host"), self.endpoint.get("port")
        if port is None:
            return None
        host = "127.0.0.1" if host in (None, "", "0.0.0.0") else "[::1]" if host == "::" else host
        return f"{'https' if self.endpoint.get('tls') else 'http'}://{host if ':' not in host or host[0] == '[' else f'[{host}]'}:{port}{self.prefix}"

    def leave(self) -> None:
        """Ends every open stream and long poll. To be called in the event loop."""
        self.leaving = True
        for waiter in list(self.waiters):
            waiter.wake()
        self.spool.leave()


class Waiter:
    """Waits in the event loop for one of some bells, for the keeper's leaving or for the time to be over.

    Promises: holds no thread; a ring between two waits is not lost.
    """

    def __init__(self, services: Services, keys: Iterable[str]) -> None:
        self._services = services
        self._keys = list(keys)
        self._event = asyncio.Event()
        self._unsubscribe: list[Callable[[], None]] = []

    def __enter__(self) -> Waiter:
        loop = asyncio.get_running_loop()

        def ring() -> None:
            try:
                loop.call_soon_threadsafe(self._event.set)
            except RuntimeError:
                pass  # the loop is closed: nobody waits any more

        self._unsubscribe = [self._services.record.bell.subscribe(key, ring) for key in self._keys]
        self._services.waiters.add(self)
        return self

    def __exit__(self, _type: Optional[type], _error: Optional[BaseException], _tb: Optional[TracebackType]) -> None:
        self._services.waiters.discard(self)
        for unsubscribe in self._unsubscribe:
            unsubscribe()

    def clear(self) -> None:
        """To be called before looking: what rings from now on ends the next wait."""
        self._event.clear()

    def wake(self) -> None:
        self._event.set()

    async def wait(self, timeout_s: float) -> bool:
        """True when it rang, False when the time is over."""
        if self._services.leaving:
            return True
        try:
            await asyncio.wait_for(self._event.wait(), timeout_s)
        except asyncio.TimeoutError:
            return False
        return True


async def get_services(request: Request) -> Services:
    return request.app.state.services


Served = Annotated[Services, Depends(get_services)]
