"""The spool: the same API through files, with the agent's own client on the other side."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from functools import partial

import pytest

from rookery.agent.keeper import Keeper
from rookery.agent.relay import Relay, listen
from rookery.agent.spool import SpoolFolder
from rookery.client.client import Client
from rookery.errors import AuthenticationError, ConflictError
from rookery.record import Record
from rookery.server import spool as spool_module
from rookery.spec.job import Job, KeeperAddress
from rookery.spec.spool import AnswerHead, RequestHead, pack, unpack
from rookery.worker.doorbell import Doorbell
from rookery.worker.http import HttpClient, UnixHTTPConnection
from tests.server.conftest import run_spec

LOG = "azureml-logs/70_driver_log.txt"


def wait_for(condition, what="the condition"):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come true")


@pytest.fixture
def pump(api):
    """The keeper's side, running."""
    spool = api.app.state.services.spool
    wait_for(lambda: spool._loop is not None)
    spool.ensure()
    yield spool
    api.app.state.services.leave()
    spool._thread.join(60)
    assert not spool._thread.is_alive()


@pytest.fixture
def folder(api, pump):
    api.run()
    return api.record.paths.spool_of("run-1", 1, 0)


@pytest.fixture
def agent(api, folder, tmp_path):
    """What an agent has: a Keeper that talks through files."""
    job = Job("run-1", 1, 0, "run", api.record.tokens.make("run-1", "agent"), KeeperAddress(spool=folder))
    return Keeper(job, str(tmp_path), lambda text: None)


def client_of(folder, token):
    return HttpClient(partial(SpoolFolder(folder).connection, 60.0), token)


def poll_into(told, agent):
    """Asks for commands until there are some: a question is open for 25 s at most, and a busy machine may need longer."""
    while not told:
        answer = agent.call("GET", "commands", {"after": 0})
        told.extend([answer] if answer["commands"] else [])


class TestExchange:
    def test_every_route_of_an_agent(self, api, agent):
        assert agent.call("POST", "hello", body={"protocol": 1})["cancel"] is False
        assert agent.call("POST", "running", body={"ranks": []}) == {}
        assert agent.call("POST", "log", {"name": LOG, "offset": 0}, b"chick\n\x00\xff") == {"ack": 8}
        body = {"journal": "1-aa.jnl", "from": 0, "to": 9, "records": [["m", None, "loss", 0.5, None, 1.0]]}
        assert agent.call("POST", "journal", body=body) == {"ack": 9}
        assert agent.call("POST", "journal", body=body) == {"ack": 9}  # again: exactly once
        assert agent.call("POST", "beat", body={"samples": []})["cancel"] is False
        assert agent.call("POST", "outcome", body={"result": "completed", "cause": None}) == {}
        assert agent.call("POST", "finished", body={"warnings": []}) == {}
        assert api.owner.get("/runs/run-1").json()["status"] == "Completed"
        assert api.owner.get("/runs/run-1/metrics").json()["metrics"][0]["values"] == [0.5]
        with pytest.raises(ConflictError):
            agent.call("POST", "beat", body={})

    @pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 5_000_000])
    def test_bodies_of_any_size_in_both_directions(self, api, agent, tmp_path, size):
        data = os.urandom(size)
        (tmp_path / "up").write_bytes(data)
        sha256 = hashlib.sha256(data).hexdigest()
        agent.upload("/runs/run-1/artifacts/outputs/it's%20big", str(tmp_path / "up"), sha256)
        agent.download("/runs/run-1/artifacts/outputs/it's%20big", str(tmp_path / "down"))
        assert (tmp_path / "down").read_bytes() == data
        assert api.owner.get("/runs/run-1/artifacts").json()["artifacts"][0]["sha256"] == sha256

    def test_nothing_is_left_of_what_is_answered(self, agent, folder, tmp_path):
        (tmp_path / "up").write_bytes(bytes(300_000))
        agent.upload("/runs/run-1/artifacts/a", str(tmp_path / "up"), hashlib.sha256(bytes(300_000)).hexdigest())
        agent.download("/runs/run-1/artifacts/a", str(tmp_path / "down"))
        agent.request("GET", "/runs/run-1")
        wait_for(lambda: os.listdir(folder) == [], "an empty folder")
        assert os.stat(folder).st_mode & 0o777 == 0o700

    def test_many_at_a_time_beside_a_long_poll(self, api, agent):
        agent.call("POST", "hello", body={})
        agent.call("POST", "running", body={"ranks": []})
        told = []
        poll = threading.Thread(target=poll_into, args=(told, agent), daemon=True)
        poll.start()

        def ship(number):
            for offset in range(0, 2000, 100):
                agent.call("POST", "log", {"name": f"logs/{number}.txt", "offset": offset}, b"%099d\n" % offset)

        threads = [threading.Thread(target=ship, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not told
        for number in range(6):
            expected = b"".join(b"%099d\n" % offset for offset in range(0, 2000, 100))
            assert api.record.logs.read("run-1", f"logs/{number}.txt", 0, 9999) == expected
        api.owner.post("/runs/run-1/cancel")
        poll.join(60)
        assert told[0]["commands"][0]["command"] == "cancel"

    def test_authentication_is_that_of_the_agents_listener(self, api, folder):
        assert client_of(folder, None).request("GET", "/hello")["service"] == "rookery"
        with pytest.raises(AuthenticationError, match="token of a run"):
            client_of(folder, None).request("GET", "/runs")
        with open(api.record.paths.token) as f, pytest.raises(AuthenticationError, match="not the owner's"):
            client_of(folder, f.read()).request("GET", "/runs")
        api.run("other")
        with pytest.raises(AuthenticationError):
            client_of(folder, api.record.tokens.make("other", "agent")).request(
                "POST", "/agent/run-1/1/0/hello", body={}
            )

    def test_folders_that_others_could_write_to_are_left_alone(self, api, pump, folder):
        client_of(folder, None).request("GET", "/hello")
        open_one = api.record.paths.spool_of("run-1", 1, 1)
        os.mkdir(open_one)
        os.chmod(open_one, 0o770)
        spool = SpoolFolder(open_one)
        spool.place("aa-1", "req", pack(RequestHead("GET", "/api/v1/hello")))
        client_of(folder, None).request("GET", "/hello")
        assert os.listdir(open_one) == ["aa-1.req"]

    def test_a_request_that_cannot_be_read_is_answered(self, folder, pump):
        spool = SpoolFolder(folder)
        spool.make()
        for number, text in enumerate((b"", b"{}\n", b"\xff\xfe", b'{"method": 1}\n')):
            spool.place(f"aa-{number}", "req", text)
            answer = spool.path(f"aa-{number}", "ans")
            wait_for(partial(os.path.exists, answer), "an answer")
            with open(answer, "rb") as f:
                assert unpack(AnswerHead, f.read())[0].status == 400

    def test_what_nobody_foresaw_is_an_answer_too(self, folder, pump):
        spool = SpoolFolder(folder)
        spool.make()
        spool.place("aa-1", "req", pack(RequestHead("GET", "/api/v1/hello", (("X-\u2603", "snow"),))))
        wait_for(partial(os.path.exists, spool.path("aa-1", "ans")), "an answer")
        with open(spool.path("aa-1", "ans"), "rb") as f:
            head, body = unpack(AnswerHead, f.read())
        assert head.status == 500
        assert json.loads(body)["error"]["code"] == "service"

    def test_a_large_request_that_is_refused_has_its_reason(self, agent, tmp_path):
        (tmp_path / "up").write_bytes(bytes(300_000))
        with pytest.raises(Exception, match=r"(?i)sha-?256|hash"):
            agent.upload("/runs/run-1/artifacts/a", str(tmp_path / "up"), "0" * 64)

    @pytest.mark.slow
    def test_waiting_costs_nothing(self, agent):
        agent.call("POST", "hello", body={})
        agent.call("POST", "running", body={"ranks": []})
        poll = threading.Thread(target=lambda: agent.call("GET", "commands", {"after": 0}), daemon=True)
        before = time.process_time()
        began = time.monotonic()
        poll.start()
        poll.join(2.0)
        used = (time.process_time() - before) / (time.monotonic() - began)
        assert used < 0.2  # the whole of this process, with the keeper in it


class TestWithoutBells:
    """As on a network file system, where nobody tells what other machines write."""

    @pytest.fixture(autouse=True)
    def deaf(self, monkeypatch):
        monkeypatch.setattr(Doorbell, "add", lambda self, folder, files=True: -1)

    def test_both_sides_look_for_themselves(self, api, agent):
        assert agent.call("POST", "hello", body={})["cancel"] is False
        agent.call("POST", "running", body={"ranks": []})
        told = []
        poll = threading.Thread(target=poll_into, args=(told, agent), daemon=True)
        poll.start()
        for offset in range(0, 50, 10):
            assert agent.call("POST", "log", {"name": LOG, "offset": offset}, b"123456789\n") == {"ack": offset + 10}
        api.owner.post("/runs/run-1/cancel")
        poll.join(60)
        assert told[0]["commands"][0]["command"] == "cancel"
        assert api.record.logs.read("run-1", LOG, 0, 99) == b"123456789\n" * 5


class TestBeginning:
    def test_it_is_served_as_soon_as_a_target_talks_this_way(self, api):
        spool = api.app.state.services.spool
        wait_for(lambda: spool._loop is not None)
        assert not os.path.exists(api.record.paths.spool)
        assert spool._thread is None
        api.record.compute.put("far", {"engine": "slurm", "reach": {"transport": "http"}})
        api.record.compute.put("farther", {"engine": "slurm", "reach": {"transport": "spool"}})
        wait_for(lambda: spool._thread is not None, "a thread that looks for requests")
        assert os.stat(api.record.paths.spool).st_mode & 0o777 == 0o700
        folder = api.record.paths.spool_of("run-1", 1, 0)
        assert client_of(folder, None).request("GET", "/hello")["service"] == "rookery"


class TestStreams:
    @pytest.fixture
    def relayed(self, api, agent, short_folder):
        """A rank's client, through the agent's relay and the spool."""
        path = os.path.join(short_folder, "relay.sock")
        relay = Relay(listen(path), agent, None, api.record.tokens.make("run-1"))
        relay.start()
        client = Client(lambda: UnixHTTPConnection(path, 30))
        yield client
        client.close()
        relay.stop()

    def test_ranks_requests_are_relayed(self, api, relayed):
        assert relayed.request("GET", "/runs/run-1")["id"] == "run-1"
        relayed.request("PATCH", "/runs/run-1", body={"tags": {"a": "b"}})
        assert api.owner.get("/runs/run-1").json()["tags"] == {"a": "b"}
        assert not relayed.exists("/snapshots/" + "0" * 64)

    def test_events_come_as_they_happen(self, api, agent, relayed):
        agent.call("POST", "hello", body={})
        with relayed.stream("/runs/run-1/events", {"until": "end", "kinds": "status"}) as events:
            seen = []
            for event in events:
                seen.append(event.data["status"] if event.kind == "status" else event.kind)
                if seen[-1] == "Queued":
                    agent.call("POST", "running", body={"ranks": []})
                if seen[-1] == "Running":
                    agent.call("POST", "outcome", body={"result": "completed", "cause": None})
                    agent.call("POST", "finished", body={"warnings": []})
        assert seen[-3:] == ["Finalizing", "Completed", "end"]

    def test_a_stream_that_nobody_reads_any_more_ends(self, api, relayed, folder):
        stream = relayed.stream("/runs/run-1/events")
        next(stream)
        assert api.app.state.services.activity.open_streams == 1
        stream.close()
        stream.__exit__()
        relayed.request("PATCH", "/runs/run-1", body={"tags": {"wake": "up"}})  # something to pass on, to nobody
        wait_for(lambda: api.app.state.services.activity.open_streams == 0, "the end of the stream")
        wait_for(lambda: os.listdir(folder) == [], "an empty folder")


class TestSweep:
    def test_folders_of_attempts_that_are_over_go(self, api, pump, agent, folder, monkeypatch):
        monkeypatch.setattr(spool_module, "QUIET_S", 0.0)
        agent.call("POST", "hello", body={})
        api.run("live")
        live, stranger = api.record.paths.spool_of("live", 1, 0), api.record.paths.spool_of("gone.x", 3, 0)
        for path in (live, stranger):
            os.mkdir(path, 0o700)
        pump._sweep()
        assert os.path.isdir(folder)
        assert os.path.isdir(live)
        assert not os.path.exists(stranger)
        agent.call("POST", "outcome", body={"result": "completed", "cause": None})
        agent.call("POST", "finished", body={"warnings": []})

        def is_swept():
            pump._sweep()  # not while the last answer is still being put away
            return not os.path.exists(folder)

        wait_for(is_swept, "the end of the folder")
        with pytest.raises(ConflictError):  # an agent that comes late is told so
            agent.call("POST", "beat", body={})

    def test_one_that_was_used_a_moment_ago_stays(self, api, pump, agent, folder):
        agent.call("POST", "hello", body={})
        agent.call("POST", "outcome", body={"result": "completed", "cause": None})
        agent.call("POST", "finished", body={"warnings": []})
        pump._sweep()
        assert os.path.isdir(folder)


@pytest.mark.slow
class TestRestart:
    """What a killed keeper had begun with."""

    def leave_behind(self, paths, token, method, target, body=b""):
        folder = SpoolFolder(paths.spool_of("run-1", 1, 0))
        folder.make()
        head = RequestHead(method, target, (("Authorization", "Bearer " + token),), len(body))
        folder.place("aa-00000001", "run", pack(head, body))
        return folder

    def answer(self, folder):
        path = folder.path("aa-00000001", "ans")
        wait_for(partial(os.path.exists, path), "an answer")
        with open(path, "rb") as f:
            return unpack(AnswerHead, f.read())

    @pytest.fixture
    def begun(self, keepers, paths):
        """Makes a workspace with a run, whose keeper is dead; gives its tokens."""
        process, _ = keepers.start()
        with keepers.client() as client:
            assert client.post("/runs", json=run_spec()).status_code == 201
        process.kill()
        process.wait(60)
        record = Record(paths)
        yield record.tokens.make("run-1", "agent")
        record.close()

    def test_what_can_be_done_again_is_done_again(self, keepers, paths, begun):
        target = f"/api/v1/agent/run-1/1/0/log?name={LOG}&offset=0"
        folder = self.leave_behind(paths, begun, "POST", target, b"chick\n")
        keepers.start()
        head, body = self.answer(folder)
        assert (head.status, json.loads(body)) == (200, {"ack": 6})
        # The answer is placed first, so that a keeper that dies between the two does nothing twice.
        wait_for(lambda: not os.path.exists(folder.path("aa-00000001", "run")), "the request to be gone")

    def test_what_cannot_is_refused_in_words(self, keepers, paths, begun):
        body = json.dumps({"records": [["m", None, "loss", 1.0, None, 1.0]]}).encode()
        folder = self.leave_behind(paths, begun, "POST", "/api/v1/runs/run-1/records", body)
        keepers.start()
        head, text = self.answer(folder)
        assert head.status == 503
        assert json.loads(text)["error"]["code"] == "keeper_unavailable"
        assert "not known whether" in json.loads(text)["error"]["message"]
        with keepers.client() as client:
            assert client.get("/runs/run-1/metrics").json()["metrics"] == []

    def test_a_stream_is_over_and_can_be_asked_for_again(self, keepers, paths, begun):
        folder = self.leave_behind(paths, begun, "GET", "/api/v1/runs/run-1/events")
        folder.place("aa-00000001", "ans", pack(AnswerHead(200, "OK", (), 0, False, True)))
        keepers.start()
        wait_for(lambda: os.path.exists(folder.path("aa-00000001", "end")))
