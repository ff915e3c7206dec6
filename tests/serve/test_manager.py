"""The manager in this process, over a real record: what is prepared when it is not wanted any more."""

from __future__ import annotations

import io
import os
import threading
import time

import pytest

from rookery.errors import EndpointError
from rookery.record import Record
from rookery.serve import launch
from rookery.serve.manager import Manager
from rookery.spec.paths import WorkspacePaths


@pytest.fixture
def manager(tmp_path, empty_record):
    root = tmp_path / "a work's space"
    root.mkdir()
    paths = WorkspacePaths(str(root))
    empty_record(paths)
    record = Record(paths)
    made = Manager(record, paths, lambda: {"host": "127.0.0.1", "tls_cert": "", "tls_key": ""})
    yield made
    made.stop()
    record.close()


def test_one_that_is_made_again_while_the_first_is_prepared_gets_its_own(manager, monkeypatch):
    begun, go, asked = threading.Event(), threading.Event(), []

    def prepare(record, paths, name, version, wanted, log):
        asked.append(wanted["config"])
        if len(asked) > 1:
            raise EndpointError("the second one was prepared")
        begun.set()
        assert go.wait(60)
        os.makedirs(paths.served(name).app(version, wanted["revision"]))
        return {"argv": [], "env": {}, "cwd": "/", "log": "", "environment": {"key": ""}, "payload": ""}

    monkeypatch.setattr(launch, "prepare", prepare)
    record = manager._record
    sha, size = record.content.put(io.BytesIO(b"def run(data): pass"))
    entry = {"path": "score.py", "sha256": sha, "size": size, "mode": 0o644, "link": None}
    code = {"entry_script": "score.py", "snapshot_id": record.snapshots.create([entry])["id"]}
    manager.create({"name": "echo", "inference": code, "config": {"max_queue": 1}}, "ann")
    assert begun.wait(60)
    manager.delete("echo")
    manager.create({"name": "echo", "inference": code, "config": {"max_queue": 2}}, "ann")
    go.set()
    deadline = time.monotonic() + 60
    while (operation := manager.get("echo")["operation"])["state"] == "Running":
        assert time.monotonic() < deadline, operation
        time.sleep(0.01)
    assert "the second one was prepared" in operation["error"]["summary"]
    assert [config["max_queue"] for config in asked] == [1, 2]
    assert not os.path.exists(manager.workspace.served("echo").app("default", 1))
