"""A server in testing mode, and a real MLflow client in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from rookery.testing.mlflow_client import ROOT, ensure_client

# Run by test_suite.py in the environment of the client, never by this session.
collect_ignore = ["client_suite"]


class Server:
    """`python -m rookery.server --testing` on a free port of loopback."""

    def __init__(self, root: str) -> None:
        self.root = root
        with open(os.path.join(root, "workspace.json"), "w") as f:
            json.dump({"format": 1, "id": "11111111-2222-3333-4444-555555555555", "name": "tracked"}, f)
        with open(os.path.join(root, "server.log"), "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rookery.server", "--workspace", root, "--foreground", "--testing"],
                stderr=log,
                cwd=ROOT,
            )
        path = os.path.join(root, "keeper", "keeper.json")
        deadline = time.monotonic() + 120
        while not os.path.exists(path):
            if self.process.poll() is not None or time.monotonic() > deadline:
                with open(os.path.join(root, "server.log")) as log_text:
                    raise RuntimeError("the server did not start: " + log_text.read()[-2000:])
            time.sleep(0.02)
        with open(path) as f:
            self.url = f"http://127.0.0.1:{json.load(f)['port']}"
        with open(os.path.join(root, "keeper", "token")) as f:
            self.token = f.read().strip()

    def ask(self, method: str, path: str, body=None, token: str | None = None, raw: bytes | None = None):
        """(status, parsed JSON or bytes) with the owner's token, or another."""
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("Authorization", "Bearer " + (token or self.token))
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        return status, json.loads(text) if text[:1] in (b"{", b"[") else text

    def address(self) -> str:
        """As ws.get_mlflow_tracking_uri() gives it: with a token that can only track."""
        _, made = self.ask("POST", "/api/v1/tokens/tracking")
        return self.url.replace("://", f"://rookery:{made['token']}@")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(120)


@pytest.fixture(scope="session")
def client_python():
    return ensure_client()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    started = Server(str(tmp_path_factory.mktemp("a tracked space")))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def drive(client_python):
    """Runs a program in the client's environment; returns what it printed."""

    def drive(code: str, *args: str, timeout_s: float = 240, **variables: str) -> str:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("MLFLOW_", "ROOKERY_", "PYTHON"))}
        done = subprocess.run(
            [client_python, "-W", "ignore", "-c", code, *args],
            env={**kept, "GIT_PYTHON_REFRESH": "quiet", **variables},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout + done.stderr

    return drive
