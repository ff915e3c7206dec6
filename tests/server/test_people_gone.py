"""Whoever is removed, or loses a token or a role, has lost everything that came of it: at once, wherever it is kept."""

from __future__ import annotations

import threading

import httpx
import pytest

from tests.server.conftest import client_at
from tests.server.test_people import PASSWORD, browser  # noqa: F401  (a fixture)

SEARCH = "/api/2.0/mlflow/experiments/search"
CREATE = "/api/2.0/mlflow/experiments/create"


@pytest.fixture
def bob(api):
    """A contributor → (client with a token of his, that token's id)."""
    api.record.people.add("bob", "contributor", PASSWORD, "test")
    made = api.record.people.make_token("bob", "laptop", 600)
    return api.tcp(made["token"]), made["id"]


@pytest.fixture
def tracking(api, bob):
    """What an MLflow client sends that was given its address with bob's token."""
    token = bob[0].post("/tokens/tracking").json()["token"]
    with client_at(f"http://127.0.0.1:{api.port}", headers={"Authorization": f"Bearer {token}"}) as client:
        yield client


def can_track(client, name="birds"):
    """(status of a read, status of a write)."""
    read = client.post(SEARCH, json={"max_results": 5})
    return read.status_code, client.post(CREATE, json={"name": name}).status_code


class TestTrackingToken:
    def test_tracks_and_nothing_else(self, api, tracking):
        assert can_track(tracking) == (200, 200)
        assert tracking.get("/api/v1/runs").status_code == 403

    @pytest.mark.parametrize("role", ["owner", "contributor"])
    def test_of_an_owner_does_not_become_the_owner(self, api, bob, tracking, role):
        api.owner.patch("/users/bob", json={"role": role})
        assert tracking.get("/api/v1/users").status_code == 403
        assert tracking.post("/api/v1/keeper/stop").status_code == 403
        assert can_track(tracking) == (200, 200)

    def test_ends_with_its_user(self, api, bob, tracking):
        assert api.owner.delete("/users/bob").status_code == 200
        assert can_track(tracking) == (401, 401)
        assert "get_mlflow_tracking_uri" in tracking.post(SEARCH, json={}).json()["message"]

    def test_is_not_a_later_user_of_that_name(self, api, bob, tracking):
        api.owner.delete("/users/bob")
        api.owner.post("/users", json={"name": "bob", "role": "owner"})
        assert can_track(tracking) == (401, 401)

    def test_ends_with_the_token_it_was_asked_for_with(self, api, bob, tracking):
        other = api.record.people.make_token("bob", "another", 600)
        assert api.owner.delete(f"/user-tokens/{other['id']}").status_code == 200
        assert can_track(tracking) == (200, 200)
        assert bob[0].delete(f"/user-tokens/{bob[1]}").status_code == 200
        assert can_track(tracking) == (401, 401)

    def test_may_what_its_user_may_now(self, api, bob, tracking):
        api.owner.patch("/users/bob", json={"role": "reader"})
        assert can_track(tracking) == (200, 403)
        api.owner.patch("/users/bob", json={"role": "contributor"})
        assert can_track(tracking, "turkeys") == (200, 200)

    def test_one_that_names_a_user_and_no_token_counts_for_nothing(self, api, bob):
        """As they were made by versions that did not tie them to anything."""
        token = api.record.tokens.make("", "track", by="bob")
        answer = httpx.post(
            f"http://127.0.0.1:{api.port}{SEARCH}",
            json={},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            trust_env=False,
        )
        assert answer.status_code == 401

    def test_the_owner_s_stays(self, api, bob):
        token = api.owner.post("/tokens/tracking").json()["token"]
        api.owner.delete("/users/bob")
        with client_at(f"http://127.0.0.1:{api.port}", headers={"Authorization": f"Bearer {token}"}) as client:
            assert can_track(client) == (200, 200)


class TestRemovedUser:
    def test_has_no_token_session_or_tracking_token_left(self, api, bob, tracking, browser):  # noqa: F811
        assert browser.post("/login", data={"name": "bob", "password": PASSWORD}).status_code == 303
        assert browser.get("/api/v1/me").json()["name"] == "bob"
        from_session = browser.post("/api/v1/tokens/tracking").json()["token"]
        api.owner.delete("/users/bob")
        assert bob[0].get("/me").status_code == 401
        assert browser.get("/api/v1/me").status_code == 401
        assert can_track(tracking) == (401, 401)
        tracking.headers["Authorization"] = f"Bearer {from_session}"
        assert can_track(tracking) == (401, 401)
        assert browser.post("/login", data={"name": "bob", "password": PASSWORD}).status_code == 401

    def test_a_logout_ends_what_the_session_gave_out(self, api, bob, tracking, browser):  # noqa: F811
        browser.post("/login", data={"name": "bob", "password": PASSWORD})
        token = browser.post("/api/v1/tokens/tracking").json()["token"]
        tracking.headers["Authorization"] = f"Bearer {token}"
        assert can_track(tracking) == (200, 200)
        browser.post("/logout")
        assert can_track(tracking) == (401, 401)


class TestOpenStream:
    @pytest.mark.parametrize("path", ["/events", "/runs/run-1/events"])
    def test_of_a_removed_user_ends(self, api, bob, path):
        api.run()
        ended, begun = threading.Event(), threading.Event()
        seen = []

        def read():
            with bob[0].stream("GET", path, params={"after": 0}, timeout=60) as response:
                for line in response.iter_lines():
                    begun.set()
                    seen.append(line)
            ended.set()

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        assert begun.wait(60)
        api.owner.delete("/users/bob")
        api.owner.patch("/runs/run-1", json={"tags": {"secret": "told to those who may see it"}})
        assert ended.wait(60)
        thread.join(60)
        assert seen
        assert not any("secret" in line for line in seen)

    def test_of_another_user_goes_on(self, api, bob):
        api.record.people.add("cleo", "reader", None, "test")
        cleo = api.tcp(api.record.people.make_token("cleo", "laptop", 600)["token"])
        api.run()
        with cleo.stream("GET", "/events", params={"after": 0}, timeout=60) as response:
            lines = response.iter_lines()
            assert next(lines) == ": rookery"
            api.owner.delete("/users/bob")
            api.owner.patch("/runs/run-1", json={"tags": {"secret": "yes"}})
            assert any("secret" in line for line in lines)  # else it waits, and times out
