import base64

import pytest

from tests.cli.fake import DRIVER, Event, make_run


@pytest.fixture
def run(keeper):
    return keeper.add(make_run("birds_1_aaaa"), log=b"one\ntwo\nthree \xff\n")


class TestLogs:
    def test_prints_the_bytes_as_they_are(self, keeper, run, monkeypatch, tmp_path):
        import io
        import sys

        from rookery.cli.main import main

        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["logs", "birds_1"]) == 0
        out.flush()
        assert out.buffer.getvalue() == b"one\ntwo\nthree \xff\n"

    @pytest.mark.parametrize(("n", "text"), [(0, ""), (1, "three"), (2, "two\nthree"), (9, "one\ntwo\nthree")])
    def test_tail(self, cli, run, n, text, monkeypatch):
        monkeypatch.setattr("rookery.cli.logs.BLOCK", 3)
        assert cli("logs", "@last", "--tail", n, "--json").json["text"].rstrip("\n \ufffd") == text

    @pytest.mark.parametrize("name", [DRIVER, "70_driver_log.txt", "user_logs/std_log.txt"])
    def test_finds_a_log_by_either_runtimes_name(self, cli, run, name):
        assert cli("logs", "@last", "--name", name, "--json").json["name"] == DRIVER

    def test_names_the_logs_there_are(self, cli, run):
        said = cli("logs", "@last", "--name", "nope")
        assert said.code == 1
        assert DRIVER in said.err

    def test_says_why_there_is_nothing_yet(self, cli, keeper):
        keeper.add(make_run("r1", "Queued", reason="pool is full"))
        said = cli("logs", "r1")
        assert (said.code, said.out) == (0, "")
        assert "pool is full" in said.err


class TestFollow:
    def test_goes_by_offset_and_fetches_what_is_missing(self, cli, keeper, run):
        keeper.logs[run["id"]][DRIVER] = b"one\ntwo\nthree\nfour\n"

        def stream(path, query, after):
            def log(offset, text):
                return Event("log", 1, {"run": run["id"], "name": DRIVER, "offset": offset, "text": text})

            keeper.logs[run["id"]][DRIVER] = b"one\ntwo\nthree\nfour\nfive\nsix\n"
            yield log(0, "one\ntwo\n")  # known
            yield log(8, "three\nfour\nfi")  # merged rows: partly known
            yield Event(
                "log",
                2,
                {
                    "run": run["id"],
                    "name": DRIVER,
                    "offset": 24,
                    "base64": base64.b64encode(b"six\n").decode(),
                },
            )
            yield Event("log", 3, {"run": run["id"], "name": "logs/other.txt", "offset": 0, "text": "not asked for"})
            yield Event("end", 4, {})

        keeper.stream = stream
        said = cli("logs", "-f", run["id"])
        assert said.out == "one\ntwo\nthree\nfour\nfive\nsix\n"
        assert said.err == "birds_1_aaaa: Completed\n"

    def test_json_lines(self, cli, keeper, run):
        keeper.logs[run["id"]] = {}
        keeper.events[run["id"]] = [
            Event("log", 1, {"run": run["id"], "name": DRIVER, "offset": 0, "text": "hi\n"}),
            Event("end", 2, {}),
        ]
        lines = cli("logs", "-f", run["id"], "--json").lines
        assert lines == [
            {"event": "log", "run": run["id"], "name": DRIVER, "offset": 0, "text": "hi\n"},
            {"event": "end", "run": run["id"], "status": "Completed"},
        ]
