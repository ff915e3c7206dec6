from __future__ import annotations

import tempfile
import zipfile

import pytest

from rookery.errors import (
    RunEnvironmentError,
    RunFailedError,
    RunNotFoundError,
    SubmitError,
    UserError,
)
from rookery.sdk import Experiment, Run, ScriptRun, Workspace, get_run
from rookery.sdk.run_types import PROVIDERS
from rookery.worker import context
from tests.sdk.fake_keeper import FakeKeeper

DRIVER = "azureml-logs/70_driver_log.txt"
BROKEN = {
    "kind": "UserError",
    "summary": "The script raised ValueError.",
    "traceback": "Traceback …\nValueError: no",
    "rank": 0,
}


@pytest.fixture
def keeper():
    return FakeKeeper()


@pytest.fixture
def experiment(keeper):
    return Experiment(Workspace._of_client(keeper), "birds")


class TestOpening:
    def test_an_unknown_run_is_named(self, experiment):
        with pytest.raises(RunNotFoundError, match="nope"):
            Run(experiment, "nope")

    def test_an_id_that_is_none_is_refused_before_it_is_asked_for(self, experiment):
        with pytest.raises(UserError, match="not a valid run id"):
            Run(experiment, "../keeper/stop")

    def test_get_finds_experiment_and_class(self, keeper, experiment):
        keeper.add_run("r1", experiment="others")
        keeper.add_run("r2", kind="interactive")
        run = Run.get(experiment.workspace, "r1")
        assert type(run) is ScriptRun
        assert run.experiment.name == "others"
        assert type(Run.get(experiment.workspace, "r2")) is Run

    def test_get_run_refuses_a_run_of_another_experiment(self, keeper, experiment):
        keeper.add_run("r1", experiment="others")
        with pytest.raises(RunNotFoundError, match="belongs to experiment 'others'"):
            get_run(experiment, "r1")

    def test_a_type_provider_makes_its_runs(self, keeper, experiment, monkeypatch):
        monkeypatch.setattr("rookery.sdk.run_types.PROVIDERS", dict(PROVIDERS))
        monkeypatch.setattr("rookery.sdk.run.PROVIDERS", PROVIDERS)
        keeper.add_run("r1", properties={"rookery.run_type": "hyperdrive"})
        from rookery.sdk import run_types

        run_types.PROVIDERS["hyperdrive"] = lambda experiment, data: ("mine", data["id"])
        assert Run.get(experiment.workspace, "r1") == ("mine", "r1")


class TestListing:
    def test_is_a_generator_newest_first_over_pages(self, keeper, experiment):
        keeper.page_size = 2
        for n in range(5):
            keeper.add_run(f"r{n}")
        runs = experiment.get_runs()
        assert next(runs).id == "r4"
        assert [run.id for run in runs] == ["r3", "r2", "r1", "r0"]

    def test_filters_by_type_tags_properties_and_status(self, keeper, experiment):
        keeper.add_run("r1", tags={"a": "1", "b": "2"}, properties={"p": "x"})
        keeper.add_run("r2", tags={"a": "2"}, kind="interactive", status="Running")
        assert [r.id for r in experiment.get_runs(tags={"a": "1"})] == ["r1"]
        assert [r.id for r in experiment.get_runs(tags="a")] == ["r2", "r1"]
        assert [r.id for r in experiment.get_runs(tags=["b", ["a", "1"]])] == ["r1"]
        assert [r.id for r in experiment.get_runs(properties={"p": "x"})] == ["r1"]
        assert [r.id for r in experiment.get_runs(type="azureml.scriptrun")] == ["r1"]
        assert list(experiment.get_runs(type="hyperdrive")) == []
        assert [r.id for r in Run.list(experiment, status="running")] == ["r2"]

    def test_a_typo_lists_what_exists(self, experiment):
        with pytest.raises(UserError, match=r"'azurml\.scriptrun'.*azureml\.scriptrun"):
            experiment.get_runs(type="azurml.scriptrun")
        with pytest.raises(UserError, match=r"'Done'.*Completed"):
            Run.list(experiment, status="Done")
        with pytest.raises(UserError, match="tags=7"):
            experiment.get_runs(tags=7)

    def test_by_compute(self, keeper, experiment):
        keeper.add_run("r1", compute="gpu")
        keeper.add_run("r2")

        class Cluster:
            name, workspace = "gpu", experiment.workspace

        assert [run.id for run in Run.list_by_compute(Cluster)] == ["r1"]

    def test_children_newest_first_and_recursive(self, keeper, experiment):
        keeper.add_run("top")
        keeper.add_run("a", parent_id="top", kind="child")
        keeper.add_run("b", parent_id="top", kind="child", tags={"t": "1"})
        keeper.add_run("c", parent_id="a", kind="child")
        top = Run(experiment, "top")
        assert [run.id for run in top.get_children()] == ["b", "a"]
        assert {run.id for run in top.get_children(recursive=True)} == {"a", "b", "c"}
        assert [run.id for run in top.get_children(tags={"t": "1"})] == ["b"]
        assert Run(experiment, "c").parent.id == "a"
        assert top.parent is None


class TestStatus:
    def test_is_cached_and_get_status_asks_until_it_is_terminal(self, keeper, experiment):
        keeper.add_run("r1", status="Queued", reason="waits for gpu")
        run = Run(experiment, "r1")
        assert run.get_detailed_status() == {"status": "Queued", "details": "waits for gpu"}
        keeper.runs["r1"]["status"] = "Completed"
        assert run.status == "Queued"
        assert run.get_status() == "Completed"
        asked = len(keeper.asked)
        assert run.get_status() == "Completed"
        assert len(keeper.asked) == asked

    def test_tags_of_an_ended_run_are_not_out_of_date(self, keeper, experiment):
        keeper.add_run("r1")
        run = Run(experiment, "r1")
        assert run.get_status() == "Completed"
        run.tag("quality", "good")
        assert run.get_tags() == {"quality": "good"}

    def test_cancel_asks_for_it(self, keeper, experiment):
        keeper.add_run("r1", status="Running")
        run = Run(experiment, "r1")
        run.cancel()
        assert run.status == "CancelRequested"


class TestDetails:
    def test_has_v1s_keys_in_their_order(self, keeper, experiment):
        keeper.add_run("r1", status="Failed", error=BROKEN, warnings=["slow"], properties={"ContentSnapshotId": "abc"})
        keeper.add_log("r1", DRIVER, b"text\n")
        details = Run(experiment, "r1").get_details()
        assert list(details) == [
            "runId",
            "target",
            "status",
            "startTimeUtc",
            "endTimeUtc",
            "properties",
            "inputDatasets",
            "outputDatasets",
            "runDefinition",
            "logFiles",
            "submittedBy",
            "error",
            "warnings",
        ]
        assert details["logFiles"] == {DRIVER: f"http://127.0.0.1:4711/api/v1/runs/r1/logs/{DRIVER}"}
        assert details["runDefinition"]["arguments"] == ["--lr", "0.1"]
        assert details["runDefinition"]["script"] == "train.py"
        assert details["runDefinition"]["nodeCount"] == 1
        assert details["error"]["error"]["code"] == "UserError"
        assert "ValueError: no" in details["error"]["error"]["message"]
        assert details["error"]["cause"] == BROKEN
        assert details["warnings"] == [{"source": "rookery", "message": "slow"}]

    def test_a_running_one_has_no_end_and_no_error(self, keeper, experiment):
        keeper.add_run("r1", status="Running", ended_utc=None)
        assert not {"endTimeUtc", "error", "warnings"} & set(Run(experiment, "r1").get_details())

    def test_with_logs_has_their_text(self, keeper, experiment):
        keeper.add_run("r1")
        keeper.add_log("r1", DRIVER, b"a\n")
        assert Run(experiment, "r1").get_details_with_logs()["logFiles"] == {DRIVER: "a\n"}

    def test_all_logs_as_files(self, keeper, experiment, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        keeper.add_run("r1")
        keeper.add_log("r1", DRIVER, b"a\n")
        assert Run(experiment, "r1").get_all_logs() == [f"assets/r1/{DRIVER}"]
        assert (tmp_path / "assets" / "r1" / DRIVER).read_bytes() == b"a\n"

    def test_a_newer_keepers_cause_is_still_shown(self, keeper, experiment):
        keeper.add_run("r1", status="Failed", error={**BROKEN, "colour": "red"})
        assert "ValueError: no" in Run(experiment, "r1").get_details()["error"]["error"]["message"]

    def test_environment_is_read_back(self, keeper, experiment):
        keeper.add_run("r1")
        environment = Run(experiment, "r1").get_environment()
        assert environment.name == "default-environment"
        assert environment.python.interpreter_path == "/usr/bin/python3"


class TestWait:
    def test_returns_the_details_and_shows_v1s_blocks(self, keeper, experiment, capsys):
        keeper.add_run("r1")
        keeper.add_log("r1", DRIVER, b"hello\n")
        assert Run(experiment, "r1").wait_for_completion(show_output=True)["status"] == "Completed"
        text = capsys.readouterr().out
        assert text.startswith("RunId: r1\nWeb View: http://127.0.0.1:4711/runs/r1\n")
        assert text.endswith(
            "Execution Summary\n=================\nRunId: r1\nWeb View: http://127.0.0.1:4711/runs/r1\n\n"
        )

    def test_a_failed_run_raises_with_the_whole_cause(self, keeper, experiment):
        keeper.add_run("r1", status="Failed", error=BROKEN)
        with pytest.raises(RunFailedError, match=r"(?s)Run 'r1' failed.*ValueError: no") as caught:
            Run(experiment, "r1").wait_for_completion()
        assert caught.value.details["cause"] == BROKEN

    def test_a_failed_run_without_a_cause_raises_too(self, keeper, experiment):
        keeper.add_run("r1", status="Failed")
        with pytest.raises(RunFailedError, match="no cause was recorded"):
            Run(experiment, "r1").wait_for_completion()

    def test_raise_on_error_false_returns(self, keeper, experiment):
        keeper.add_run("r1", status="Failed", error=BROKEN)
        assert Run(experiment, "r1").wait_for_completion(raise_on_error=False)["status"] == "Failed"

    def test_a_canceled_run_returns(self, keeper, experiment):
        keeper.add_run("r1", status="Canceled")
        assert Run(experiment, "r1").wait_for_completion()["status"] == "Canceled"

    def test_ctrl_c_says_that_the_run_goes_on(self, keeper, experiment, monkeypatch):
        keeper.add_run("r1", status="Running")

        def interrupted(path, query=None, after=None):
            raise KeyboardInterrupt
            yield

        monkeypatch.setattr(keeper, "stream", interrupted)
        with pytest.raises(SubmitError, match=r"still executes.*rookery stop r1.*rookery logs -f r1"):
            Run(experiment, "r1").wait_for_completion(show_output=True)


class TestCodeAndModels:
    def test_a_snapshot_is_restored_by_the_path_rules(self, keeper, experiment, tmp_path, monkeypatch):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        keeper.add_run("r1", snapshot_id="abc")
        run = Run(experiment, "r1")
        assert run.restore_snapshot(path=str(tmp_path)) == str(tmp_path / "abc.zip")
        assert run.restore_snapshot(path=str(tmp_path / "code")) == str(tmp_path / "code.zip")
        assert run.restore_snapshot(path=str(tmp_path / "x.zip")) == str(tmp_path / "x.zip")
        assert run.restore_snapshot().endswith("abc.zip")
        assert (tmp_path / "x.zip").read_bytes() == b"zip of abc"
        assert not zipfile.is_zipfile(tmp_path / "x.zip.partial")

    def test_a_run_without_a_snapshot_says_so(self, keeper, experiment):
        keeper.add_run("r1")
        with pytest.raises(UserError, match="no snapshot"):
            Run(experiment, "r1").restore_snapshot()

    def test_registers_an_artifact_as_a_model(self, keeper, experiment):
        keeper.add_run("r1")
        run = Run(experiment, "r1")
        run.upload_file("outputs/model.pt", __file__)
        model = run.register_model("birds", "./outputs/model.pt", tags={"area": 51})
        assert (model.id, model.run_id, model.tags) == ("birds:1", "r1", {"area": "51"})
        assert model.run.id == "r1"


class TestChildrenFromOutside:
    def test_a_child_is_an_sdk_run(self, keeper, experiment):
        keeper.add_run("r1", status="Running")
        child = Run(experiment, "r1").child_run("half")
        assert isinstance(child, Run)
        assert child.get_status() == "Running"
        child.complete()
        assert keeper.records[-1] == (child.id, ["s", None, "Completed", None])


class TestShowing:
    def test_text_and_table(self, keeper, experiment):
        keeper.add_run("r1")
        run = Run(experiment, "r1")
        assert repr(run) == "Run(Experiment: birds,\nId: r1,\nType: azureml.scriptrun,\nStatus: Completed)"
        assert 'href="http://127.0.0.1:4711/runs/r1"' in run._repr_html_()
        assert run.number == 1

    def test_a_failed_run_shows_why_and_a_waiting_one_for_what(self, keeper, experiment):
        keeper.add_run("r1", status="Failed", error={"kind": "UserError", "summary": "ValueError: <i>bad</i>"})
        assert "ValueError: &lt;i&gt;bad&lt;/i&gt;" in Run(experiment, "r1")._repr_html_()
        keeper.add_run("r2", status="Queued", reason="waits for <2> nodes")
        assert "waits for &lt;2&gt; nodes" in Run(experiment, "r2")._repr_html_()


@pytest.fixture
def no_context(monkeypatch):
    monkeypatch.setattr(context, "_current", {})


@pytest.mark.usefixtures("no_context")
class TestContext:
    def test_offline_is_a_run_and_the_same_every_time(self, capsys):
        run = Run.get_context()
        assert isinstance(run, Run)
        assert not isinstance(run, ScriptRun)
        assert Run.get_context() is run
        run.log("loss", 0.5)
        assert run.get_metrics() == {"loss": 0.5}

    def test_offline_can_be_refused(self):
        with pytest.raises(RunEnvironmentError):
            Run.get_context(allow_offline=False)
        with pytest.raises(RunEnvironmentError):
            Run.get_submitted_run()

    def test_inside_a_run_it_is_an_sdk_run_with_a_journal(self, monkeypatch, tmp_path):
        for name, value in (
            ("RUN_ID", "r1"),
            ("AGENT_SOCKET", "/nowhere"),
            ("JOURNAL_DIR", str(tmp_path / "j")),
            ("UPLOADS_DIR", str(tmp_path)),
            ("EXPERIMENT", "birds"),
        ):
            monkeypatch.setenv("ROOKERY_" + name, value)
        run = Run.get_context(allow_offline=False)
        assert (type(run), run.id, run.experiment.name) == (Run, "r1", "birds")
        assert ScriptRun.get_context() is run
        run.log("loss", 0.5)
        child = run.child_run("one")
        child.log("loss", 0.25)
        written = next((tmp_path / "j").iterdir()).read_text()
        assert '["m",null,"loss",0.5' in written
        assert f'["m","{child.id}","loss",0.25' in written
