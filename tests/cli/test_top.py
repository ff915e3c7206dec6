"""`rookery top`: the real program over a real run, once, as JSON, and live on a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time

import pytest

from tests.cli.program import ROOKERY, TIMEOUT_S, Program
from tests.conftest import stop_keepers

pytestmark = pytest.mark.slow

SCRIPT = """
import time
from rookery.worker import Run
run = Run.get_context()
run.log("loss", 0.125)
print("started", flush=True)
while True:
    time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("top")
    project = Program(folder / "it's a project", folder / "home")
    (project.folder / "train.py").write_text(SCRIPT)
    project("init", "--name", "birds")
    yield project
    project("stop", "--all")
    stop_keepers(str(folder))


@pytest.fixture(scope="module")
def run_id(project):
    """A run that runs, whose metric and first sample have come."""
    run_id = project("run", "--detach", "train.py").stdout.strip()
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        running = project.json("top", "--once")["running"]
        node = running[0]["nodes"][0] if running and running[0]["metrics"] and running[0]["nodes"] else {}
        if node.get("memory_bytes") and node.get("cpu_percent") is not None and running[0]["status"] == "Running":
            return run_id
        assert time.monotonic() < deadline, running
        time.sleep(0.2)


class TestTop:
    def test_json(self, project, run_id):
        seen = project.json("top", "--once")
        (run,) = seen["running"]
        assert (run["id"], run["metrics"], run["status"]) == (run_id, {"loss": 0.125}, "Running")
        (node,) = run["nodes"]
        assert node["ranks"] == [0, 0]
        assert node["cpu_percent"] >= 0
        assert [one["name"] for one in seen["compute"]] == ["local"]

    def test_off_a_terminal_it_looks_once(self, project, run_id):
        said = project("top").stdout
        assert said.startswith("1 running, 0 waiting")
        assert "loss 0.125" in said
        for word in (run_id, "RANKS", "MEMORY", "local"):
            assert word in said
        assert "\x1b" not in said

    def test_json_without_once_is_a_line_a_look(self, project, run_id):
        process = project.start("top", "--json", "--interval", "0.2")
        try:
            lines = [process.stdout.readline() for _ in range(2)]
            assert all(line.startswith("{") and run_id in line for line in lines)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0

    def test_live_on_a_terminal(self, project, run_id):
        main, worker = pty.openpty()
        env = {**project.env, "COLUMNS": "160", "LINES": "50", "TERM": "xterm"}
        process = subprocess.Popen(
            [ROOKERY, "top", "--interval", "0.2"],
            cwd=project.folder,
            env=env,
            stdin=worker,
            stdout=worker,
            stderr=worker,
        )
        os.close(worker)
        seen, deadline = b"", time.monotonic() + TIMEOUT_S
        try:
            while seen.count(b"Ctrl-C leaves") < 3:
                assert time.monotonic() < deadline, seen[-2000:]
                if select.select([main], [], [], 0.5)[0]:
                    seen += os.read(main, 65536)
            process.send_signal(signal.SIGINT)
            while True:  # to the end of what it has written, which it may not live to see read
                assert time.monotonic() < deadline
                if select.select([main], [], [], 0.2)[0]:
                    try:
                        chunk = os.read(main, 65536)
                    except OSError:  # nobody has the other end any more
                        break
                    if not chunk:
                        break
                    seen += chunk
                elif process.poll() is not None:
                    break
            assert process.wait(TIMEOUT_S) == 0
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            os.close(main)
        text = seen.decode("utf-8", "replace")
        assert run_id in text
        assert "loss 0.125" in text
        assert "\x1b[?1049h" in text  # a screen of its own
        assert "\x1b[?1049l" in text  # given back
        assert "Traceback" not in text

    def test_a_wrong_interval_is_refused(self, project):
        assert project("top", "--interval", "0", code=2).returncode == 2
