"""Users, tokens, logins, the audit log."""

from __future__ import annotations

import json
import re

import httpx
import pytest

from tests.server.conftest import client_at, run_spec

PASSWORD = "a long and good one"


@pytest.fixture
def ann(api):
    """A contributor with a password; → a client with her token."""
    api.record.people.add("ann", "contributor", PASSWORD, "test")
    return api.tcp(api.record.people.make_token("ann", "laptop", 600)["token"])


@pytest.fixture
def browser(api):
    """A client that keeps cookies and says where it comes from, as browsers do."""
    origin = f"http://127.0.0.1:{api.port}"
    with client_at(origin, headers={"Origin": origin}) as client:
        yield client


class TestUsers:
    def test_are_added_listed_changed_and_removed(self, api):
        made = api.owner.post("/users", json={"name": "Bob", "role": "reader", "password": PASSWORD})
        assert made.status_code == 201
        assert made.json()["role"] == "reader"
        assert made.json()["has_password"]
        assert made.json()["created_by"] == "owner"
        assert [u["name"] for u in api.owner.get("/users").json()["users"]] == ["Bob"]
        assert api.owner.post("/users", json={"name": "bob"}).status_code == 409
        assert api.owner.patch("/users/bob", json={"role": "contributor"}).json()["role"] == "contributor"
        assert api.owner.patch("/users/bob", json={}).status_code == 400
        assert api.owner.delete("/users/BOB").status_code == 200
        assert api.owner.get("/users/Bob").status_code == 404

    @pytest.mark.parametrize(
        "body",
        [
            {"name": "owner"},
            {"name": "a b"},
            {"name": "-x"},
            {"name": ""},
            {"name": "x" * 65},
            {"name": "ok", "role": "king"},
            {"name": "ok", "password": "short"},
        ],
    )
    def test_what_is_not_allowed_is_said(self, api, body):
        response = api.owner.post("/users", json=body)
        assert response.status_code == 400, response.text
        assert body.get("password", "no password") not in response.text
        assert api.owner.get("/users").json()["users"] == []

    def test_nothing_secret_is_stored_or_shown(self, api, ann, paths):
        token = ann.headers["Authorization"].split()[1]
        shown = json.dumps([api.owner.get("/users").json(), api.owner.get("/user-tokens").json()])
        with api.record.database.read() as conn:
            stored = repr([conn.exec_driver_sql(f"SELECT * FROM {t}").all() for t in ("users", "user_tokens")])
        for text in (shown, stored):
            assert token not in text
            assert token[4:] not in text
            assert PASSWORD not in text
        assert "scrypt$" in stored
        assert "scrypt" not in shown


class TestTokens:
    def test_a_new_role_counts_at_once_and_removal_ends_them(self, api, ann):
        assert ann.put("/experiments/birds").status_code == 200
        api.owner.patch("/users/ann", json={"role": "reader"})
        refused = ann.put("/experiments/birds")
        assert refused.status_code == 403
        assert "reader" in refused.json()["error"]["message"]
        assert "contributor" in refused.json()["error"]["message"]
        assert ann.get("/experiments").status_code == 200
        api.owner.delete("/users/ann")
        assert ann.get("/experiments").status_code == 401

    def test_last_use_is_told_and_revoking_counts_at_once(self, api, ann):
        made = ann.post("/user-tokens", json={"name": "ci", "days": 1}).json()
        other = api.tcp(made["token"])
        assert made["token"].startswith("rku_")
        assert made["last_used_utc"] is None
        assert other.get("/me").json() == {"kind": "user", "name": "ann", "role": "contributor", "run_id": None}
        listed = {t["name"]: t for t in ann.get("/user-tokens").json()["tokens"]}
        assert listed["ci"]["last_used_utc"]
        assert "token" not in listed["ci"]
        assert other.delete(f"/user-tokens/{made['id']}").status_code == 200
        assert other.get("/me").status_code == 401

    def test_expire(self, api, ann):
        with api.record.database.write() as tx:
            tx.conn.exec_driver_sql("UPDATE user_tokens SET expires_utc = '2020-01-01T00:00:00.000000Z'")
        api.record.people._forget()
        refused = ann.get("/me")
        assert refused.status_code == 401
        assert "expired" in refused.json()["error"]["message"]

    @pytest.mark.parametrize("days", [0, -1, 100000])
    def test_have_an_end(self, ann, days):
        assert ann.post("/user-tokens", json={"days": days}).status_code == 400

    def test_of_others_are_the_owners_to_see(self, api, ann):
        api.record.people.add("bob", "owner", None, "test")
        bob = api.tcp(api.record.people.make_token("bob", "x", 600)["token"])
        assert ann.get("/user-tokens", params={"user": "bob"}).status_code == 403
        assert ann.post("/user-tokens", json={"user": "bob"}).status_code == 403
        theirs = bob.get("/user-tokens").json()["tokens"]
        assert {t["user"] for t in theirs} == {"ann", "bob"}
        mine = next(t["id"] for t in theirs if t["user"] == "bob")
        assert ann.delete(f"/user-tokens/{mine}").status_code == 404
        assert bob.post("/user-tokens", json={"user": "ann"}).json()["user"] == "ann"

    def test_as_the_password_of_basic(self, api, ann):
        token = ann.headers["Authorization"].split()[1]
        assert httpx.get(
            f"http://127.0.0.1:{api.port}/api/v1/me", auth=("ann", token), timeout=60, trust_env=False
        ).json()["name"] == "ann"  # fmt: skip

    def test_a_run_is_submitted_by_its_user(self, ann):
        assert ann.post("/runs", json=run_spec("r")).json()["submitted_by"] == "ann"


class TestLoginPage:
    def test_in_and_out(self, api, ann, browser):
        assert browser.get("/").headers["location"] == "/login"
        page = browser.get("/login")
        assert page.status_code == 200
        assert 'autocomplete="current-password"' in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        entered = browser.post("/login", data={"name": "Ann", "password": PASSWORD})
        assert entered.status_code == 303
        assert entered.headers["location"] == "/"
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert "secure" not in cookie
        assert "path=/" in cookie
        assert browser.get("/").status_code == 200
        assert browser.get("/api/v1/me").json()["name"] == "ann"
        assert browser.put("/api/v1/experiments/birds").status_code == 200
        session = browser.cookies["rookery_session"]
        assert browser.post("/logout").headers["location"] == "/login"
        assert "rookery_session" not in browser.cookies
        assert browser.get("/api/v1/me", headers={"Cookie": f"rookery_session={session}"}).status_code == 401

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {},
        ],
    )
    def test_another_site_changes_nothing_with_the_cookie(self, api, ann, browser, headers):
        browser.post("/login", data={"name": "ann", "password": PASSWORD})
        cookie = {"Cookie": f"rookery_session={browser.cookies['rookery_session']}"}
        with client_at(str(browser.base_url)) as site:
            assert site.put("/api/v1/experiments/birds", headers={**cookie, **headers}).status_code == 403
            assert site.post("/logout", headers={**cookie, **headers}).status_code == 403
            assert site.post("/login", data={"name": "ann", "password": PASSWORD}, headers=headers).status_code == 403
            assert site.get("/api/v1/runs", headers={**cookie, **headers}).status_code == 200
        assert api.owner.get("/experiments").json()["experiments"] == []
        assert browser.get("/api/v1/me").status_code == 200

    def test_same_origin_without_origin_is_known_by_fetch_metadata(self, api, ann, browser):
        browser.post("/login", data={"name": "ann", "password": PASSWORD})
        headers = {"Cookie": f"rookery_session={browser.cookies['rookery_session']}", "Sec-Fetch-Site": "same-origin"}
        url = f"http://127.0.0.1:{api.port}/api/v1/experiments/birds"
        assert httpx.put(url, headers=headers, timeout=60, trust_env=False).status_code == 200

    def test_a_wrong_password_says_neither_which_nor_what(self, api, ann, browser):
        texts = []
        for name in ("ann", "nobody-of-that-name"):
            refused = browser.post("/login", data={"name": name, "password": "wr0ng-<b>"})
            assert refused.status_code == 401
            assert 'role="alert"' in refused.text
            texts.append(re.sub(name, "NAME", refused.text))
        assert texts[0] == texts[1]
        assert "wr0ng" not in texts[0]

    def test_names_from_outside_are_escaped(self, browser):
        page = browser.post("/login", data={"name": '"><script>x</script>', "password": "y"})
        assert "<script>" not in page.text

    def test_a_password_that_is_changed_ends_sessions_and_no_tokens(self, api, ann, browser):
        browser.post("/login", data={"name": "ann", "password": PASSWORD})
        wrong = ann.put("/me/password", json={"old": "not it at all", "new": "another good one"})
        assert wrong.status_code == 403
        assert ann.put("/me/password", json={"old": PASSWORD, "new": "another good one"}).status_code == 200
        assert browser.get("/api/v1/me").status_code == 401
        assert ann.get("/me").status_code == 200

    def test_sessions_as_json(self, api, ann, browser):
        made = browser.post("/api/v1/session", json={"name": "ann", "password": PASSWORD})
        assert made.status_code == 201
        assert set(made.json()) == {"name", "role", "expires_utc"}
        assert browser.get("/api/v1/me").json()["name"] == "ann"
        assert browser.delete("/api/v1/session").status_code == 200
        assert browser.get("/api/v1/me").status_code == 401
        token = api.tcp().post("/session/token", json={"name": "ann", "password": PASSWORD}).json()["token"]
        assert api.tcp(token).get("/me").json()["name"] == "ann"


class TestFailedLogins:
    def test_are_slowed_down_with_growing_pauses(self):
        from rookery.server import tries

        now = [1000.0]
        limit = tries.Tries(lambda: now[0])
        for _ in range(tries.FREE["pair"]):
            limit.check("10.0.0.1", "ann")
            limit.failed("10.0.0.1", "Ann")
        pauses = []
        for _ in range(12):
            with pytest.raises(tries.TooManyTriesError) as told:
                limit.check("10.0.0.1", "ann")
            pauses.append(told.value.details["retry_after_s"])
            now[0] += pauses[-1]
            limit.check("10.0.0.1", "ann")
            limit.failed("10.0.0.1", "ann")
        assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
        limit.check("10.0.0.2", "ann")  # she herself, elsewhere
        now[0] += tries.FORGOTTEN_S + 1
        limit.check("10.0.0.1", "ann")

    def test_an_address_that_tries_many_names_waits_too(self):
        from rookery.server import tries

        limit = tries.Tries()
        for n in range(tries.FREE["address"]):
            limit.check("10.0.0.1", f"user{n}")
            limit.failed("10.0.0.1", f"user{n}")
        with pytest.raises(tries.TooManyTriesError):
            limit.check("10.0.0.1", "somebody else")

    def test_memory_is_bounded(self):
        from rookery.server import tries

        limit = tries.Tries()
        for n in range(tries.MOST):
            limit.failed(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}", "x")
        assert len(limit._failures) <= tries.MOST

    def test_over_http(self, api, ann, monkeypatch):
        # The first pause is a second: on a busy machine it would be over before the next request.
        monkeypatch.setattr(api.app.state.services.tries, "_clock", lambda: 1000.0)
        client = api.tcp()
        for _ in range(5):
            assert client.post("/session/token", json={"name": "ann", "password": "wrong one"}).status_code == 401
        held = client.post("/session/token", json={"name": "ann", "password": PASSWORD})
        assert held.status_code == 429
        assert int(held.headers["Retry-After"]) >= 1
        assert held.json()["error"]["code"] == "too_many_tries"


class TestAudit:
    def test_tells_who_did_what_and_no_reads(self, api, ann):
        ann.put("/experiments/birds")
        ann.get("/experiments")
        ann.post("/webhooks", json={"url": "http://x/", "events": ["run.failed"]})
        api.owner.patch("/users/ann", json={"role": "reader"})
        api.tcp().post("/session/token", json={"name": "ann", "password": "wrong one"})
        entries = api.owner.get("/audit").json()["entries"]
        assert [(e["who"], e["action"], e["status"]) for e in entries] == [
            ("ann", "login", 401),
            ("owner", "PATCH /users/{name}", 200),
            ("ann", "POST /webhooks", 403),
            ("ann", "PUT /experiments/{name}", 200),
        ]
        assert entries[3]["path"] == "/api/v1/experiments/birds"
        assert entries[3]["address"] == "127.0.0.1"
        assert entries[1]["address"] == "socket"
        assert all(e["request_id"] for e in entries)
        assert [e["seq"] for e in api.owner.get("/audit", params={"who": "owner"}).json()["entries"]] == [
            entries[1]["seq"]
        ]

    def test_pages(self, api, ann):
        for n in range(5):
            ann.put(f"/experiments/e{n}")
        first = api.owner.get("/audit", params={"limit": 3}).json()
        rest = api.owner.get("/audit", params={"limit": 3, "before": first["cursor"]}).json()
        assert len(first["entries"]) == 3
        assert len(rest["entries"]) == 2
        assert rest["cursor"] is None

    def test_what_runs_and_agents_do_is_not_in_it(self, api, token):
        api.run()
        client = api.tcp(token())
        assert client.post("/runs/run-1/records", json={"records": []}).status_code == 200
        assert client.patch("/runs/run-1", json={"tags": {"a": "b"}}).status_code == 200
        assert [e["action"] for e in api.owner.get("/audit").json()["entries"]] == ["POST /runs"]

    def test_is_bounded_and_survives_closing(self, paths):
        from rookery.record import Record
        from rookery.record.audit import Audit

        record = Record(paths)
        small = Audit(record.database, keep=10)
        for n in range(700):
            small.note("ann", f"POST /{n}", "/", 200, "x", "y")
        small.close()
        assert [e["action"] for e in small.page(1000)] == [f"POST /{n}" for n in range(699, 689, -1)]
        small.close()
        record.close()
