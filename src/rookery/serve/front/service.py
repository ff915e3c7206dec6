"""An endpoint: who may ask, which version answers, and what is told about it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import random
import time
from typing import Any, Optional

from rookery.serve.front.numbers import Numbers
from rookery.serve.front.version import Version, common_headers
from rookery.serve.front.wire import Connection, Request, refusal

__all__ = ["Service"]

MAX_ID = 100  # characters of x-ms-client-request-id
TOKEN_PREFIX = "rke_"
IDLE_S = 120.0  # without a byte, and nothing under way: the connection is closed


class Service:
    """Args: folder: the endpoint's own. Files in it: desired.json (the keeper's), replicas.json (ours, for the next front)."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.desired: dict[str, Any] = {}
        self.versions: dict[str, Version] = {}
        self.numbers = Numbers()
        self.connections: set[Connection] = set()
        self.change = 0  # grows with everything that the keeper should look at
        self._leaving: list[Version] = []
        self._paths: set[str] = set()
        self._kept = ""

    # -- what is wanted

    def read_desired(self) -> bool:
        """False: there is none any more, so nobody wants us."""
        try:
            with open(os.path.join(self._folder, "desired.json"), encoding="utf-8") as f:
                self.desired = json.load(f)
        except FileNotFoundError:
            return False
        name = self.desired["name"]
        self._paths = {"/score", f"/api/v1/service/{name}/score"}
        return True

    def apply(self, kept: Optional[dict[str, Any]] = None) -> None:
        """Brings versions to what desired.json says; `kept` is what an earlier front has left."""
        kept = kept or {}
        wanted = {one["name"]: one for one in self.desired["versions"]}
        for name, told in wanted.items():
            version = self.versions.get(name)
            if version is None:
                prefix = f"{self.desired['sockets']}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
                version = self.versions[name] = Version(name, prefix, self.changed, self.numbers.add)
            of_it = kept.get("versions", {}).get(name, {})
            adopted = {int(n): found for n, found in of_it.get("replicas", {}).items()}
            version.want(told, adopted, int(of_it.get("serving") or 0))
        for name in [n for n in self.versions if n not in wanted]:
            gone = self.versions.pop(name)
            gone.leave()
            self._leaving.append(gone)
            while gone.waiting:
                self._route(gone.waiting.popleft())
        self.changed()

    def leave(self) -> None:
        for version in self.versions.values():
            version.leave()
            self._leaving.append(version)
        self.versions = {}

    @property
    def is_gone(self) -> bool:
        """After `leave`: whether all processes have ended."""
        return all(version.is_gone for version in self._leaving)

    def changed(self) -> None:
        self.change += 1
        self.keep()

    def keep(self) -> None:
        """Which processes there are, so that the next front finds them."""
        told: dict[str, Any] = {"versions": {}}
        for name, version in self.versions.items():
            replicas = {
                str(number): [one.describe() for one in revision.replicas if one.state in ("starting", "ready")]
                for number, revision in version.revisions.items()
            }
            serving = version.serving.number if version.serving else 0
            told["versions"][name] = {"serving": serving, "replicas": replicas}
        text = json.dumps(told)
        if text != self._kept:
            self._kept = text
            write_whole(os.path.join(self._folder, "replicas.json"), text)

    # -- requests

    def body_limit(self) -> int:
        return int(self.desired.get("max_body_mb") or 100) * 1024 * 1024

    def handle(self, request: Request) -> None:
        path = request.path
        if path in self._paths:
            self._score(request)
        elif path.endswith("/swagger.json") and path[:-13] + "/score" in self._paths | {"/score"}:
            self._swagger(request)
        elif path in ("/", "/health") or path.rstrip("/") + "/score" in self._paths:
            self._health(request)
        else:
            words = f"{path[:200]!r} is nothing of this endpoint. There is /score, /swagger.json and /."
            self._refuse(request, 404, words)

    def _score(self, request: Request) -> None:
        headers = request.headers
        if len(headers.get("x-ms-client-request-id", "")) > MAX_ID or len(headers.get("x-ms-request-id", "")) > MAX_ID:
            headers.pop("x-ms-client-request-id", None)
            headers.pop("x-ms-request-id", None)
            self._refuse(request, 431, f"A request id has more than {MAX_ID} characters.")
            return
        if not self._may(headers.get("authorization", "")):
            self._refuse(request, 401, self._how_to_ask(), [("WWW-Authenticate", "Bearer")])
            return
        if request.method == "OPTIONS" and not self._is_raw():
            request.answer(200, [*common_headers(request), ("Allow", "GET, POST, OPTIONS")], b"", "text/plain")
            return
        if request.method not in ("GET", "POST", "OPTIONS"):
            words = f"/score takes GET, POST and OPTIONS, not {request.method}."
            self._refuse(request, 405, words, [("Allow", "GET, POST, OPTIONS")])
            return
        self._route(request)

    def _route(self, request: Request) -> None:
        version = self._pick(request.headers.get("x-rookery-version", ""))
        if version is None:
            self._refuse(request, 502, "No process of this endpoint is running yet.")
        else:
            version.take(request)

    def _pick(self, asked: str) -> Optional[Version]:
        """By the traffic that each has; the default has what is left over. A caller may name one."""
        if asked in self.versions:
            return self.versions[asked]
        default: Optional[Version] = None
        point = random.random() * 100.0 if len(self.versions) > 1 else 0.0
        for version in self.versions.values():
            if version.is_default:
                default = version
            elif len(self.versions) > 1:
                if point < version.traffic and version.serving is not None:
                    return version
                point -= version.traffic
        return default or next(iter(self.versions.values()), None)

    def _is_raw(self) -> bool:
        return any(v.serving is not None and v.serving.is_raw for v in self.versions.values())

    def _health(self, request: Request) -> None:
        if any(version.serving is not None and version.serving.ready for version in self.versions.values()):
            request.answer(200, common_headers(request), b"Healthy", "text/plain; charset=utf-8")
        else:
            self._refuse(request, 502, "No process of this endpoint is ready.")

    def _swagger(self, request: Request) -> None:
        version = "2" if "version=2" in request.query else "3"
        for one in sorted(self.versions.values(), key=lambda v: not v.is_default):
            found = one.serving.swagger(version) if one.serving else None
            if found is not None:
                body = json.dumps(found).encode("utf-8")
                request.answer(200, common_headers(request), body, "application/json")
                return
        self._refuse(request, 502, "No process of this endpoint is ready.")

    def _refuse(
        self, request: Request, status: int, words: str, headers: Optional[list[tuple[str, str]]] = None
    ) -> None:
        body, content_type = refusal(status, words)
        request.answer(status, [*common_headers(request), *(headers or [])], body, content_type)

    # -- who may

    def _may(self, authorization: str) -> bool:
        auth = self.desired["auth"]
        if not auth["enabled"] and not auth["token_enabled"]:
            return True
        scheme, _, given = authorization.partition(" ")
        given = given.strip()
        if scheme.lower() != "bearer" or not given:
            return False
        digest = hashlib.sha256(given.encode("utf-8", "surrogateescape")).hexdigest()
        if hmac.compare_digest(digest, auth["relay"]):  # the keeper, which has asked for itself
            return True
        if auth["enabled"] and not auth["token_enabled"]:
            found = [hmac.compare_digest(digest, known) for known in auth["keys"]]
            return any(found)
        return is_good_token(given, auth["secret"], self.desired["name"])

    def _how_to_ask(self) -> str:
        if self.desired["auth"]["token_enabled"]:
            return "This endpoint needs a token: `Authorization: Bearer <token>`. service.get_token() gives one for an hour."
        return "This endpoint needs a key: `Authorization: Bearer <key>`. service.get_keys() shows both."

    # -- the clock

    def look(self) -> None:
        for version in self.versions.values():
            version.look()
        for version in self._leaving:
            version.look()
        self._leaving = [v for v in self._leaving if not v.is_gone]
        self.keep()
        now = time.monotonic()
        for connection in list(self.connections):
            if connection.is_idle and now - connection.heard > IDLE_S:
                connection.close()

    def describe(self) -> dict[str, Any]:
        return {
            "change": self.change,
            "versions": {name: version.describe() for name, version in self.versions.items()},
            "requests": self.numbers.requests,
            "errors": self.numbers.errors,
            "connections": len(self.connections),
        }


def is_good_token(token: str, secret: str, name: str) -> bool:
    """`rke_<payload>.<signature>` of `serve.keys.make_token`."""
    if not token.startswith(TOKEN_PREFIX):
        return False
    payload, _, signature = token[len(TOKEN_PREFIX) :].partition(".")
    made = hmac.new(secret.encode("ascii"), payload.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(made.encode("ascii"), signature.encode("utf-8", "replace")):
        return False
    try:
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return bool(claims["endpoint"] == name and float(claims["exp"]) > time.time())
    except (ValueError, KeyError, TypeError):
        return False


def write_whole(path: str, text: str) -> None:
    """Whole or not at all, readable by its owner only."""
    temporary = f"{path}.{os.getpid()}.new"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(temporary, path)
