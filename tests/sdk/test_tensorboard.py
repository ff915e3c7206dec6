"""v1's `Tensorboard` and `export_to_tensorboard`, against a real keeper and a real TensorBoard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
import urllib.parse
import urllib.request

import pytest

from rookery.errors import UserError
from rookery.sdk import Environment, Experiment, ScriptRunConfig, Workspace
from rookery.sdk.tensorboard import Tensorboard, export_to_tensorboard
from rookery.testing.tensorboard_env import ensure_tensorboard

pytestmark = pytest.mark.slow

PATIENCE_S = 120.0
# Writes as users do, and goes on until it is told to stop: the page must show what comes while it goes.
WRITER = """
    import os, sys, time
    from tensorboardX import SummaryWriter

    with SummaryWriter("logs/train", flush_secs=1) as writer:
        for step in range(10):
            writer.add_scalar("loss", 1.0 / (step + 1), step)
        writer.flush()
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.05)
        writer.add_scalar("loss", 42.0, 10)
"""
READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
found = EventAccumulator(sys.argv[1])
found.Reload()
print(json.dumps({tag: [(s.step, s.value) for s in found.Scalars(tag)] for tag in found.Tags()["scalars"]}))
"""


@pytest.fixture
def ws(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Workspace.create("nest", location="local")


@pytest.fixture
def program(monkeypatch):
    """TensorBoard is found as it is where people have it: on the PATH."""
    folder = os.path.dirname(ensure_tensorboard())
    monkeypatch.setenv("PATH", folder + os.pathsep + os.environ["PATH"])
    return folder


def get(url, path, **query):
    with urllib.request.urlopen(f"{url}{path}?{urllib.parse.urlencode(query)}", timeout=120) as answer:
        return json.load(answer)


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.2)


def read_events(folder):
    done = subprocess.run(
        [ensure_tensorboard(), "-W", "ignore", "-c", READ, str(folder)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TestTensorboard:
    def test_shows_a_run_while_it_goes(self, ws, program, tmp_path, capsys):
        source = tmp_path / "src"
        source.mkdir()
        (source / "train.py").write_text(textwrap.dedent(WRITER))
        own = Environment("own")
        own.python.user_managed_dependencies = True
        own.python.interpreter_path = ensure_tensorboard()
        stop = tmp_path / "stop it"
        config = ScriptRunConfig(str(source), script="train.py", arguments=[str(stop)], environment=own)
        run = Experiment(ws, "birds").submit(config)
        board = Tensorboard([run], local_root=str(tmp_path / "local root"), port=0)
        try:
            url = board.start()
            assert capsys.readouterr().out.strip() == url
            assert url.startswith("http://127.0.0.1:")
            with pytest.raises(UserError, match="started already"):
                board.start()
            name = f"{run.id}/train"
            wait_for(lambda: "loss" in get(url, "data/plugin/scalars/tags").get(name, {}))
            query = {"run": name, "tag": "loss"}
            wait_for(lambda: len(get(url, "data/plugin/scalars/scalars", **query)) == 10)
            points = get(url, "data/plugin/scalars/scalars", **query)
            assert [(p[1], round(p[2], 5)) for p in points] == [(n, round(1 / (n + 1), 5)) for n in range(10)]
            assert run.get_status() in ("Running", "Provisioning")
            stop.write_text("")
            run.wait_for_completion()
            wait_for(lambda: get(url, "data/plugin/scalars/scalars", **query)[-1][1:] == [10, 42.0])
        finally:
            stop.write_text("")
            board.stop()
        with pytest.raises(OSError, match=r"refused|reset"):
            urllib.request.urlopen(url, timeout=120)
        assert run.get_metrics("train/loss")["train/loss"][-1] == 42.0
        assert os.path.isdir(tmp_path / "local root" / run.id / "train")  # a folder that was given stays
        board.stop()  # twice is harmless

    def test_a_temporary_folder_goes_again(self, ws, program, tmp_path, monkeypatch):
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        (tmp_path / "tmp").mkdir()
        monkeypatch.setattr("tempfile.tempdir", None)
        run = Experiment(ws, "birds").start_logging(snapshot_directory=None)
        board = Tensorboard(run, port=0)
        board.start()
        assert [name for name in os.listdir(tmp_path / "tmp") if name.startswith("rookery-tensorboard-")]
        board.stop()
        assert not [name for name in os.listdir(tmp_path / "tmp") if name.startswith("rookery-tensorboard-")]
        run.complete()

    def test_a_port_in_use_is_said(self, ws, program, tmp_path):
        import socket

        run = Experiment(ws, "birds").start_logging(snapshot_directory=None)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(UserError, match=f"Port {port} cannot be used"):
                Tensorboard([run], local_root=str(tmp_path / "root"), port=port).start()
        run.complete()

    def test_without_tensorboard_it_says_what_to_install(self, monkeypatch):
        monkeypatch.setenv("PATH", "/nowhere")
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(UserError, match="pip install tensorboard"):
            Tensorboard([]).start()


class TestExport:
    def test_metrics_of_a_run_and_its_children(self, ws, tmp_path, caplog):
        run = Experiment(ws, "birds").start_logging(snapshot_directory=None)
        for step in range(5):
            run.log("loss", 1.0 / (step + 1), step=step * 10)
        run.log("words", "not a number")
        run.log_list("list", [1, 2, 3])
        run.log_row("row", x=1.5, y=2.5)
        child = run.child_run("fold")
        child.log("accuracy", 0.75)
        child.complete()
        run.complete()
        export_to_tensorboard(run, str(tmp_path / "out"))
        mine = read_events(tmp_path / "out" / run.id)
        assert [step for step, _ in mine["loss"]] == [0, 10, 20, 30, 40]
        assert mine["loss"][1][1] == pytest.approx(0.5)
        assert mine["list"] == [[0, 1.0], [1, 2.0], [2, 3.0]]
        assert (mine["row/x"], mine["row/y"]) == ([[0, 1.5]], [[0, 2.5]])
        assert "words" not in mine
        assert read_events(tmp_path / "out" / child.id) == {"accuracy": [[0, 0.75]]}
        export_to_tensorboard(run, str(tmp_path / "out"))  # again replaces, and doubles nothing
        assert read_events(tmp_path / "out" / run.id) == mine

    def test_several_runs_without_children(self, ws, tmp_path):
        runs = []
        for value in (1.0, 2.0):
            run = Experiment(ws, "birds").start_logging(snapshot_directory=None)
            run.log("loss", value)
            run.child_run("fold").complete()
            run.complete()
            runs.append(run)
        export_to_tensorboard(runs, str(tmp_path / "out"), recursive=False)
        assert sorted(os.listdir(tmp_path / "out")) == sorted(run.id for run in runs)
        assert [read_events(tmp_path / "out" / run.id)["loss"] for run in runs] == [[[0, 1.0]], [[0, 2.0]]]
