"""A keeper that behaves, in memory: the routes that agents and ranks use, with offsets checked as the real
one does.

It can go away and come back, answer slowly and fail at random. What it was told lies in its attributes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import socket
import struct
import threading
import time
from array import array
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any, Optional
from urllib.parse import parse_qsl, unquote, urlsplit

from rookery.spec.manifest import Manifest
from rookery.worker.metric_shapes import MetricTable

__all__ = ["FakeKeeper"]


class FakeKeeper:
    """Serves a unix socket in `folder` and writes `keeper.json` beside it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.socket = os.path.join(folder, "keeper.sock")
        self.endpoint = os.path.join(folder, "keeper.json")
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.logs: dict[str, bytearray] = {}
        self.log_times: list[tuple[float, str, int]] = []
        self.journal_offsets: dict[str, int] = {}
        self.journal_ranks: dict[str, Any] = {}  # whose each is said to be
        self.tables: dict[str, MetricTable] = {}
        self.records: list[list[Any]] = []
        self.runs: dict[str, dict[str, Any]] = {}
        self.artifacts: dict[str, dict[str, bytes]] = {}
        self.content: dict[str, bytes] = {}
        self.snapshots: dict[str, list[dict[str, Any]]] = {}
        self.models: list[dict[str, Any]] = []
        self.events: list[tuple[str, Any]] = []  # hello, running, outcome, finished, beat in order
        self.commands: list[dict[str, Any]] = []
        self.uploads = 0
        self.answered = 0
        self.refused = ""  # an artifact that is not taken
        self.over = False  # answer agents with 409
        self.cancel = False
        self.rendezvous: dict[str, Any] = {}  # where node 0 waits
        self.manifests: dict[str, Manifest] = {}
        self.data: dict[str, bytes] = {}  # contents of manifests, by key
        self.data_asked: list[tuple[str, int]] = []  # (path, first byte) of every file that was asked for by itself
        self.data_gate: Optional[tuple[int, threading.Event]] = None  # after so many bytes of a file it waits for this
        self.fail_rate = 0.0
        self.delay_s = 0.0
        self._random = random.Random(7)
        self._server: Optional[_Server] = None

    def start(self) -> FakeKeeper:
        """Begin to answer (again)."""
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        self._server = _Server(self)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        with open(self.endpoint + ".new", "w", encoding="utf-8") as f:
            json.dump({"socket": self.socket, "pid": os.getpid(), "protocol": 1}, f)
        os.replace(self.endpoint + ".new", self.endpoint)
        return self

    def stop(self) -> None:
        """Go away as kill -9 would: open connections are cut, keeper.json stays."""
        server, self._server = self._server, None
        if server:
            server.shutdown()
            server.server_close()
            server.cut()

    def wait_for(self, kind: str, timeout_s: float = 90.0) -> Any:
        """The first event of this kind; waits for it."""
        with self.changed:
            found = self.changed.wait_for(lambda: [e for e in self.events if e[0] == kind], timeout_s)
        assert found, f"no {kind} within {timeout_s} s; there was {self.events}"
        return found[0][1]

    def wait_until(self, condition: Any, timeout_s: float = 90.0) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, timeout_s), f"not within {timeout_s} s"

    def log(self, name: str) -> bytes:
        with self.lock:
            return bytes(self.logs.get(name, b""))

    def command(self, name: str, **fields: Any) -> None:
        with self.changed:
            self.commands.append({"n": len(self.commands) + 1, "command": name, **fields})
            self.changed.notify_all()

    def metrics(self, run_id: str) -> dict[str, Any]:
        with self.lock:
            table = self.tables.get(run_id)
            return {m["name"]: m for m in table.metrics()} if table else {}

    # ---- routes

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
        url = urlsplit(target)
        query = dict(parse_qsl(url.query))
        parts = [unquote(p) for p in url.path.split("/")[3:]]  # "", "api", "v1", …
        with self.changed:
            self.answered += 1
            try:
                return self._route(method, parts, query, body)
            finally:
                self.changed.notify_all()

    def _route(self, method: str, parts: list[str], query: dict[str, str], body: bytes) -> tuple[int, Any]:
        if parts[0] == "agent":
            return self._agent(parts[1], parts[4], query, body)
        if parts[0] == "snapshots":
            return 200, {"id": parts[1], "entries": self.snapshots[parts[1]]}
        if parts[:2] == ["content", "missing"]:
            return 200, {"missing": [sha for sha in json.loads(body)["sha256"] if sha not in self.content]}
        if parts[:2] == ["content", "pack"]:
            return self._take_pack(body)
        if parts[0] == "content":
            return (200, self.content[parts[1]]) if parts[1] in self.content else _error(404, "not_found", "no content")
        if parts[:2] == ["data", "manifests"]:
            return self._manifest(parts[2], parts[3:], query)
        if parts[0] == "models":
            self.models.append(json.loads(body))
            name = self.models[-1]["name"]
            return 201, {"name": name, "version": len(self.models), "id": f"{name}:{len(self.models)}"}
        if parts[0] == "runs":
            return self._runs(method, parts[1], parts[2:], query, body)
        return _error(404, "not_found", "/".join(parts))

    def _agent(self, run: str, verb: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
        if self.over:
            return _error(409, "conflict", "the attempt is over")
        if verb == "log":
            return self._take_log(query["name"], int(query["offset"]), body)
        if verb == "commands":
            after = int(query["after"])
            self.changed.wait_for(lambda: len(self.commands) > after or self._server is None, 5.0)
            return 200, {"commands": self.commands[after:]}
        if verb == "rendezvous" and not body:
            self.changed.wait_for(lambda: self.rendezvous or self.cancel or self._server is None, 5.0)
            return 200, {"address": None, "port": None, **self.rendezvous, "cancel": self.cancel}
        data = json.loads(body)
        if verb == "rendezvous":
            self.rendezvous = data
        if verb == "journal":
            return self._take_journal(run, data)
        self.events.append((verb, data))
        if verb == "hello":
            sizes = {name: len(data) for name, data in self.logs.items()}
            return 200, {"journals": dict(self.journal_offsets), "logs": sizes, "cancel": self.cancel}
        return 200, {"cancel": self.cancel} if verb == "beat" else {}

    def _manifest(self, manifest_id: str, rest: list[str], query: dict[str, str]) -> tuple[int, Any]:
        manifest = self.manifests[manifest_id]
        if rest != ["bytes"]:
            return 200, manifest.to_plain()
        first = int(query["first"])
        some = manifest.entries[first : first + int(query["count"])]
        return 200, b"".join(self.data[entry.key] for entry in some if not entry.is_folder)

    def send_file(self, handler: BaseHTTPRequestHandler) -> bool:
        """Whether a file of a manifest is asked for; it is sent from where it is wanted."""
        parts = urlsplit(handler.path).path.split("/")[3:]
        if parts[:2] != ["data", "manifests"] or parts[3:4] != ["files"]:
            return False
        entry = self.manifests[parts[2]].entries[int(parts[4])]
        start = int((handler.headers.get("Range") or "bytes=0-")[6:-1])
        with self.changed:
            self.data_asked.append((entry.path, start))
            self.changed.notify_all()
        data = self.data[entry.key]
        handler.send_response_only(206 if start else 200)
        handler.send_header("Content-Length", str(len(data) - start))
        handler.end_headers()
        if self.data_gate is not None:
            handler.wfile.write(data[start : self.data_gate[0]])
            self.data_gate[1].wait(120.0)
            start = max(start, self.data_gate[0])
        handler.wfile.write(data[start:])
        return True

    def _take_log(self, name: str, offset: int, body: bytes) -> tuple[int, Any]:
        stored = self.logs.setdefault(name, bytearray())
        if offset > len(stored):
            return _error(409, "conflict", "a gap", {"offset": len(stored)})
        stored += body[len(stored) - offset :]
        self.log_times.append((time.time(), name, len(stored)))
        return 200, {"ack": len(stored)}

    def _take_pack(self, body: bytes) -> tuple[int, Any]:
        at = 0
        while at < len(body):
            size = int(body[at + 64 : at + 80], 16)
            data = body[at + 80 : at + 80 + size]
            assert hashlib.sha256(data).hexdigest() == body[at : at + 64].decode()
            self.content[body[at : at + 64].decode()] = data
            self.uploads += 1
            at += 80 + size
        return 201, {}

    def _take_journal(self, run: str, data: dict[str, Any]) -> tuple[int, Any]:
        stored = self.journal_offsets.get(data["journal"], 0)
        if data["to"] <= stored:
            return 200, {"ack": stored}
        if data["from"] != stored:
            return _error(409, "conflict", "not the next part", {"offset": stored})
        for block in data["blocks"]:
            for record in _unpack(block):
                self.apply(run, record)
        for record in data["records"]:
            self.apply(run, record)
        self.journal_offsets[data["journal"]] = data["to"]
        self.journal_ranks[data["journal"]] = data.get("rank")
        return 200, {"ack": data["to"]}

    def apply(self, run: str, record: list[Any]) -> None:
        owner = record[1] or run
        if record[0] in ("m", "l", "r", "t", "d"):
            assert owner == run or owner in self.runs, f"{owner} was never created"
            self.tables.setdefault(owner, MetricTable()).apply(record)
            return
        self.records.append(record)
        known = self._run(owner)
        if record[0] == "c":
            known.update(parent_id=record[2] or run, display_name=record[3], kind="child", status="Running")
            known["tags"].update(record[4])
        elif record[0] == "s" and owner != run:
            known["status"] = record[2]
        elif record[0] == "g":
            known["tags"].update(record[2])
        elif record[0] == "p":
            known["properties"].update(record[2])
        elif record[0] == "n":
            known.update(record[2])

    def _run(self, run_id: str) -> dict[str, Any]:
        return self.runs.setdefault(
            run_id,
            {
                "id": run_id,
                "kind": "script",
                "experiment": "exp",
                "status": "Running",
                "reason": "",
                "tags": {},
                "properties": {},
                "display_name": "",
                "description": "",
                "parent_id": None,
                "number": 1,
                "snapshot_id": None,
            },
        )

    def _runs(self, method: str, run: str, rest: list[str], query: dict[str, str], body: bytes) -> tuple[int, Any]:
        what = rest[0] if rest else ""
        if what == "artifacts":
            return self._artifacts(method, run, "/".join(rest[1:]), body)
        if method == "POST" and what == "records":
            for record in json.loads(body)["records"]:
                self.apply(run, record)
            return 200, {}
        if method == "POST":
            self._run(run)["status"] = "Canceled" if what == "cancel" else json.loads(body)["status"]
            return 200, self._run(run)
        if method == "PATCH":
            self._run(run)["properties"].update(json.loads(body).get("properties") or {})
            return 200, self._run(run)
        if what == "metrics":
            return 200, {"metrics": self.tables[run].metrics() if run in self.tables else []}
        if what == "logs":
            return 200, {"logs": [{"name": name, "size": len(data)} for name, data in self.logs.items()]}
        if what == "children":
            return 200, {"runs": [r for r in self.runs.values() if r["parent_id"] == run]}
        return 200, self._run(run)

    def _artifacts(self, method: str, run: str, name: str, body: bytes) -> tuple[int, Any]:
        mine = self.artifacts.setdefault(run, {})
        if method == "POST":
            wanted = json.loads(body)
            links = wanted.get("artifacts", [wanted])
            if any(link["name"] == self.refused for link in links):
                return _error(400, "bad_path", "no such name, please")
            if any(link["sha256"] not in self.content for link in links):
                return _error(404, "artifact_not_found", "not stored yet")
            mine.update({link["name"]: self.content[link["sha256"]] for link in links})
            return 201, {"artifacts": links}
        if method == "PUT":
            self.uploads += 1
            mine[name] = body
            self.content[hashlib.sha256(body).hexdigest()] = body
            return 201, {"name": name}
        if not name:
            return 200, {"artifacts": [{"name": n, "size": len(b)} for n, b in mine.items()]}
        if name in mine:
            return 200, mine[name]
        if name in self.logs:
            return 200, bytes(self.logs[name])
        return _error(404, "artifact_not_found", name)

    def disturbed(self) -> bool:
        """Whether this request is one of those that fail."""
        if self.delay_s:
            time.sleep(self.delay_s)
        with self.lock:
            return self.fail_rate > 0 and self._random.random() < self.fail_rate


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, keeper: FakeKeeper) -> None:
        super().__init__(keeper.socket, _Handler)
        self.keeper = keeper
        self.open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def cut(self) -> None:
        for sock in list(self.open):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        keeper = self.server.keeper
        when = keeper._random.random()
        if keeper.disturbed():
            # Before or after the deed: the other side cannot tell, and must not do it twice.
            if when < 0.5:
                keeper.answer(self.command, self.path, body)
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        if keeper.send_file(self):
            return
        status, data = keeper.answer(self.command, self.path, body)
        text = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response_only(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET


def _unpack(block: dict[str, Any]) -> list[list[Any]]:
    def numbers(code: str, text: str) -> list[Any]:
        data = array(code)
        data.frombytes(base64.b64decode(text))
        return data.tolist()

    values = block["values"] if block["dtype"] == "j" else numbers(block["dtype"], block["values"])
    steps = numbers("q", block["steps"]) if block["steps"] else [None] * block["n"]
    times = numbers("d", block["times"])
    assert len(values) == len(steps) == len(times) == block["n"]
    return [["m", block["run"], block["name"], v, s, t] for v, s, t in zip(values, steps, times)]


def _error(status: int, code: str, message: str, details: Optional[dict[str, Any]] = None) -> tuple[int, Any]:
    return status, {"error": {"code": code, "message": message, "details": details or {}}}
