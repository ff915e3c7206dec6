"""The real API on real sockets, over a real record and a controller that behaves."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from rookery.record import Record, passwords
from rookery.server import create_app
from rookery.server.listening import GRACE_S, listen_tcp, listen_unix, server_config
from rookery.spec.paths import WorkspacePaths
from rookery.spec.plain import to_plain
from rookery.spec.run import EnvironmentSpec, RunSpec
from rookery.testing.fake_controller import FakeController

IDENTITY = {
    "id": "11111111-2222-3333-4444-555555555555", "name": "coop", "subscription_id": "s", "resource_group": "g", "location": "here",
    "created_utc": "2026-11-15T20:00:00.000000Z", "format": 1,
}  # fmt: skip
# httpx reads the certificates of all authorities for every client that it makes, which is most of what one costs. Nobody here has any.
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_ROUTES: list[Any] = []  # of the first app


# Their tests run a second time as a team has it: on a real PostgreSQL, with files in a real S3. Every route is asked in one of
# them at least. The others are about processes, sockets and files, which are the same with any of these. The second time is marked
# slow.
AS_A_TEAM = (
    "test_access_matrix",
    "test_api",
    "test_auth",
    "test_data",
    "test_environments",
    "test_errors",
    "test_events",
    "test_past",
    "test_people",
    "test_pipelines",
    "test_schemathesis",
    "test_tracking_calls",
    "test_tracking",
    "test_uploads",
    "test_watching",
    "test_webhooks",
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "storage" in metafunc.fixturenames:
        is_both = metafunc.module.__name__.rpartition(".")[2] in AS_A_TEAM
        as_a_team = pytest.param("postgresql+s3", marks=pytest.mark.slow)
        metafunc.parametrize("storage", ["sqlite", as_a_team] if is_both else ["sqlite"], indirect=True)


@pytest.fixture(scope="package")
def s3() -> Iterator[str]:
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    from rookery.testing.s3_server import s3_server

    with s3_server() as address:
        yield address


@pytest.fixture
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, home: Path) -> str:
    """Where records and files are kept: in the workspace's folder, or as a team has it."""
    if request.param == "postgresql+s3":
        request.getfixturevalue("s3")
        monkeypatch.setenv("ROOKERY_DATABASE_URL", request.getfixturevalue("postgres").emptied())
        monkeypatch.setenv("ROOKERY_ARTIFACT_ROOT", f"s3://rookery-test/{secrets.token_hex(4)}")
    return request.param


def run_spec(run_id: str = "run-1", **fields: Any) -> dict[str, Any]:
    if fields.get("kind") != "child":
        fields.setdefault("script", "train.py")
    return to_plain(
        RunSpec(
            run_id=run_id,
            experiment=fields.pop("experiment", "birds"),
            environment=EnvironmentSpec(python="python"),
            **fields,
        )
    )


@pytest.fixture
def paths(tmp_path: Path) -> WorkspacePaths:
    root = tmp_path / "a work's space"
    root.mkdir()
    (root / "workspace.json").write_text(json.dumps(IDENTITY))
    return WorkspacePaths(str(root))


@pytest.fixture
def short_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="rk-", dir="/tmp")
    yield folder
    shutil.rmtree(folder)


def client_at(url: str, **more: Any) -> httpx.Client:
    """A client that knows nothing of this machine's proxies and has patience."""
    return httpx.Client(base_url=url, timeout=60, trust_env=False, verify=NO_AUTHORITIES, **more)


def socket_client(path: str) -> httpx.Client:
    """Through a keeper's socket file: as its owner."""
    transport = httpx.HTTPTransport(uds=path, verify=NO_AUTHORITIES)
    return httpx.Client(transport=transport, base_url="http://keeper/api/v1", timeout=60)


@dataclass
class Api:
    """`owner` speaks through the socket file; `tcp(token)` through the port."""

    record: Record
    app: Any
    owner: httpx.Client
    socket: str
    port: int
    clients: list[httpx.Client]

    def tcp(self, token: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        client = client_at(f"http://127.0.0.1:{self.port}/api/v1", headers=headers)
        self.clients.append(client)
        return client

    def run(self, run_id: str = "run-1", **fields: Any) -> dict[str, Any]:
        response = self.owner.post("/runs", json=run_spec(run_id, **fields))
        assert response.status_code == 201, response.text
        return response.json()


@pytest.fixture
def api(
    paths: WorkspacePaths,
    short_folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    storage: str,
    empty_record: Callable[[WorkspacePaths], str],
) -> Iterator[Api]:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(passwords, "_N", 2**8)  # nobody guesses here; keepers of other tests have the real ones
    monkeypatch.setattr(passwords, "_P", 1)
    if storage == "sqlite":
        empty_record(paths)
    record = Record(paths)
    app = create_app(record, FakeController(record), IDENTITY)
    share_routes(app)
    socket_path = os.path.join(short_folder, "k.sock")
    unix = listen_unix(socket_path)
    tcp = listen_tcp("127.0.0.1", 0, os.path.join(short_folder, "port"))
    server = _Server(server_config(app))
    thread = threading.Thread(target=lambda: asyncio.run(_serve(server, app, [unix, tcp])), daemon=True)
    port = tcp.getsockname()[1]
    thread.start()
    owner = socket_client(socket_path)
    api = Api(record, app, owner, socket_path, port, [owner])
    yield api
    for client in api.clients:
        client.close()
    app.state.services.leave()
    server.should_exit = True
    thread.join(60)
    assert not thread.is_alive()
    app.state.services.webhooks.stop()
    record.close()


def share_routes(app: Any) -> None:
    """Gives an app the routes of the first one: they hold nothing of an app, and what FastAPI has found out about each of them when
    it was first asked for (two tenths of a second in all) is not found out again for every test."""
    parts: dict[bool, list[Any]] = {True: [], False: []}
    for route in app.router.routes:
        parts[getattr(route, "path", None) == app.openapi_url].append(route)  # which speaks of its own app
    if not _ROUTES:
        _ROUTES.extend(parts[False])
    app.router.routes[:] = parts[True] + _ROUTES


class _Server(uvicorn.Server):
    """Leaves at once: others look ten times a second whether they are to, and whether everybody is gone. That is two tenths of a
    second for each of a thousand tests."""

    async def main_loop(self) -> None:
        counter = 0
        while not await self.on_tick(counter):
            counter = (counter + 1) % 864_000
            await asyncio.sleep(0.01)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for one in (*self.servers, *(sockets or ())):
            one.close()
        state, loop = self.server_state, asyncio.get_running_loop()
        for connection in list(state.connections):
            connection.shutdown()
        end = loop.time() + GRACE_S
        while (state.connections or state.tasks) and loop.time() < end:
            await asyncio.sleep(0.002)
        for task in state.tasks:
            task.cancel()


async def _serve(server: uvicorn.Server, app: Any, sockets: list[Any]) -> None:
    """As a keeper does it: what listens besides begins when the server runs."""
    serving = asyncio.get_running_loop().create_task(server.serve(sockets=sockets))
    while not server.started and not serving.done():
        await asyncio.sleep(0.005)
    app.state.services.agents.attach(server, app, lambda: None)
    app.state.services.spool.attach(app, server.server_state.tasks)
    await serving


@pytest.fixture
def token(api: Api) -> Callable[..., str]:
    return lambda run_id="run-1", kind="run": api.record.tokens.make(run_id, kind)


PROGRAM = (
    "import sys; from rookery.server.keeper import keep, KeeperOptions; from rookery.server import "
    "__main__ as program\n"
    "from rookery.testing.fake_controller import FakeController\n"
    "from rookery.server import keeper\n"
    "keeper._engine_controller = FakeController\n"
    "sys.exit(program.main())"
)


class Keepers:
    def __init__(self, root, environment):
        self.root, self.environment = root, environment
        self.processes = []

    def start(self, *more, root=None):
        """(process, the byte that says it listens or b'')."""
        ready, told = os.pipe()
        command = [
            sys.executable,
            "-c",
            PROGRAM,
            "--workspace",
            root or self.root,
            "--ready-fd",
            str(told),
            *more,
        ]
        process = subprocess.Popen(command, pass_fds=(told,), env=self.environment, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        os.close(told)
        try:
            return process, os.read(ready, 1)
        finally:
            os.close(ready)

    def fails(self, *more, root=None):
        """The error that a keeper says when it cannot start."""
        process, byte = self.start(*more, root=root)
        assert byte == b""
        _, err = process.communicate(timeout=60)
        assert process.returncode == 1
        return json.loads(err.strip().splitlines()[-1])["error"]

    def endpoint(self):
        with open(os.path.join(self.root, "keeper", "keeper.json")) as f:
            return json.load(f)

    def client(self):
        return socket_client(self.endpoint()["socket"])


@pytest.fixture
def keepers(paths, tmp_path, short_folder):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ROOKERY_")}
    environment.update(ROOKERY_HOME=str(tmp_path / "home"), XDG_RUNTIME_DIR=short_folder)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    keepers = Keepers(paths.root, environment)
    yield keepers
    for process in keepers.processes:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=60)
