"""Updates that nobody notices, versions that share the traffic, several processes for one version."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time

import pytest

from tests.serve.conftest import LIMIT_S, ask, score

pytestmark = pytest.mark.slow


class TestUpdates:
    def test_twenty_under_load_without_an_error(self, coop):
        """Clients that keep their connection, and such that do not, ask without pause; each update is another answer."""
        found = coop.deploy(config={"environment_variables": {"MY_VERSION": "0"}})
        stop = threading.Event()
        statuses: list[int] = []
        seen: set[str] = set()

        def press() -> None:
            kept = http.client.HTTPConnection("127.0.0.1", found["port"], timeout=LIMIT_S)
            with contextlib.closing(kept):
                while not stop.is_set():
                    kept.request("POST", "/score", b"{}")
                    answer = kept.getresponse()
                    body = answer.read()
                    statuses.append(answer.status)
                    if answer.status == 200:
                        seen.add(json.loads(body)["version"])
                    once = ask(found["scoring_uri"], b"{}")
                    statuses.append(once.status)
                    time.sleep(0.002)

        failures: list[BaseException] = []

        def guarded() -> None:
            try:
                press()
            except BaseException as error:
                failures.append(error)

        clients = [threading.Thread(target=guarded) for _ in range(3)]
        for one in clients:
            one.start()
        try:
            for number in range(1, 21):
                change = {"config": {"environment_variables": {"MY_VERSION": str(number)}}}
                coop.ask("PATCH", "/endpoints/echo", change)
                if number % 4:  # every fourth is overtaken by the next
                    assert coop.settled()["operation"]["state"] == "Succeeded"
                    coop.until(lambda number=number: str(number) in seen, bool)
            assert coop.settled()["operation"]["state"] == "Succeeded"
            coop.until(lambda: "20" in seen, bool)
        finally:
            stop.set()
            for one in clients:
                one.join()
        assert not failures
        assert set(statuses) == {200}
        assert len(seen) >= 15
        left = coop.until(lambda: coop.ask("GET", "/endpoints/echo")["versions"][0], lambda v: len(v["replicas"]) == 1)
        assert left["revision"] == 21

    def test_a_request_under_way_is_finished_by_the_old_one(self, coop, tmp_path):
        found = coop.deploy(config={"environment_variables": {"MY_VERSION": "old"}})
        answered = []
        begun = tmp_path / "begun"
        asking = threading.Thread(target=lambda: answered.append(score(found, {"mark": str(begun), "sleep": 4})))
        asking.start()
        coop.until(begun.exists, bool)
        coop.ask("PATCH", "/endpoints/echo", {"config": {"environment_variables": {"MY_VERSION": "new"}}})
        coop.settled()
        assert score(found, {}).json()["version"] == "new"
        asking.join()
        assert answered[0].status == 200
        assert answered[0].json()["version"] == "old"

    def test_reload_and_changes_without_a_restart(self, coop):
        found = coop.deploy()
        pid = score(found, {}).json()["pid"]
        changed = coop.ask("PATCH", "/endpoints/echo", {"tags": {"a": "b"}, "auth_enabled": True})
        assert changed["tags"] == {"a": "b"}
        assert score(found, {}).status == 401
        key = coop.ask("GET", "/endpoints/echo/keys")["primary"]
        assert score(found, {}, Authorization=f"Bearer {key}").json()["pid"] == pid
        coop.ask("POST", "/endpoints/echo/reload")
        assert coop.settled()["operation"]["state"] == "Succeeded"
        assert score(found, {}, Authorization=f"Bearer {key}").json()["pid"] != pid


class TestVersions:
    def test_two_share_the_traffic(self, coop):
        coop.deploy(kind="aks", auth_enabled=False, config={"environment_variables": {"MY_VERSION": "a"}})
        other = {"inference": coop.script(), "models": [], "config": {"environment_variables": {"MY_VERSION": "b"}}}
        coop.ask("PUT", "/endpoints/echo/versions/treatment", {**other, "traffic": 50})
        found = coop.settled()
        assert [(v["name"], v["traffic"], v["is_default"]) for v in found["versions"]] == [
            ("default", 50.0, True),
            ("treatment", 50.0, False),
        ]
        counts = {"a": 0, "b": 0}
        for _ in range(200):
            answered = score(found, {})
            counts[answered.json()["version"]] += 1
            name = {"a": "default", "b": "treatment"}[answered.json()["version"]]
            assert answered.headers["x-rookery-endpoint-version"] == name
        assert min(counts.values()) > 50  # of 100 expected: one in 10^12 is below
        coop.ask("PUT", "/endpoints/echo/versions/treatment", {"traffic": 0})
        assert {score(found, {}).json()["version"] for _ in range(30)} == {"a"}
        coop.ask("PUT", "/endpoints/echo/versions/treatment", {"is_default": True})
        coop.ask("DELETE", "/endpoints/echo/versions/default")
        assert {score(found, {}).json()["version"] for _ in range(5)} == {"b"}

    def test_several_replicas(self, coop):
        found = coop.deploy(config={"num_replicas": 2})
        assert len(found["versions"][0]["replicas"]) == 2
        pids = set()
        lock = threading.Lock()

        def press() -> None:
            answered = score(found, {"sleep": 0.2}).json()
            with lock:
                pids.add(answered["pid"])

        def press_together() -> int:
            asking = [threading.Thread(target=press) for _ in range(6)]
            for one in asking:
                one.start()
            for one in asking:
                one.join()
            return len(pids)

        coop.until(press_together, lambda count: count == 2)  # again, where they have come one after the other
