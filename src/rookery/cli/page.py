"""Where a run's page in the studio is."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.worker.http import quote_path

__all__ = ["base_url", "run_page"]


def run_page(client: Any, run_id: str) -> Optional[str]:
    """Its address; None where the keeper does not say: no run waits for that."""
    try:
        base = base_url(client)
    except RookeryError:
        return None
    return None if base is None else f"{base}/runs/{quote_path(run_id)}"


def base_url(client: Any) -> Optional[str]:
    """The studio's own address: the server's, or the keeper's on this machine."""
    url = getattr(client, "url", None)
    if url:
        return str(url).rstrip("/")
    told = client.request("GET", "/keeper").get("url")
    return str(told) if told else None
