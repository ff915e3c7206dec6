from __future__ import annotations

import os
import subprocess

import pytest

from rookery.submit import git, git_properties, git_properties_in_background
from rookery.submit.git import without_credentials
from tests.client.conftest import wait_for


@pytest.fixture
def repository(source, monkeypatch):
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "n")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "e@x")
    run(source, "init", "-q", "-b", "trunk")
    (source / "sub").mkdir()
    (source / "sub" / "train.py").write_text("1")
    run(source, "add", ".")
    run(source, "commit", "-qm", "first")
    return source


def run(folder, *arguments):
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


class TestGitProperties:
    def test_nothing_without_git(self, source, monkeypatch):
        assert git_properties(str(source)) == {}

    def test_nothing_where_git_is_not_installed(self, repository, monkeypatch):
        monkeypatch.setenv("PATH", "/nowhere")
        assert git_properties(str(repository)) == {}

    def test_of_a_folder_below(self, repository):
        run(repository, "remote", "add", "origin", "https://me:token@example.org/a/b.git")
        commit = run(repository, "rev-parse", "HEAD")
        assert git_properties(str(repository / "sub")) == {
            "azureml.git.repository_uri": "https://example.org/a/b.git",
            "azureml.git.branch": "trunk",
            "azureml.git.commit": commit,
            "azureml.git.dirty": "False",
            "mlflow.source.git.repoURL": "https://example.org/a/b.git",
            "mlflow.source.git.branch": "trunk",
            "mlflow.source.git.commit": commit,
        }

    @pytest.mark.parametrize("name", ["sub/train.py", "sub/new.py"])
    def test_dirty(self, repository, name):
        (repository / name).write_text("2")
        assert git_properties(str(repository))["azureml.git.dirty"] == "True"

    def test_detached_and_without_remote(self, repository):
        run(repository, "checkout", "-q", "--detach")
        properties = git_properties(str(repository))
        assert "azureml.git.branch" not in properties
        assert "azureml.git.repository_uri" not in properties
        assert properties["azureml.git.commit"] == run(repository, "rev-parse", "HEAD")

    def test_no_commit_yet(self, source):
        run(source, "init", "-q", "-b", "trunk")
        assert git_properties(str(source)) == {
            "azureml.git.branch": "trunk",
            "azureml.git.dirty": "False",
            "mlflow.source.git.branch": "trunk",
        }

    def test_a_hooks_variables_do_not_mislead(self, repository, tmp_path, monkeypatch):
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
        assert git_properties(str(repository))["azureml.git.branch"] == "trunk"


class TestInBackground:
    def test_gives_the_same(self, repository):
        result = git_properties_in_background(str(repository))
        wait_for(result)
        assert result() == git_properties(str(repository))

    def test_does_not_wait_for_a_slow_git(self, repository, tmp_path, monkeypatch):
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        slow = tmp_path / "bin" / "git"
        slow.parent.mkdir()
        slow.write_text(f'#!/bin/sh\nread x < "{fifo}"\n')
        slow.chmod(0o755)
        monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
        monkeypatch.setattr(git, "TIMEOUT_S", 30)
        assert git_properties_in_background(str(repository))() == {}
        with open(fifo, "w") as f:
            f.write("go\ngo\n")


class TestWithoutCredentials:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ("https://user:secret@host/a.git", "https://host/a.git"),
            ("https://secret@host:8443/a.git?token=secret", "https://host:8443/a.git"),
            ("ssh://git:secret@host/a", "ssh://git@host/a"),
            ("git@github.com:a/b.git", "git@github.com:a/b.git"),
            ("/srv/a@b:c", "/srv/a@b:c"),
            ("https://u:p@ss@host/a", "https://host/a"),
        ],
    )
    def test_strips(self, given, expected):
        assert without_credentials(given) == expected
