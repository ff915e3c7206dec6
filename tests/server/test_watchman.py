"""The watchman: there as long as it is needed, gone when it is dismissed, and at work when its keeper was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from rookery.server.watchman import Watchman

KEEPER = """
import sys, time
from rookery.server.watchman import Watchman
watchman = Watchman(["touch", sys.argv[1]])
watchman.set(True)
print(watchman.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def flag(tmp_path):
    return tmp_path / "it's started"


@pytest.fixture
def watchman(flag):
    made = Watchman(["touch", str(flag)])
    yield made
    made.dismiss()


def is_there(pid):
    return os.path.exists(f"/proc/{pid}")


@pytest.mark.slow
class TestKilled:
    def test_it_starts_another(self, flag):
        keeper = subprocess.Popen([sys.executable, "-c", KEEPER, str(flag)], stdout=subprocess.PIPE, text=True)
        pid = int(keeper.stdout.readline())
        keeper.send_signal(signal.SIGKILL)
        keeper.communicate()
        deadline = time.monotonic() + 60
        while not flag.exists() or is_there(pid):
            assert time.monotonic() < deadline, "nothing was started"
            time.sleep(0.05)


class TestAlive:
    def test_there_is_one_as_long_as_it_is_needed(self, watchman, flag):
        watchman.set(False)
        assert watchman.pid is None
        watchman.set(True)
        first = watchman.pid
        watchman.set(True)
        assert watchman.pid == first
        watchman.set(False)
        assert watchman.pid is None
        assert not is_there(first)
        assert not flag.exists()

    def test_one_that_was_ended_is_replaced(self, watchman):
        watchman.set(True)
        first = watchman.pid
        os.kill(first, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while watchman.pid == first:
            assert time.monotonic() < deadline
            watchman.set(True)
        assert is_there(watchman.pid)

    def test_dismissed_it_is_gone_for_good(self, watchman, flag):
        watchman.set(True)
        first = watchman.pid
        watchman.dismiss()
        watchman.set(True)
        assert watchman.pid is None
        assert not is_there(first)
        assert not flag.exists()
