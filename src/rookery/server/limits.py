"""The front of the app: counts requests, limits bodies, names the version, and turns what nobody caught into
an answer.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, Optional

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rookery import __version__
from rookery.errors import RookeryError, UserError
from rookery.server.errors import error_answer, internal_error
from rookery.server.services import Activity
from rookery.spec.protocol import PREFIX

__all__ = ["MAX_JSON_BYTES", "MAX_JSON_VALUES", "Front"]

MAX_JSON_BYTES = 64 * 1024 * 1024
# A small value costs some sixty bytes when it is parsed: `[[],[],[]…` grows to twenty times its size.
MAX_JSON_VALUES = 4_000_000
# FastAPI takes bodies in before anybody asks who sends them.
MAX_STRANGER_BYTES = 1024 * 1024
SMALL_BYTES = 64 * 1024
# How much of a body is still taken in when it has been refused, so that the sender gets to read why.
DRAIN_BYTES = 1024**3
DRAIN_STRANGER_BYTES = 1024**2
_STREAMED = re.compile(
    PREFIX + r"/(runs/[^/]+/artifacts/.+|content/[^/]+|agent/[^/]+/\d+/\d+/(checkpoints/.+|outputs/[^/]+(/files/.+)?)"
    r"|datastores/[^/]+/pack|datasets/[^/]+/uploads)\Z"
    r"|/(ajax-)?api/2\.0/mlflow-artifacts/artifacts/.+\Z",
    re.DOTALL,
)
_RAW = re.compile(PREFIX + r"/(content/pack|agent/[^/]+/\d+/\d+/log)\Z|/v1/traces\Z")
_VERSION = (b"x-rookery-version", __version__.encode("ascii"))


class Front:
    """ASGI middleware around everything."""

    def __init__(
        self, app: ASGIApp, activity: Activity, find_refusal: Callable[[Scope], Optional[RookeryError]]
    ) -> None:
        self._app = app
        self._activity = activity
        self._find_refusal = find_refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._activity.open_requests += 1
        try:
            limit, refusal = self._limit(scope)
            await _Exchange(self._app, scope, receive, send, limit, refusal).run()
        finally:
            self._activity.open_requests -= 1
            self._activity.last_request = time.monotonic()

    def _limit(self, scope: Scope) -> tuple[Optional[int], Optional[RookeryError]]:
        """(how large the body may be, what to say where that is little because nobody knows who sends it)."""
        if is_streamed(scope):
            return None, None
        length = _content_length(scope)
        if (length or not _has_body(scope)) and length <= SMALL_BYTES:
            return MAX_JSON_BYTES, None
        refusal = self._find_refusal(scope)
        return (MAX_JSON_BYTES if refusal is None else MAX_STRANGER_BYTES), refusal


class _Exchange:
    """One request and its answer."""

    def __init__(
        self,
        app: ASGIApp,
        scope: Scope,
        receive: Receive,
        send: Send,
        limit: Optional[int],
        refusal: Optional[RookeryError],
    ) -> None:
        self._app, self._scope, self._receive, self._send = app, scope, receive, send
        self._limit, self._refusal = limit, refusal
        self._counts = limit is not None and not _RAW.match(scope["path"])
        self._values = 0
        self._taken = 0
        self._complete = False
        self._started = False

    async def run(self) -> None:
        try:
            if self._limit is not None and _content_length(self._scope) > self._limit:
                refused = error_answer(self._refusal) if self._refusal else error_answer(_too_large(self._limit), 413)
                await refused(self._scope, self.receive, self.send)
                return
            await self._app(self._scope, self.receive, self.send)
        except ClientDisconnect:
            return  # half a body: there is nobody to answer
        except Exception as error:
            if self._started:
                raise
            await internal_error(error)(self._scope, self.receive, self.send)

    async def receive(self) -> Message:
        message = await self._receive()
        self._note(message)
        if self._limit is not None and self._taken > self._limit:
            # FastAPI hands this one through; any other error would become "there was an error parsing the body".
            raise HTTPException(413, _too_large(self._limit).message)
        if self._counts and self._values > MAX_JSON_VALUES:
            raise HTTPException(413, _too_many().message)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            message.setdefault("headers", [])
            message["headers"] = [*message["headers"], _VERSION]
            if message["status"] >= 400:
                await self._drain(DRAIN_STRANGER_BYTES if message["status"] in (401, 413) else DRAIN_BYTES)
                if not self._complete and _has_body(self._scope):
                    # Who sends on for ever is cut off: otherwise the rest would be read, and thrown away, without end.
                    message["headers"].append((b"connection", b"close"))
        await self._send(message)

    async def _drain(self, limit: int) -> None:
        """Takes in the rest of a refused body: a sender that is still writing would see a broken pipe, not
        the answer.
        """
        if _content_length(self._scope) - self._taken > limit:
            return
        while not self._complete and self._taken <= limit:
            self._note(await self._receive())

    def _note(self, message: Any) -> None:
        if message["type"] == "http.request":
            body = message.get("body", b"")
            self._taken += len(body)
            if self._counts and self._taken > SMALL_BYTES:
                self._values += body.count(b",") + body.count(b"[") + body.count(b"{")
            self._complete = not message.get("more_body", False)
        else:
            self._complete = True


def is_streamed(scope: Scope) -> bool:
    """Whether the body is a file: written to disk as it comes, so of any size."""
    return (
        scope["method"] in ("PUT", "POST", "PATCH")
        and bool(_STREAMED.match(scope["path"]))
        and scope["path"] != PREFIX + "/content/missing"
    )


def _has_body(scope: Scope) -> bool:
    return _content_length(scope) > 0 or any(name == b"transfer-encoding" for name, _ in scope["headers"])


def _content_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


def _too_large(limit: int) -> UserError:
    if limit == MAX_STRANGER_BYTES:
        return UserError(f"Without a token that counts here a body may have {limit // 1024**2} MiB. Send yours along.")
    return UserError(f"The body is larger than {limit // 1024**2} MiB. Send it in parts; files go to PUT /content.")


def _too_many() -> UserError:
    return UserError(f"The body has more than {MAX_JSON_VALUES:,} values. Send it in parts.")
