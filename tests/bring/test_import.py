"""`rookery import mlflow` from stores that a real MLflow client has filled."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from rookery.client import Client, create_workspace, stop_keeper
from rookery.testing.mlflow_client import ensure_client
from rookery.testing.ports import free_port

HERE = os.path.dirname(os.path.abspath(__file__))

pytestmark = pytest.mark.timeout(900)


def fill(uri: str, folder, **more: str) -> dict:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MLFLOW_", "ROOKERY_", "PYTHON"))}
    environment = {**kept, "MLFLOW_TRACKING_URI": uri, "GIT_PYTHON_REFRESH": "quiet", **more}
    done = subprocess.run(
        [ensure_client(), "-W", "ignore", os.path.join(HERE, "make_source.py"), "--stages"],
        env=environment, cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("FACTS "))[6:])


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a database")
    return str(folder / "mlflow.db"), fill(f"sqlite:///{folder}/mlflow.db", folder)


@pytest.fixture
def workspace(tmp_path):
    made = create_workspace(str(tmp_path / "ws"), "brought")
    yield made
    stop_keeper(made.root)


def run_import(workspace, *arguments: str, rc: int = 0) -> dict:
    command = [sys.executable, "-m", "rookery.cli.main", "import", "mlflow", *arguments, "--json", "-C", workspace.root]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == rc, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(done.stdout)


def check(workspace, facts: dict) -> None:
    client = Client.for_workspace(workspace.root)
    run = client.request("GET", f"/runs/{facts['parent']}")
    assert (run["display_name"], run["status"], run["params"]["layer/size"]) == ("the parent", "Completed", "12")
    assert run["tags"]["color"] == "red"
    assert run["experiment"] == "/Shared/vision äöü"
    metrics = {m["name"]: m for m in client.request("GET", f"/runs/{facts['parent']}/metrics")["metrics"]}
    assert sorted(zip(metrics["loss"]["steps"], metrics["loss"]["values"])) == [(i, 1.0 / (i + 1)) for i in range(2500)]
    assert min(metrics["loss"]["times"]) == 1_700_000_000.0
    odd = metrics["odd"]["values"]
    assert sorted(map(str, odd)) == ["-inf", "3.5", "inf", "nan"]
    assert metrics["val/acc"]["steps"] == [-3]
    child = client.request("GET", f"/runs/{facts['child']}")
    assert child["parent_id"] == facts["parent"]
    for theirs, ours in (("FAILED", "Failed"), ("KILLED", "Canceled"), ("RUNNING", "Running")):
        other = client.request("GET", f"/runs/{facts[theirs]}")
        assert other["status"] == ours
        assert other["started_utc"] == "2023-11-14T22:13:20.123000Z"
    assert client.request("GET", f"/runs/{facts['FAILED']}")["ended_utc"] == "2023-11-14T22:15:00.456000Z"
    names = {f["name"]: f["size"] for f in client.request("GET", f"/runs/{facts['parent']}/artifacts")["artifacts"]}
    assert names == {"a.txt": 5, "deep/er/b+c d.bin": 300_000, "empty": 0, "notes/today.md": 4}
    versions = {m["version"]: m for m in client.request("GET", "/models", query={"name": "bird net"})["models"]}
    assert sorted(versions) == [1, 3]
    assert versions[1]["stage"] == "Production"
    assert versions[3]["aliases"] == ["champion"]
    assert {f["path"]: f["size"] for f in versions[1]["files"]} == {"deep/er/b+c d.bin": 300_000}
    assert {f["path"] for f in versions[3]["files"]} == {"net/a.txt", "net/deep/er/b+c d.bin", "net/empty"}


@pytest.mark.slow
class TestSqlite:
    def test_everything_and_a_second_time_nothing(self, database, workspace):
        path, facts = database
        first = run_import(workspace, path)
        assert first["equal"]
        assert first["new_runs"] == 7
        with sqlite3.connect(path) as db:
            assert first["counts"]["metric values"]["here"] == db.execute("SELECT count(*) FROM metrics").fetchone()[0]
            assert first["counts"]["parameters"]["here"] == db.execute("SELECT count(*) FROM params").fetchone()[0]
        db.close()
        check(workspace, facts)
        last = Client.for_workspace(workspace.root)
        before = last.request("GET", "/runs", query={"include_children": True})
        again = run_import(workspace, "sqlite:///" + path)
        assert (again["equal"], again["new_runs"]) == (True, 0)
        assert last.request("GET", "/runs", query={"include_children": True}) == before

    def test_what_came_later_is_added(self, database, workspace, tmp_path):
        path, facts = database
        copy = str(tmp_path / "later.db")
        shutil.copy(path, copy)
        with sqlite3.connect(copy) as db:  # before: half of the values
            db.execute("DELETE FROM metrics WHERE key = 'loss' AND step % 2 = 0 AND run_uuid = ?", (facts["parent"],))
        db.close()
        assert (
            run_import(workspace, copy, "--artifacts", str(tmp_path))["counts"]["metric values"]["here"] == 2508 - 1250
        )
        assert run_import(workspace, path)["equal"]
        check(workspace, facts)

    def test_killed_anywhere_it_goes_on(self, database, workspace):
        path, facts = database
        command = [sys.executable, "-m", "rookery.cli.main", "import", "mlflow", path, "--json", "-C", workspace.root]
        Client.for_workspace(workspace.root).request("GET", "/runs")
        for delay in (0.35, 0.45, 0.55, 0.7, 0.9):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)  # where it hits is the point: anywhere
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert run_import(workspace, path)["equal"]
        check(workspace, facts)

    def test_one_experiment(self, database, workspace):
        found = run_import(workspace, database[0], "--experiment", "thrown away")
        assert found["counts"]["runs"] == {"source": 1, "here": 1}
        assert found["counts"]["registered models"]["source"] == 0


@pytest.mark.slow
class TestFolder:
    def test_everything(self, workspace, tmp_path):
        facts = fill(f"file://{tmp_path}/there/mlruns", tmp_path, MLFLOW_ALLOW_FILE_STORE="true")
        (tmp_path / "there").rename(tmp_path / "moved")
        found = run_import(workspace, str(tmp_path / "moved"))
        assert found["counts"]["files"] == {"source": 4, "here": 4}
        assert found["equal"], found
        client = Client.for_workspace(workspace.root)
        assert client.request("GET", f"/runs/{facts['child']}")["parent_id"] == facts["parent"]


@pytest.mark.slow
class TestServer:
    def test_everything(self, database, workspace, tmp_path):
        import socket

        port = free_port()
        mlflow = os.path.join(os.path.dirname(ensure_client()), "mlflow")
        command = [
            mlflow,
            "server",
            "--backend-store-uri",
            "sqlite:///" + database[0],
            "--port",
            str(port),
            "--workers",
            "1",
        ]
        with open(tmp_path / "log", "wb") as log:
            server = subprocess.Popen(
                command, cwd=os.path.dirname(database[0]), stdout=log, stderr=log, start_new_session=True
            )
        try:
            deadline = time.monotonic() + 180
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    assert time.monotonic() < deadline, (tmp_path / "log").read_text()[-2000:]
                    time.sleep(0.2)
            assert run_import(workspace, f"http://127.0.0.1:{port}")["equal"]
            check(workspace, database[1])
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(60)


class TestSources:
    @pytest.mark.parametrize("name", ["nowhere", "postgresql://host/db"])
    def test_what_is_none_is_said(self, workspace, name):
        from rookery.bring import open_source
        from rookery.errors import UserError

        with pytest.raises(UserError, match=r"mlflow server|mlruns"):
            open_source(name)
