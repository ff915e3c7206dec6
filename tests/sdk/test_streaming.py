from __future__ import annotations

import base64
import io

import pytest

from rookery.sdk.log_printer import LogPrinter, best_log
from rookery.sdk.streaming import follow_run, print_summary
from tests.sdk.fake_keeper import FakeKeeper

DRIVER = "azureml-logs/70_driver_log.txt"
BUILD = "azureml-logs/20_image_build_log.txt"


@pytest.fixture
def keeper():
    keeper = FakeKeeper()
    keeper.add_run("r1")
    return keeper


def streamed(keeper):
    out = io.StringIO()
    follow_run(keeper, "r1", web_view="http://here/runs/r1", out=out)
    return out.getvalue()


class TestBestLog:
    def test_takes_the_highest_number(self):
        assert best_log([BUILD, "azureml-logs/55_x.txt", DRIVER, "logs/own.txt"]) == DRIVER

    def test_prefers_rank_0(self):
        names = [f"azureml-logs/70_driver_log_{rank}.txt" for rank in (10, 2, 0, 1)]
        assert best_log(names) == "azureml-logs/70_driver_log_0.txt"

    def test_prefers_a_ranks_log_to_the_launchers(self):
        names = ["azureml-logs/70_mpi_log.txt", "azureml-logs/70_driver_log_1.txt"]
        assert best_log(names) == "azureml-logs/70_driver_log_1.txt"

    def test_knows_the_newer_names(self):
        assert best_log([BUILD, "user_logs/std_log.txt"]) == "user_logs/std_log.txt"

    def test_is_none_without_a_numbered_log(self):
        assert best_log(["logs/own.txt"]) is None


class TestFollowRun:
    def test_has_v1s_format(self, keeper):
        keeper.add_log("r1", DRIVER, b"one\ntwo\n")
        assert streamed(keeper) == (
            "RunId: r1\nWeb View: http://here/runs/r1\n"
            f"\nStreaming {DRIVER}\n{'=' * len('Streaming ' + DRIVER)}\n\none\ntwo\n"
        )

    def test_says_each_phase_once_while_there_is_no_log(self, keeper):
        for status, reason in (
            ("Queued", "waits for 1 node of 'gpu'"),
            ("Queued", "waits for 1 node of 'gpu'"),
            ("Running", ""),
        ):
            keeper.add_event("r1", "status", run="r1", status=status, reason=reason)
        keeper.add_log("r1", DRIVER, b"hello\n")
        keeper.add_event("r1", "status", run="r1", status="Finalizing", reason="collects outputs")
        text = streamed(keeper)
        assert text.count("Queued: waits for 1 node of 'gpu'\n") == 1
        assert "\nRunning\n" in text
        assert "Finalizing" not in text

    def test_switches_to_the_driver_log_after_the_rest_of_the_build_log(self, keeper):
        keeper.add_log("r1", BUILD, b"build 1\n")
        keeper.add_log("r1", BUILD, b"build 2\n", tell=False)
        keeper.add_log("r1", DRIVER, b"user\n")
        text = streamed(keeper)
        assert text.index("build 1") < text.index("build 2") < text.index(f"Streaming {DRIVER}") < text.index("user")

    def test_overlapping_and_repeated_events_print_every_byte_once(self, keeper):
        keeper.logs["r1"][DRIVER] = b"abcdefgh\n"
        for offset, text in ((0, "abc"), (0, "abcde"), (2, "cdefg"), (7, "h\n"), (0, "abc")):
            keeper.add_event("r1", "log", run="r1", name=DRIVER, offset=offset, text=text)
        assert streamed(keeper).endswith("\n\nabcdefgh\n")

    def test_fetches_a_gap_and_the_last_bytes(self, keeper):
        keeper.logs["r1"][DRIVER] = b"0123456789 last bytes\n"
        keeper.add_event("r1", "log", run="r1", name=DRIVER, offset=4, text="456")
        assert streamed(keeper).endswith("\n\n0123456789 last bytes\n")

    def test_shows_the_log_of_a_run_whose_stream_tells_of_none(self, keeper):
        keeper.add_log("r1", DRIVER, b"quiet\n", tell=False)
        assert f"Streaming {DRIVER}" in streamed(keeper)
        assert streamed(keeper).endswith("quiet\n")

    def test_a_character_cut_in_two_and_no_utf8_survive(self, keeper):
        whole = "größe".encode() + b"\xff\n"
        keeper.logs["r1"][DRIVER] = whole
        for offset, end in ((0, 3), (3, len(whole))):
            data = base64.b64encode(whole[offset:end]).decode()
            keeper.add_event("r1", "log", run="r1", name=DRIVER, offset=offset, base64=data)
        assert "größe\ufffd\n" in streamed(keeper)

    def test_a_terminal_without_unicode_does_not_stop_it(self, keeper):
        keeper.add_log("r1", DRIVER, "größe\n".encode())
        raw = io.BytesIO()
        out = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
        follow_run(keeper, "r1", out=out)
        assert b"gr??e\n" in raw.getvalue()

    def test_a_warning_is_not_glued_to_a_line_of_the_run(self, keeper):
        keeper.add_log("r1", DRIVER, b"no newline")
        keeper.add_event("r1", "warning", run="r1", text="disk is nearly full")
        assert "no newline\nWarning: disk is nearly full\n" in streamed(keeper)

    def test_prints_nothing_without_show_output(self, keeper):
        keeper.add_log("r1", DRIVER, b"x\n")
        out = io.StringIO()
        follow_run(keeper, "r1", show_output=False, out=out)
        assert out.getvalue() == ""

    def test_asks_only_for_what_it_shows(self, keeper, monkeypatch):
        asked = []
        stream = keeper.stream
        monkeypatch.setattr(keeper, "stream", lambda path, query=None, after=None: asked.append(query) or stream(path))
        follow_run(keeper, "r1", show_output=False)
        follow_run(keeper, "r1", out=io.StringIO())
        assert [query["kinds"] for query in asked] == ["status", None]


class TestLogPrinter:
    def test_rank_0_takes_over_from_another_rank(self, keeper):
        out = io.StringIO()
        printer = LogPrinter(keeper, "r1", out)
        for rank in (1, 0, 1):
            name = f"azureml-logs/70_driver_log_{rank}.txt"
            keeper.add_log("r1", name, f"from {rank}\n".encode())
            printer.take(keeper.events["r1"][-1].data)
        printer.finish()
        assert out.getvalue().count("Streaming") == 2
        assert out.getvalue().endswith("from 0\n")


class TestPrintSummary:
    def test_ends_with_warnings_and_the_cause(self, keeper):
        data = keeper.add_run(
            "r2",
            status="Failed",
            warnings=["slow disk"],
            error={"kind": "UserError", "summary": "It broke.", "rank": 3},
        )
        out = io.StringIO()
        print_summary(data, "http://here", out)
        assert out.getvalue() == (
            "\nExecution Summary\n=================\nRunId: r2\nWeb View: http://here\n"
            "\nWarnings:\nslow disk\n\nError:\nIt broke.\nWhere: rank 3\n\n"
        )

    def test_says_that_it_was_canceled(self, keeper):
        out = io.StringIO()
        print_summary(keeper.add_run("r3", status="Canceled"), "", out)
        assert "The run was canceled." in out.getvalue()
