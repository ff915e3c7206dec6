"""The recorder: marks, stacks on request and exit notes, on every interpreter that is here."""

from __future__ import annotations

import contextlib
import glob
import os
import signal
import subprocess
import sys
import time

import pytest

from rookery.agent.cause_evidence import read_processes
from rookery.agent.stacks import handles, take_stacks
from rookery.worker import recorder

PYTHONS = sorted({sys.executable, *glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python"))})
WAITS = "import time\ndef lost_in_thought():\n    print('up', flush=True)\n    time.sleep(60)\nlost_in_thought()\n"


@contextlib.contextmanager
def start(folder, script, python=sys.executable, **variables):
    install = (
        f"import sys\nsys.path.insert(0, {os.path.dirname(recorder.__file__)!r})\nimport recorder\nsys.path.pop(0)\n"
    )
    install += f"recorder.install({str(folder)!r})\n"
    environment = {**os.environ, **variables}
    with subprocess.Popen(
        [python, "-c", install + script], stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def errors(tmp_path):
    folder = tmp_path / "errors"
    folder.mkdir()
    return folder


class TestStacks:
    @pytest.mark.parametrize("python", PYTHONS)
    def test_dumps_and_lives_on(self, errors, python):
        with start(errors, WAITS, python, RANK="3") as process:
            assert process.stdout.readline() == "up\n"
            (dump,) = take_stacks(str(errors), wait_s=60)
            assert (dump.pid, dump.rank) == (process.pid, 3)
            assert "lost_in_thought" in dump.text
            assert process.poll() is None

    def test_a_process_that_replaced_itself_is_not_signalled(self, errors):
        with start(errors, "import os\nos.execvp('sleep', ['sleep', '60'])") as process:
            deadline = time.monotonic() + 60
            while handles(process.pid, recorder.stack_signal()) or not list(errors.glob("*.dump")):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            with open(f"/proc/{process.pid}/cmdline", "rb") as f:
                while not f.read().startswith(b"sleep"):
                    assert time.monotonic() < deadline
                    f.seek(0)
            assert take_stacks(str(errors)) == []
            assert process.poll() is None

    def test_forked_children_have_their_own(self, errors):
        script = "import os\npid = os.fork()\n" + WAITS.replace("print('up', flush=True)", "os.write(1, b'up\\n')")
        with start(errors, script) as process:
            assert [process.stdout.readline() for _ in range(2)] == ["up\n", "up\n"]
            parent, child = take_stacks(str(errors), wait_s=60)
            assert (parent.pid, parent.forked, child.forked) == (process.pid, False, True)
            assert "lost_in_thought" in child.text
            os.kill(child.pid, signal.SIGKILL)


class TestNotes:
    @pytest.mark.parametrize(
        ("script", "code", "left"),
        [("pass", None, True), ("sys.exit(3)", 3, True), ("import os; os._exit(4)", None, False)],
    )
    def test_says_how_it_left(self, errors, script, code, left):
        with start(errors, script, RANK="2") as process:
            process.wait(60)
        (found,) = read_processes(str(errors))
        assert (found.rank, found.exit_code, found.left, found.record) == (2, code, left, None)

    def test_exceptions_carry_the_rank(self, errors):
        with start(errors, "raise ValueError('bad')", RANK="5", LOCAL_RANK="1") as process:
            process.wait(60)
        (found,) = read_processes(str(errors))
        assert (found.rank, found.record["local_rank"], found.text) == (5, 1, "ValueError: bad")
        assert found.time > time.time() - 60
