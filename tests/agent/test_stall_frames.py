"""Stacks: pure, from faulthandler's text to the rank that is not in the collective."""

from __future__ import annotations

from rookery.agent.stall_frames import RankStack, collective_of, explain_stall, where

BARRIER = """Thread 0x00007f01 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait
Current thread 0x00007f02 (most recent call first):
  File "/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 4164 in barrier
  File "/env/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", line 83 in wrapper
  File "/src/train.py", line 30 in main
  File "/src/train.py", line 40 in <module>
"""
BACKWARD = """Current thread 0x00007f02 (most recent call first):
  File "/env/lib/python3.11/site-packages/torch/autograd/graph.py", line 825 in _engine_run_backward
  File "/env/lib/python3.11/site-packages/torch/autograd/__init__.py", line 347 in backward
  File "/src/train.py", line 12 in <module>
"""
LOADING = """Current thread 0x00007f02 (most recent call first):
  File "/usr/lib/python3.11/socket.py", line 706 in readinto
  File "/src/data.py", line 7 in fetch
  File "/src/train.py", line 28 in main
"""


class TestCollectiveOf:
    def test_torch(self):
        assert collective_of(BARRIER) == "barrier"

    def test_gradients_are_reduced_in_backward(self):
        assert "backward" in collective_of(BACKWARD)

    def test_none(self):
        assert collective_of(LOADING) is None
        assert collective_of("") is None

    def test_a_thread_that_waits_does_not_count(self):
        swapped = BARRIER.replace("Current thread", "Thread", 1) + LOADING
        assert collective_of(swapped) is None  # faulthandler writes the main thread last


class TestExplainStall:
    def test_names_the_rank_that_is_not_in_it(self):
        cause = explain_stall([RankStack(0, BARRIER), RankStack(1, LOADING), RankStack(2, BARRIER)], 1800, 1, 0)
        assert (cause.kind, cause.rank, cause.fault, cause.collateral) == ("Stalled", 1, "stalled", False)
        assert "ranks 0, 2 wait in barrier" in cause.summary
        assert "data.py:7 in fetch" in cause.summary
        assert "socket.py" in cause.traceback

    def test_all_wait_for_somebody_elsewhere(self):
        cause = explain_stall([RankStack(0, BARRIER), RankStack(1, BACKWARD)], 60, 1, 0)
        assert cause.collateral
        assert "every rank of node 0" in cause.summary

    def test_nobody_is_in_a_collective(self):
        cause = explain_stall([RankStack(0, LOADING)], 60, 1, 0)
        assert (cause.rank, cause.collateral) == (0, False)
        assert "data.py:7" in cause.summary

    def test_a_rank_without_a_stack(self):
        assert "no Python stack" in where("")
        cause = explain_stall([RankStack(0, BARRIER), RankStack(1, "")], 60, 1, 0)
        assert cause.rank == 1
