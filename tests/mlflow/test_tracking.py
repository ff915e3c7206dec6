"""What only this side can see: external runs, submitted runs that log with MLflow, one registry for both, tokens."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from rookery.sdk import Environment, Experiment, Model, ScriptRunConfig, Workspace
from rookery.testing.mlflow_client import ROOT

SCRIPT = """
import mlflow, os
mlflow.log_param("lr", 0.1)                       # no start_run: the run is found by its variables
for step in range(3):
    mlflow.log_metric("loss", 1.0 / (step + 1), step=step)
mlflow.log_text("hello", "notes/hello.txt")
with mlflow.start_run(nested=True, run_name="inner"):
    mlflow.log_metric("inside", 1)
client = mlflow.MlflowClient()
other = os.environ["OTHER_RUN"]
try:
    client.log_metric(other, "x", 1)
    print("ALLOWED")
except mlflow.exceptions.MlflowException as error:
    print("REFUSED", error.error_code)
"""


@pytest.fixture
def ws(home):
    return Workspace.create("tracked", exist_ok=True)


def root_of(ws) -> str:
    return os.path.join(os.environ["ROOKERY_HOME"], "workspaces", ws.name)


@pytest.mark.slow
@pytest.mark.timeout(600)
class TestFromOurSide:
    def test_the_address_alone_is_enough_and_its_run_is_one_of_ours(self, ws, drive, tmp_path, monkeypatch):
        monkeypatch.delenv("MLFLOW_TRACKING_TOKEN", raising=False)
        uri = ws.get_mlflow_tracking_uri(True)
        assert os.environ.pop("MLFLOW_TRACKING_TOKEN") in uri
        code = (
            "import sys, mlflow\n"
            "mlflow.set_tracking_uri(sys.argv[1])\n"
            "mlflow.set_experiment('birds')\n"
            "run = mlflow.start_run(run_name='first')\n"
            "mlflow.log_param('lr', 0.1); mlflow.log_metric('loss', 0.5, step=2); mlflow.log_text('x', 'net/w.txt')\n"
            "mlflow.register_model(run.info.artifact_uri + '/net', 'pigeon')\n"
            "print('RUN', run.info.run_id, flush=True)\n"
            "import os; os._exit(0)\n"  # as if killed: its status stays what it said last
        )
        run_id = drive(code, uri).partition("RUN ")[2].split()[0]
        run = ws.client.request("GET", f"/runs/{run_id}")
        assert (run["kind"], run["status"], run["experiment"]) == ("external", "Running", "birds")
        assert run["params"] == {"lr": "0.1"}
        assert run["stale"] is False
        assert ws.get_run(run_id).get_metrics() == {"loss": 0.5}
        listed = subprocess.run(
            [sys.executable, "-m", "rookery.cli.main", "ps", "-C", root_of(ws)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        assert run_id in listed
        model = Model(ws, "pigeon")
        assert (model.version, model.run_id) == (1, run_id)
        assert pathlib.Path(model.download(str(tmp_path / "got")), "w.txt").read_text() == "x"
        # And the other way round: what v1 registers, MLflow reads.
        (tmp_path / "weights.bin").write_bytes(b"12345")
        Model.register(ws, str(tmp_path / "weights.bin"), "sparrow", tags={"a": "b"})
        code = (
            "import sys, mlflow\n"
            "mlflow.set_tracking_uri(sys.argv[1])\n"
            "version = mlflow.MlflowClient().get_model_version('sparrow', '1')\n"
            "path = mlflow.artifacts.download_artifacts('models:/sparrow/1')\n"
            "import os; print('GOT', version.tags, os.listdir(path))\n"
        )
        assert "GOT {'a': 'b'} ['weights.bin']" in drive(code, uri)

    def test_a_submitted_run_logs_to_itself(self, ws, client_python, tmp_path):
        other = Experiment(ws, "others").start_logging()
        (tmp_path / "src").mkdir()
        (tmp_path / "src" / "train.py").write_text(SCRIPT)
        env = Environment("client")
        env.python.user_managed_dependencies = True
        env.python.interpreter_path = client_python
        env.environment_variables = {"OTHER_RUN": other.id, "GIT_PYTHON_REFRESH": "quiet"}
        run = Experiment(ws, "birds").submit(ScriptRunConfig(str(tmp_path / "src"), script="train.py", environment=env))
        run.wait_for_completion()
        other.complete()
        shown = ws.client.request("GET", f"/runs/{run.id}")
        assert shown["status"] == "Completed"
        assert shown["params"] == {"lr": "0.1"}
        assert run.get_metrics()["loss"] == [1.0, 0.5, pytest.approx(1 / 3)]
        assert "notes/hello.txt" in run.get_file_names()
        children = ws.client.request("GET", f"/runs/{run.id}/children")["runs"]
        assert [(c["display_name"], c["kind"], c["status"]) for c in children] == [("inner", "external", "Completed")]
        text = subprocess.run(
            [sys.executable, "-m", "rookery.cli.main", "logs", run.id, "-C", root_of(ws)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        assert "REFUSED PERMISSION_DENIED" in text
        assert "rkr_" not in text

    def test_the_token_is_not_printed_where_our_provider_is_installed(self, ws, client_python, tmp_path):
        """A client's environment with Rookery beside it: the address has no token, and still works."""
        (tmp_path / "rookery_here-1.dist-info").mkdir()
        (tmp_path / "rookery_here-1.dist-info" / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: rookery-here\nVersion: 1\n"
        )
        (tmp_path / "rookery_here-1.dist-info" / "entry_points.txt").write_text(
            "[mlflow.request_header_provider]\nrookery = rookery.sdk.tracking:RequestHeaders\n"
        )
        code = (
            "import os, mlflow\n"
            "from rookery.sdk import Workspace\n"
            "ws = Workspace.get('tracked')\n"
            "uri = ws.get_mlflow_tracking_uri()\n"
            "os.environ.pop('MLFLOW_TRACKING_TOKEN')\n"  # so that only the provider can send it
            "mlflow.set_tracking_uri(uri)\n"
            "mlflow.set_experiment('quiet')\n"
            "with mlflow.start_run(): mlflow.log_metric('m', 1)\n"
            "print('URI', uri)\n"
        )
        done = subprocess.run(
            [client_python, "-W", "ignore", "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), os.path.join(ROOT, "src")))},
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        assert "View run" in done.stdout + done.stderr
        assert "rkr_" not in done.stdout + done.stderr
        assert "URI http://127.0.0.1:" in done.stdout


class TestServer:
    def test_testing_is_refused_elsewhere_than_on_loopback(self, server):
        done = subprocess.run(
            [sys.executable, "-m", "rookery.server", "--workspace", server.root, "--testing", "--host", "0.0.0.0"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert "loopback only" in json.loads(done.stderr.splitlines()[-1])["error"]["message"]

    def test_without_testing_nobody_empties_it(self, ws):
        owner = ws.client
        assert owner.request("PUT", "/experiments/kept")["name"] == "kept"
        port = owner.request("GET", "/keeper")["port"]
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(
                urllib.request.Request(f"http://127.0.0.1:{port}/__reset", method="POST"), timeout=30
            )
        assert error.value.code == 404
        error.value.close()
        assert owner.request("GET", "/experiments/kept")["name"] == "kept"

    def test_a_run_token_writes_to_its_own_run_only(self, server):
        api = "/api/2.0/mlflow"
        own = server.ask("POST", api + "/runs/create", {"experiment_id": "0"})[1]["run"]["info"]["run_id"]
        other = server.ask("POST", api + "/runs/create", {"experiment_id": "0"})[1]["run"]["info"]["run_id"]
        token = server.ask("POST", "/api/v1/tokens", {"run_id": own})[1]["token"]
        metric = {"key": "m", "value": 1}
        assert server.ask("POST", api + "/runs/log-metric", {"run_id": own, **metric}, token)[0] == 200
        assert server.ask("GET", api + f"/runs/get?run_id={other}", token=token)[0] == 200
        refused = [
            ("POST", "/runs/log-metric", {"run_id": other, **metric}),
            ("POST", "/runs/update", {"run_id": other, "status": "KILLED"}),
            ("POST", "/runs/create", {"experiment_id": "0"}),
            ("POST", "/runs/delete", {"run_id": own}),
            ("POST", "/experiments/delete", {"experiment_id": "0"}),
            ("DELETE", "/registered-models/delete", {"name": "x"}),
        ]
        for method, path, body in refused:
            status, answer = server.ask(method, api + path, body, token)
            assert (status, answer["error_code"]) == (403, "PERMISSION_DENIED"), path
        nested = {"experiment_id": "0", "tags": [{"key": "mlflow.parentRunId", "value": own}]}
        assert server.ask("POST", api + "/runs/create", nested, token)[0] == 200
        put = "/api/2.0/mlflow-artifacts/artifacts/0/{}/artifacts/f.txt"
        assert server.ask("PUT", put.format(own), token=token, raw=b"x")[0] == 200
        assert server.ask("PUT", put.format(other), token=token, raw=b"x")[0] == 403
        assert server.ask("PUT", "/api/2.0/mlflow-artifacts/artifacts/elsewhere/f", token=token, raw=b"x")[0] == 403
