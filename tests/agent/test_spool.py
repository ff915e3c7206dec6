"""Which way an agent takes to its keeper, and the files of one that has no other."""

from __future__ import annotations

import os
import socket
import threading
import time
from functools import partial

import pytest

from rookery.agent import spool as spool_module
from rookery.agent.disk import write_json
from rookery.agent.keeper import Gone, Keeper
from rookery.agent.spool import SpoolConnection, SpoolFolder
from rookery.errors import KeeperUnavailableError, RunNotFoundError
from rookery.spec.job import Job, KeeperAddress
from rookery.spec.spool import AnswerHead, RequestHead, pack, unpack
from rookery.testing.agent_bench import wait_until
from rookery.worker.http import HttpClient, UnixHTTPConnection


@pytest.fixture
def folder(tmp_path):
    return SpoolFolder(str(tmp_path / "spool" / "run-1.1.0"))


class Clock:
    """What a spool takes for the time. Where it `stands`, a busy machine cannot make a keeper look silent."""

    def __init__(self):
        self.now, self.stands, self.looks = time.monotonic(), False, 0

    def monotonic(self):
        self.looks += 1
        return self.now if self.stands else time.monotonic()

    def wait_for_looks(self):
        """Until whoever asks has looked at the files and at the time anew, and then once more."""
        seen = self.looks
        wait_until(lambda: self.looks >= seen + 4)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(spool_module, "time", made)
    monkeypatch.setattr(spool_module, "LAST_PAUSE_S", 0.01)
    return made


def requests_in(spool):
    try:
        return sorted(name for name in os.listdir(spool.folder) if name.endswith(".req"))
    except FileNotFoundError:
        return []


def answer(spool, name, status=200, body=b"{}", **fields):
    """What a keeper does with a request, by hand."""
    request = name[: -len(".req")]
    with open(spool.path(request, "req"), "rb") as f:
        head, given = unpack(RequestHead, f.read())
    os.rename(spool.path(request, "req"), spool.path(request, "run"))
    spool.place(request, "ans", pack(AnswerHead(status, "", (), len(body), **fields), body))
    return head, given


class TestWay:
    def keeper(self, tmp_path, hostname=None, sock=True, **address):
        endpoint = str(tmp_path / "keeper.json")
        path = str(tmp_path / "k.sock")
        if sock:
            open(path, "w").close()
        data = {"socket": path, "host": "127.0.0.1", "port": 7, "hostname": hostname or socket.gethostname()}
        write_json(endpoint, {**data, "agents": {"urls": ["http://127.0.0.1:4712"]}})
        address = KeeperAddress(endpoint_file=endpoint, **address)
        return Keeper(Job("r1", 1, 0, "run", "rkr_agent", address), str(tmp_path), lambda text: None)

    def test_on_the_keepers_machine_its_socket(self, tmp_path):
        for address in ({}, {"url": "http://127.0.0.1:1"}, {"spool": str(tmp_path)}):
            assert isinstance(self.keeper(tmp_path, **address).connector()(), UnixHTTPConnection)

    def test_elsewhere_the_addresses_for_agents(self, tmp_path):
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}"
            keeper = self.keeper(tmp_path, "elsewhere", url="http://127.0.0.1:1", urls=(url,), spool=str(tmp_path))
            for _ in range(2):
                connection = keeper.connector()()
                assert connection.port == server.getsockname()[1]
                connection.close()

    def test_all_addresses_that_failed_are_named(self, tmp_path):
        keeper = self.keeper(tmp_path, "elsewhere", url="http://127.0.0.1:1", urls=("http://127.0.0.1:2",))
        with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1: .*127\.0\.0\.1:2: .*127\.0\.0\.1:4712"):
            keeper.connector()()

    def test_without_an_address_the_files(self, tmp_path):
        keeper = self.keeper(tmp_path, "elsewhere", spool=str(tmp_path / "spool"))
        assert isinstance(keeper.connector()(), SpoolConnection)

    def test_a_machine_that_got_another_name_is_still_the_same(self, tmp_path):
        """No other way was given, so the socket is it."""
        assert isinstance(self.keeper(tmp_path, "as-it-was-called").connector()(), UnixHTTPConnection)

    def test_no_way_at_all_is_said(self, tmp_path):
        job = Job("r1", 1, 0, "run", "rkr_agent", KeeperAddress())
        with pytest.raises(KeeperUnavailableError, match="no address"):
            Keeper(job, str(tmp_path), lambda text: None).connector()

    def test_the_log_says_why_nobody_answers(self, tmp_path):
        said = []
        job = Job("r1", 1, 0, "run", "t", KeeperAddress(url="http://127.0.0.1:1"))
        keeper = Keeper(job, str(tmp_path), said.append)

        def call():
            with pytest.raises(Gone):
                keeper.call("POST", "hello")

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        wait_until(lambda: said)
        keeper.stop()
        thread.join(90)
        assert "http://127.0.0.1:1" in said[0]
        assert "refused" in said[0]


class TestConnection:
    def ask(self, folder, *request, timeout=20.0, **more):
        """Ask in a thread; (thread, what came of it)."""
        found = []
        client = HttpClient(partial(folder.connection, timeout), "rkr_x")

        def run():
            try:
                found.append(client.request(*request, **more))
            except Exception as error:
                found.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread, found

    def test_a_request_is_whole_and_private(self, folder):
        thread, found = self.ask(folder, "POST", "/agent/r/1/0/beat", query={"a": "b c"}, body={"x": 1})
        wait_until(lambda: requests_in(folder))
        [name] = requests_in(folder)
        assert os.stat(folder.folder).st_mode & 0o777 == 0o700
        assert os.stat(os.path.join(folder.folder, name)).st_mode & 0o777 == 0o600
        head, body = answer(folder, name, body=b'{"cancel": false}')
        thread.join(90)
        assert found == [{"cancel": False}]
        assert (head.method, head.target, body) == ("POST", "/api/v1/agent/r/1/0/beat?a=b+c", b'{"x": 1}')
        assert ("Authorization", "Bearer rkr_x") in head.headers
        assert os.listdir(folder.folder) == []

    def test_errors_are_those_of_http(self, folder):
        thread, found = self.ask(folder, "GET", "/runs/r")
        wait_until(lambda: requests_in(folder))
        text = b'{"error": {"code": "run_not_found", "message": "no such run", "details": {}}}'
        answer(folder, requests_in(folder)[0], 404, text)
        thread.join(90)
        assert isinstance(found[0], RunNotFoundError)

    def test_requests_are_numbered_in_their_order(self, folder):
        threads = []
        for number in range(3):
            threads.append(self.ask(folder, "GET", f"/runs/{number}")[0])
            wait_until(lambda count=number: len(requests_in(folder)) == count + 1)
        assert [answer(folder, name)[0].target[-1] for name in requests_in(folder)] == ["0", "1", "2"]
        for thread in threads:
            thread.join(90)

    def test_no_keeper_is_an_error_and_the_request_is_taken_back(self, folder):
        client = HttpClient(partial(folder.connection, 0.3), "t")
        with pytest.raises(KeeperUnavailableError, match="no keeper has answered"):
            client.upload("/runs/run-1/artifacts/a", bytes(100_000))
        assert os.listdir(folder.folder) == []

    def test_a_keeper_that_works_on_it_is_waited_for(self, folder, clock):
        """Longer than its silence may last: the file is touched."""
        clock.stands = True
        thread, found = self.ask(folder, "GET", "/runs/r", timeout=0.6)
        wait_until(lambda: requests_in(folder))
        name = requests_in(folder)[0]
        run = folder.path(name[:-4], "run")
        os.rename(os.path.join(folder.folder, name), run)
        clock.wait_for_looks()
        for beat in range(1, 9):
            os.utime(run, (beat, beat))
            clock.wait_for_looks()
            clock.now += 0.5
            clock.wait_for_looks()
            assert thread.is_alive()
        folder.place(name[:-4], "ans", pack(AnswerHead(200, "", (), 2), b"{}"))
        thread.join(90)
        assert found == [{}]

    def test_one_that_died_over_it_is_told_that_it_is_not_wanted_any_more(self, folder, clock):
        clock.stands = True
        thread, found = self.ask(folder, "GET", "/runs/r", timeout=0.4)
        wait_until(lambda: requests_in(folder))
        name = requests_in(folder)[0]
        os.rename(os.path.join(folder.folder, name), folder.path(name[:-4], "run"))
        clock.wait_for_looks()
        clock.stands = False
        thread.join(90)
        assert isinstance(found[0], KeeperUnavailableError)
        assert os.path.exists(folder.path(name[:-4], "stop"))

    def test_a_folder_that_was_removed_is_made_again(self, folder):
        folder.make()
        os.rmdir(folder.folder)
        thread, found = self.ask(folder, "GET", "/runs/r")
        wait_until(lambda: requests_in(folder))
        answer(folder, requests_in(folder)[0])
        thread.join(90)
        assert found == [{}]

    def test_half_an_answer_is_no_answer(self, folder):
        thread, found = self.ask(folder, "GET", "/runs/r")
        wait_until(lambda: requests_in(folder))
        request = requests_in(folder)[0][:-4]
        folder.place(request, "ans", b'{"status": 200')
        thread.join(90)
        assert isinstance(found[0], KeeperUnavailableError)
