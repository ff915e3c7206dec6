"""Ranks of mpirun: every one has exactly one end, told by its wrapper or not."""

from __future__ import annotations

import json
import os
import signal

import pytest

from rookery.agent.launch_ranks import ForeignRanks
from rookery.agent.process import RankEnd


@pytest.fixture
def ranks(tmp_path):
    made = ForeignRanks(str(tmp_path / "ends"), [0, 1])
    made.launchers[77] = "mpirun"
    yield made
    os.close(made.fd)


def tell(ranks, **words):
    os.write(ranks.fd, json.dumps(words).encode() + b"\n")


def test_ranks_are_waited_for_and_then_their_launcher(ranks):
    assert ranks.pids == [77]
    tell(ranks, rank=1, pid=5)
    assert ranks.read() == []
    assert ranks.pids == [5]
    tell(ranks, rank=1, pid=5, exit_code=3, signal=None, time=1.0)
    assert ranks.read() == [RankEnd(1, 5, exit_code=3)]
    assert ranks.pids == [77]


def test_a_line_that_is_not_whole_is_waited_for(ranks):
    os.write(ranks.fd, b'{"rank": 0,')
    assert ranks.read() == []
    os.write(ranks.fd, b' "start_error": "no such file"}\n')
    assert ranks.read() == [RankEnd(0, start_error="no such file")]


def test_with_the_launcher_everything_has_ended(ranks):
    tell(ranks, rank=0, pid=5)
    first, second = ranks.launcher_died(77, 1 << 8, "all is lost")
    assert first == RankEnd(0, 5, signal=int(signal.SIGKILL))
    assert second.rank == 1
    assert "mpirun ended with exit code 1 before it was started: all is lost" in (second.start_error or "")
    assert ranks.pids == []


def test_ranks_that_ended_well_stay_so_whatever_mpirun_says(ranks):
    for rank in (0, 1):
        tell(ranks, rank=rank, pid=5 + rank)
        tell(ranks, rank=rank, pid=5 + rank, exit_code=0, signal=None, time=1.0)
    ends = ranks.launcher_died(77, 1 << 8, "a daemon lost its connection")
    assert [end.ok for end in ends] == [True, True]
    assert "a daemon lost its connection" in ranks.warning
