from __future__ import annotations

import pytest

from rookery.errors import ExperimentNotFoundError, KeeperUnavailableError, UserError
from rookery.sdk import Experiment, ViewType, Workspace
from tests.sdk.fake_keeper import FakeKeeper


@pytest.fixture
def keeper():
    return FakeKeeper()


@pytest.fixture
def ws(keeper):
    return Workspace._of_client(keeper)


class TestExperiment:
    def test_the_constructor_creates_it(self, keeper, ws):
        experiment = Experiment(ws, "birds")
        assert keeper.experiments["birds"]["id"] == experiment.id
        assert experiment.workspace is ws
        assert experiment.workspace_object is ws
        assert "birds" in ws.experiments

    @pytest.mark.parametrize("name", ["", "-x", "a b", "a/b", None, "x" * 256])
    def test_a_bad_name_is_refused_before_anything_is_asked(self, keeper, ws, name):
        with pytest.raises(UserError, match="not a valid experiment name"):
            Experiment(ws, name)
        assert keeper.asked == []

    def test_tags(self, keeper, ws):
        experiment = Experiment(ws, "birds")
        experiment.tag("a", 1)
        experiment.set_tags({"b": "2", "c": None})
        experiment.remove_tags(["a"])
        assert experiment.tags == {"b": "2", "c": None}
        keeper.experiments["birds"]["tags"]["d"] = "4"
        experiment.refresh()
        assert "d" in experiment.tags

    def test_archive_hides_and_reactivate_renames(self, ws):
        experiment = Experiment(ws, "birds")
        experiment.archive()
        assert experiment.archived_time
        assert Experiment.list(ws) == []
        assert [e.name for e in Experiment.list(ws, view_type=ViewType.ArchivedOnly)] == ["birds"]
        experiment.reactivate("turkeys")
        assert experiment.name == "turkeys"
        assert [e.name for e in Experiment.list(ws)] == ["turkeys"]

    def test_list_filters(self, ws):
        Experiment(ws, "one").tag("kind", "bird")
        Experiment(ws, "two")
        assert [e.name for e in Experiment.list(ws, tags={"kind": "bird"})] == ["one"]
        assert [e.name for e in Experiment.list(ws, tags="kind")] == ["one"]
        assert [e.name for e in Experiment.list(ws, experiment_name="two")] == ["two"]
        with pytest.raises(UserError, match="ActiveOnly"):
            Experiment.list(ws, view_type="active")

    def test_delete_by_id_and_an_unknown_one(self, keeper, ws):
        Experiment.delete(ws, Experiment(ws, "birds").id)
        assert keeper.experiments == {}
        with pytest.raises(ExperimentNotFoundError, match="birds"):
            Experiment.delete(ws, "birds")

    def test_shows_itself(self, ws):
        experiment = Experiment(ws, "birds")
        assert repr(experiment) == "Experiment(Name: birds,\nWorkspace: nest)"
        assert 'href="http://127.0.0.1:4711/experiments/birds"' in experiment._repr_html_()

    def test_shows_its_newest_runs(self, keeper, ws):
        for i in range(7):
            keeper.add_run(f"r{i}", display_name="<b>hen</b>", created_utc=f"2026-11-15T20:00:0{i}.000000Z")
        keeper.runs["r6"].update(status="Failed", error={"summary": "ValueError: <i>"})
        shown = Experiment(ws, "birds")._repr_html_()
        assert shown.count("/runs/r") == 5
        assert "/runs/r6" in shown
        assert "/runs/r1" not in shown
        assert "&lt;b&gt;hen&lt;/b&gt;" in shown
        assert "ValueError: &lt;i&gt;" in shown

    def test_shows_itself_without_a_keeper(self, keeper, ws, monkeypatch):
        experiment = Experiment(ws, "birds")
        assert ws.name == "nest"  # known from now on

        def away(*_arguments, **_more):
            raise KeeperUnavailableError("away")

        monkeypatch.setattr(keeper, "request", away)
        assert "birds" in experiment._repr_html_()

    def test_what_cannot_be_submitted_is_named_with_what_can(self, ws):
        with pytest.raises(UserError, match=r"str cannot be submitted.*ScriptRunConfig"):
            Experiment(ws, "birds").submit("train.py")
