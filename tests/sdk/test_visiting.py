"""`start_logging()` against a real server, over TCP with a prefix: an agent beside the user's process watches it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from rookery.errors import AuthenticationError, ConflictError
from rookery.sdk import Experiment, Workspace
from rookery.spec.plain import to_plain
from rookery.spec.run import RunKind, RunSpec, WatchedProcess
from tests.cli.program import Program
from tests.conftest import stop_keepers

pytestmark = pytest.mark.slow

PASSWORD = "a long and good one"
PATIENCE_S = 90.0


class Away:
    """Somebody on another machine, who has logged in."""

    def __init__(self, server, url, folder, name):
        self.url = url
        self.program = Program(folder / f"{name}'s folder", folder / f"home of {name}")
        server("user", "add", name, "--password-stdin", given=PASSWORD + "\n")
        self.program("login", url, "--user", name, "--password-stdin", given=PASSWORD + "\n")

    def start(self, end, **variables):
        """A process with an interactive run, which it names first."""
        code = f"""
            import json, os, signal, sys, time
            from rookery.sdk import Experiment, Workspace
            run = Experiment(Workspace.from_config(), "birds").start_logging(snapshot_directory=None)
            for step in range(20):
                run.log("loss", 1.0 / (step + 1))
            with open("outputs/note.txt", "w") as f:
                f.write("from far away")
            print(json.dumps(run.id), flush=True)
            {end}
        """
        return subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)],
            cwd=self.program.folder, env={**self.program.env, **variables}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vis it")
    yield folder
    stop_keepers(str(folder))


@pytest.fixture(scope="module")
def server(folder):
    program = Program(folder / "server", folder / "home")
    program("init", "--name", "coop")
    return program


@pytest.fixture(scope="module")
def url(server):
    with server.server("--prefix", "/rookery") as url:
        yield url


@pytest.fixture(scope="module")
def away(server, url, folder):
    return Away(server, url, folder, "ann")


@pytest.fixture
def ws(away, monkeypatch):
    """Her workspace, in this process."""
    monkeypatch.setenv("ROOKERY_HOME", away.program.env["ROOKERY_HOME"])
    monkeypatch.chdir(away.program.folder)
    return Workspace.from_config()


def wait_for(run, status):
    deadline = time.monotonic() + PATIENCE_S
    while run.get_status() != status:
        assert time.monotonic() < deadline, run.get_details()
        time.sleep(0.1)


def agent_of(away, run_id):
    """The process id of the agent beside the process, once it is up."""
    path = os.path.join(away.program.env["ROOKERY_HOME"], "visits", run_id, "agent.json")
    deadline = time.monotonic() + PATIENCE_S
    while not os.path.exists(path):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with open(path) as f:
        return json.load(f)["pid"]


def message(run):
    return run.get_details()["error"]["error"]["message"]


class TestVisit:
    def test_is_stored_to_the_last_value_with_its_outputs(self, ws):
        with Experiment(ws, "birds").start_logging(snapshot_directory=None) as run:
            assert run.get_status() == "Running"
            for step in range(100):
                run.log("loss", step / 100)
            with open("outputs/weights.txt", "w") as f:
                f.write("heavy")
            child = run.child_run("fold")
            child.log("accuracy", 0.5)
            child.complete()
        assert run.get_status() == "Completed"
        assert run.get_metrics()["loss"] == [step / 100 for step in range(100)]
        assert "outputs/weights.txt" in run.get_file_names()
        assert child.get_metrics() == {"accuracy": 0.5}

    def test_a_killed_process_ends_its_run(self, ws, away):
        process = away.start("time.sleep(600)")
        run = ws.get_run(json.loads(process.stdout.readline()))
        agent_of(away, run.id)
        assert run.get_status() == "Running"
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        wait_for(run, "Failed")
        assert "ended without completing" in message(run)
        assert len(run.get_metrics()["loss"]) == 20  # all that it had logged
        assert "outputs/note.txt" in run.get_file_names()

    def test_an_exception_is_the_cause(self, ws, away):
        process = away.start("raise OSError('the roof leaks')")
        run = ws.get_run(json.loads(process.stdout.readline()))
        process.communicate(timeout=PATIENCE_S)
        wait_for(run, "Failed")
        assert "the roof leaks" in message(run)

    def test_it_can_be_stopped_from_elsewhere_and_the_process_goes_on(self, ws, away):
        process = away.start("time.sleep(600)")
        run = ws.get_run(json.loads(process.stdout.readline()))
        agent_of(away, run.id)
        ws.get_run(run.id).cancel()
        wait_for(run, "Canceled")
        assert process.poll() is None
        process.kill()
        process.communicate(timeout=PATIENCE_S)

    def test_a_machine_that_is_gone_ends_its_run(self, folder):
        """Process and agent at once, as when the power fails."""
        # Long enough for an agent to come up on a busy machine, short enough to be waited for.
        other = Program(
            folder / "strict", folder / "home of strict", ROOKERY_VISITOR_LOST_S="15", ROOKERY_HEARTBEAT_S="1"
        )
        other("init", "--name", "strict")
        with other.server() as url:
            guest = Away(other, url, folder, "dan")
            process = guest.start("time.sleep(600)")
            run_id = json.loads(process.stdout.readline())
            os.kill(agent_of(guest, run_id), signal.SIGKILL)
            process.kill()
            process.communicate(timeout=PATIENCE_S)
            deadline = time.monotonic() + PATIENCE_S
            while other.json("show", run_id)["status"] != "Failed":
                assert time.monotonic() < deadline
            assert "Nothing has been heard" in other("show", run_id).stdout

    def test_the_server_comes_and_goes(self, folder):
        """A process that ends while it is away is told of when it is back, with all that was logged."""
        other = Program(folder / "other", folder / "home of other")
        other("init", "--name", "other")
        with other.server() as url:
            guest = Away(other, url, folder, "bea")
            process = guest.start("time.sleep(600)")
            run_id = json.loads(process.stdout.readline())
            agent_of(guest, run_id)
        process.kill()  # while nobody is there to be told
        process.communicate(timeout=PATIENCE_S)
        with other.server(port=int(url.rpartition(":")[2])):
            deadline = time.monotonic() + PATIENCE_S
            while True:
                found = other.json("show", run_id)
                if found["status"] == "Failed":
                    break
                assert time.monotonic() < deadline, found
        assert {m["name"]: len(m["values"]) for m in found["metrics"]} == {"loss": 20}


class TestRights:
    def spec(self, run_id, visits=True):
        watched = WatchedProcess(1, 1, "elsewhere", visits)
        return to_plain(RunSpec(run_id, "birds", kind=RunKind.INTERACTIVE, watched=watched, target="sdk"))

    def test_the_agent_s_token_is_for_whoever_began_it(self, ws, server, url, folder):
        ws.client.request("POST", "/runs", body=self.spec("visit-1"))
        job = ws.client.request("POST", "/runs/visit-1/visit")["job"]
        assert (job["mode"], job["run_id"], job["work"], job["collect_outputs"]) == ("watch", "visit-1", "", False)
        Away(server, url, folder, "cleo")
        token = json.loads((folder / "home of cleo" / "tokens.json").read_text())[url]
        from rookery.client import Client

        with pytest.raises(AuthenticationError, match="begun by ann"):
            Client.for_url(url, token).request("POST", "/runs/visit-1/visit")

    def test_one_that_the_keeper_watches_has_none(self, ws):
        mine = WatchedProcess(os.getpid(), 1, "here")
        spec = to_plain(RunSpec("own-1", "birds", kind=RunKind.INTERACTIVE, watched=mine, target="sdk"))
        ws.client.request("POST", "/runs", body=spec)
        with pytest.raises(ConflictError, match="its keeper starts them"):
            ws.client.request("POST", "/runs/own-1/visit")
        wait_for(ws.get_run("own-1"), "Failed")  # its agent, on the server's machine, finds no such process
