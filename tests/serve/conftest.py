"""A real keeper, real fronts and real scoring processes, asked over real sockets."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, Optional

import pytest

from rookery.client.client import Client
from rookery.client.start import stop_keeper
from rookery.spec.paths import WorkspacePaths
from rookery.submit.snapshot import take_snapshot
from tests.conftest import stop_fronts

IDENTITY = {
    "id": "11111111-2222-3333-4444-555555555555", "name": "coop", "subscription_id": "s", "resource_group": "g", "location": "here",
    "created_utc": "2026-11-15T20:00:00.000000Z", "format": 1,
}  # fmt: skip
LIMIT_S = 240.0  # for what takes a second or two on a machine that has nothing else to do, or has packages to fetch

ECHO = """
import json, os, time

def init():
    global version
    version = os.environ.get("MY_VERSION", "")
    print("init of", version, flush=True)

def run(data):
    asked = json.loads(data)
    if "mark" in asked:
        open(asked["mark"], "w").close()
    if "sleep" in asked:
        time.sleep(asked["sleep"])
    if "wait" in asked:
        open(asked["wait"], "rb").close()  # until somebody opens this FIFO for writing
    if "raise" in asked:
        raise RuntimeError(asked["raise"])
    if "exit" in asked:
        os._exit(asked["exit"])
    return {"pid": os.getpid(), "asked": asked, "version": version}
"""


class Answered:
    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


class Coop:
    """A workspace with its keeper, as a user of the API sees it."""

    def __init__(self, root: str, tmp: Path) -> None:
        self.paths, self._tmp = WorkspacePaths(root), tmp
        self.client = Client.for_workspace(root)

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        return self.client.request(method, path, query or None, body)

    def source(self, files: dict[str, str], name: str = "source") -> str:
        """A snapshot of a folder with these files."""
        folder = self._tmp / f"{name}-{hashlib.sha256(repr(files).encode()).hexdigest()[:8]}"
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return take_snapshot(self.client, str(folder)).id

    def model(self, name: str, files: dict[str, bytes], **more: Any) -> dict[str, Any]:
        entries = []
        for path, data in files.items():
            sha = hashlib.sha256(data).hexdigest()
            self.client.request("PUT", f"/content/{sha}", body=data)
            entries.append({"path": path, "sha256": sha, "size": len(data)})
        return self.ask("POST", "/models", {"name": name, "entries": entries, **more})

    def script(self, text: str = ECHO, **more: Any) -> dict[str, Any]:
        """An Inference of one script, in the interpreter of the keeper."""
        return {"entry_script": "score.py", "snapshot_id": self.source({"score.py": text}), **more}

    def deploy(self, name: str = "echo", wait: bool = True, **body: Any) -> dict[str, Any]:
        if "models" not in body:
            body["inference"] = body.get("inference") or self.script()
        made = self.ask("POST", "/endpoints", {"name": name, **body})
        return self.settled(name) if wait else made

    def settled(self, name: str = "echo") -> dict[str, Any]:
        """The endpoint, once nothing is under way any more."""
        return self.until(lambda: self.ask("GET", f"/endpoints/{name}"), lambda e: e["operation"]["state"] != "Running")

    def healthy(self, name: str = "echo") -> dict[str, Any]:
        return self.until(lambda: self.ask("GET", f"/endpoints/{name}"), lambda e: e["state"] == "Healthy")

    def until(self, look: Callable[[], Any], is_done: Callable[[Any], bool], limit_s: float = LIMIT_S) -> Any:
        deadline = time.monotonic() + limit_s
        while True:
            found = look()
            if is_done(found):
                return found
            assert time.monotonic() < deadline, found
            time.sleep(0.05)

    def logs(self, name: str = "echo") -> str:
        return self.client.raw("GET", f"/endpoints/{name}/logs")[2].decode()

    def front(self, name: str = "echo") -> dict[str, Any]:
        with open(self.paths.served(name).front) as f:
            return json.load(f)


def ask(
    url: str, body: Optional[bytes] = None, headers: Optional[dict[str, str]] = None, method: Optional[str] = None
) -> Answered:
    request = urllib.request.Request(url, data=body, headers=headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return Answered(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answered(error.code, error.headers, error.read())


def score(endpoint: dict[str, Any], value: Any, **headers: str) -> Answered:
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    return ask(endpoint["scoring_uri"], json.dumps(value).encode(), {"Content-Type": "application/json", **named})


def raw(endpoint: dict[str, Any], data: bytes) -> bytes:
    """What comes back for these bytes, until the other side hangs up."""
    with socket.create_connection(("127.0.0.1", endpoint["port"]), timeout=LIMIT_S) as sock:
        sock.sendall(data)
        parts = []
        while part := sock.recv(65536):
            parts.append(part)
    return b"".join(parts)


@contextlib.contextmanager
def a_coop(tmp: Path) -> Iterator[Coop]:
    """A workspace of its own, and nothing left of it at the end."""
    root = tmp / "a work's space"
    root.mkdir()
    (root / "workspace.json").write_text(json.dumps(IDENTITY))
    made = Coop(str(root), tmp)
    try:
        yield made
    finally:
        made.client.close()
        stop_keeper(str(root))
        stop_fronts(str(tmp))


@pytest.fixture(scope="module")
def nest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Coop]:
    """One keeper for all tests of a module that break nothing: starting one takes longer than most of them."""
    tmp = tmp_path_factory.mktemp("nest")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("ROOKERY_", "AZUREML_", "MLFLOW_")):
                patch.delenv(name)
        patch.setenv("ROOKERY_HOME", str(tmp / "rookery's home"))
        with a_coop(tmp) as made:
            yield made


@pytest.fixture
def coop(nest: Coop) -> Iterator[Coop]:
    yield nest
    for one in nest.ask("GET", "/endpoints")["endpoints"]:
        nest.ask("DELETE", f"/endpoints/{one['name']}")
