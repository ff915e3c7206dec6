"""A run's events as they come: its status, and what its first rank prints."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any, Optional

from rookery.spec.launch import launcher_log_name
from rookery.spec.logs import BUILD_LOG, DRIVER_LOG, PIPELINE_LOG, TUNE_LOG, driver_log_name

__all__ = ["LogReader", "follow", "is_main_log", "main_log"]

OnStatus = Callable[[dict[str, Any]], None]
OnLog = Callable[[str, bytes], None]
_FIRST_RANK = driver_log_name(0, 2)
_LAUNCHERS = (launcher_log_name(0, 1), launcher_log_name(0, 2))


def follow(
    client: Any,
    run_id: str,
    on_log: OnLog,
    on_status: Optional[OnStatus] = None,
    shows: Optional[Callable[[str], bool]] = None,
    have: Optional[dict[str, int]] = None,
) -> dict[str, Any]:
    """Calls back for every status and every new stretch of a log until the run has ended; returns the run.

    Args:
        shows: which logs are wanted; by default the one that the SDK streams too.
        have: sizes of logs that were shown already.
    """
    wanted = shows or is_main_log
    reader = LogReader(client, run_id, dict(have or {}))
    for event in client.stream(f"/runs/{run_id}/events", query={"until": "end"}, after=0):
        if event.kind == "end":
            break
        if event.data.get("run", run_id) != run_id:
            continue
        if event.kind == "status" and on_status:
            on_status(event.data)
        elif event.kind == "log" and wanted(event.data["name"]):
            new = reader.take(event.data)
            if new:
                on_log(event.data["name"], new)
    run: dict[str, Any] = client.request("GET", f"/runs/{run_id}")
    return run


def is_main_log(name: str) -> bool:
    """The logs worth showing live: the build, the only or the first rank, and what its launcher says."""
    return name in (BUILD_LOG, DRIVER_LOG, TUNE_LOG, PIPELINE_LOG, _FIRST_RANK, *_LAUNCHERS)


def main_log(names: list[str]) -> Optional[str]:
    """The log that `rookery logs RUN` means when no other is named."""
    for name in (DRIVER_LOG, _FIRST_RANK, *_LAUNCHERS, TUNE_LOG, PIPELINE_LOG, BUILD_LOG):
        if name in names:
            return name
    return names[0] if names else None


class LogReader:
    """Puts log events together by offset: what is known is dropped, what is missing is fetched."""

    def __init__(self, client: Any, run_id: str, sizes: dict[str, int]) -> None:
        self._client = client
        self._run_id = run_id
        self._sizes = sizes

    def take(self, data: dict[str, Any]) -> bytes:
        """The bytes of this event that were not there before."""
        name, offset = data["name"], data["offset"]
        raw = data["text"].encode("utf-8") if data.get("text") is not None else base64.b64decode(data["base64"])
        have = self._sizes.get(name, 0)
        if offset + len(raw) <= have:
            return b""
        before = self._fetch(name, have, offset - have) if offset > have else b""
        self._sizes[name] = offset + len(raw)
        return before + raw[max(0, have - offset) :]

    def _fetch(self, name: str, offset: int, length: int) -> bytes:
        return read_log(self._client, self._run_id, name, offset, length)


def read_log(client: Any, run_id: str, name: str, offset: int = 0, length: Optional[int] = None) -> bytes:
    """A stretch of a stored log."""
    from rookery.worker.http import quote_path

    target = io.BytesIO()
    client.download(f"/runs/{run_id}/logs/{quote_path(name)}", target, query={"offset": offset, "length": length})
    return target.getvalue()
