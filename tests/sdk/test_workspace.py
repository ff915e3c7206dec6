from __future__ import annotations

import json
import os

import pytest

from rookery.errors import ConfigError, UnsupportedError, UserError, WorkspaceError, WorkspaceNotFoundError
from rookery.sdk import Workspace
from rookery.sdk.collection import NamedCollection
from tests.sdk.fake_keeper import FakeKeeper


class TestOpening:
    def test_create_makes_it_below_rookery_home(self, home):
        ws = Workspace.create("nest", subscription_id="sub", resource_group="group", location="westeurope")
        assert ws.root == os.path.realpath(home / "workspaces" / "nest")
        assert (ws.name, ws.subscription_id, ws.resource_group, ws.location) == (
            "nest",
            "sub",
            "group",
            "westeurope",
        )

    def test_create_again_is_an_error_unless_exist_ok(self):
        Workspace.create("nest")
        with pytest.raises(WorkspaceError, match="exist_ok"):
            Workspace.create("nest")
        assert Workspace.create("nest", exist_ok=True).name == "nest"

    def test_what_samples_print_are_strings(self):
        ws = Workspace.create("nest")
        assert all(
            isinstance(x, str) and x for x in (ws.name, ws.location, ws.resource_group, ws.subscription_id, ws.sku)
        )

    def test_get_list_and_constructor(self):
        Workspace.create("nest")
        assert Workspace.get("nest") == Workspace("any", "any", "nest") == Workspace.list("any")["nest"][0]
        with pytest.raises(WorkspaceNotFoundError, match=r"'tree' does not exist.*Known: nest"):
            Workspace.get("tree")
        with pytest.raises(UserError, match="not a valid workspace name"):
            Workspace.get("../nest")

    def test_write_config_is_found_from_below(self, tmp_path, monkeypatch):
        (tmp_path / "project" / "deep").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / "project")
        Workspace.create("nest").write_config()
        assert json.loads((tmp_path / "project" / ".azureml" / "config.json").read_text())["workspace_name"] == "nest"
        monkeypatch.chdir(tmp_path / "project" / "deep")
        assert Workspace.from_config().root == Workspace.get("nest").root
        Workspace.get("nest").write_config(str(tmp_path / "other"), "ws.json")
        assert Workspace.from_config(str(tmp_path / "other" / "ws.json")).name == "nest"

    def test_without_a_config_it_is_the_default_one_and_one_line_says_so(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        ws = Workspace.from_config()
        assert ws.name == "default"
        assert len(capsys.readouterr().err.splitlines()) == 1

    def test_strict_config_is_v1s_error(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("ROOKERY_STRICT_CONFIG", "1")
        with pytest.raises(ConfigError) as caught:
            Workspace.from_config()
        assert isinstance(caught.value, UserError)

    def test_opening_asks_nothing(self, home):
        ws = Workspace.create("nest")
        assert repr(ws.models.__class__)
        assert not os.path.exists(os.path.join(ws.root, "keeper", "keeper.json"))


class TestInsideARun:
    def test_the_runs_own_workspace_is_used(self, tmp_path, monkeypatch):
        for name in ("RUN_ID", "AGENT_SOCKET", "JOURNAL_DIR", "UPLOADS_DIR"):
            monkeypatch.setenv("ROOKERY_" + name, "x")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("rookery.sdk.workspace.Client.in_run", FakeKeeper)
        ws = Workspace.from_config()
        assert (ws.name, ws.resource_group, ws.location) == ("nest", "g", "here")


class TestContent:
    @pytest.fixture
    def ws(self):
        keeper = FakeKeeper()
        keeper.add_run("r1")
        return Workspace._of_client(keeper)

    def test_details_and_update(self, ws):
        assert ws.update(tags={"team": 1}, friendly_name="Nest")["tags"] == {"team": "1"}
        assert ws.tags == {"team": "1"}
        details = ws.get_details()
        assert (details["friendlyName"], details["provisioningState"]) == ("Nest", "Succeeded")
        assert details["workspaceid"] == details["id"]
        assert details["keyVault"] is None
        assert ws.get_portal_url() == "http://127.0.0.1:4711"

    def test_a_run_by_id(self, ws):
        assert ws.get_run("r1").id == "r1"

    def test_collections_of_later_issues_are_empty(self, ws):
        for name in ("images", "linked_services"):
            assert dict(getattr(ws, name)) == {}
            assert "x" not in getattr(ws, name)

    @pytest.mark.parametrize("name", ["sync_keys", "list_keys"])
    def test_what_does_not_exist_yet_is_named(self, ws, name):
        with pytest.raises(UnsupportedError, match=f"Workspace.{name}"):
            getattr(ws, name)()

    def test_only_a_workspace_of_the_persons_own_is_deleted(self, ws):
        with pytest.raises(UnsupportedError, match="not deleted"):
            ws.delete()


class TestNamedCollection:
    def test_behaves_as_a_dict(self):
        held = {"a": 1, "b": 2}
        found = NamedCollection("thing", lambda: held, lambda n: n * 10)
        assert "a" in found
        assert found["b"] == 20
        assert list(found) == ["a", "b"]
        assert dict(found.items()) == {"a": 10, "b": 20}
        assert list(found.values()) == [10, 20]
        assert list(found.keys()) == ["a", "b"]
        assert len(found) == 2
        assert found == {"a": 10, "b": 20}
        assert repr(found) == "{'a': 10, 'b': 20}"
        assert found.get("c") is None
        with pytest.raises(KeyError, match=r"no thing named 'c'. Known: a, b"):
            found["c"]
        held["c"] = 3
        assert found["c"] == 30
