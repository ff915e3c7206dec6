"""Schemathesis asks every route what its OpenAPI allows, and what it does not: nothing is answered with a 5xx."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from rookery.server.openapi import OPERATIONS
from rookery.server.routes import agent
from rookery.server.rules import RULES
from rookery.testing.schemathesis_env import ensure_schemathesis

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "4"))
# Every edge of every schema once, on the stricter of the two databases; what is random on both.
PHASES = {"sqlite": "fuzzing", "postgresql+s3": "coverage,fuzzing"}
# Streams that end when their reader goes; tests/server/test_events.py is about them.
STREAMS = ("follow_run", "follow_all", "follow_build")
# They send requests of their own to addresses that were made up.
SENDERS = ("ping_webhook", "send_delivery_again", "register_datastore")
# They start processes for what was made up; tests/serve is about them.
STARTERS = ("create_endpoint", "profile_model")
KNOWN = {"run_id": "run-1", "name": "birds", "attempt": 1, "node": 0, "version": 1, "path": "m.pt", "user": "ann"}


@pytest.fixture
def filled(api):
    """Something of every kind, so that not everything ends with "there is no such thing"."""
    api.run()
    api.run("kid", kind="child", parent_id="run-1")
    sha256 = api.owner.put("/runs/run-1/artifacts/outputs/m.pt", content=b"weights").json()["sha256"]
    api.owner.post("/runs/run-1/records", json={"records": [["m", None, "loss", 0.5, 1, 5.0]]})
    api.owner.post("/agent/run-1/1/0/log", params={"name": "birds", "offset": 0}, content=b"chick\n")
    api.owner.post("/models", json={"name": "birds", "run_id": "run-1", "path": "outputs/m.pt"})
    api.owner.post("/compute", json={"name": "birds", "spec": {"max_nodes": 2}})
    api.owner.post("/environments", json={"definition": {"name": "birds"}})
    api.owner.post("/users", json={"name": "ann"})
    entry = {"path": "m.pt", "sha256": sha256, "size": 7, "mode": 420, "link": None}
    snapshot = api.owner.post("/snapshots", json={"entries": [entry]}).json()["id"]
    return {**KNOWN, "sha256": sha256, "snapshot_id": snapshot}


def with_known(document, known):
    """The same API, where parts of a path are as likely to be something that is there as anything else."""
    for methods in document["paths"].values():
        for operation in methods.values():
            given = operation.get("parameters", [])
            # What a client says of its own accord: a wrong one only has the server wait for bytes that never come.
            given[:] = [one for one in given if one["name"].lower() != "content-length"]
            for parameter in given:
                if parameter["in"] == "path" and parameter["name"] in known:
                    parameter["schema"] = {"anyOf": [{"const": known[parameter["name"]]}, parameter["schema"]]}
    return document


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_is_answered_with_a_server_error(api, filled, paths, tmp_path, monkeypatch, caplog, storage):
    monkeypatch.setattr(agent, "POLL_S", 0.05)
    program = ensure_schemathesis()
    document = with_known(api.owner.get("/openapi.json").json(), filled)
    schema = tmp_path / "openapi.json"
    schema.write_text(json.dumps(document))
    with open(paths.token) as f:
        token = f.read().strip()
    command = [
        program, "run", str(schema), "--url", f"http://127.0.0.1:{api.port}", "-H", f"Authorization: Bearer {token}",
        "--checks", "not_a_server_error", "--phases", PHASES[storage], "--max-examples", str(EXAMPLES),
        "--seed", "7", "--generation-deterministic", "--continue-on-failure", "--no-shrink",
        "--workers", "2", "--request-timeout", "60", "--suppress-health-check", "all", "--warnings", "off", "--no-color",
    ]  # fmt: skip
    for name in (*STREAMS, *SENDERS, *STARTERS):
        command += ["--exclude-operation-id", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "Internal error" not in caplog.text
    counted = api.app.state.services.requests.counts
    assert [key for key in counted if key[2] >= 500] == []
    # That it was no empty exercise: the routes were found, and what is there was found by many of them.
    good = {(method, route) for method, route, status in counted if status < 300}
    assert len({(method, route) for method, route, _ in counted} & set(RULES)) > 0.9 * len(OPERATIONS)
    assert len(good) > 40
