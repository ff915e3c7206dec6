"""One request handed on to a front, and its answer back. Not the quick way: that is the front's own address."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Optional

from starlette.requests import Request
from starlette.responses import Response

from rookery.errors import EndpointError

__all__ = ["relay"]

ANSWER_S = 3700.0  # longer than any scoring_timeout_ms that makes sense here
# What belongs to one connection, or is said anew.
_NOT_HANDED_ON = {
    "host", "connection", "content-length", "transfer-encoding", "authorization", "cookie", "keep-alive", "upgrade", "expect",
}  # fmt: skip


async def relay(request: Request, where: dict[str, Any], path: str, key: Optional[str]) -> Response:
    """`key`: of the keeper itself, for somebody it knows; None: what came along counts."""
    body = await request.body()
    headers = [(k, v) for k, v in request.headers.items() if k.lower() not in _NOT_HANDED_ON]
    headers.append(("authorization", f"Bearer {key}" if key else request.headers.get("authorization", "")))
    target = path + (f"?{request.url.query}" if request.url.query else "")
    lines = [
        f"{request.method} {target} HTTP/1.1",
        "host: endpoint",
        "connection: close",
        f"content-length: {len(body)}",
    ]
    lines += [f"{name}: {value}" for name, value in headers]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
    try:
        return await asyncio.wait_for(_exchange(where, head + body), ANSWER_S)
    except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError) as error:
        raise EndpointError(
            f"The endpoint does not answer at {where['host']}:{where['port']} ({type(error).__name__}). It is started again if it died; "
            "try in a moment."
        ) from error


async def _exchange(where: dict[str, Any], sent: bytes) -> Response:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(where["host"], where["host"])
    reader, writer = await asyncio.open_connection(host, where["port"], ssl=_tls(where), limit=1024 * 1024)
    try:
        writer.write(sent)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head[:-4].decode("latin-1").split("\r\n")
        pairs = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        length = int(dict(pairs).get("content-length", "0"))
        body = await reader.readexactly(length)
    finally:
        writer.close()
    answered = Response(body, status_code=int(first.split(" ")[1]))
    answered.raw_headers = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in pairs
        if name not in ("connection", "keep-alive")
    ]
    # What user code answers must not be taken for a page of ours by a browser that is logged in here.
    answered.headers["X-Content-Type-Options"] = "nosniff"
    answered.headers["Content-Security-Policy"] = "sandbox"
    return answered


def _tls(where: dict[str, Any]) -> Optional[ssl.SSLContext]:
    """Our own front on this machine, with the keeper's certificate, which is made out to another name."""
    if not where.get("tls_cert"):
        return None
    context = ssl.create_default_context(cafile=where["tls_cert"])
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
