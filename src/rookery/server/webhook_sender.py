"""Sends webhooks: a thread that wakes when something happened or is due, and a few that wait for receivers. Nobody waits for it."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional
from urllib.parse import urlsplit

from rookery import __version__
from rookery.errors import RookeryError
from rookery.record import Record
from rookery.record.clock import from_unix, milliseconds
from rookery.settings import get_setting

__all__ = ["WebhookSender", "sign"]

TRIES = 10
LONGEST_PAUSE_S = 3600.0
TIMEOUT_S = 10.0
SENDERS = 4
BREATH_S = 0.25  # events come in crowds: they are looked at together
log = logging.getLogger(__name__)


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """What X-Rookery-Signature says: HMAC-SHA256 of `<timestamp>.<body>`, in hexadecimal, after `v1=`."""
    return "v1=" + hmac.new(secret.encode("ascii"), timestamp.encode("ascii") + b"." + body, hashlib.sha256).hexdigest()


class WebhookSender:
    """Promises: starts no thread while there is no webhook; a delivery that was not answered with 2xx is tried again with
    growing pauses, also by the next keeper; a receiver that is slow holds up neither runs nor, beyond its turn, other receivers."""

    def __init__(self, record: Record, workspace: dict[str, Any]) -> None:
        self._record = record
        self._workspace = {"id": workspace.get("id"), "name": workspace.get("name")}
        self._some = threading.Event()
        self._leaving = False
        self._thread: Optional[threading.Thread] = None
        self._pool: Optional[ThreadPoolExecutor] = None
        self._under_way: set[int] = set()
        self._busy: set[str] = set()  # webhooks with a delivery under way: one at a time, so that they come in order
        self._unsubscribe: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begins, where there is a webhook; harmless when it runs."""
        with self._lock:
            if self._thread is not None or self._leaving or self._record.webhooks.count() == 0:
                return
            self._unsubscribe = [self._record.bell.subscribe(key, self._some.set) for key in ("events", "webhooks")]
            self._pool = ThreadPoolExecutor(SENDERS, thread_name_prefix="webhook")
            self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._leaving = True
        self._some.set()
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        if self._thread is not None:
            self._thread.join(TIMEOUT_S)
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def numbers(self) -> dict[str, int]:
        """Deliveries by state."""
        found = {"waiting": 0, "delivered": 0, "failed": 0}
        for hook in self._record.webhooks.list():
            for state, n in hook["deliveries"].items():
                found[state] += n
        return found

    def _run(self) -> None:
        self._some.set()  # something may have been left by the keeper before
        while not self._leaving:
            self._some.wait(self._pause_s())
            if self._leaving:
                return
            self._some.clear()
            try:
                self._record.webhooks.collect()
                self._send_due()
            except RookeryError:
                log.exception("Webhooks could not be looked after; trying again")
            time.sleep(BREATH_S)

    def _pause_s(self) -> Optional[float]:
        try:
            next_utc = self._record.webhooks.next_utc()
        except RookeryError:
            return 5.0
        if next_utc is None:
            return None
        left = milliseconds(next_utc) / 1000 - time.time()
        return max(left, 0.05) if not self._under_way else max(left, 1.0)

    def _send_due(self) -> None:
        assert self._pool is not None
        for one in self._record.webhooks.due(100):
            with self._lock:
                if one["id"] in self._under_way or one["webhook_id"] in self._busy:
                    continue
                self._under_way.add(one["id"])
                self._busy.add(one["webhook_id"])
            self._pool.submit(self._deliver, one)

    def _deliver(self, one: dict[str, Any]) -> None:
        try:
            answer, error = self._post(one)
            next_utc = None
            if error and one["tries"] + 1 < TRIES:
                first = get_setting("webhook_retry_s", self._record.paths.root)
                next_utc = from_unix(time.time() + min(LONGEST_PAUSE_S, first * 4.0 ** one["tries"]))
            self._record.webhooks.tried(one["id"], answer, error, next_utc)
            if error:
                log.info(
                    "Delivery %s failed: %s",
                    one["id"],
                    error,
                    extra={"webhook": one["webhook_id"], "delivery": one["id"]},
                )
        except Exception:
            if not self._leaving:
                log.exception("Delivery %s could not be noted; it will be sent again", one["id"])
        finally:
            with self._lock:
                self._under_way.discard(one["id"])
                self._busy.discard(one["webhook_id"])
            self._some.set()

    def _post(self, one: dict[str, Any]) -> tuple[Optional[int], str]:
        """(status or None, what is wrong or nothing). Redirects are not followed: the address is what an owner has given."""
        content = {
            "id": one["id"], "event": one["event"], "created_utc": one["created_utc"],
            "workspace": self._workspace, "data": one["payload"],
        }  # fmt: skip
        body = json.dumps(content, separators=(",", ":")).encode("ascii")
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"rookery/{__version__}",
            "X-Rookery-Event": one["event"],
            "X-Rookery-Delivery": str(one["id"]),
            "X-Rookery-Timestamp": timestamp,
            "X-Rookery-Signature": sign(one["secret"], timestamp, body),
        }
        parts = urlsplit(one["url"])
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(
                str(parts.hostname), parts.port, timeout=TIMEOUT_S, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=TIMEOUT_S)
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body=body, headers=headers)
            response = connection.getresponse()
            response.read(4096)
            if 200 <= response.status < 300:
                return response.status, ""
            return response.status, f"The receiver answered {response.status} {response.reason}."
        except (OSError, http.client.HTTPException, ValueError) as error:
            return None, f"{type(error).__name__}: {error}"
        finally:
            connection.close()
