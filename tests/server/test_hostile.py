"""Clients that mean harm, or are broken, over raw sockets: each gets a 4xx or is cut off, memory stays flat, others are served."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pytest

from rookery.server import connections
from rookery.spec.paths import WorkspacePaths
from tests.server.conftest import IDENTITY, PROGRAM, run_spec

MB = 1024 * 1024
STRANGER_MB, KNOWN_MB = (
    48,
    300,
)  # what the keeper may grow by, for the time being, when nobody knows the client; when it does
CLOSED = 0


class Victim:
    """A keeper in a process of its own, as strangers find it: at a port."""

    def __init__(self, folder, runtime):
        self.paths = WorkspacePaths(os.path.join(folder, "a work's space"))
        os.makedirs(self.paths.root)
        with open(self.paths.identity, "w") as f:
            json.dump(IDENTITY, f)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ROOKERY_")}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        kept.update(ROOKERY_HOME=os.path.join(folder, "home"), XDG_RUNTIME_DIR=runtime)
        ready, told = os.pipe()
        self.log_path = os.path.join(folder, "log.txt")
        with open(self.log_path, "wb") as log:
            command = [sys.executable, "-c", PROGRAM, "--workspace", self.paths.root, "--ready-fd", str(told)]
            self.process = subprocess.Popen(command, pass_fds=(told,), env=kept, stderr=log)
        os.close(told)
        assert os.read(ready, 1) == b"1"
        os.close(ready)
        with open(self.paths.endpoint) as f:
            self.port = json.load(f)["port"]
        with open(self.paths.token) as f:
            self.token = f.read().strip()
        assert self.ask("POST", "/runs", run_spec())[0] == 201
        self.ask("GET", "/runs")

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        sock.settimeout(60)
        return sock

    def head(self, line, *headers, known=False):
        lines = [line + " HTTP/1.1", "Host: x", *headers]
        if known:
            lines.append(f"Authorization: Bearer {self.token}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def tell(self, data, *more, ends=False):
        """Sends this, and with `ends` says that nothing follows; the status of the answer, or CLOSED."""
        with self.connect() as sock:
            try:
                for part in (data, *more):
                    sock.sendall(part)
                if ends:
                    sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has answered, or closed, before everything was sent
            return status_of(sock)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            connection.request(method, "/api/v1" + path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def peak_mb(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM"))

    @contextlib.contextmanager
    def watched(self, most_mb):
        """What is done inside must not make it grow by more, not even for a moment, nor keep others waiting for ever."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as f:
            f.write("5")  # the peak is counted from here
        before = self.peak_mb()
        stop, served, problems = threading.Event(), [], []

        def others():
            while True:
                try:
                    served.append(self.ask("GET", "/runs/run-1")[0])
                except (OSError, http.client.HTTPException) as error:
                    problems.append(error)
                if stop.wait(0.02):
                    return

        thread = threading.Thread(target=others)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(120)
        assert not thread.is_alive()
        assert problems == []
        assert served
        assert set(served) == {200}
        assert self.process.poll() is None
        assert self.peak_mb() - before < most_mb


def status_of(sock):
    """Of the answer that is there or comes; CLOSED when the connection ends without one."""
    try:
        answer = sock.recv(200)
    except ConnectionResetError:
        return CLOSED
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else CLOSED


def is_refused(status):
    return status == CLOSED or 400 <= status < 500


@pytest.fixture(scope="module")
def victim():
    folder, runtime = tempfile.mkdtemp(prefix="rk hostile's "), tempfile.mkdtemp(prefix="rk-", dir="/tmp")
    made = Victim(folder, runtime)
    yield made
    made.process.terminate()
    assert made.process.wait(60) == 0
    with open(made.log_path) as f:
        said = f.read()
    for one in (folder, runtime):
        shutil.rmtree(one)
    assert "Traceback" not in said, said[-3000:]
    assert "Invalid HTTP" not in said  # a line for each would fill the disk


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    """No half of an upload stays, but of those that can be taken up again: they are kept for a day."""
    yield
    if "victim" in request.fixturenames:
        incoming = os.path.join(request.getfixturevalue("victim").paths.content, "incoming")
        deadline = time.monotonic() + 60
        while os.path.isdir(incoming) and (left := [n for n in os.listdir(incoming) if not n.endswith(".part")]):
            assert time.monotonic() < deadline, left
            time.sleep(0.05)


class TestRubbish:
    @pytest.mark.parametrize(
        "data",
        [
            b"\r\n\r\n", b"rubbish\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300), b"\x00" * 4000,
            b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nA\xffB: y\r\n\r\n", b"GET / HTTP/1.1\r\n: y\r\n\r\n",
            b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n\r\n", b"G" * 100_000, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n", bytes(range(256)) * 400,
        ],
    )  # fmt: skip
    def test_what_is_no_http(self, victim, data):
        with victim.watched(STRANGER_MB):
            status = victim.tell(data)
        assert is_refused(status) or (status < 400 and data.startswith(b"GET "))  # odd, but it can be read

    def test_is_refused_in_the_one_shape_of_errors(self, victim):
        with victim.connect() as sock:
            sock.sendall(b"rubbish\r\n\r\n")
            head, _, body = read_all(sock).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert b"X-Rookery-Version: " in head
        assert set(json.loads(body)["error"]) == {"code", "message", "details"}

    @pytest.mark.parametrize(
        "headers",
        [
            ["Content-Length: -1"], ["Content-Length: +5"], ["Content-Length: 5", "Content-Length: 6"], ["Content-Length: five"],
            ["Content-Length: 5", "Transfer-Encoding: chunked"], ["Transfer-Encoding: gzip"], ["Transfer-Encoding: chunked, chunked"],
            ["X: " + "y" * 1_000_000], [f"X-{n}: y" for n in range(20_000)],
        ],
    )  # fmt: skip
    def test_heads_that_contradict_themselves_or_are_huge(self, victim, headers):
        with victim.watched(STRANGER_MB):
            assert is_refused(victim.tell(victim.head("POST /api/v1/runs", *headers, known=True), b"0\r\n\r\n"))

    @pytest.mark.parametrize(
        "chunk", [b"zz\r\n", b"-5\r\nabcde\r\n", b"f" * 17 + b"\r\nabc\r\n", b"5\r\nabcdefgh\r\n", b"5;" + b"x" * 100_000, b"\r\n" * 9]
    )  # fmt: skip
    def test_chunks_that_are_none(self, victim, chunk):
        for path in ("POST /api/v1/runs", f"PUT /api/v1/content/{'a' * 64}", "PUT /api/v1/runs/run-1/artifacts/x"):
            with victim.watched(STRANGER_MB):
                head = victim.head(path, "Transfer-Encoding: chunked", known=True)
                assert is_refused(victim.tell(head, chunk, ends=True)), path

    @pytest.mark.parametrize(
        "body", [b'{"a": "\xff\xfe"}', b"\xff" * 1000, b'{"a": "\xed\xa0\x80"}', b"\xef\xbb\xbf{}"]
    )
    def test_text_that_is_no_utf8(self, victim, body):
        for path in ("/runs", "/models", "/runs/run-1/records", "/content/missing", "/users", "/session"):
            head = victim.head(
                "POST /api/v1" + path, "Content-Type: application/json", f"Content-Length: {len(body)}", known=True
            )
            assert 400 <= victim.tell(head, body) < 500, path

    def test_half_a_character_in_a_name(self, victim):
        """JSON can say it, and no database can hold it."""
        for path, text in (
            ("/experiments", None), ("/runs/run-1/records", '{"records": [["m", null, "\\ud800", 1.0, 1, 5.0]]}'),
            ("/users", '{"name": "\\ud800"}'), ("/compute", '{"name": "\\ud800"}'), ("/models", '{"name": "\\ud800", "entries": []}'),
            ("/past/experiments", '{"name": "\\ud800"}'), ("/webhooks", '{"url": "http://x/\\ud800", "events": ["run.failed"]}'),
        ):  # fmt: skip
            if text is not None:
                head = victim.head("POST /api/v1" + path, "Content-Type: application/json", f"Content-Length: {len(text)}",
                                   known=True)  # fmt: skip
                assert victim.tell(head, text.encode()) < 500, path
        assert victim.ask("GET", "/experiments/%ed%a0%80")[0] == 404
        assert victim.ask("GET", "/runs?tag=%ff%00")[0] < 500


class TestBodies:
    PATHS = ("POST /api/v1/runs", "POST /api/v1/models", "POST /api/v1/session", "POST /api/2.0/mlflow/runs/create",
             f"PUT /api/v1/content/{'a' * 64}", "PUT /api/v1/runs/run-1/artifacts/x", f"PATCH /api/v1/content/{'a' * 64}")  # fmt: skip

    @pytest.mark.parametrize("path", PATHS)
    def test_ten_gigabytes_announced_by_a_stranger(self, victim, path):
        with victim.watched(STRANGER_MB):
            head = victim.head(path, "Content-Length: 10737418240", "Upload-Offset: 0", "Upload-Length: 10737418240")
            assert victim.tell(head, b"{" * 1000) in (401, 413)

    def test_ten_gigabytes_announced_by_somebody(self, victim):
        with victim.watched(STRANGER_MB):
            assert victim.tell(victim.head(self.PATHS[0], "Content-Length: 10737418240", known=True)) == 413

    @pytest.mark.parametrize("path", PATHS)
    @pytest.mark.parametrize("known", [True, False])
    def test_half_a_body(self, victim, path, known):
        headers = ("Content-Length: 1000000", "Upload-Offset: 0", "Upload-Length: 1000000")
        with victim.watched(STRANGER_MB):
            for _ in range(20):
                with victim.connect() as sock:
                    sock.sendall(victim.head(path, *headers, known=known) + b"{" * 1000)
            with victim.connect() as sock:
                sock.sendall(victim.head(path, *headers, known=known) + b"{" * 1000)
                sock.shutdown(socket.SHUT_WR)
                assert is_refused(status_of(sock))

    @pytest.mark.parametrize("path", PATHS)
    def test_an_endless_stream_of_a_stranger(self, victim, path):
        assert self.endless(victim, path, False, STRANGER_MB) in (CLOSED, 401, 413)

    def test_an_endless_stream_of_somebody(self, victim):
        assert self.endless(victim, self.PATHS[1], True, KNOWN_MB) in (CLOSED, 413)

    def endless(self, victim, path, known, most_mb):
        chunk = b"100000\r\n" + b" " * MB + b"\r\n"
        head = victim.head(path, "Transfer-Encoding: chunked", "Content-Type: application/json", "Upload-Offset: 0",
                           "Upload-Length: 99999999999", known=known)  # fmt: skip
        with victim.watched(most_mb), victim.connect() as sock:
            sock.sendall(head)
            with contextlib.suppress(OSError):
                for _ in range(300):  # more than anybody may send, less than for ever: a failure ends too
                    sock.sendall(chunk)
                pytest.fail("300 MB were taken, and nothing was said")
            return status_of(sock)

    @pytest.mark.parametrize(
        "path", ["/runs", "/runs/run-1/records", "/content/missing", "/snapshots", "/models", "/users"]
    )
    def test_deep_json(self, victim, path):
        with victim.watched(KNOWN_MB):
            for body in (
                b'{"a":' * 100_000, b"[" * 100_000, b'{"records":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
                b'{"name": "x", "tags": ' + b'{"a":' * 700 + b"1" + b"}" * 700 + b"}",
            ):  # fmt: skip
                head = victim.head("POST /api/v1" + path, "Content-Type: application/json", f"Content-Length: {len(body)}",
                                   known=True)  # fmt: skip
                assert 400 <= victim.tell(head, body) < 500

    def test_what_can_be_parsed_but_hardly_be_written(self, victim):
        """Data that is kept as it is given, nearly as deep as the parser lets it be."""
        for depth in (100, 400, 900, 990):
            deep = b'{"a":' * depth + b"1" + b"}" * depth
            for path, body in (
                ("/models", b'{"name": "deep", "entries": [], "sample_input": ' + deep + b"}"),
                ("/environments", b'{"definition": {"name": "deep", "python": ' + deep + b"}}"),
                ("/past/runs", b'{"run_id": "p", "experiment": "birds", "status": "Completed", "inputs": [{"direction": "in", '
                               b'"kind": "dataset", "name": "d", "data": ' + deep + b"}]}"),
            ):  # fmt: skip
                head = victim.head("POST /api/v1" + path, "Content-Type: application/json", f"Content-Length: {len(body)}",
                                   known=True)  # fmt: skip
                assert victim.tell(head, body) < 500, (path, depth)

    def test_small_values_by_the_million(self, victim):
        body = b'{"records": [' + b"[]," * (20 * MB) + b"[]]}"
        head = victim.head("POST /api/v1/runs/run-1/records", f"Content-Length: {len(body)}", known=True)
        with victim.watched(KNOWN_MB):
            assert victim.tell(head, body) == 413


class TestSlowness:
    def test_heads_that_come_byte_by_byte_hold_up_nobody(self, victim):
        head = victim.head("GET /api/v1/hello")
        with victim.watched(STRANGER_MB), contextlib.ExitStack() as stack:
            slow = [stack.enter_context(victim.connect()) for _ in range(200)]
            for at in range(20):
                for sock in slow:
                    sock.sendall(head[at : at + 1])
            # Those who are merely slow get their answer.
            slow[7].sendall(head[20:])
            assert status_of(slow[7]) == 200

    def test_many_that_say_nothing_take_no_place_from_others(self, victim):
        pid = victim.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (400, before[1]))
        try:
            with victim.watched(STRANGER_MB), contextlib.ExitStack() as stack:
                for _ in range(600):
                    stack.enter_context(victim.connect())
                assert victim.ask("GET", "/runs")[0] == 200
                with socket.socket(socket.AF_UNIX) as owner:
                    owner.settimeout(60)
                    with open(victim.paths.endpoint) as f:
                        owner.connect(json.load(f)["socket"])
                    owner.sendall(victim.head("GET /api/v1/runs"))
                    assert status_of(owner) == 200
                assert len(os.listdir(f"/proc/{pid}/fd")) < 400
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)

    def test_thousands_of_requests_in_one_breath(self, victim):
        with victim.watched(STRANGER_MB), victim.connect() as sock:
            sending = threading.Thread(target=lambda: send_quietly(sock, victim.head("GET /api/v1/hello") * 2000))
            sending.start()
            got, end = 0, time.monotonic() + 120
            tail = b""
            while got < 2000 and time.monotonic() < end:
                data = sock.recv(65536)
                assert data
                got += (tail + data).count(b"HTTP/1.1 200")
                tail = data[-11:]
            sending.join(60)
        assert got == 2000

    def test_readers_that_do_not_read(self, victim):
        sparse = 200 * MB
        head = victim.head("PUT /api/v1/runs/run-1/artifacts/large", f"Content-Length: {sparse}", known=True)
        with victim.connect() as sock:
            sock.sendall(head)
            for _ in range(200):
                sock.sendall(bytes(MB))
            assert status_of(sock) == 201
        with victim.watched(STRANGER_MB), contextlib.ExitStack() as stack:
            for _ in range(20):
                sock = stack.enter_context(victim.connect())
                sock.sendall(victim.head("GET /api/v1/runs/run-1/artifacts/large", known=True))
                assert status_of(sock) == 200
            assert victim.ask("GET", "/runs")[0] == 200


class TestPatience:
    """How long somebody may take, on a server whose patience is short."""

    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch):
        monkeypatch.setattr(connections, "SWEEP_S", 0.05)

    def connect(self, api):
        sock = socket.create_connection(("127.0.0.1", api.port), timeout=60)
        return contextlib.closing(sock)

    def test_a_head_that_never_ends_is_cut_off(self, api, monkeypatch):
        monkeypatch.setattr(connections, "HEAD_S", 0.5)
        with self.connect(api) as sock:
            answer = []
            thread = threading.Thread(target=lambda: answer.append(read_all(sock)))
            thread.start()
            with contextlib.suppress(OSError):
                for _ in range(600):
                    sock.sendall(b"G")
                    if not thread.is_alive():
                        break
                    time.sleep(0.1)
            thread.join(60)
        assert answer[0].startswith(b"HTTP/1.1 408 ")

    def test_so_is_the_second_one_of_a_connection(self, api, monkeypatch):
        monkeypatch.setattr(connections, "HEAD_S", 0.5)
        with self.connect(api) as sock:
            sock.sendall(b"GET /api/v1/hello HTTP/1.1\r\nHost: x\r\n\r\n")
            assert status_of(sock) == 200
            sock.sendall(b"GET /api")
            assert b"HTTP/1.1 408 " in read_all(sock)

    def test_who_says_nothing_is_told_nothing(self, api, monkeypatch):
        monkeypatch.setattr(connections, "HEAD_S", 0.5)
        with self.connect(api) as sock:
            assert read_all(sock) == b""

    def test_a_body_that_does_not_come_is_not_waited_for_for_ever(self, api, paths, monkeypatch):
        api.run()
        monkeypatch.setattr(connections, "BODY_S", 0.5)
        with open(paths.token) as f:
            token = f.read().strip()
        with self.connect(api) as sock:
            head = f"PUT /api/v1/runs/run-1/artifacts/x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nAuthorization: Bearer {token}\r\n\r\n"
            sock.sendall(head.encode() + b"abc")
            assert status_of(sock) == CLOSED
        assert api.owner.get("/runs/run-1/artifacts").json()["artifacts"] == []

    @pytest.mark.slow
    def test_long_answers_and_pauses_between_requests_are_no_slowness(self, api, monkeypatch):
        api.run()
        monkeypatch.setattr(connections, "HEAD_S", 0.5)
        monkeypatch.setattr(connections, "BODY_S", 0.5)
        with api.owner.stream("GET", "/runs/run-1/events") as events:
            lines = events.iter_lines()
            next(lines)
            time.sleep(1.0)  # several sweeps: nothing is to happen, so there is nothing to wait for
            api.owner.patch("/runs/run-1", json={"tags": {"a": "b"}})
            assert any('"a"' in line for line in lines)
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", api.port, timeout=60)) as connection:
            connection.connect()
            sock = connection.sock
            for _ in range(2):
                connection.request("GET", "/api/v1/hello")
                assert connection.getresponse().read()
                time.sleep(1.0)
            assert connection.sock is sock


def read_all(sock):
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while data := sock.recv(65536):
            found += data
    return found


def send_quietly(sock, data):
    with contextlib.suppress(OSError):
        sock.sendall(data)
