"""A wait that does not come to its end fails with what is known."""

from __future__ import annotations

import sys
import time

import pytest

from rookery.sdk import Environment, Experiment, ScriptRunConfig, Workspace
from rookery.testing.ending import wait_for_end


def submit(tmp_path, text):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "train.py").write_text(text)
    here = Environment("here")
    here.python.user_managed_dependencies = True
    here.python.interpreter_path = sys.executable
    config = ScriptRunConfig(str(tmp_path / "source"), script="train.py", environment=here)
    return Experiment(Workspace.create("nest"), "exp").submit(config)


def test_gives_the_details_of_a_run_that_ends(tmp_path):
    assert wait_for_end(submit(tmp_path, "raise SystemExit(3)"))["status"] == "Failed"


@pytest.mark.slow
def test_a_run_that_does_not_end_is_an_error_with_evidence(tmp_path):
    run = submit(tmp_path, "import time\ntime.sleep(600)")
    deadline = time.monotonic() + 120
    while run.get_status() != "Running":  # before that there is no agent to tell of
        assert time.monotonic() < deadline, run.get_details()
        time.sleep(0.05)
    with pytest.raises(AssertionError) as raised:
        wait_for_end(run, 0.5)
    run.cancel()
    for words in (run.id, "did not end within 0.5 s", '"phases"', "agent.json", "agent.log", "keeper.log", '"state"'):
        assert words in str(raised.value)
    assert wait_for_end(run)["status"] == "Canceled"
