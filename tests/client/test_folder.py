from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from rookery.client import create_workspace, list_workspaces, open_workspace, workspaces_folder
from rookery.errors import ConfigError, StorageError, UserError, WorkspaceError, WorkspaceNotFoundError


class TestCreateWorkspace:
    def test_gives_it_an_identity(self, tmp_path):
        made = create_workspace(str(tmp_path / "a" / "w"), "birds")
        assert made == open_workspace(str(tmp_path / "a" / "w"))
        assert (made.name, made.resource_group, made.location) == ("birds", "rookery", "local")
        assert stat.S_IMODE(os.stat(made.root).st_mode) == 0o700
        assert made.subscription_id == create_workspace(str(tmp_path / "other"), "other").subscription_id
        assert sorted(os.listdir(made.root)) == [".gitignore", "workspace.json"]

    def test_keeps_what_is_given(self, tmp_path):
        made = create_workspace(str(tmp_path / "w"), "birds", "sub", "group", "westeurope")
        assert (made.subscription_id, made.resource_group, made.location) == ("sub", "group", "westeurope")

    def test_exist_ok(self, tmp_path):
        made = create_workspace(str(tmp_path), "birds")
        assert create_workspace(str(tmp_path), "birds", exist_ok=True) == made
        with pytest.raises(WorkspaceError, match="exist_ok"):
            create_workspace(str(tmp_path), "birds")

    def test_racing_threads_agree(self, tmp_path):
        made, barrier = [], threading.Barrier(8)

        def create():
            barrier.wait()
            made.append(create_workspace(str(tmp_path / "w"), "birds", exist_ok=True))

        threads = [threading.Thread(target=create) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 8
        assert len(set(made)) == 1
        assert sorted(os.listdir(tmp_path / "w")) == [".gitignore", "workspace.json"]

    @pytest.mark.parametrize("name", ["", "x", "a b", "../up", "n" * 33])
    def test_bad_names(self, tmp_path, name):
        with pytest.raises(UserError, match="not a valid workspace name"):
            create_workspace(str(tmp_path / "w"), name)

    def test_where_nothing_can_be_written(self):
        with pytest.raises(StorageError, match="ROOKERY_HOME"):
            create_workspace("/proc/rookery/w", "birds")

    def test_on_a_full_disk(self, tmp_path):
        """A file system of one page in a mount namespace of its own, filled up."""
        program = """
import os, sys
from rookery.client import create_workspace
from rookery.errors import StorageError
root = sys.argv[1]
try:
    with open(root + "/filler", "wb", buffering=0) as f:
        while True:
            f.write(b"x" * 4096)
except OSError:
    pass
try:
    create_workspace(root, "birds")
except StorageError as error:
    sys.exit(0 if "No space left" in str(error) and os.listdir(root) == ["filler"] else str(error))
sys.exit("it was made")
"""
        command = 'mount -t tmpfs -o size=8k none "$0" && exec "$1" -c "$2" "$0"'
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            pytest.skip("mount namespaces are not allowed here")
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", command, str(tmp_path), sys.executable, program],
            timeout=60,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")


class TestOpenWorkspace:
    def test_none_there(self, tmp_path):
        with pytest.raises(WorkspaceNotFoundError, match="rookery init"):
            open_workspace(str(tmp_path))

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"format": 2}, "format 2.*Upgrade"),
            ({"format": None}, "'format' is missing"),
            ({"name": None}, "lacks name"),
        ],
    )
    def test_what_cannot_be_used(self, tmp_path, change, says):
        create_workspace(str(tmp_path), "birds")
        path = tmp_path / "workspace.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        with pytest.raises(ConfigError, match=says):
            open_workspace(str(tmp_path))

    def test_corrupt(self, tmp_path):
        (tmp_path / "workspace.json").write_text("{")
        with pytest.raises(ConfigError, match="not valid JSON"):
            open_workspace(str(tmp_path))


class TestListWorkspaces:
    def test_the_persons_own(self, home):
        assert list_workspaces() == []
        for name in ("owls", "ducks"):
            create_workspace(os.path.join(workspaces_folder(), name), name)
        os.makedirs(os.path.join(workspaces_folder(), "not one"))
        assert [w.name for w in list_workspaces()] == ["ducks", "owls"]
