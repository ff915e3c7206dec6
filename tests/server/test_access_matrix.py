"""Every route × everybody, made from the route table: a route without a rule fails here."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import httpx
import pytest

from rookery.record.people import ROLES
from rookery.server.mlflow.routes import ROUTES as TRACKING
from rookery.server.rules import RULES, Access
from rookery.spec.protocol import PREFIX
from tests.server.conftest import client_at

USERS = ("reader", "contributor", "owner")
# A body that is valid where an empty one would be refused before the handler has looked at who asks.
BODIES = {"/tokens": {"run_id": "run-1"}, "/compute": {"name": "abc"}}


def table(app):
    """(method, path) of every route that the app answers."""
    return list(_walk(app.routes, ""))


def _walk(routes, prefix):
    for route in routes:
        inner = getattr(route, "original_router", None)  # newer FastAPI keeps included routers as they are
        if inner is not None:
            yield from _walk(inner.routes, prefix + route.include_context.prefix)
            continue
        for method in sorted(route.methods):
            if method == "HEAD" and "GET" in route.methods:
                continue  # Starlette's own routes answer it beside GET
            yield method, prefix + route.path


def below(path):
    return path[len(PREFIX) :] if path.startswith(PREFIX) else path


@pytest.fixture
def crowd(api, token, paths):
    """Who there is: name → headers. run-1 is `own`; `other` is a run that is no relative of it."""
    api.run()
    api.run("other")
    people = api.record.people
    made = {"nobody": {}, "rubbish": {"Authorization": "Bearer rku_" + "x" * 43}}
    for role in USERS:
        people.add("the-" + role, role, None, "test")
        made[role] = people.make_token("the-" + role, "t", 600)["token"]
    made["run own"], made["run other"] = token("run-1"), token("other")
    made["agent own"], made["agent other"] = token("run-1", "agent"), token("other", "agent")
    made["track"] = api.record.tokens.make("", "track")
    made["workspace owner"] = Path(paths.token).read_text()
    return {who: {"Authorization": f"Bearer {text}"} if isinstance(text, str) else text for who, text in made.items()}


def is_allowed(who: str, access: Access) -> bool:
    if access.least == "nobody":
        return True
    if who in ("nobody", "rubbish", "track"):
        return False
    if who in ROLES or who == "workspace owner":
        return ROLES.index("owner" if who == "workspace owner" else who) >= ROLES.index(access.least)
    kind, whose = who.split()
    return (
        access.run == "any"
        or (access.run == "own" and whose == "own")
        or (access.run == "agent" and kind == "agent" and whose == "own")
    )


def ask(client: httpx.Client, method: str, path: str, headers: dict[str, str], body: dict) -> tuple[int, str]:
    """Status and error code; streams are left at their first line."""
    content = {} if method in ("GET", "HEAD") else {"json": body}
    with client.stream(method, path, headers=headers, follow_redirects=False, **content) as response:
        code = ""
        if "event-stream" not in response.headers.get("content-type", ""):
            response.read()
        if response.status_code >= 400 and "json" in response.headers.get("content-type", ""):
            code = response.json().get("error", {}).get("code", "") if method != "HEAD" else ""
        return response.status_code, code


class TestMatrix:
    def test_every_route_has_a_rule_and_every_rule_a_route(self, api):
        routes = {(method, below(path)) for method, path in table(api.app)}
        assert routes - set(RULES) == set(), "write down in server/rules.py who may use them"
        assert set(RULES) - routes == set(), "these are answered by nobody"

    @pytest.mark.slow
    def test_every_route_for_everybody(self, api, crowd):
        wrong = []
        with client_at(f"http://127.0.0.1:{api.port}") as client:
            for method, path in table(api.app):
                access = RULES.get((method, below(path)), Access("owner"))
                # No attempt 99: what an agent may do is refused for another reason, and no long poll waits.
                filled = re.sub(r"\{name:path\}|\{path:path\}", "x", path)
                known = {"run_id": "run-1", "attempt": 99, "node": 0, "version": 1, "sha256": "0" * 64, "delivery": 1}
                url = filled.format_map(defaultdict(lambda: "x", known))
                for who, headers in crowd.items():
                    status, code = ask(client, method, url, headers, BODIES.get(below(path), {}))
                    let_in = status != 401 and not (status == 403 and (code == "authentication" or method == "HEAD"))
                    if access.least == "nobody":
                        let_in = True  # a login page refuses a login for reasons of its own
                    if let_in != is_allowed(who, access):
                        wrong.append((method, path, who, status))
        assert wrong == []

    def test_what_no_token_is_needed_for(self):
        """Said twice on purpose: opening something takes two edits."""
        assert {route for route, access in RULES.items() if access.least == "nobody"} == {
            ("GET", "/"), ("GET", "/healthz"), ("GET", "/login"), ("POST", "/login"), ("POST", "/logout"), ("GET", "/hello"),
            ("POST", "/session"), ("POST", "/session/token"), ("DELETE", "/session"), ("GET", "/openapi.json"),
            ("GET", "/assets/{name}"), ("GET", "/favicon.svg"), ("GET", "/theme.js"), ("GET", "/enter"),
        }  # fmt: skip

    def test_what_a_reader_may_send(self):
        """None of it changes anything that is not the reader's own."""
        sent = {r for r, access in RULES.items() if access.least == "reader" and r[0] not in ("GET", "HEAD")}
        assert sent == {
            ("POST", "/session/code"), ("PUT", "/me/password"), ("POST", "/user-tokens"), ("DELETE", "/user-tokens/{token_id}"), ("POST", "/content/missing"),
            ("POST", "/environments/prepared"), ("POST", "/environments/specifications"),
            ("POST", "/service/{name}/score"), ("OPTIONS", "/service/{name}/score"),
            ("POST", "/search/runs"), ("POST", "/search/series"), ("POST", "/compare"), ("POST", "/data/definitions/{definition_id}/resolve"),
            ("POST", "/pipelines/validate"), ("POST", "/pipelines/code"), ("POST", "/pipelines/yaml"), ("POST", "/pipelines/graph"), ("POST", "/pipelines/inference"),
        }  # fmt: skip


class TestTrackingMatrix:
    def test_every_path_for_everybody(self, api, crowd):
        wrong = []
        with client_at(f"http://127.0.0.1:{api.port}") as client:
            for route in TRACKING:
                url = re.sub(r"\{\w+(:path)?\}", "x", route.path)
                for who, headers in crowd.items():
                    status = ask(client, route.method, url, headers, {})[0]
                    if route.right in ("open", "test"):
                        allowed = True
                    elif who in ("nobody", "rubbish"):
                        allowed = False
                    elif route.right == "read" or who in ("contributor", "owner", "workspace owner", "track"):
                        allowed = True
                    else:
                        # A run's token gets in and the handler asks for which run: no run named is no run of its own.
                        allowed = None if route.right == "run" and " " in who else False
                    if allowed is not None and (status not in (401, 403)) != allowed:
                        wrong.append((route.method, route.path, who, status))
        assert wrong == []
