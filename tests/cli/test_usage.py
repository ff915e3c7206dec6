import os
import subprocess
import sys

import pytest

from rookery.errors import KeeperUnavailableError


class TestTypos:
    @pytest.mark.parametrize(
        ("words", "hint"),
        [
            (["pss"], "'ps'"),
            (["lgos", "x"], "'logs'"),
            (["cancel", "x"], "'stop'"),
            (["submit"], "'run'"),
            (["compute", "lsit"], "'list'"),
            (["run", "--detatch", "train.py"], "'--detach'"),
            (["ps", "--experment", "x"], "'--experiment'"),
            (["models", "list", "--lates"], "'--latest'"),
        ],
    )
    def test_get_a_suggestion(self, cli, words, hint):
        said = cli(*words)
        assert said.code == 2
        assert said.err.startswith("error: No such ")
        assert f"Did you mean {hint}" in said.err
        assert said.out == ""

    def test_as_json(self, cli):
        said = cli("ps", "--experment", "x", "--json")
        assert (said.code, said.err) == (2, "")
        assert said.json["error"]["code"] == "usage"

    @pytest.mark.parametrize(
        "words",
        [
            ["stop"],
            ["stop", "a", "--all"],
            ["run"],
            ["run", "-c", "ls", "x.py"],
            ["compute", "update", "local"],
            ["models", "show", "a:b"],
            ["models", "delete", "birds:1"],
            ["models", "delete", "birds"],
            ["run", "--tag", "x", "a.py"],
            ["ps", "-n", "0"],
            ["show"],
        ],
    )
    def test_what_cannot_be_meant_is_a_usage_error(self, cli, keeper, tmp_path, words):
        (tmp_path / "a.py").write_text("")
        said = cli(*words)
        assert said.code == 2, said
        assert said.err.startswith("error: ")
        assert "--help" in said.err


class TestErrors:
    def test_one_red_block_and_no_traceback(self, cli, monkeypatch):
        monkeypatch.setattr("rookery.cli.session.client", lambda: _raise(KeeperUnavailableError("No keeper.")))
        assert cli("ps", columns=80).err == "\x1b[31;1merror:\x1b[0m \x1b[31mNo keeper.\x1b[0m\n"
        assert cli("ps").err == "error: No keeper.\n"
        said = cli("ps", "--json")
        assert said.json == {"error": {"code": "keeper_unavailable", "message": "No keeper.", "details": {}}}
        assert (said.code, said.err) == (1, "")

    def test_a_defect_says_so_and_shows_itself_only_on_request(self, cli, monkeypatch):
        monkeypatch.setattr("rookery.cli.session.client", lambda: _raise(TypeError("oops")))
        said = cli("ps")
        assert said.code == 1
        assert "Traceback" not in said.err
        assert "ROOKERY_DEBUG=1" in said.err
        monkeypatch.setenv("ROOKERY_DEBUG", "1")
        assert "Traceback" in cli("ps").err

    def test_a_missing_workspace_folder(self, cli):
        assert "does not exist" in cli("-C", "/no/such/folder", "ps").err

    def test_an_empty_workspace_folder_is_not_replaced_by_the_default_one(self, cli, tmp_path):
        (tmp_path / "empty").mkdir()
        assert "rookery init" in cli("ps", "-C", tmp_path / "empty").err


class TestHelp:
    def test_no_words_show_the_help(self, cli):
        said = cli()
        assert said.code == 2
        assert "Commands:" in said.err

    def test_help_is_quick_because_rich_and_the_sdk_stay_out(self, tmp_path):
        code = (
            "import sys; from rookery.cli.main import main; main(['--help']);"
            "sides = ('sdk', 'client', 'record', 'engine', 'server');"
            "heavy = {'rich', 'sqlalchemy', 'fastapi', *('rookery.' + side for side in sides)};"
            "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=True
        )
        assert done.stderr == "[]\n"
        assert "Usage: rookery" in done.stdout

    @pytest.mark.parametrize("verb", ["run", "ps", "show", "logs", "stop", "download", "doctor", "server", "token"])
    def test_every_verb_takes_json_and_workspace(self, cli, verb):
        out = cli(verb, "--help").out
        assert "--json" in out
        assert "-C, --workspace" in out

    def test_the_reader_may_leave(self, tmp_path):
        program = os.path.join(os.path.dirname(sys.executable), "rookery")
        done = subprocess.run(
            f"{program!r} --help | true", shell=True, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stderr == ""


def _raise(error):
    raise error
