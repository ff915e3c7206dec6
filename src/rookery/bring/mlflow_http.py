"""Requests to an MLflow server, as its own client sends them; only such as change nothing, so each may be sent again."""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Optional

from rookery.errors import AuthenticationError, NotFoundError, ServiceError, UserError

__all__ = ["MlflowHttp"]

TRIES = 5
TIMEOUT_S = 120.0
AGAIN = (408, 429, 500, 502, 503, 504)


class MlflowHttp:
    """Credentials: what is given, else those in the address, else MLFLOW_TRACKING_TOKEN or _USERNAME and _PASSWORD."""

    def __init__(
        self, url: str, token: Optional[str] = None, username: Optional[str] = None, password: Optional[str] = None
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        self._base = urllib.parse.urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
        self.shown = self._base
        env = os.environ.get
        if not token and not username and parts.username:
            username, password = urllib.parse.unquote(parts.username), urllib.parse.unquote(parts.password or "")
        if not token and not username:
            token = env("MLFLOW_TRACKING_TOKEN")
            username = None if token else env("MLFLOW_TRACKING_USERNAME")
        if username and password is None:
            password = env("MLFLOW_TRACKING_PASSWORD", "")
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["Authorization"] = "Bearer " + token
        elif username:
            packed = base64.b64encode(f"{username}:{password or ''}".encode()).decode("ascii")
            self._headers["Authorization"] = "Basic " + packed
        context = ssl.create_default_context(cafile=env("MLFLOW_TRACKING_SERVER_CERT_PATH") or None)
        if env("MLFLOW_TRACKING_INSECURE_TLS", "").lower() in ("true", "1"):
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _NoRedirect)

    def json(self, method: str, path: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """`path` below /api/2.0/mlflow; arguments in the query of a GET, else in the body."""
        whole = "/api/2.0/mlflow/" + path
        query, body = (arguments, None) if method == "GET" else ({}, json.dumps(arguments).encode())
        with self._open(method, whole, query, body) as answer:
            text = answer.read()
        try:
            data = json.loads(text or b"{}")
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise UserError(f"{self.shown} does not answer as an MLflow server does ({whole}: {text[:80]!r}).")
        return data

    def stream(self, path: str, query: dict[str, str]) -> http.client.HTTPResponse:
        """The bytes of a file, read as they come."""
        return self._open("GET", path, query, None)

    def _open(self, method: str, path: str, query: dict[str, Any], body: Optional[bytes]) -> Any:
        url = self._base + path + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {**self._headers, **({"Content-Type": "application/json"} if body is not None else {})}
        for n in range(1, TRIES + 1):
            try:
                return self._opener.open(
                    urllib.request.Request(url, data=body, headers=headers, method=method), timeout=TIMEOUT_S
                )
            except urllib.error.HTTPError as error:
                words = _words(error)
                if error.code not in AGAIN or n == TRIES:
                    raise self._refusal(error.code, path, words) from None
            except (OSError, http.client.HTTPException) as error:
                if n == TRIES:
                    reason = getattr(error, "reason", None) or error
                    raise ServiceError(f"{self.shown} does not answer: {reason}. Import again: it goes on.") from error
            time.sleep(0.2 * 3 ** (n - 1))
        raise AssertionError("unreachable")

    def _refusal(self, status: int, path: str, words: str) -> Exception:
        if status == 404:
            return NotFoundError(f"{self.shown}{path} is not there: {words}")
        if status in (401, 403):
            return AuthenticationError(
                f"{self.shown} refuses: {words}. Give --token or --username, or set MLFLOW_TRACKING_TOKEN."
            )
        return UserError(f"{self.shown}{path} answers {status}: {words}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Credentials go to the server that was named and to no other."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        return None


def _words(error: urllib.error.HTTPError) -> str:
    with error:
        text = error.read(100_000)
    try:
        return str(json.loads(text)["message"])[:500]
    except (ValueError, KeyError, TypeError):
        return (text.decode("utf-8", "replace").strip() or str(error.reason))[:200]
