from __future__ import annotations

import os
import socket

import pytest

from rookery.errors import SnapshotError
from rookery.submit import walk


@pytest.fixture
def take(source):
    """Walks the source folder: ({path: link or None}, warnings)."""

    def run():
        warnings: list[str] = []
        return {f.path: f.link for f in walk(str(source), warnings.append)}, warnings

    return run


def plant(folder, *paths):
    for path in paths:
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w") as f:
            f.write(path)


class TestWalk:
    def test_everything_without_an_ignore_file(self, source, take):
        plant(source, "train.py", "outputs/old.pt", "deep/er/and/deeper.txt", ".azureml/config.json")
        found, warnings = take()
        assert sorted(found) == [
            ".azureml/config.json",
            "deep/er/and/deeper.txt",
            "outputs/old.pt",
            "train.py",
        ]
        assert warnings == []

    def test_what_is_always_left_out(self, source, take):
        plant(
            source,
            ".git/HEAD",
            "sub/.git",
            ".rookery/record.db",
            "__pycache__/x.txt",
            "a/.ipynb_checkpoints/n.ipynb",
            ".mypy_cache/x",
            ".pytest_cache/x",
            ".ruff_cache/x",
            "ui/node_modules/left-pad/index.js",
            "mod.pyc",
            "venv/pyvenv.cfg",
            "venv/lib/x.py",
            "env/conda-meta/history",
            "env/bin/python",
            "kept.py",
            ".amlignore",
        )
        (source / ".amlignore").write_text("!__pycache__\n!*.pyc\n")
        assert sorted(take()[0]) == [".amlignore", "kept.py"]

    def test_the_source_folder_itself_may_be_an_environment(self, source, take):
        plant(source, "pyvenv.cfg", "train.py")
        assert sorted(take()[0]) == ["pyvenv.cfg", "train.py"]

    def test_only_the_ignore_file_at_the_root_counts(self, source, take):
        plant(source, "a/data.bin", "a/.gitignore", "data/x", "keep/data.txt")
        (source / ".gitignore").write_text("/data/\n*.bin\n")
        (source / "a" / ".gitignore").write_text("*")
        assert sorted(take()[0]) == [".gitignore", "a/.gitignore", "keep/data.txt"]

    def test_odd_names(self, source, take):
        names = ["a b", "quo'te\"", "Ünïcödé", "😀", "-rf", "*", "\u00a0", "n" * 255]
        plant(source, *names)
        found, warnings = take()
        assert sorted(found) == sorted(names)
        assert warnings == []

    @pytest.mark.parametrize("name", ["new\nline", "tab\t", "back\\slash", "\x7f"])
    def test_names_that_the_record_does_not_take_are_left_out(self, source, take, name):
        plant(source, name, f"{name}/x".replace("/", "-dir/"), "good")
        found, warnings = take()
        assert list(found) == ["good"]
        assert len(warnings) == 2
        assert all("control character or a backslash" in w and w.isprintable() for w in warnings)

    def test_a_name_that_is_not_utf8_is_left_out(self, source, take):
        plant(source, "good")
        with open(os.fsencode(str(source)) + b"/bad\xff", "w"):
            pass
        os.mkdir(os.fsencode(str(source)) + b"/dir\xff")
        found, warnings = take()
        assert list(found) == ["good"]
        assert len(warnings) == 2
        assert all("not valid UTF-8" in w and w.isprintable() for w in warnings)

    def test_sockets_and_pipes_are_left_out(self, source, take, monkeypatch):
        os.mkfifo(source / "pipe")
        monkeypatch.chdir(source)
        with socket.socket(socket.AF_UNIX) as s:
            s.bind("sock")
        found, warnings = take()
        assert found == {}
        assert sorted(warnings) == [
            "pipe is left out: it is a pipe, not a file.",
            "sock is left out: it is a socket, not a file.",
        ]

    def test_no_folder(self, source):
        with pytest.raises(SnapshotError, match="does not exist or is not a folder"):
            walk(str(source / "none"), print)


class TestLinks:
    def test_inside_stays_a_link(self, source, take):
        plant(source, "real.txt", "dir/x")
        (source / "dir" / "up").symlink_to("../real.txt")
        (source / "folder").symlink_to("dir")
        (source / "absolute").symlink_to(source / "dir" / "x")
        (source / "zigzag").symlink_to("dir/../real.txt")
        (source / "round").symlink_to(os.path.join("..", source.name, "real.txt"))
        found, warnings = take()
        assert found == {
            "real.txt": None,
            "dir/x": None,
            "dir/up": "../real.txt",
            "folder": "dir",
            "absolute": "dir/x",
            "round": "real.txt",
            "zigzag": "real.txt",
        }
        assert warnings == []

    def test_a_file_outside_is_taken(self, source, take, tmp_path):
        (tmp_path / "shared.py").write_text("x" * 77)
        (source / "shared.py").symlink_to(tmp_path / "shared.py")
        (source / "chain").symlink_to("shared.py")
        found, warnings = take()
        assert found == {"shared.py": None, "chain": None}
        assert len(warnings) == 2
        assert "its content is taken" in warnings[0]
        assert {f.stat.st_size for f in walk(str(source), lambda _: None)} == {77}

    def test_the_rest_is_left_out(self, source, take):
        (source / "etc").symlink_to("/etc")
        (source / "gone").symlink_to("nowhere")
        (source / "me").symlink_to("me")
        (source / "null").symlink_to("/dev/null")
        found, warnings = take()
        assert found == {}
        assert len(warnings) == 4
        assert sum("leads nowhere" in w for w in warnings) == 2
