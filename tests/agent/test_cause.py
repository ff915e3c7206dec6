"""Causes: pure, from evidence to words."""

from __future__ import annotations

import pytest

from rookery.agent.cause import Evidence, explain_rank, explain_watched
from rookery.agent.process import RankEnd, expand
from rookery.spec.cause import format_cause

TRACE = 'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\n'


def explained(end=None, **fields):
    return explain_rank(Evidence(end or RankEnd(0, 1, exit_code=1), **fields))


class TestExplain:
    def test_recorded_exception_comes_before_the_log(self):
        recorded = {
            "type": "ValueError",
            "message": "bad shape",
            "traceback": TRACE + "ValueError: bad shape\n",
        }
        cause = explained(recorded=recorded, tail="noise\nKeyError: other", log_name="azureml-logs/70_driver_log.txt")
        assert cause.exception == "ValueError: bad shape"
        assert "ValueError: bad shape" in cause.summary
        assert cause.traceback.startswith("Traceback")
        assert "70_driver_log" in format_cause(cause)

    def test_traceback_from_the_log_when_nothing_was_recorded(self):
        cause = explained(tail="epoch 1\n" + TRACE + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried\n")
        assert cause.exception.startswith("torch.cuda.OutOfMemoryError")
        assert "smaller batch" in cause.advice[0]

    @pytest.mark.parametrize(
        ("line", "advice"),
        [
            ("ModuleNotFoundError: No module named 'cv2'", "opencv-python"),
            ("OSError: [Errno 28] No space left on device", "disk is full"),
            ("FileNotFoundError: [Errno 2] No such file or directory: 'data/x.csv'", "data/x.csv"),
            ("PermissionError: [Errno 13] Permission denied: '/data'", "/data"),
            ("MemoryError", "Memory ran out"),
        ],
    )
    def test_advice(self, line, advice):
        assert advice in " ".join(explained(tail=TRACE + line + "\n").advice)

    def test_no_advice_without_reason(self):
        assert explained(tail="all is well").advice == ()

    @pytest.mark.parametrize(
        ("code", "words"), [(137, "SIGKILL"), (143, "SIGTERM"), (200, "exit code 200."), (255, "exit code 255.")]
    )
    def test_large_exit_codes(self, code, words):
        cause = explained(RankEnd(0, 1, exit_code=code))
        assert words in cause.summary
        assert "signal 72" not in cause.summary

    def test_the_text_of_a_raised_system_exit_is_the_last_line(self):
        assert explained(tail="epoch 1\nno data\n").summary == (
            "The script ended with exit code 1. Its last line: no data"
        )
        assert explained(RankEnd(0, 1, exit_code=3), tail="no data\n").summary == "The script ended with exit code 3."

    def test_an_exit_that_was_caught_is_not_the_cause(self):
        recorded = {"type": "SystemExit", "message": "caught", "traceback": "SystemExit: caught\n"}
        assert explained(recorded=recorded).exception == "SystemExit: caught"
        later = explained(RankEnd(0, 1, exit_code=3), recorded=recorded)
        assert (later.exception, later.traceback) == (None, None)

    def test_segfault_shows_the_python_stack(self):
        cause = explained(
            RankEnd(0, 1, signal=11), stack='Fatal Python error: Segmentation fault\n  File "t.py", line 3'
        )
        assert "segmentation fault" in cause.summary
        assert "line 3" in cause.traceback
        assert cause.signal == "SIGSEGV"

    def test_kernel_says_out_of_memory(self):
        cause = explained(RankEnd(0, 1, signal=9), oom_killed=True, memory_bytes=3 * 2**30)
        assert "lack of memory" in cause.summary
        assert "3.0 GiB" in cause.summary

    def test_sigkill_with_nearly_all_memory_used(self):
        cause = explained(RankEnd(0, 1, signal=9), memory_bytes=95, memory_total_bytes=100)
        assert "lack of memory" in cause.summary

    def test_plain_sigkill_is_not_called_out_of_memory(self):
        assert (
            explained(RankEnd(0, 1, signal=9), memory_bytes=5, memory_total_bytes=100).summary
            == "The process was killed (SIGKILL)."
        )

    def test_shell_exit_codes(self):
        assert "not found" in explained(RankEnd(0, 1, exit_code=127)).summary
        assert "SIGSEGV" in explained(RankEnd(0, 1, exit_code=139)).summary

    def test_progress_bars_do_not_fill_the_last_lines(self):
        assert explained(tail="a\r10%\r100%\nend").last_lines == ("100%", "end")

    def test_watched_process_with_a_recorded_exception(self):
        cause = explain_watched(5, 1, {"type": "KeyError", "message": "'x'", "traceback": TRACE})
        assert "KeyError: 'x'" in cause.summary
        assert cause.traceback == TRACE


class TestExpand:
    def test_known_names_only(self):
        assert expand("$A-${A}-$AB-${B}-$$-$1-$", {"A": "x"}) == "x-x-$AB-${B}-$$-$1-$"
