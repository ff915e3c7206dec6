"""The build log on a screen: the text as it came, and on a terminal a bar that never stands between its lines."""

from __future__ import annotations

import io
import re
import threading

import pytest

from rookery.sdk import build_output
from rookery.sdk.build_output import BuildOutput
from rookery.sdk.build_progress import BuildProgress
from rookery.sdk.streaming import follow_run
from tests.sdk.fake_keeper import FakeKeeper

BUILD = "azureml-logs/20_image_build_log.txt"
DRIVER = "azureml-logs/70_driver_log.txt"
# As uv 0.13 and the builder say it.
LOG = """Resolving 2 requirements for Python 3.11.7 (/usr/bin/python3.11)
Resolved 9 packages in 390ms
Building environment 33539f5d293ff32005faf25397ab7990: 9 packages, Python 3.11.7
Resolved 9 packages in 202ms
Downloading torch (180.0MiB)
Downloading numpy (20.0MiB)
 Downloaded numpy
 Downloaded torch
Prepared 9 packages in 488ms
Installed 9 packages in 39ms
 + numpy==2.4.6
Importing what was asked for
  import numpy: ok, 2.4.6 (0.2 s)
Built in 1.1 s
"""
CONDA_LOG = """Solving 1 conda packages and Python 3.8
Reading the package lists of 1 conda channel
Solved: 4 conda packages, 20.1 MB packed
Installing 4 conda packages
  downloading python: 5 of 20 MB
  [1/4] zlib 1.2
  [4/4] python 3.8
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def screen(text):
    """What a terminal shows in the end: a line that was erased is gone."""
    return re.sub(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)", "", text).replace("\r\x1b[K", "")


class TestBuildProgress:
    @pytest.mark.parametrize("log", [LOG, CONDA_LOG])
    def test_only_grows_and_says_what_is_going_on(self, log):
        progress, shares, words = BuildProgress(), [], []
        for line in log.splitlines():
            progress.take(line)
            shares.append(progress.share)
            words.append(progress.words)
        assert shares == sorted(shares)
        assert len(set(shares)) >= 3
        assert all(0 <= share <= 1 for share in shares)

    def test_downloads_count_by_their_size(self):
        progress = BuildProgress()
        lines = LOG.splitlines()
        for line in lines[:6]:
            progress.take(line)
        before = progress.share
        assert progress.words == "downloading torch, numpy, 0 of 210 MB"
        progress.take(lines[6])
        small = progress.share - before
        progress.take(lines[7])
        assert progress.share - before - small > 5 * small
        for line in lines[8:]:
            progress.take(line)
        assert progress.is_done

    @pytest.mark.parametrize(
        "line", ["", "\x1b[2J", "Downloading (MiB)", "  [x/y]", "Resolved many packages in", "x" * 10**6]
    )
    def test_other_lines_change_nothing(self, line):
        progress = BuildProgress()
        progress.take(line)
        assert (progress.share, progress.words) == (0.0, "preparing")


class TestBuildOutput:
    def test_off_a_terminal_it_is_the_text_alone(self):
        out = io.StringIO()
        shown = BuildOutput(out)
        for i in range(0, len(LOG), 7):
            shown.take(LOG[i : i + 7].encode())
        shown.close()
        assert out.getvalue() == LOG

    def test_on_a_terminal_a_bar_comes_and_goes(self):
        out = Terminal()
        shown = BuildOutput(out)
        shown.take(LOG[: LOG.index(" Downloaded")].encode())
        assert re.search(r"\r\x1b\[K\[#+ *\]  15% downloading torch, numpy, 0 of 210 MB, 0 s$", out.getvalue())
        shown.take(LOG[LOG.index(" Downloaded") :].encode())
        shown.close()
        assert screen(out.getvalue()) == LOG

    def test_the_bar_waits_for_the_end_of_a_line(self):
        out = Terminal()
        shown = BuildOutput(out)
        shown.take("Resolving 2 requir\u00e9".encode()[:-1])
        assert "[" not in out.getvalue()
        shown.take("\u00e9".encode()[1:] + b"ments\n")
        shown.aside("Warning: disk\n")
        shown.close()
        assert screen(out.getvalue()) == "Resolving 2 requir\u00e9ments\nWarning: disk\n"

    def test_the_seconds_go_on_while_nothing_is_said(self, monkeypatch):
        monkeypatch.setattr(build_output, "TICK_S", 0.01)
        drawn = threading.Semaphore(0)

        class Counted(Terminal):
            def write(self, text):
                drawn.release()
                return super().write(text)

        shown = BuildOutput(Counted())
        shown.take(b"Resolving 2 requirements for Python\n")
        for _ in range(6):
            assert drawn.acquire(timeout=60)
        shown.close()
        shown.close()
        assert not [t for t in threading.enumerate() if t.name == "rookery-build-bar"]

    def test_a_dumb_terminal_has_no_bar(self, monkeypatch):
        monkeypatch.setenv("TERM", "dumb")
        out = Terminal()
        shown = BuildOutput(out)
        shown.take(b"Resolving 2 requirements\n")
        shown.close()
        assert "\x1b" not in out.getvalue()


class TestWaitForCompletion:
    def test_the_bar_is_gone_before_the_driver_log(self):
        keeper, out = FakeKeeper(), Terminal()
        keeper.add_run("r1")
        keeper.add_event("r1", "status", run="r1", status="Preparing", reason="environment 'x' is being prepared")
        keeper.add_log("r1", BUILD, LOG[:200].encode())
        keeper.add_event("r1", "warning", run="r1", text="python 3.6.2 became 3.6.15")
        keeper.add_log("r1", BUILD, LOG[200:].encode())
        keeper.add_event("r1", "status", run="r1", status="Queued", reason="waits")
        keeper.add_log("r1", DRIVER, b"user\n")
        follow_run(keeper, "r1", out=out)
        text = screen(out.getvalue())
        assert "[#" in out.getvalue()
        assert "[#" not in text
        first, second = LOG[:200], LOG[200:]
        assert f"{first}\nWarning: python 3.6.2 became 3.6.15\n" in text
        assert second in text
        assert text.endswith("user\n")
        assert "\x1b" not in out.getvalue().rpartition("Streaming " + DRIVER)[2]
