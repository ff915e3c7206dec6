"""The keeper serves the studio: files, headers, addresses, and only to whoever is logged in."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from rookery.record.ended_sessions import EndedSessions
from rookery.server import studio as serving
from rookery.server.entry import EntryCodes
from rookery.server.studio import safe_path
from rookery.testing.studio import ensure_studio
from tests.server.conftest import client_at

HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def built():
    return Path(ensure_studio())


@pytest.fixture
def visitor(api):
    """A browser's cookie jar; not logged in."""
    with client_at(f"http://127.0.0.1:{api.port}") as client:
        yield client


@pytest.fixture
def owner(api, visitor, built):
    code = api.owner.post("/session/code").json()["code"]
    assert visitor.get("/enter", params={"code": code}).status_code == 303
    return visitor


class TestPages:
    def test_every_address_is_the_studio_with_its_base(self, owner):
        for path in ("/", "/runs", "/runs/a%2Fb?tab=logs", "/models/x/3"):
            answer = owner.get(path, headers=HTML)
            assert answer.status_code == 200
            assert '<base href="/">' in answer.text
            assert answer.headers["cache-control"] == "no-cache"

    def test_says_after_which_event_its_stream_begins(self, api, owner):
        """So that nothing is missed that happens between the page's first questions and its stream."""

        def begins() -> int:
            return int(re.findall(r'<meta name="rookery-after" content="(\d+)">', owner.get("/", headers=HTML).text)[0])

        before = begins()
        api.owner.post("/environments", json={"definition": {"name": "e1"}}).raise_for_status()
        assert begins() == api.app.state.services.record.events.last_seq() > before

    def test_policy_allows_nothing_inline_and_nothing_from_elsewhere(self, owner):
        policy = owner.get("/runs", headers=HTML).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "style-src 'self';" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "frame-ancestors 'none'" in policy

    def test_prefix_of_a_proxy_is_in_the_base(self, api, owner):
        api.app.state.services.prefix = "/lab"
        assert '<base href="/lab/">' in owner.get("/lab/runs", headers=HTML).text
        owner.cookies.clear()
        assert owner.get("/lab/runs?x=1", headers=HTML).headers["location"] == "/lab/login?to=%2Fruns%3Fx%3D1"

    @pytest.mark.parametrize("path", ["/api/v1/nothing", "/api", "/assets/nothing.js", "/metrics/x", "/ajax-api/2.0/x"])
    def test_programs_paths_are_never_a_page(self, owner, path):
        answer = owner.get(path, headers=HTML)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/json"

    def test_who_does_not_ask_for_a_page_gets_an_error_in_json(self, owner):
        assert owner.get("/runs", headers={"Accept": "application/json"}).status_code == 404
        assert owner.post("/runs").status_code == 404

    def test_who_is_not_logged_in_is_sent_to_the_login_and_back(self, visitor):
        answer = visitor.get("/runs/x?tab=logs", headers=HTML)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/login?to=%2Fruns%2Fx%3Ftab%3Dlogs"
        assert 'name="to" value="/runs/x?tab=logs"' in visitor.get(answer.headers["location"]).text

    def test_without_a_build_it_says_how_to_get_one(self, owner, monkeypatch, tmp_path):
        monkeypatch.setattr(serving, "STATIC", str(tmp_path))
        assert "make studio" in owner.get("/", headers=HTML).text


class TestAssets:
    def test_compressed_for_ever_and_typed(self, built, visitor):
        name = next((built / "assets").glob("index-*.js")).name
        for accepted, coding in (("gzip, br", "br"), ("gzip", "gzip"), ("br;q=0, gzip", "gzip"), ("identity", None)):
            answer = visitor.get(f"/assets/{name}", headers={"Accept-Encoding": accepted})
            assert answer.headers.get("content-encoding") == coding, accepted
            assert answer.headers["content-type"].startswith("text/javascript")
            assert "immutable" in answer.headers["cache-control"]
            assert answer.headers["vary"] == "Accept-Encoding"

    @pytest.mark.parametrize(
        "name", ["..%2Findex.html", "%2e%2e%2f%2e%2e%2fapp.py", ".built-from", "x%00.js", "a" * 300]
    )
    def test_nothing_else_can_be_read(self, built, visitor, name):
        assert visitor.get(f"/assets/{name}").status_code == 404

    def test_icon_and_theme(self, built, visitor):
        assert visitor.get("/favicon.svg").headers["content-type"] == "image/svg+xml"
        assert visitor.get("/theme.js").status_code == 200


class TestEntering:
    def test_a_code_works_once(self, api, visitor):
        code = api.owner.post("/session/code").json()["code"]
        answer = visitor.get("/enter", params={"code": code, "to": "/runs/x"})
        assert answer.headers["location"] == "/runs/x"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=lax" in cookie.lower()
        assert visitor.get("/api/v1/me").json()["role"] == "owner"
        visitor.cookies.clear()
        visitor.get("/enter", params={"code": code})
        assert visitor.get("/api/v1/me").status_code == 401

    def test_a_users_code_is_that_users_session(self, api, visitor):
        people = api.record.people
        people.add("ann", "reader", None, "test")
        token = people.make_token("ann", "t", 600)["token"]
        code = api.tcp(token).post("/session/code").json()["code"]
        visitor.get("/enter", params={"code": code})
        assert visitor.get("/api/v1/me").json()["name"] == "ann"
        people.remove("ann")
        assert visitor.get("/api/v1/me").status_code == 401

    def test_no_code_for_a_run(self, api, token):
        api.run()
        assert api.tcp(token("run-1")).post("/session/code").status_code == 403

    def test_another_site_cannot_log_somebody_in(self, api, visitor):
        code = api.owner.post("/session/code").json()["code"]
        visitor.get("/enter", params={"code": code}, headers={"Sec-Fetch-Site": "cross-site"})
        assert visitor.get("/api/v1/me").status_code == 401

    def test_the_cookie_is_no_token_and_changes_nothing_from_elsewhere(self, api, owner):
        (session,) = [value for name, value in owner.cookies.items() if name.startswith("rookery_studio_")]
        assert api.tcp(session).get("/me").status_code == 401
        assert owner.put("/api/v1/experiments/x").status_code == 403
        ours = {"Origin": f"http://127.0.0.1:{api.port}"}
        assert owner.put("/api/v1/experiments/x", headers=ours).status_code == 200

    def test_log_out_takes_the_cookie_away(self, api, owner):
        owner.delete("/api/v1/session", headers={"Origin": f"http://127.0.0.1:{api.port}"})
        assert owner.get("/api/v1/me").status_code == 401

    def test_log_out_ends_the_session_and_no_other(self, api, owner, visitor):
        """A copy of the cookie is worth nothing afterwards, also to the next keeper; another browser of the owner stays."""
        (name, kept), *_ = [pair for pair in owner.cookies.items() if pair[0].startswith("rookery_studio_")]
        ours = {"Origin": f"http://127.0.0.1:{api.port}"}
        code = api.owner.post("/session/code").json()["code"]
        with client_at(f"http://127.0.0.1:{api.port}") as other:
            other.get("/enter", params={"code": code})
            elsewhere = {"Origin": "http://elsewhere.example"}
            assert owner.delete("/api/v1/session", headers=elsewhere).status_code == 403
            assert owner.get("/api/v1/me").status_code == 200
            assert owner.delete("/api/v1/session", headers=ours).status_code == 200
            owner.cookies.set(name, kept)
            assert owner.get("/api/v1/me").status_code == 401
            assert other.get("/api/v1/me").status_code == 200
            assert other.post("/logout", headers=ours).status_code == 303
        assert EndedSessions(api.record.database).is_ended(kept)
        assert not EndedSessions(api.record.database).is_ended("another")

    def test_a_stream_ends_with_its_session(self, api, owner):
        ours = {"Origin": f"http://127.0.0.1:{api.port}"}
        with owner.stream("GET", "/api/v1/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            httpx.delete(
                f"http://127.0.0.1:{api.port}/api/v1/session", headers=ours, cookies=dict(owner.cookies), timeout=60
            )
            api.record.experiments.ensure("news")
            api.run()
            assert not [line for line in lines if line.startswith("data:")]

    def test_a_code_is_too_old_after_a_minute(self, monkeypatch):
        codes = EntryCodes()
        code = codes.make("somebody")
        monkeypatch.setattr("rookery.server.entry.time.monotonic", lambda: 1e12)
        assert codes.take(code) is None

    @pytest.mark.parametrize(
        "given", ["//evil.example", "/\\evil.example", "https://evil.example", "", None, "/a\nb", "runs"]
    )
    def test_only_paths_of_ours_are_gone_to(self, given):
        assert safe_path(given) == "/"

    def test_paths_of_ours_are_kept(self):
        assert safe_path("/runs/x?tab=logs") == "/runs/x?tab=logs"
        assert re.match("/", safe_path("/"))
