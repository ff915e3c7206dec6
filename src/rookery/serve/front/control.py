"""What the keeper asks a front: lines of JSON over a unix socket.

`apply`: desired.json has changed. `status`: how it is, and what was counted since. `stop`: finish and leave.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any

__all__ = ["Control"]


class Control:
    def __init__(
        self, service: Any, describe: Callable[[], dict[str, Any]], apply: Callable[[], Any], stop: Callable[[], None]
    ) -> None:
        self._service, self._describe, self._apply, self._stop = service, describe, apply, stop

    async def listen(self, path: str) -> asyncio.AbstractServer:
        if os.path.exists(path):  # of a front that was killed: the lock says that it is gone
            os.unlink(path)
        server = await asyncio.start_unix_server(self._talk, path)
        os.chmod(path, 0o600)
        return server

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(json.dumps(await self._answer(json.loads(line))).encode("utf-8") + b"\n")
                await writer.drain()
        except (OSError, ValueError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["op"] == "apply":
            await self._apply()
        elif asked["op"] == "stop":
            self._stop()
        told = self._describe()
        have = int(asked.get("have", 0)) if asked.get("epoch") == told["epoch"] else 0
        self._service.numbers.forget(have)
        return {**told, "buckets": self._service.numbers.after(have)}
