"""A read-only folder, a full disk, a corrupt config, a config of another version: a clear error each, and nothing is lost."""

import contextlib
import json
import os
import subprocess
import sys
import time

import pytest

from rookery.errors import ConfigError, StorageError
from rookery.sdk import Experiment, ScriptRunConfig, Workspace
from tests.conftest import start_ticks, stop_keepers


@contextlib.contextmanager
def _mounted(folder, options):
    """A real file system of its own, small or read-only. Needs root, which CI has."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        if os.environ.get("CI"):
            pytest.fail(f"mount: {done.stderr}")
        pytest.skip(f"mounting a small file system needs root: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        stop_keepers(str(folder))
        subprocess.run(["umount", "-l", str(folder)], check=True)


class TestReadOnlyFolder:
    def test_creating_a_workspace_there_says_so(self, tmp_path, monkeypatch):
        with _mounted(tmp_path / "ro", "size=4m,ro") as folder:
            monkeypatch.setenv("ROOKERY_HOME", str(folder))
            with pytest.raises(StorageError, match=r"(?i)read-only"):
                Workspace.create("x1")

    def test_using_one_that_became_read_only_says_so(self, tmp_path, monkeypatch):
        with _mounted(tmp_path / "ro", "size=32m") as folder:
            monkeypatch.setenv("ROOKERY_HOME", str(folder))
            ws = Workspace.create("x1")
            _stop_keeper(ws)
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
            with pytest.raises(StorageError, match=r"(?i)read-only"):
                Experiment(Workspace.get("x1"), "e").start_logging(snapshot_directory=None)


class TestFullDisk:
    def test_an_upload_that_does_not_fit_fails_clearly_and_the_rest_goes_on(self, tmp_path, monkeypatch):
        with _mounted(tmp_path / "small", "size=16m") as folder:
            monkeypatch.setenv("ROOKERY_HOME", str(folder))
            ws = Workspace.create("x1")
            source = tmp_path / "source"
            source.mkdir()
            (source / "ok.py").write_text("print('still here')")
            run = Experiment(ws, "e").submit(ScriptRunConfig(str(source), script="ok.py"))
            run.wait_for_completion()
            big = tmp_path / "big.bin"
            big.write_bytes(os.urandom(24 * 1024 * 1024))
            with pytest.raises(StorageError, match=r"(?i)no space|full"):
                run.upload_file("outputs/big.bin", str(big))
            assert "outputs/big.bin" not in run.get_file_names()
            small = tmp_path / "small.txt"
            small.write_text("fits")
            run.upload_file("outputs/small.txt", str(small))
            assert "outputs/small.txt" in run.get_file_names()


class TestConfig:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{not json", "config.json"),
            ("[]", "config.json"),
            (json.dumps({"subscription_id": "a"}), "workspace_name"),
            (
                json.dumps(
                    {
                        "subscription_id": "a",
                        "resource_group": "b",
                        "workspace_name": "cc",
                        "rookery": {"format": 99, "path": "x"},
                    }
                ),
                "99",
            ),
            (
                json.dumps(
                    {
                        "subscription_id": "a",
                        "resource_group": "b",
                        "workspace_name": "cc",
                        "rookery": {"format": 1, "path": "nowhere"},
                    }
                ),
                "nowhere",
            ),
        ],
        ids=["corrupt", "not-an-object", "keys-missing", "newer-version", "folder-gone"],
    )
    def test_says_what_is_wrong_with_it(self, tmp_path, text, said):
        (tmp_path / ".azureml").mkdir()
        (tmp_path / ".azureml" / "config.json").write_text(text)
        with pytest.raises(ConfigError, match=said):
            Workspace.from_config(str(tmp_path))

    def test_a_config_from_azure_gives_a_workspace_of_that_name(self, tmp_path):
        (tmp_path / "config.json").write_text(
            json.dumps({"subscription_id": "0000-1111", "resource_group": "birds-rg", "workspace_name": "birds"})
        )
        ws = Workspace.from_config(str(tmp_path))
        assert (ws.name, ws.subscription_id, ws.resource_group) == ("birds", "0000-1111", "birds-rg")
        assert list(ws.experiments) == []

    def test_no_config_means_the_persons_own_workspace_and_one_line(self, tmp_path, monkeypatch, capfd):
        monkeypatch.chdir(tmp_path)
        Workspace.from_config()
        said = capfd.readouterr().err.strip().splitlines()
        assert len(said) == 1
        assert "default" in said[0]

    def test_strict_config_raises_as_v1_did(self, tmp_path, monkeypatch):
        from azureml.exceptions import UserErrorException

        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("ROOKERY_STRICT_CONFIG", "1")
        with pytest.raises(UserErrorException):
            Workspace.from_config()


class TestDatabaseOfANewerVersion:
    def test_is_refused_with_both_versions(self, tmp_path):
        ws = Workspace.create("newer")
        _stop_keeper(ws)
        code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('update alembic_version set version_num = ?', ('9999_future',)); c.commit()"
        subprocess.run([sys.executable, "-c", code, os.path.join(ws.root, "record.db")], check=True)
        with pytest.raises(Exception, match="9999_future"):
            Workspace.get("newer").client.request("GET", "/workspace")


def _stop_keeper(ws):
    """Ask it to leave and wait until its process is gone."""
    pid = ws.client.request("GET", "/keeper")["pid"]
    ws.client.request("POST", "/keeper/stop")
    deadline = time.monotonic() + 60
    while start_ticks(pid) != -1:
        assert time.monotonic() < deadline, "the keeper did not leave"
        time.sleep(0.02)
