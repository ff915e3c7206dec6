import json
import os

from rookery.client.config import find_workspace


class TestInit:
    def test_makes_a_workspace_that_is_found_from_below(self, cli, tmp_path):
        said = cli("init", 'my "pro\'ject" é', "--json")
        folder = tmp_path / 'my "pro\'ject" é'
        assert said.json["created"] is True
        assert said.json["name"] == "my-pro-ject"
        assert os.path.exists(said.json["root"] + "/workspace.json")
        config = json.loads((folder / ".azureml" / "config.json").read_text())
        assert {"subscription_id", "resource_group", "workspace_name", "rookery"} <= set(config)
        (folder / "deep").mkdir()
        assert find_workspace(str(folder / "deep")).name == "my-pro-ject"

    def test_twice_changes_nothing(self, cli):
        first, second = cli("init", "--json").json, cli("init", "--json").json
        assert second["created"] is False
        assert second["id"] == first["id"]
        assert "was there already" in cli("init").out

    def test_says_what_it_made_and_what_comes_next(self, cli, tmp_path):
        said = cli("init", "a", "--name", "birds", columns=100)
        assert "Workspace birds made" in said.out
        assert str(tmp_path / "a" / ".rookery") in said.out
        assert "cd a && rookery run SCRIPT" in said.out.splitlines()[-1]

    def test_refuses_another_name_a_bad_name_a_file_and_no_room(self, cli, tmp_path):
        cli("init", "a")
        (tmp_path / "file").write_text("")
        for words in (["a", "--name", "other"], ["b", "--name", "no spaces!"], ["file"], ["/proc/nope"]):
            said = cli("init", *words)
            assert said.code == 1, words
            assert said.err.startswith("error: ")
            assert said.out == ""

    def test_a_folder_whose_name_gives_none(self, cli):
        assert cli("init", "é", "--json").json["name"] == "workspace"

    def test_a_config_from_azure_keeps_its_keys(self, cli, tmp_path):
        (tmp_path / ".azureml").mkdir()
        theirs = {"subscription_id": "s-1", "resource_group": "g-1", "workspace_name": "theirs"}
        (tmp_path / ".azureml" / "config.json").write_text("\ufeff" + json.dumps(theirs), encoding="utf-8")
        assert cli("init", "--json").json["name"] == "theirs"
        config = json.loads((tmp_path / ".azureml" / "config.json").read_text())
        assert {k: config[k] for k in theirs} == theirs
        assert config["rookery"]["path"] == "../.rookery"

    def test_a_config_that_leads_elsewhere_or_is_corrupt_is_not_overwritten(self, cli, tmp_path):
        (tmp_path / ".azureml").mkdir()
        config = tmp_path / ".azureml" / "config.json"
        for text in (
            '{"rookery": {"format": 1, "url": "http://team:1"}}',
            '{"rookery": {"format": 1, "path": "/else"}}',
            "{not json",
            "[]",
        ):
            config.write_text(text)
            said = cli("init")
            assert said.code == 1
            assert "config.json is there already" in said.err
            assert config.read_text() == text
            assert not (tmp_path / ".rookery").exists()
