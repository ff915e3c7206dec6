from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys

import pytest

from rookery.client import Client, ensure_keeper, find_keeper, start, stop_keeper
from rookery.client.spawn import keeper_environment
from rookery.errors import (
    KeeperUnavailableError,
    StorageError,
    VersionMismatchError,
    WorkspaceBusyError,
    WorkspaceNotFoundError,
)
from rookery.spec.paths import WorkspacePaths

from .conftest import FAKE, is_alive, kill_keeper, starts, wait_for

RACER = f"""
import sys
from rookery.client import spawn
spawn.keeper_command = lambda root, fd: [sys.executable, {FAKE!r}, "--workspace", root, "--ready-fd", str(fd)]
from rookery.client import Client
sys.stdin.readline()
print(Client.for_workspace(sys.argv[1]).request("GET", "/keeper")["pid"])
"""


class TestEnsureKeeper:
    def test_starts_one_that_is_detached(self, root):
        endpoint = ensure_keeper(root)
        assert endpoint.pid != os.getpid()
        assert os.getsid(endpoint.pid) == endpoint.pid
        assert os.readlink(f"/proc/{endpoint.pid}/cwd") == "/"
        assert os.readlink(f"/proc/{endpoint.pid}/fd/0") == "/dev/null"
        assert os.readlink(f"/proc/{endpoint.pid}/fd/1") == WorkspacePaths(root).keeper_log

    def test_finds_the_one_that_runs(self, root):
        assert ensure_keeper(root).pid == ensure_keeper(root).pid
        assert len(starts(root)) == 1

    def test_racing_processes_start_one(self, root):
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", RACER, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(8)
        ]
        try:
            for racer in racers:
                racer.stdin.write("go\n")
                racer.stdin.flush()
            answers = {racer.communicate(timeout=60)[0].strip() for racer in racers}
        finally:
            for racer in racers:
                racer.kill()
                racer.wait()
        assert answers == {str(find_keeper(root).pid)}
        assert starts(root) == list(answers)

    def test_a_stale_or_broken_keeper_json_is_no_obstacle(self, root):
        first = ensure_keeper(root)
        kill_keeper(root)
        assert ensure_keeper(root).pid != first.pid
        kill_keeper(root)
        with open(WorkspacePaths(root).endpoint, "w") as f:
            f.write('{"socket": ')
        assert is_alive(ensure_keeper(root).pid)

    def test_a_copied_workspace_has_a_keeper_of_its_own(self, root, tmp_path):
        first = ensure_keeper(root)
        with open(WorkspacePaths(root).endpoint) as f:
            told = dict(json.load(f), root=os.path.realpath(root))
        copy = str(tmp_path / "copy")
        shutil.copytree(root, copy)
        with open(WorkspacePaths(copy).endpoint, "w") as f:
            json.dump(told, f)
        assert find_keeper(copy) is None
        assert stop_keeper(copy) is None
        assert is_alive(first.pid)
        try:
            assert ensure_keeper(copy).pid != first.pid
        finally:
            kill_keeper(copy)

    def test_shows_the_keepers_own_error(self, root, behave):
        behave(fail={"code": "storage", "message": "the disk is full", "details": {"free": 0}})
        with pytest.raises(StorageError, match="the disk is full") as info:
            ensure_keeper(root)
        assert info.value.details == {"free": 0}

    def test_shows_the_log_of_one_that_crashed(self, root, behave):
        behave(die="Traceback: no module named fastapi")
        with pytest.raises(KeeperUnavailableError, match="no module named fastapi"):
            ensure_keeper(root)

    def test_a_timeout_names_its_setting(self, root, behave, monkeypatch):
        behave(slow_s=1.5)
        monkeypatch.setenv("ROOKERY_KEEPER_START_TIMEOUT_S", "0.2")
        with pytest.raises(KeeperUnavailableError, match=r"0\.2 s \(setting keeper_start_timeout_s\).*keeper\.log"):
            ensure_keeper(root)
        monkeypatch.delenv("ROOKERY_KEEPER_START_TIMEOUT_S")
        # The slow one comes up after all: the second that is started meanwhile finds the lease taken, and the
        # first is used.
        assert str(ensure_keeper(root).pid) in starts(root)[:1]

    def test_waits_for_one_that_is_leaving(self, root):
        os.makedirs(WorkspacePaths(root).keeper, exist_ok=True)
        program = (
            "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, "
            "fcntl.LOCK_EX); print('has it', flush=True); time.sleep(0.7)"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, WorkspacePaths(root).lease], stdout=subprocess.PIPE
        ) as leaving:
            leaving.stdout.readline()
            assert is_alive(ensure_keeper(root).pid)

    def test_busy_when_the_lease_stays_taken(self, root, monkeypatch):
        monkeypatch.setattr(start, "BUSY_PATIENCE_S", 0.2)
        os.makedirs(WorkspacePaths(root).keeper, exist_ok=True)
        with open(WorkspacePaths(root).lease, "w") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            with pytest.raises(WorkspaceBusyError, match="another keeper owns it"):
                ensure_keeper(root)

    def test_no_workspace(self, tmp_path):
        with pytest.raises(WorkspaceNotFoundError, match="rookery init"):
            ensure_keeper(str(tmp_path / "nothing"))

    def test_may_not_start(self, root):
        with pytest.raises(KeeperUnavailableError, match="no keeper running"):
            Client.for_workspace(root, start=False)

    def test_as_a_program(self, root, tmp_path):
        ensure_keeper(root)
        done = subprocess.run([sys.executable, "-m", "rookery.client.start", root], timeout=60)
        assert done.returncode == 0
        none = subprocess.run(
            [sys.executable, "-m", "rookery.client.start", str(tmp_path)],
            timeout=60,
            capture_output=True,
            text=True,
        )
        assert none.returncode == 1
        assert "workspace_not_found" in none.stderr


class TestStopKeeper:
    def test_stops_and_waits(self, root, behave):
        behave(leave_s=0.5)  # it listens no more, and is still there
        pid = ensure_keeper(root).pid
        assert stop_keeper(root) == pid
        assert not is_alive(pid)
        assert stop_keeper(root) is None


class TestHandshake:
    def test_an_older_idle_one_is_replaced(self, root, behave):
        behave(protocol=0)
        old = subprocess_keeper(root)
        behave()
        assert ensure_keeper(root).pid != old
        wait_for(lambda: not is_alive(old))

    def test_an_older_one_with_work_is_left_alone(self, root, behave):
        behave(protocol=0, live_runs=1)
        old = subprocess_keeper(root)
        with pytest.raises(
            VersionMismatchError, match=r"Rookery 0\.0\.1 with protocol 0; this is Rookery .* with protocol 1"
        ):
            ensure_keeper(root)
        assert is_alive(old)
        assert stop_keeper(root) == old

    def test_a_newer_one_is_left_alone(self, root, behave):
        behave(protocol=99)
        new = subprocess_keeper(root)
        with pytest.raises(VersionMismatchError, match="rookery keeper stop"):
            Client.for_workspace(root)
        assert is_alive(new)


class TestKeeperEnvironment:
    def test_leaves_behind_what_belongs_to_a_run(self):
        env = keeper_environment(
            {
                "PYTHONDONTWRITEBYTECODE": "1",
                "ROOKERY_ATTEMPT_KEY": "r/1",
                "ROOKERY_RUN_TOKEN": "t",
                "ROOKERY_PAYLOAD": "/p/abc",
                "PYTHONPATH": "/p/abc/first:src",
                "ROOKERY_HOME": "/h",
                "HOME": "/root",
            }
        )
        assert env == {"ROOKERY_HOME": "/h", "HOME": "/root", "PYTHONPATH": os.path.abspath("src")}


def subprocess_keeper(root):
    """Start a fake keeper past the client, whatever it speaks; its pid."""
    ready, told = os.pipe()
    process = subprocess.Popen([sys.executable, FAKE, "--workspace", root, "--ready-fd", str(told)], pass_fds=(told,))
    os.close(told)
    assert os.read(ready, 1) == b"1"
    os.close(ready)
    import threading

    threading.Thread(target=process.wait, daemon=True).start()
    return process.pid
