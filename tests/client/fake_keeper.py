"""A keeper that behaves, in one small file: the lease, keeper.json, hello, content, snapshots, runs and
events that survive a kill.

Also a program with the arguments of `rookery.server`. `fake.json` in the workspace changes how it behaves:
{"protocol": N, "fail": {"code", "message"}, "die": "text", "slow_s": seconds, "leave_s": seconds, "live_runs": N,
"close_idle": true}.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import socketserver
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

PREFIX = "/api/v1"


def socket_folder(root: str) -> str:
    """A short one: the path of a socket has 108 bytes at most. Whoever uses a fake keeper removes it."""
    name = hashlib.sha256(os.path.realpath(root).encode()).hexdigest()[:16]
    return os.path.join(tempfile.gettempdir(), "rookery-fake-" + name)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class FakeKeeper:
    """Everything it knows lies in files below the workspace, so that the next one goes on where a killed one
    stopped."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.keeper = os.path.join(root, "keeper")
        self.store = os.path.join(root, "fake")
        os.makedirs(self.keeper, exist_ok=True)
        os.makedirs(os.path.join(self.store, "content"), exist_ok=True)
        os.makedirs(os.path.join(self.store, "snapshots"), exist_ok=True)
        self.behaviour = self._behaviour()
        self.requests: list[tuple[str, str]] = []
        self.lock = threading.Lock()
        self.server: Server | None = None
        self.is_process = False  # in a thread it must not be stopped as a process, by whoever cleans up

    def _behaviour(self) -> dict:
        with contextlib.suppress(FileNotFoundError), open(os.path.join(self.root, "fake.json")) as f:
            return json.load(f)
        return {}

    def take_lease(self) -> bool:
        self.lease = os.open(os.path.join(self.keeper, "lease"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self.lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        with open(os.path.join(self.store, "starts"), "a") as f:
            f.write(f"{os.getpid()}\n")
        return True

    def listen(self) -> None:
        os.makedirs(socket_folder(self.root), exist_ok=True)
        path = os.path.join(socket_folder(self.root), f"{os.getpid()}-{threading.get_ident() % 1000}")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self.server = Server(path, type("Handler", (_Handler,), {"keeper": self}))
        endpoint = {
            "socket": path,
            "host": "127.0.0.1",
            "port": 1,
            "pid": os.getpid(),
            "start_ticks": _start_ticks() if self.is_process else 0,
            "hostname": socket.gethostname(),
            "version": "0.0.1",
            "protocol": self.behaviour.get("protocol", 1),
        }
        temporary = os.path.join(self.keeper, f"keeper.json.{os.getpid()}")
        with open(temporary, "w") as f:
            json.dump(endpoint, f)
        os.replace(temporary, os.path.join(self.keeper, "keeper.json"))

    def serve(self) -> None:
        self.server.serve_forever(poll_interval=0.02)

    def start_thread(self) -> FakeKeeper:
        """Serve from a thread of this process, for tests that look inside."""
        assert self.take_lease()
        self.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(socket_folder(self.root), ignore_errors=True)
        os.close(self.lease)

    def lines(self, name: str) -> list[str]:
        with contextlib.suppress(FileNotFoundError), open(os.path.join(self.store, name)) as f:
            return f.read().splitlines()
        return []

    def append(self, name: str, line: str) -> None:
        with self.lock, open(os.path.join(self.store, name), "a") as f:
            f.write(line + "\n")

    def emit(self, kind: str, data: dict) -> None:
        self.append("events", json.dumps([kind, data]))

    def content(self, sha: str) -> str:
        return os.path.join(self.store, "content", sha)

    def put_content(self, sha: str, data: bytes) -> bool:
        if hashlib.sha256(data).hexdigest() != sha:
            return False
        temporary = self.content(sha) + f".{threading.get_ident()}"
        with open(temporary, "wb") as f:
            f.write(data)
        os.replace(temporary, self.content(sha))
        return True


class _Handler(BaseHTTPRequestHandler):
    keeper: FakeKeeper
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def address_string(self):
        return "unix"

    def do(self):
        split = urlsplit(self.path)
        path, query = split.path[len(PREFIX) :], parse_qs(split.query)
        self.keeper.requests.append((self.command, path))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path in self.keeper.behaviour.get("die_on", []):
            self.keeper.append("died", path)
            os.kill(os.getpid(), signal.SIGKILL)
        self.route(path, query, body)

    do_GET = do_PUT = do_POST = do_HEAD = do_PATCH = do_DELETE = do

    def route(self, path, query, body):
        k = self.keeper
        key = (self.command, path)
        if key == ("GET", "/hello"):
            self.answer(
                200,
                {
                    "service": "rookery",
                    "version": "0.0.1",
                    "protocol": k.behaviour.get("protocol", 1),
                    "pid": os.getpid(),
                    "hostname": socket.gethostname(),
                    "workspace": {"id": "w", "name": "w"},
                },
            )
        elif key == ("GET", "/keeper"):
            live = k.behaviour.get("live_runs", 0)
            self.answer(200, {"pid": os.getpid(), "live_runs": live, "queued_runs": 0, "open_streams": 0})
        elif key == ("POST", "/keeper/stop"):
            self.answer(202, {})
            self.close_connection = True
            os.unlink(k.server.server_address)
            time.sleep(k.behaviour.get("leave_s", 0))  # as the real one, it puts things away
            os.kill(os.getpid(), signal.SIGTERM)
        elif key == ("POST", "/runs"):
            run = json.loads(body)["run_id"]
            if run not in k.lines("runs"):
                k.append("runs", run)
            self.answer(201, {"id": run})
        elif path.endswith("/records"):
            k.append("records", body.decode())
            self.answer(200, {})
        elif path.endswith("/events"):
            self.events(int(query.get("after", ["0"])[0]))
        elif path.startswith(("/content", "/snapshots")):
            self.store(path, body)
        else:
            self.error(404, "not_found", f"no {path}")

    def store(self, path, body):
        k = self.keeper
        if path == "/content/missing":
            self.answer(200, {"missing": [s for s in json.loads(body)["sha256"] if not os.path.exists(k.content(s))]})
        elif path == "/content/pack":
            at = 0
            while at < len(body):
                sha, size = body[at : at + 64].decode(), int(body[at + 64 : at + 80], 16)
                if not k.put_content(sha, body[at + 80 : at + 80 + size]):
                    self.error(400, "user_error", "hash differs")
                    return
                at += 80 + size
            self.answer(201, {})
        elif path == "/snapshots":
            from rookery.spec.snapshot import snapshot_id

            entries = json.loads(body)["entries"]
            missing = sorted(
                {e["sha256"] for e in entries if e["link"] is None and not os.path.exists(k.content(e["sha256"]))}
            )
            if missing:
                self.error(409, "conflict", "content is missing", {"missing": missing})
                return
            name = snapshot_id(entries)
            with open(os.path.join(k.store, "snapshots", name), "w") as f:
                json.dump(entries, f)
            self.answer(201, {"id": name, "files": len(entries), "bytes": sum(e["size"] for e in entries)})
        elif path.startswith("/snapshots/"):
            there = os.path.exists(os.path.join(k.store, "snapshots", path.split("/")[2]))
            self.answer(200, {}) if there else self.error(404, "not_found", "no snapshot")
        elif self.command == "PUT":
            ok = k.put_content(path.split("/")[2], body)
            self.answer(201, {}) if ok else self.error(400, "user_error", "hash differs")
        else:
            sha = path.split("/")[2]
            if not os.path.exists(k.content(sha)):
                self.error(404, "artifact_not_found", "no content")
            else:
                with open(k.content(sha), "rb") as f:
                    self.raw(200, f.read(), "application/octet-stream")

    def events(self, after):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            for seq, line in enumerate(self.keeper.lines("events"), start=1):
                if seq > after:
                    kind, data = json.loads(line)
                    head = "" if kind == "end" else f"id: {seq}\n"
                    self.chunk(f"{head}event: {kind}\ndata: {json.dumps(data)}\n\n".encode())
                    after = seq
                    if kind == "end":
                        self.chunk(b"")
                        return
            self.chunk(b": keep-alive\n\n")
            time.sleep(0.02)

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def error(self, status, code, message, details=None):
        self.answer(status, {"error": {"code": code, "message": message, "details": details or {}}})

    def answer(self, status, data):
        self.raw(status, json.dumps(data).encode(), "application/json")

    def raw(self, status, data, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _start_ticks() -> int:
    with open("/proc/self/stat") as f:
        return int(f.read().rsplit(")", 1)[1].split()[19])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workspace", required=True)
    parser.add_argument("--ready-fd", type=int, required=True)
    args = parser.parse_args()
    keeper = FakeKeeper(args.workspace)
    keeper.is_process = True
    if "die" in keeper.behaviour:
        sys.exit(keeper.behaviour["die"])
    if "fail" in keeper.behaviour:
        print(json.dumps({"error": keeper.behaviour["fail"]}), flush=True)
        return 1
    if not keeper.take_lease():
        print(
            json.dumps({"error": {"code": "workspace_busy", "message": "another keeper owns it", "details": {}}}),
            flush=True,
        )
        return 1
    time.sleep(keeper.behaviour.get("slow_s", 0))
    keeper.listen()
    with contextlib.suppress(BrokenPipeError):  # whoever started it has given up waiting
        os.write(args.ready_fd, b"1")
    os.close(args.ready_fd)
    keeper.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
