from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rookery.client import create_workspace, find_config, find_workspace, read_config, write_config
from rookery.errors import ConfigError, UserError

V1 = {"subscription_id": "sub", "resource_group": "group", "workspace_name": "birds"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "my project's"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return str(path)


class TestFindConfig:
    def test_the_order_of_places(self, project):
        places = [
            "project.json",
            "config.json",
            "aml_config/project.json",
            "aml_config/config.json",
            ".azureml/project.json",
        ]
        for place in [*places, ".azureml/config.json"]:  # each beats the ones before it
            expected = write(project / place, V1)
            assert find_config() == expected

    def test_walks_up(self, project, monkeypatch):
        expected = write(project / ".azureml/config.json", V1)
        below = project / "a" / "b"
        below.mkdir(parents=True)
        assert find_config(str(below)) == expected
        monkeypatch.chdir(below)
        assert find_config() == expected

    def test_a_file_is_itself(self, project):
        assert find_config(write(project / "ws_config.json", V1)) == str(project / "ws_config.json")

    def test_a_file_that_is_not_there_is_not_another(self, project):
        write(project / ".azureml/config.json", V1)
        assert find_config("other.json") is None

    def test_somebody_elses_config_json_is_passed_over(self, project):
        expected = write(project / ".azureml/config.json", V1)
        write(project / "bert" / "config.json", {"hidden_size": 768})
        assert find_config(str(project / "bert")) == expected

    def test_a_broken_one_is_not_passed_over(self, project):
        assert find_config() is None
        assert find_config(str(project)) is None
        path = write(project / "config.json", "{")
        assert find_config() == path


class TestReadConfig:
    def test_ours_with_a_relative_path(self, project):
        create_workspace(str(project / ".rookery"), "birds")
        path = write(project / ".azureml/config.json", {**V1, "rookery": {"format": 1, "path": "../.rookery"}})
        address = read_config(path)
        assert address.root == os.path.realpath(project / ".rookery")
        assert (address.name, address.subscription_id, address.resource_group) == ("birds", "sub", "group")
        assert (address.location, address.config_path, address.url) == ("local", path, None)

    @pytest.mark.parametrize("where", ["key", "variable", "file", "nowhere"])
    def test_a_server_and_its_token(self, project, home, monkeypatch, where):
        ours = {"format": 1, "url": "http://host:8080/"}
        if where == "key":
            ours["token"] = "secret"
        if where == "variable":
            monkeypatch.setenv("ROOKERY_TOKEN", "secret")
        if where == "file":
            write(home / "tokens.json", {"http://host:8080": "secret"})
        address = read_config(write(project / "config.json", {**V1, "rookery": ours}))
        assert address.url == "http://host:8080"
        assert address.token == (None if where == "nowhere" else "secret")
        assert address.root is None

    def test_downloaded_from_azure(self, project, home, capsys):
        path = write(project / "config.json", "\ufeff" + json.dumps(V1))
        address = read_config(path)
        assert address.root == os.path.realpath(home / "workspaces" / "birds")
        assert (address.subscription_id, address.resource_group) == ("sub", "group")
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "birds" in said
        assert read_config(path) == address
        assert capsys.readouterr().err == ""

    def test_legacy_scope(self, project):
        scope = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.MachineLearningServices/workspaces/w1"
        address = read_config(write(project / "project.json", {"Scope": scope}))
        assert (address.subscription_id, address.resource_group, address.name) == ("s1", "g1", "w1")

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ("{", "not valid JSON.*Mend it"),
            ("[]", "must hold a JSON object"),
            ({"subscription_id": "s"}, "lacks resource_group, workspace_name"),
            ({**V1, "workspace_name": 3}, "lacks workspace_name"),
            ({"Scope": "/subscriptions/x"}, "Scope"),
            ({**V1, "rookery": {"format": 2, "path": "x"}}, r"format 2.*reads up to 1.*pip install -U"),
            ({**V1, "rookery": {"format": 1}}, "either 'path'"),
            ({**V1, "rookery": {"format": 1, "path": "x", "url": "http://h"}}, "either 'path'"),
            ({**V1, "rookery": "x"}, "'rookery' must be an object"),
            ({**V1, "rookery": {"format": 1, "path": "nowhere"}}, "there is none. Mend 'path'"),
            ({**V1, "rookery": {"format": 1, "url": "host:80"}}, "http://host:port"),
            ({**V1, "workspace_name": "../up"}, "not a valid workspace name"),
        ],
    )
    def test_what_cannot_be_used_says_what_to_do(self, project, content, says):
        path = write(project / "config.json", content)
        with pytest.raises(ConfigError, match=says) as info:
            read_config(path)
        assert path in str(info.value)


class TestFindWorkspace:
    def test_the_default_workspace(self, project, home, capsys):
        address = find_workspace()
        assert address.root == os.path.realpath(home / "workspaces" / "default")
        assert address.config_path is None
        assert capsys.readouterr().err.count("\n") == 1
        assert find_workspace() == address

    def test_strict(self, project, monkeypatch):
        monkeypatch.setenv("ROOKERY_STRICT_CONFIG", "1")
        with pytest.raises(UserError, match="rookery init"):
            find_workspace()

    def test_a_named_file_that_is_not_there(self, project):
        with pytest.raises(ConfigError, match="No workspace config was found"):
            find_workspace("other.json")


class TestWriteConfig:
    def test_round_trip_beside_the_project(self, project):
        create_workspace(str(project / ".rookery"), "birds")
        first = read_config(write(project / "x.json", {**V1, "rookery": {"format": 1, "path": ".rookery"}}))
        path = write_config(first)
        assert path == str(project / ".azureml" / "config.json")
        assert json.loads((project / ".azureml/config.json").read_text())["rookery"] == {
            "format": 1,
            "path": "../.rookery",
        }
        again = find_workspace()
        assert (again.root, again.name) == (first.root, "birds")
        assert again.config_path == path

    def test_path_and_name(self, project, home):
        identity = create_workspace(str(home / "workspaces" / "far"), "far")
        address = read_config(write(project / "c.json", {**V1, "workspace_name": "far"}))
        path = write_config(address, "sub/deeper/still", "ws.json")
        assert path == str(project / "sub/deeper/still/ws.json")
        assert json.loads(Path(path).read_text())["rookery"]["path"] == identity.root
        assert read_config(path).root == identity.root

    def test_a_token_is_not_written(self, project):
        ours = {"format": 1, "url": "http://h:1", "token": "secret"}
        path = write_config(read_config(write(project / "c.json", {**V1, "rookery": ours})))
        assert "secret" not in Path(path).read_text()
        assert read_config(path).url == "http://h:1"
