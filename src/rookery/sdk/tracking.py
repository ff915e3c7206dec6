"""The address that an MLflow client is given, and how its token stays out of what the client prints.

A stock client needs the address alone: it carries a token that can only track, and expires. MLflow prints addresses, so where our
`request_header_provider` is installed (it comes with Rookery) the address has no token: the provider sends it instead.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from rookery.sdk.workspace import Workspace

__all__ = ["RequestHeaders", "tracking_uri"]

GROUP = "mlflow.request_header_provider"
RENEW_S = 600.0
_USER = "rookery"  # MLflow wants a name before the token; this one says nothing


def tracking_uri(ws: Workspace, with_token: bool = False) -> str:
    """The address for `mlflow.set_tracking_uri`; MLFLOW_TRACKING_TOKEN of this process is set too.

    with_token: the token is in the address in any case, for a client elsewhere.
    """
    if os.environ.get("ROOKERY_RUN_ID") and os.environ.get("MLFLOW_TRACKING_URI"):
        return os.environ["MLFLOW_TRACKING_URI"]  # inside a run everything is set already, with the run's own token
    made = ws.client.request("POST", "/tokens/tracking")
    base = ws.client.url or f"{'https' if made['tls'] else 'http'}://127.0.0.1:{made['port']}"
    os.environ["MLFLOW_TRACKING_TOKEN"] = made["token"]
    _GIVEN[base] = _Given(ws, made["token"], _unix(made["expires_utc"]))
    if _is_provided() and not with_token:
        return base
    scheme, _, rest = base.partition("://")
    return f"{scheme}://{_USER}:{made['token']}@{rest}"


class RequestHeaders:
    """MLflow's `request_header_provider`: sends the token of an address that this process was given, and renews it."""

    def in_context(self) -> bool:
        return _current() is not None

    def request_headers(self) -> dict[str, str]:
        given = _current()
        return {} if given is None else {"Authorization": f"Bearer {given.fresh_token()}"}


class _Given:
    def __init__(self, ws: Workspace, token: str, expires: float) -> None:
        self._ws, self._token, self._expires = ws, token, expires

    def fresh_token(self) -> str:
        if time.time() > self._expires - RENEW_S:
            made = self._ws.client.request("POST", "/tokens/tracking")
            self._token, self._expires = made["token"], _unix(made["expires_utc"])
            os.environ["MLFLOW_TRACKING_TOKEN"] = self._token
        return self._token


_GIVEN: dict[str, _Given] = {}


def _current() -> Optional[_Given]:
    """Of the address that MLflow uses now; nothing is sent to any other server."""
    mlflow: Any = sys.modules.get("mlflow")
    try:
        uri = mlflow.get_tracking_uri() if mlflow is not None else os.environ.get("MLFLOW_TRACKING_URI", "")
        parts = urlsplit(uri)
        where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
    except (AttributeError, ValueError):
        return None
    return _GIVEN.get(where)


def _is_provided() -> bool:
    """Whether the MLflow of this interpreter finds our provider."""
    from importlib.metadata import entry_points

    found: Any = entry_points()
    group = found.select(group=GROUP) if hasattr(found, "select") else found.get(GROUP, ())
    return any(point.value.startswith("rookery.sdk.tracking:") for point in group)


def _unix(moment: str) -> float:
    return datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()
