"""The SDK against a real keeper, its engine and its agents, in a ROOKERY_HOME of the test's own."""

from __future__ import annotations

import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time
import zipfile

import pytest

from rookery.errors import ArtifactNotFoundError, ConflictError, RunFailedError, SubmitError
from rookery.sdk import Experiment, Model, Run, ScriptRun, ScriptRunConfig, Workspace
from rookery.spec.paths import WorkspacePaths

pytestmark = pytest.mark.slow

DRIVER = "azureml-logs/70_driver_log.txt"
PATIENCE_S = 120.0

TRAIN = """
    import argparse, os, sys, time
    from rookery.sdk import Run, Workspace

    run = Run.get_context(allow_offline=False)
    assert isinstance(run, Run) and Run.get_context() is run
    assert Workspace.from_config().name == "nest"
    while run.get_details()["status"] != "Running":  # its agent says so when it has started it
        time.sleep(0.05)
    print("hello from", run.id, "of", run.experiment.name, "in", run.experiment.workspace.name, flush=True)
    for step in range(3):
        run.log("loss", 1.0 / (step + 1), step=step)
    run.log("lr", 0.1)
    run.log("odd", float("nan"))
    run.log_list("list", [1, 2, 3])
    run.log_row("row once", x=1, y="a")
    for n in range(2):
        run.log_row("rows", x=n, y=n * n)
    run.log_table("table", {"a": [1, 2], "b": [3, 4]})
    run.log_confusion_matrix("matrix", {"schema_type": "confusion_matrix", "schema_version": "1.0.0",
                                        "data": {"class_labels": ["c", "t"], "matrix": [[1, 0], [0, 1]]}})
    run.tag("colour", "red")
    run.set_tags({"size": 7, "none": None})
    run.add_properties({"seed": 1})
    os.makedirs("outputs", exist_ok=True)
    with open("outputs/model.pt", "w") as f:
        f.write("weights")
    os.makedirs("logs", exist_ok=True)
    with open("logs/own.txt", "w") as f:
        f.write("own log\\n")
    with open("extra.txt", "w") as f:
        f.write("extra")
    run.upload_file("extras/extra.txt", "extra.txt")
    child = run.child_run("fold")
    child.log("fold loss", 0.5)
    child.complete()
    registered = run.register_model("early", "outputs/model.pt")
    assert (registered.run_id, registered.version) == (run.id, 1), registered
    assert run.get_metrics("lr") == {"lr": 0.1}
    assert [c.id for c in run.get_children()] == [child.id]
    print("argument", sys.argv[1:], flush=True)
"""
FAIL = """
    print("about to break", flush=True)
    raise ValueError("the nest is empty")
"""
WAIT = """
    import time
    print("waiting", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def ws():
    return Workspace.create("nest")


@pytest.fixture
def birds(ws):
    return Experiment(ws, "birds")


@pytest.fixture
def source(tmp_path):
    """Writes scripts into a source folder with a space in its name and gives a ScriptRunConfig for one."""
    folder = tmp_path / "my source"
    folder.mkdir()

    def config(script, *arguments, name="train.py"):
        (folder / name).write_text(textwrap.dedent(script))
        return ScriptRunConfig(str(folder), script=name, arguments=list(arguments), compute_target="local")

    return config


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {PATIENCE_S} s"
        time.sleep(0.02)


class TestSubmittedRun:
    def test_a_run_from_submit_to_model(self, ws, birds, source, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        config = source(TRAIN, "--epochs", 3)
        # Relative to a file that is elsewhere in the run: it must not be followed there.
        ws.write_config(str(tmp_path / "my source" / ".azureml"))
        run = birds.submit(config, tags={"first": "yes"})
        assert type(run) is ScriptRun
        assert run.id.startswith("birds_")
        details = run.wait_for_completion(show_output=True)

        text = capsys.readouterr().out
        assert text.startswith(f"RunId: {run.id}\nWeb View: http://127.0.0.1:")
        assert f"Streaming {DRIVER}\n{'=' * len('Streaming ' + DRIVER)}\n" in text
        assert f"hello from {run.id} of birds in nest\n" in text
        assert "argument ['--epochs', '3']\n" in text
        assert "\nExecution Summary\n=================\n" in text

        assert details["status"] == run.get_status() == "Completed"
        assert details["runDefinition"]["arguments"] == ["--epochs", "3"]
        assert details["properties"]["ContentSnapshotId"] == run.get_snapshot_id()
        assert DRIVER in details["logFiles"]
        assert "hello from" in run.get_details_with_logs()["logFiles"][DRIVER]

        metrics = run.get_metrics()
        assert math.isnan(metrics.pop("odd"))
        assert metrics.pop("matrix")
        assert metrics == {
            "loss": [1.0, 0.5, 1.0 / 3],
            "lr": 0.1,
            "list": [1, 2, 3],
            "row once": {"x": 1, "y": "a"},
            "rows": {"x": [0, 1], "y": [0, 1]},
            "table": {"a": [1, 2], "b": [3, 4]},
        }
        assert run.get_metrics("nothing") == {}
        child = next(run.get_children())
        assert run.get_metrics(recursive=True)[child.id] == {"fold loss": 0.5}
        assert (child.get_status(), child.parent.id, child.display_name) == ("Completed", run.id, "fold")

        assert run.get_tags() == {"first": "yes", "colour": "red", "size": "7", "none": None}
        assert run.get_properties()["seed"] == "1"
        run.tag("later", "too")
        assert run.tags["later"] == "too"

        assert {"outputs/model.pt", "extras/extra.txt", "logs/own.txt", DRIVER} <= set(run.get_file_names())
        run.download_file("outputs/model.pt", str(tmp_path / "model" / "model.pt"))
        assert (tmp_path / "model" / "model.pt").read_text() == "weights"
        run.download_files("extras", str(tmp_path / "got"))
        assert (tmp_path / "got" / "extras" / "extra.txt").read_text() == "extra"
        with pytest.raises(ArtifactNotFoundError, match="nothing"):
            run.download_file("nothing.txt")
        assert run.get_all_logs(str(tmp_path / "all"))

        with zipfile.ZipFile(run.restore_snapshot(path=str(tmp_path))) as code:
            assert sorted(code.namelist()) == [".azureml/config.json", "train.py"]

        model = run.register_model("birds", "outputs/model.pt", tags={"kind": "net"})
        assert (model.version, model.run_id, model.run.get_snapshot_id()) == (
            1,
            run.id,
            run.get_snapshot_id(),
        )
        assert pathlib.Path(ws.models["birds"].download(str(tmp_path / "m"))).read_text() == "weights"

        assert [r.id for r in birds.get_runs()] == [run.id]
        assert {r.id for r in birds.get_runs(include_children=True)} == {run.id, child.id}
        assert [r.id for r in birds.get_runs(tags={"colour": "red"}, properties={"seed": "1"})] == [run.id]
        assert Run(birds, run.id).status == "Completed"
        assert repr(run) == f"Run(Experiment: birds,\nId: {run.id},\nType: azureml.scriptrun,\nStatus: Completed)"

    def test_a_failed_run_says_why(self, birds, source, capsys):
        run = birds.submit(source(FAIL))
        with pytest.raises(RunFailedError, match="ValueError") as caught:
            run.wait_for_completion(show_output=True)
        for text in (
            str(caught.value),
            capsys.readouterr().out,
            run.get_details()["error"]["error"]["message"],
        ):
            assert "the nest is empty" in text
            assert 'raise ValueError("the nest is empty")' in text
        assert run.get_status() == "Failed"
        assert run.wait_for_completion(raise_on_error=False)["status"] == "Failed"

    def test_a_canceled_run_returns(self, birds, source):
        run = birds.submit(source(WAIT))
        wait_until(lambda: run.get_status() == "Running", "Running")
        run.cancel()
        assert run.wait_for_completion()["status"] == "Canceled"
        run.cancel()
        assert run.get_status() == "Canceled"

    def test_a_line_is_shown_while_the_run_goes_on(self, birds, source, capsys):
        run = birds.submit(source(WAIT))
        waiting = threading.Thread(target=run.wait_for_completion, kwargs={"show_output": True})
        waiting.start()
        shown = []

        def has_line():
            shown.append(capsys.readouterr().out)
            return "waiting\n" in "".join(shown)

        wait_until(has_line, "the line of the run")
        wait_until(lambda: run.get_status() == "Running", "Running")
        run.cancel()
        waiting.join(PATIENCE_S)
        assert not waiting.is_alive()

    def test_a_missing_script_is_an_error_at_submit(self, birds, source, tmp_path):
        config = source(WAIT)
        os.unlink(tmp_path / "my source" / "train.py")
        with pytest.raises(SubmitError, match=r"train\.py"):
            birds.submit(config)
        assert list(birds.get_runs()) == []

    def test_a_script_that_is_ignored_is_an_error_at_submit(self, birds, source, tmp_path):
        config = source(WAIT)
        (tmp_path / "my source" / ".amlignore").write_text("*.py\n")
        with pytest.raises(SubmitError, match="ignore rules"):
            birds.submit(config)
        assert list(birds.get_runs()) == []

    def test_a_script_may_submit_a_child(self, birds, source):
        source("print('small')", name="small.py")
        run = birds.submit(
            source("""
            from rookery.sdk import Run, ScriptRunConfig
            run = Run.get_context()
            child = run.submit_child(ScriptRunConfig(".", script="small.py", compute_target="local"))
            assert child.wait_for_completion()["status"] == "Completed"
        """)
        )
        run.wait_for_completion()
        child = next(run.get_children())
        assert (child.type, child.get_status()) == ("azureml.scriptrun", "Completed")

    def test_a_child_may_be_submitted(self, birds, source):
        parent = birds.submit(source("print(1)", name="one.py"))
        parent.wait_for_completion()
        child = parent.submit_child(source("print(2)", name="two.py"))
        child.wait_for_completion()
        assert child.parent.id == parent.id
        assert [run.id for run in parent.get_children(type="azureml.scriptrun")] == [child.id]


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notebook.py").write_text("# code\n")
    monkeypatch.chdir(folder)
    return folder


class TestInteractiveRun:
    def test_logging_and_completing(self, birds, project):
        run = birds.start_logging(display_name="by hand")
        assert run.status == "Running"
        run.log("loss", 0.5)
        run.log("loss", 0.25)
        (project / "outputs" / "note.txt").write_text("kept")
        run.upload_file("more/note.txt", "outputs/note.txt")
        child = run.child_run("part")
        child.log("x", 1)
        assert child.get_status() == "Running"
        child.complete()
        assert child.get_status() == "Completed"
        assert run.get_metrics() == {"loss": [0.5, 0.25]}
        run.complete()
        assert run.get_status() == "Completed"
        again = Run(birds, run.id)
        assert (again.status, again.display_name) == ("Completed", "by hand")
        assert again.get_metrics(recursive=True) == {run.id: {"loss": [0.5, 0.25]}, child.id: {"x": 1}}
        assert {"outputs/note.txt", "more/note.txt"} <= set(again.get_file_names())
        assert again.get_details()["target"] == "sdk"
        with zipfile.ZipFile(again.restore_snapshot(path=str(project.parent))) as code:
            assert "notebook.py" in code.namelist()

    def test_with_completes_or_fails(self, birds, project):
        with birds.start_logging(snapshot_directory=None) as good:
            good.log("x", 1)
        assert good.get_status() == "Completed"
        with pytest.raises(KeyError), birds.start_logging(snapshot_directory=None) as bad:
            {}["turkey"]
        assert bad.get_status() == "Failed"
        assert "KeyError" in bad.get_details()["error"]["error"]["message"]

    def test_what_is_written_after_the_end_is_stored(self, birds, project):
        run = birds.start_logging(snapshot_directory=None)
        child = run.child_run("part")
        run.log("x", 1)
        run.complete()
        run.log("x", 2)
        run.tag("late", "yes")
        run.upload_file("late.py", "notebook.py")
        child.log("y", 3)
        assert (run.get_metrics(), run.get_tags(), child.get_metrics()) == ({"x": [1, 2]}, {"late": "yes"}, {"y": 3})
        assert "late.py" in run.get_file_names()
        with pytest.raises(ConflictError, match="no more children"):
            run.child_run("too late")

    def test_outputs_of_a_run_that_failed_are_stored(self, birds, project):
        (project / "results").mkdir()
        (project / "results" / "so far.txt").write_text("1")
        with pytest.raises(KeyError), birds.start_logging(outputs="results", snapshot_directory=None) as bad:
            {}["turkey"]
        assert "results/so far.txt" in bad.get_file_names()

    def test_fail_has_its_text(self, birds, project):
        run = birds.start_logging(snapshot_directory=None)
        run.fail("no more grain", error_code="E7")
        assert run.get_status() == "Failed"
        assert "no more grain" in run.get_details()["error"]["error"]["message"]

    def test_on_a_servers_workspace_it_is_sent_at_once(self, ws, birds, project, monkeypatch):
        ws.client.request("GET", "/keeper")
        with open(WorkspacePaths(ws.root).token) as file:
            monkeypatch.setenv("ROOKERY_TOKEN", file.read().strip())
        config = {"subscription_id": "s", "resource_group": "g", "workspace_name": "nest"}
        config["rookery"] = {"format": 1, "url": ws.get_portal_url()}
        (project / "config.json").write_text(json.dumps(config))
        server = Workspace.from_config()
        assert server.root is None
        with Experiment(server, "birds").start_logging() as run:
            run.log("x", 1)
            run.upload_file("note.txt", "notebook.py")
            assert run.get_metrics() == {"x": 1}
        assert run.get_status() == "Completed"
        assert "note.txt" in ws.get_run(run.id).get_file_names()

    def test_a_killed_process_leaves_no_run_running(self, ws, birds, project):
        process = self._start("time.sleep(600)")
        run_id = json.loads(process.stdout.readline())
        run = ws.get_run(run_id)
        wait_until(lambda: run.get_metrics() == {"x": 1}, "the metric")
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
        process.stdout.close()
        wait_until(lambda: run.get_status() == "Failed", "Failed")
        assert run.get_metrics() == {"x": 1}
        assert "ended without completing" in run.get_details()["error"]["error"]["message"]

    def test_an_exception_that_ends_the_process_is_the_cause(self, ws, birds, project):
        process = self._start("raise OSError('the roof leaks')")
        run = ws.get_run(json.loads(process.stdout.readline()))
        process.wait(PATIENCE_S)
        process.stdout.close()
        wait_until(lambda: run.get_status() == "Failed", "Failed")
        assert "the roof leaks" in run.get_details()["error"]["error"]["message"]

    @staticmethod
    def _start(end):
        code = f"""
            import json, time
            from rookery.sdk import Experiment, Workspace
            run = Experiment(Workspace.get("nest"), "birds").start_logging(snapshot_directory=None)
            run.log("x", 1)
            print(json.dumps(run.id), flush=True)
            {end}
        """
        return subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


class TestModels:
    def test_a_local_folder_up_and_down(self, ws, tmp_path):
        folder = tmp_path / "net"
        (folder / "sub").mkdir(parents=True)
        (folder / "weights.pt").write_bytes(os.urandom(100_000))
        (folder / "sub" / "labels.txt").write_text("chicken\nturkey\n")
        Model.register(ws, str(folder), "birds", tags={"n": 1})
        second = Model.register(ws, str(folder), "birds", child_paths=["sub"])
        assert second.version == 2
        path = Model(ws, "birds", version=1).download(str(tmp_path / "to"))
        assert (tmp_path / "to" / "net" / "weights.pt").read_bytes() == (folder / "weights.pt").read_bytes()
        assert path == str(tmp_path / "to" / "net")
        assert [m.id for m in Model.list(ws, tags={"n": "1"})] == ["birds:1"]
        second.update(description="labels only", tags={"kind": "labels"})
        assert Model(ws, id="birds:2").description == "labels only"
        second.delete()
        assert ws.models["birds"].version == 1
