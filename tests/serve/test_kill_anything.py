"""Whatever is killed, the endpoint comes back, and what was not touched goes on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket

import pytest

from rookery.client.client import Client
from rookery.errors import EndpointError
from tests.serve.conftest import Coop, a_coop, score

pytestmark = pytest.mark.slow


@pytest.fixture
def coop(tmp_path, home):
    """Its own: what is killed here is nobody else's."""
    with a_coop(tmp_path) as made:
        yield made


def keeper_pid(coop) -> int:
    with open(coop.paths.endpoint) as f:
        return json.load(f)["pid"]


def is_there(pid: int) -> bool:
    """A process whose first thread is over still has its port and its locks while others are dying."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            is_over = f.read().rsplit(")", 1)[1].split()[0] in "ZX"
        return not is_over or len(os.listdir(f"/proc/{pid}/task")) > 1
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
        replicas = lambda: coop.ask("GET", "/endpoints/echo")["versions"][0]["replicas"]  # noqa: E731
        coop.until(replicas, lambda found: [one["restarts"] for one in found] == [1])
        assert score(found, {"exit": 3}).status == 502  # it dies over a request: that one has no answer
        assert answering(coop, found)["pid"] != pid

    def test_the_front_loads_no_model_again(self, coop):
        found = coop.deploy()
        pid = score(found, {}).json()["pid"]
        front = coop.front()["pid"]
        kill(coop, front)
        assert answering(coop, found)["pid"] == pid
        coop.until(lambda: coop.front()["pid"], lambda now: now != front)
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

    def test_a_port_that_somebody_else_has_taken_meanwhile(self, coop):
        found = coop.deploy()
        pid = score(found, {}).json()["pid"]
        kill(coop, keeper_pid(coop))
        kill(coop, coop.front()["pid"])
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", found["port"]))
            taken.listen()
            look = lambda: coop.ask("GET", "/endpoints/echo")  # noqa: E731
            moved = coop.until(look, lambda e: e["port"] != found["port"] and e["state"] == "Healthy")
            assert answering(coop, moved)["pid"] == pid
            with pytest.raises(EndpointError, match="cannot be opened"):
                coop.deploy("another", port=found["port"])

    def test_what_nobody_wants_any_more_ends(self, coop):
        """A workspace that is taken away, with its keeper: neither front nor scoring process stays."""
        found = coop.deploy()
        pids = [score(found, {}).json()["pid"], coop.front()["pid"]]
        kill(coop, keeper_pid(coop))
        os.unlink(coop.paths.served("echo").desired)
        for pid in pids:
            coop.until(lambda pid=pid: is_there(pid), lambda there: not there)


class TestTls:
    def test_a_server_that_speaks_tls_has_endpoints_that_do(self, tmp_path, home):
        """`local` ones are this machine's alone and stay as they are."""
        import ssl
        import subprocess
        import sys
        import urllib.request

        from rookery.testing.certificates import make_certificate
        from tests.serve.conftest import IDENTITY

        made = make_certificate(str(tmp_path), "server")
        root = tmp_path / "a work's space"
        root.mkdir()
        (root / "workspace.json").write_text(json.dumps(IDENTITY))
        ready, told = os.pipe()
        command = [sys.executable, "-m", "rookery.server", "--workspace", str(root), "--ready-fd", str(told)]
        keeper = subprocess.Popen([*command, "--tls-cert", made.cert, "--tls-key", made.key], pass_fds=(told,))
        try:
            os.close(told)
            assert os.read(ready, 1) == b"1"
            os.close(ready)
            with_tls = Coop(str(root), tmp_path)
            found = with_tls.deploy(kind="aci")
            assert found["scoring_uri"].startswith("https://127.0.0.1:")
            trust = ssl.create_default_context(cafile=made.cert)
            with urllib.request.urlopen(found["scoring_uri"], b"{}", timeout=60, context=trust) as answer:
                assert json.loads(answer.read())["asked"] == {}
            assert with_tls.client.raw("GET", "/service/echo")[2] == b"Healthy"
            with_tls.ask("DELETE", "/endpoints/echo")
            with_tls.client.close()
        finally:
            keeper.terminate()
            keeper.wait()
