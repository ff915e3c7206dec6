"""What the shell gets on TAB, through the protocol of Typer's own completion scripts."""

import pytest

from rookery.cli import session
from tests.cli.fake import make_compute, make_model, make_run


@pytest.fixture
def tab(cli, monkeypatch):
    def press(*words):
        monkeypatch.setenv("_ROOKERY_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(["rookery", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with pytest.raises(SystemExit):
            cli_main()
        return captured()

    import io
    import sys

    stream = io.StringIO()

    def cli_main():
        from rookery.cli.main import main

        monkeypatch.setattr(sys, "stdout", stream)
        main([])

    def captured():
        text = stream.getvalue()
        stream.seek(0)
        stream.truncate()
        return text.split()

    return press


class TestTab:
    def test_verbs_and_options(self, tab):
        assert tab("do") == ["download", "doctor"]
        assert tab("run", "--det") == ["--detach"]

    def test_runs_compute_models(self, tab, keeper):
        keeper.add(make_run("birds_1_aaaa"))
        keeper.compute.append(make_compute("pool", {"vm_size": ""}))
        keeper.models.append(make_model("owls"))
        assert tab("show", "bi") == ["birds_1_aaaa"]
        assert tab("show", "@") == ["@last"]
        assert tab("run", "--compute", "p") == ["pool"]
        assert tab("models", "show", "o") == ["owls"]
        assert tab("ps", "--status", "que") == []  # Typer compares exactly
        assert tab("ps", "--status", "Que") == ["Queued"]

    def test_endpoints(self, tab, keeper):
        keeper.endpoints.append({"name": "birds", "state": "Healthy"})
        for words in (["predict"], ["endpoints", "show"], ["endpoints", "delete"]):
            assert tab(*words, "b") == ["birds"]
        assert tab("pred") == ["predict"]

    def test_stop_offers_what_lives(self, tab, keeper):
        keeper.add(make_run("birds_1_aaaa"))
        keeper.add(make_run("birds_2_bbbb", "Running"))
        assert tab("stop", "bi") == ["birds_2_bbbb"]

    def test_trouble_offers_nothing_and_says_nothing(self, tab, monkeypatch, capsys):
        def broken(workspace):
            raise RuntimeError("no")

        monkeypatch.setattr(session, "running_client", broken)
        assert tab("show", "b") == []
        assert capsys.readouterr().err == ""

    def test_starts_no_keeper_and_makes_no_workspace(self, tab, home):
        assert tab("show", "b") == []
        assert not home.exists()

    def test_workspace_option_is_heard(self, tab, monkeypatch):
        heard = []
        monkeypatch.setattr(session, "running_client", heard.append)
        tab("-C", "/else", "show", "b")
        tab("show", "-C", "/there", "b")
        assert heard == ["/else", "/there"]
