"""Whatever is killed, the endpoint comes back, and what was not touched goes on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time

from rookery.client.client import Client
from tests.serve.conftest import LIMIT_S, ask, score


def keeper_pid(coop) -> int:
    with open(coop.paths.endpoint) as f:
        return json.load(f)["pid"]


def is_there(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def kill(coop, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    coop.until(lambda: is_there(pid), lambda there: not there)


def answering(coop, found) -> dict:
    """The answer, once there is one: while a process is replaced the address may be closed, or say 502."""

    def look():
        with contextlib.suppress(OSError):
            answered = score(found, {})
            return answered.json() if answered.status == 200 else None

    return coop.until(look, lambda answer: answer is not None)


class TestKill:
    def test_the_scoring_process(self, coop):
        found = coop.deploy()
        pid = score(found, {}).json()["pid"]
        kill(coop, pid)
        assert answering(coop, found)["pid"] != pid
        assert coop.healthy()["versions"][0]["replicas"][0]["restarts"] == 1
        assert score(found, {"exit": 3}).status == 502  # it dies over a request: that one has no answer
        assert answering(coop, found)["pid"] != pid

    def test_the_front_loads_no_model_again(self, coop):
        found = coop.deploy()
        pid = score(found, {}).json()["pid"]
        front = coop.front()["pid"]
        kill(coop, front)
        assert answering(coop, found)["pid"] == pid
        assert coop.front()["pid"] != front
        assert coop.healthy()["port"] == found["port"]

    def test_the_keeper_is_not_needed(self, coop):
        found = coop.deploy()
        pid = score(found, {}).json()["pid"]
        kill(coop, keeper_pid(coop))
        assert score(found, {}).json()["pid"] == pid
        kill(coop, pid)  # its front brings it back without a keeper
        again = answering(coop, found)["pid"]
        assert again != pid
        coop.client = Client.for_workspace(coop.paths.root)
        assert coop.healthy()["operation"]["state"] == "Succeeded"
        assert score(found, {}).json()["pid"] == again

    def test_the_keeper_while_it_deploys(self, coop):
        slow = coop.script("import time\ndef init():\n    time.sleep(1)\ndef run(data):\n    return 'up'\n")
        coop.deploy(wait=False, inference=slow)
        kill(coop, keeper_pid(coop))
        found = coop.settled()
        assert found["operation"]["state"] == "Succeeded", found
        assert score(found, {}).json() == "up"

    def test_all_of_them_at_once(self, coop):
        found = coop.deploy()
        pid = score(found, {}).json()["pid"]
        for one in (keeper_pid(coop), coop.front()["pid"], pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        found = coop.healthy()  # asking is what starts a keeper
        assert answering(coop, found)["pid"] != pid
        coop.ask("DELETE", "/endpoints/echo")

    def test_what_nobody_wants_any_more_ends(self, coop):
        """A workspace that is taken away, with its keeper: neither front nor scoring process stays."""
        found = coop.deploy()
        pids = [score(found, {}).json()["pid"], coop.front()["pid"]]
        kill(coop, keeper_pid(coop))
        os.unlink(coop.paths.served("echo").desired)
        for pid in pids:
            coop.until(lambda pid=pid: is_there(pid), lambda there: not there)


class TestUpdates:
    def test_twenty_under_load_without_an_error(self, coop):
        """Clients that keep their connection, and such that do not, ask without pause; each update is another answer."""
        found = coop.deploy(config={"environment_variables": {"MY_VERSION": "0"}})
        stop = threading.Event()
        statuses: list[int] = []
        seen: set[str] = set()

        def press() -> None:
            import http.client

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

    def test_a_request_under_way_is_finished_by_the_old_one(self, coop):
        found = coop.deploy(config={"environment_variables": {"MY_VERSION": "old"}})
        answered = []
        asking = threading.Thread(target=lambda: answered.append(score(found, {"sleep": 4})))
        asking.start()
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

        asking = [threading.Thread(target=press) for _ in range(6)]
        for one in asking:
            one.start()
        for one in asking:
            one.join()
        assert len(pids) == 2
