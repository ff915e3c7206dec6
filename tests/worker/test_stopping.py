"""A rank that is asked to stop hears of it by signal and by file, on every Python from 3.6 on."""

import glob
import os
import signal
import subprocess
import sys
import textwrap

import pytest

SRC = os.path.join(os.path.dirname(__file__), "..", "..", "src")
OLDEST = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.6*/bin/python")))
PYTHONS = [sys.executable, *OLDEST[:1]]


@pytest.fixture(params=PYTHONS, ids=lambda p: os.path.basename(os.path.dirname(os.path.dirname(p))))
def script(request, tmp_path):
    """Runs code with the worker on its path; returns (exit code, lines)."""

    def script(code, **variables):
        done = subprocess.run(
            [request.param, "-c", textwrap.dedent(code)],
            env={**os.environ, "PYTHONPATH": os.path.abspath(SRC), **variables},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout.decode().splitlines()

    return script


class TestShouldStop:
    def test_is_true_after_sigterm_and_the_process_lives_on(self, script):
        code = """
            import os, signal
            from rookery.worker import leave_for_resume, should_stop
            print(should_stop())
            os.kill(os.getpid(), signal.SIGTERM)
            print(should_stop())
            leave_for_resume()
        """
        assert script(code) == (85, ["False", "True"])

    def test_calls_the_handler_that_was_there(self, script):
        code = """
            import os, signal
            from rookery.worker import should_stop
            signal.signal(signal.SIGTERM, lambda number, frame: print("before"))
            should_stop()
            os.kill(os.getpid(), signal.SIGTERM)
            print(should_stop())
        """
        assert script(code) == (0, ["before", "True"])

    def test_nothing_is_installed_before_the_first_call(self, script):
        code = """
            import os, signal
            import rookery.worker
            os.kill(os.getpid(), signal.SIGTERM)
        """
        assert script(code) == (-signal.SIGTERM, [])

    def test_goes_by_the_file_in_threads_and_subprocesses(self, script, tmp_path):
        code = """
            import os, subprocess, sys, threading
            from rookery.worker import should_stop
            seen = []
            ask = threading.Thread(target=lambda: seen.append(should_stop()))
            ask.start(), ask.join()
            open(os.environ["ROOKERY_STOP_FILE"], "w").close()
            ask = threading.Thread(target=lambda: seen.append(should_stop()))
            ask.start(), ask.join()
            print(seen, flush=True)
            subprocess.check_call([sys.executable, "-c", "from rookery.worker import should_stop; print(should_stop())"])
        """
        assert script(code, ROOKERY_STOP_FILE=str(tmp_path / "stop.json")) == (0, ["[False, True]", "True"])

    def test_a_forked_child_can_still_be_ended(self, script):
        code = """
            import multiprocessing, time
            from rookery.worker import should_stop
            should_stop()
            fork = multiprocessing.get_context("fork")
            up = fork.Event()
            child = fork.Process(target=lambda: (up.set(), time.sleep(60)))
            child.start()
            up.wait(20)  # Python forgets signals that come while it forks
            child.terminate()
            child.join(20)
            print(child.exitcode)
        """
        assert script(code) == (0, [str(-signal.SIGTERM)])

    def test_a_signal_that_comes_while_it_ends_does_not_change_the_exit_code(self, script, tmp_path):
        code = """
            import atexit, os, signal, sys
            from rookery.worker import should_stop
            class Late(object):
                def __del__(self):
                    os.kill(os.getpid(), signal.SIGTERM)
            sys.late = Late()
            should_stop()
            open(os.environ["ROOKERY_STOP_FILE"], "w").close()
            assert should_stop()
            sys.exit(85)
        """
        assert script(code, ROOKERY_STOP_FILE=str(tmp_path / "stop.json"))[0] == 85


class TestCheckpointDir:
    def test_is_the_runs_own_folder(self, script, tmp_path):
        folder = str(tmp_path / "kept")
        code = "from rookery.worker import checkpoint_dir\nprint(checkpoint_dir())"
        assert script(code, ROOKERY_RESUME_DIR=folder) == (0, [folder])
        assert os.path.isdir(folder)

    def test_is_a_folder_here_outside_of_a_run(self, script, tmp_path):
        code = "from rookery.worker import checkpoint_dir\nprint(checkpoint_dir())"
        assert script(code) == (0, [str(tmp_path / "checkpoints")])
