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


def rank_log(rank):
    return f"azureml-logs/70_driver_log_{rank}.txt"


@pytest.fixture
def two_ranks(keeper):
    run = make_run("birds_2_bbbb")
    run["spec"]["processes_per_node"] = 2
    keeper.add(run)
    keeper.logs[run["id"]] = {rank_log(0): b"a0\nb0\n", rank_log(1): b"a1\nlast without end"}
    return run


class TestRanks:
    def test_one_rank(self, cli, two_ranks):
        assert cli("logs", "birds_2", "--rank", 1).out == "a1\nlast without end"

    def test_a_single_rank_is_rank_0(self, cli, run):
        assert cli("logs", "birds_1", "--rank", 0, "--json").json["name"] == DRIVER

    def test_names_the_ranks_there_are(self, cli, two_ranks):
        said = cli("logs", "birds_2", "--rank", 7)
        assert said.code == 1
        assert "rank 7. Ranks with a log: 0, 1." in said.err

    def test_all_are_merged_under_their_numbers(self, cli, two_ranks):
        assert (
            cli("logs", "birds_2", "--all").out == "[rank 0] a0\n[rank 0] b0\n[rank 1] a1\n[rank 1] last without end\n"
        )
        assert cli("logs", "birds_2", "--all", "--tail", 1).out == "[rank 0] b0\n[rank 1] last without end\n"

    def test_in_colour_on_a_terminal(self, cli, two_ranks):
        assert "\x1b[32m[rank 1]\x1b[0m a1\n" in cli("logs", "birds_2", "--all", columns=80).out

    def test_as_data(self, cli, two_ranks):
        found = cli("logs", "birds_2", "--all", "--json").json["logs"]
        assert [(f["rank"], f["text"]) for f in found] == [(0, "a0\nb0\n"), (1, "a1\nlast without end")]

    def test_follows_all_line_by_line(self, cli, keeper, two_ranks):
        run_id = two_ranks["id"]

        def stream(path, query, after):
            def log(rank, offset, text):
                return Event("log", 1, {"run": run_id, "name": rank_log(rank), "offset": offset, "text": text})

            yield log(0, 6, "half a")
            yield log(1, 19, " now\n")
            yield log(0, 12, " line\n")
            yield Event("end", 2, {})

        keeper.stream = stream
        said = cli("logs", "birds_2", "--all", "-f").out.splitlines()
        assert said == [
            "[rank 0] a0",
            "[rank 0] b0",
            "[rank 1] a1",
            "[rank 1] last without end now",
            "[rank 0] half a line",
        ]

    def test_only_one_way_to_choose(self, cli, two_ranks):
        assert cli("logs", "birds_2", "--all", "--rank", 1).code == 2
