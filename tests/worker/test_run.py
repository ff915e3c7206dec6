"""Run: what reaches the sink, what is refused, what comes back."""

from __future__ import annotations

import io
import os
import tempfile
import time

import pytest

from rookery.errors import ArtifactNotFoundError, PathError, RunEnvironmentError, UnsupportedError, UserError
from rookery.testing.fake_keeper import FakeKeeper
from rookery.worker import HttpClient, HttpSink, Journal, Run, read_journal, unix_connector
from rookery.worker.context import find_context
from rookery.worker.offline import OfflineRun

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


class ListSink:
    def __init__(self):
        self.records = []

    def append(self, record):
        self.records.append(record)


@pytest.fixture
def sink():
    return ListSink()


@pytest.fixture
def run(sink):
    return Run("r1", sink, None, in_run=True)


@pytest.fixture
def keeper():
    with tempfile.TemporaryDirectory(prefix="rk-") as folder:
        made = FakeKeeper(folder).start()
        yield made
        made.stop()


@pytest.fixture
def outside(keeper):
    """A run as seen from outside of it."""
    client = HttpClient(unix_connector(keeper.socket))
    yield Run("r1", HttpSink(client, "r1"), client)
    client.close()


class Item:
    """Looks like a NumPy scalar."""

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


class TestLog:
    @pytest.mark.parametrize("value", [1, 1.5, "s", True, None])
    def test_plain_values(self, run, sink, value):
        run.log("x", value, step=3)
        record = sink.records[0]
        assert record[:5] == ["m", None, "x", value, 3]
        assert abs(record[5] - time.time()) < 60

    def test_numpy_like_scalars(self, run, sink):
        run.log("x", Item(2.5), step=Item(4))
        assert sink.records[0][3:5] == [2.5, 4]

    def test_numpy_and_torch(self, run, sink):
        numpy = pytest.importorskip("numpy")
        for value in (numpy.float32(0.5), numpy.int64(3), numpy.bool_(True), numpy.array(7.0)):
            run.log("x", value)
        assert [r[3] for r in sink.records] == [0.5, 3, True, 7.0]
        assert [type(r[3]) for r in sink.records] == [float, int, bool, float]

    @pytest.mark.parametrize("value", [[1], (1,), range(3), (i for i in "ab"), {"a": 1}])
    def test_several_values_are_refused(self, run, value):
        with pytest.raises(UserError, match="log_list"):
            run.log("x", value)

    def test_other_types_are_stored_as_repr_with_a_warning(self, run, sink):
        with pytest.warns(UserWarning, match="its repr is stored") as told:
            run.log("x", object)
        assert sink.records[0][3] == repr(object)
        assert told[0].filename == __file__  # it points at the line that logged

    @pytest.mark.parametrize("name", ["", 5, None])
    def test_names(self, run, name):
        with pytest.raises(UserError, match="metric name"):
            run.log(name, 1)

    def test_step_must_be_whole(self, run):
        with pytest.raises(UserError, match="step"):
            run.log("x", 1, step=1.5)


class TestOtherMetrics:
    def test_list_takes_any_iterable(self, run, sink):
        run.log_list("x", (i * i for i in range(3)))
        assert sink.records[0][3] == [0, 1, 4]

    def test_list_of_one_value_is_refused(self, run):
        with pytest.raises(UserError, match=r"Use run\.log for one value"):
            run.log_list("x", 5)

    def test_row(self, run, sink):
        run.log_row("x", a=1, b="two")
        assert sink.records[0][3] == {"a": 1, "b": "two"}
        with pytest.raises(UserError, match="log_table"):
            run.log_row("x", a=[1])

    def test_table_columns_have_one_length(self, run, sink):
        run.log_table("x", {"a": [1, 2], "b": [3, 4]})
        assert sink.records[0][3] == {"a": [1, 2], "b": [3, 4]}
        with pytest.raises(UserError, match="a: 1, b: 2"):
            run.log_table("x", {"a": [1], "b": [1, 2]})

    def test_charts_from_dict_or_json(self, run, sink):
        data = {
            "schema_type": "confusion_matrix",
            "schema_version": "1.0.0",
            "data": {"class_labels": ["a"], "matrix": [[1]]},
        }
        run.log_confusion_matrix("c", data)
        run.log_accuracy_table("t", '{"schema_type": "s", "schema_version": "1", "data": {}}')
        assert [r[3] for r in sink.records] == ["confusion_matrix", "accuracy_table"]
        assert sink.records[0][4] == data
        with pytest.raises(UserError, match="not valid JSON"):
            run.log_residuals("r", "{")
        with pytest.raises(UserError, match="schema_version"):
            run.log_predictions("p", {"schema_type": "x", "data": {}})


class TestImages:
    def test_exactly_one_of_path_and_plot(self, run):
        with pytest.raises(UserError, match="neither"):
            run.log_image("i")
        with pytest.raises(UserError, match="both"):
            run.log_image("i", path="x", plot=object())

    @pytest.mark.parametrize("head", [PNG, b"\xff\xd8\xff\xe0", b"GIF89a..", b"BM....", b"RIFF....WEBP", b"II*\0...."])
    def test_recognised_by_its_bytes(self, outside, keeper, tmp_path, monkeypatch, head):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "pic").write_bytes(head)
        outside.log_image("i", path="sub/pic")
        assert keeper.artifacts["r1"] == {"sub/pic": head}
        assert outside.get_metrics() == {"i": "aml://artifactId/ExperimentRun/dcid.r1/sub/pic"}
        assert outside.get_metrics(populate=True) == {"i": head}

    def test_not_a_picture(self, run, tmp_path):
        (tmp_path / "x.png").write_text("no")
        with pytest.raises(UserError, match="not a picture"):
            run.log_image("i", path=str(tmp_path / "x.png"))

    def test_plot(self, outside, keeper):
        class Plot:
            def savefig(self, stream, format):
                stream.write(PNG)

        outside.log_image("ROC", plot=Plot())
        outside.log_image("ROC", plot=Plot())
        names = sorted(keeper.artifacts["r1"])
        assert len(names) == 2
        assert all(n.startswith("ROC_") and n.endswith(".png") and abs(int(n[4:-4]) - time.time()) < 60 for n in names)


class TestGetMetrics:
    def test_shapes(self, outside):
        outside.log("one", 1)
        for value in (1, 2):
            outside.log("many", value)
        outside.log_list("list", [5])
        outside.log_row("row", a=1)
        for value in (1, 2):
            outside.log_row("rows", a=value)
        outside.log_table("table", {"a": [1]})
        assert outside.get_metrics() == {
            "one": 1,
            "many": [1, 2],
            "list": [5],
            "row": {"a": 1},
            "rows": {"a": [1, 2]},
            "table": {"a": [1]},
        }
        assert outside.get_metrics("one") == {"one": 1}
        assert outside.get_metrics("none") == {}

    def test_recursive(self, outside):
        child = outside.child_run("kid", run_id="kid-1")
        child.log("x", 2)
        assert outside.get_metrics(recursive=True) == {"r1": {}, "kid-1": {"x": 2}}


class TestFiles:
    def test_upload_and_download(self, outside, keeper, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "d" / "e").mkdir(parents=True)
        (tmp_path / "d" / "a").write_text("A")
        (tmp_path / "d" / "e" / "b").write_text("B")
        outside.upload_folder("up", "d")
        outside.upload_file("s", io.BytesIO(b"S"))
        outside.upload_files(["n1", "n2"], ["d/a", "d/e/b"])
        assert outside.get_file_names() == ["n1", "n2", "s", "up/a", "up/e/b"]
        outside.download_file("up/e/b")
        assert (tmp_path / "b").read_text() == "B"
        (tmp_path / "dir").mkdir()
        outside.download_file("s", "dir")
        assert (tmp_path / "dir" / "s").read_bytes() == b"S"
        outside.download_files("up", "out")
        assert (tmp_path / "out" / "up" / "e" / "b").read_text() == "B"
        outside.download_files("up/", "flat", append_prefix=False)
        assert (tmp_path / "flat" / "e" / "b").read_text() == "B"
        outside.download_files("up/e", output_paths=["here"])
        assert (tmp_path / "here").read_text() == "B"

    def test_refusals(self, outside, tmp_path):
        with pytest.raises(TypeError, match="2 names but 1 paths"):
            outside.upload_files(["a", "b"], ["c"])
        with pytest.raises(UserError, match="No file of run r1 begins with 'nope'"):
            outside.download_files("nope")
        with pytest.raises(ArtifactNotFoundError, match="Known: none"):
            outside.download_file("nope", str(tmp_path / "x"))
        assert os.listdir(tmp_path) == []
        with pytest.raises(UserError, match="no file"):
            outside.upload_file("a", "/no/such/file")
        with pytest.raises(UserError, match="upload_folder"):
            outside.upload_file("a", str(tmp_path))

    @pytest.mark.parametrize("name", ["../x", "/x", "a/../../b", "a\0b", "", "x" * 5000])
    def test_names_that_are_no_paths_inside_the_run(self, outside, name):
        with pytest.raises(PathError):
            outside.upload_file(name, io.BytesIO(b""))

    def test_in_a_run_the_bytes_are_handed_over(self, tmp_path):
        journal = Journal(str(tmp_path / "j"), str(tmp_path / "u"))
        run = Run("r1", journal, None, in_run=True)
        (tmp_path / "f").write_text("before")
        run.upload_file("name", str(tmp_path / "f"))
        (tmp_path / "f").write_text("after!")
        (record,), _, _ = read_journal(journal.path)
        journal.close()
        assert record[:3] == ["u", None, "name"]
        assert (tmp_path / "u" / record[3]).read_text() == "before"


class TestTagsAndProperties:
    def test_tags(self, outside):
        outside.tag("a")
        outside.set_tags({"b": 5})
        assert outside.tags == {"a": None, "b": "5"}
        outside.display_name = "shown"
        assert outside.display_name == "shown"

    def test_tags_of_a_run_that_has_ended_are_fresh(self, outside):
        outside.complete()
        assert outside.get_status() == "Completed"
        assert outside.get_tags() == {}
        outside.tag("late", "yes")
        assert outside.get_tags() == {"late": "yes"}

    def test_properties_are_written_once(self, tmp_path):
        journal = Journal(str(tmp_path / "j"), str(tmp_path / "u"))
        run = Run("r1", journal, None, in_run=True)
        run.add_properties({"a": 1})
        run.add_properties({"a": "1"})
        with pytest.raises(UserError, match="written once"):
            run.add_properties({"a": 2})
        assert len(read_journal(journal.path)[0]) == 2
        journal.close()


class TestChildren:
    def test_records_carry_the_child(self, tmp_path):
        journal = Journal(str(tmp_path / "j"))
        run = Run("r1", journal, None, in_run=True)
        with run.child_run("kid") as child:
            child.log("x", 1.0)
            child.tag("t", "v")
            grandchild = child.child_run(run_id="grand")
            grandchild.fail("no", "E1")
        records, _, _ = read_journal(journal.path)
        journal.close()
        assert records[0][:5] == ["c", child.id, None, "kid", {}]
        assert records[1][:4] == ["m", child.id, "x", 1.0]
        assert records[2][:2] == ["g", child.id]
        assert records[3][:3] == ["c", "grand", child.id]
        assert records[4][:3] == ["s", "grand", "Failed"]
        assert records[4][3]["summary"] == "E1: no"
        assert records[5] == ["s", child.id, "Completed", None]

    def test_failing_block_fails_the_child(self, run, sink):
        with pytest.raises(ZeroDivisionError), run.child_run():
            raise ZeroDivisionError("oh")
        assert sink.records[-1][2] == "Failed"
        assert "ZeroDivisionError: oh" in sink.records[-1][3]["traceback"]

    def test_create_children(self, run, sink):
        made = run.create_children(count=3)
        assert [r[4] for r in sink.records] == [{"azureml.batch_child_number": str(n)} for n in range(3)]
        assert len({c.id for c in made}) == 3
        run.create_children(tag_key="lr", tag_values=[1, 2])
        assert [r[4] for r in sink.records[3:]] == [{"lr": "1"}, {"lr": "2"}]
        for arguments in (
            {"count": 101},
            {"count": 0},
            {},
            {"tag_key": "a"},
            {"count": 1, "tag_key": "a", "tag_values": []},
        ):
            with pytest.raises(UserError, match="create_children"):
                run.create_children(**arguments)


class Agent:
    """A keeper behind an agent: knows a child once its record was drained."""

    def __init__(self, sink):
        self._sink, self.known = sink, {}

    def with_prefix(self, prefix):
        return self

    def request(self, method, path, query=None, body=None):
        if path == "/drain":
            for record in self._sink.records:
                if record[0] == "c":
                    self.known.setdefault(record[1], {"id": record[1], "kind": "child", "status": "Running"})
                elif record[0] == "s":
                    self.known[record[1]]["status"] = record[2]
            return {}
        if path.endswith("/children"):
            return {"runs": list(self.known.values())}
        return self.known[path.rsplit("/", 1)[1]]


class TestChildrenInARun:
    @pytest.fixture
    def parent(self, sink):
        return Run("r1", sink, Agent(sink), in_run=True)

    def test_a_child_is_there_at_once_and_ends_at_once(self, parent):
        child = parent.child_run("kid")
        assert (child.get_status(), child.status) == ("Running", "Running")
        child.complete()
        assert child.get_status() == "Completed"

    def test_a_child_that_was_looked_up_can_be_ended(self, parent):
        parent.child_run("kid")
        found = next(parent.get_children())
        found.complete()
        assert found.get_status() == "Completed"


class TestExperiment:
    def test_a_workspace_needs_a_newer_python(self, run):
        run._data = {"experiment": "birds"}
        assert run.experiment.name == "birds"
        with pytest.raises(UnsupportedError, match=r"3\.9 or newer"):
            run.experiment.workspace  # noqa: B018


class TestEnding:
    def test_inside_the_run(self, run, sink):
        with pytest.warns(UserWarning, match="does nothing"):
            run.cancel()
        assert sink.records == []
        run.fail("bad", error_code="E")
        assert sink.records[0][:3] == ["s", None, "Failed"]

    def test_outside(self, outside):
        outside.complete()
        assert outside.get_status() == "Completed"
        assert repr(outside) == "Run(Experiment: exp,\nId: r1,\nType: azureml.scriptrun,\nStatus: Completed)"
        assert outside.get_details()["status"] == "Completed"

    def test_register_model(self, outside, keeper):
        model = outside.register_model("m", "./outputs/m.pt", tags={"a": 1})
        assert (model.name, model.version) == ("m", 1)
        assert keeper.models[0]["path"] == "outputs/m.pt"


class TestContext:
    def test_outside_of_a_run(self, monkeypatch, capsys):
        monkeypatch.setattr("rookery.worker.context._current", {})
        monkeypatch.delenv("ROOKERY_RUN_ID", raising=False)
        with pytest.raises(RunEnvironmentError, match="ROOKERY_RUN_ID"):
            Run.get_context(allow_offline=False)
        run = Run.get_context()
        assert isinstance(run, OfflineRun)
        assert run.id.startswith("OfflineRun_")
        assert Run.get_context() is run
        assert run.experiment is None
        run.log("acc", 0.5)
        assert "Attempted to log scalar metric acc:\n0.5" in capsys.readouterr().out
        child = run.child_run("kid")
        child.log("x", 1)
        assert child.id == run.id + ".kid"
        assert run.get_metrics(recursive=True) == {run.id: {"acc": 0.5}, child.id: {"x": 1}}
        run.add_properties({"p": "1"})
        with pytest.raises(UserError, match="written once"):
            run.add_properties({"p": "2"})
        run.complete()
        assert run.get_status() == "Completed"

    def test_all_variables_are_needed(self):
        full = dict.fromkeys(
            ("ROOKERY_RUN_ID", "ROOKERY_AGENT_SOCKET", "ROOKERY_JOURNAL_DIR", "ROOKERY_UPLOADS_DIR"), "x"
        )
        assert find_context(full).run_id == "x"
        for name in full:
            assert find_context({k: v for k, v in full.items() if k != name}) is None
