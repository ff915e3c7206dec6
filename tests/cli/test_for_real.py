"""The real program, the real keeper, real runs: a story of one project at an odd path."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import time

import pytest

from tests.cli.program import ROOKERY, TIMEOUT_S, Program, refuse
from tests.conftest import stop_keepers

pytestmark = pytest.mark.slow

GOOD = """
import os, sys
from rookery.worker import Run
run = Run.get_context()
for i in range(3):
    run.log("loss", 1.0 / (i + 1))
run.log("odd", float("nan"))
os.makedirs("outputs/a b", exist_ok=True)
open("outputs/a b/it's é.txt", "w").write("odd")
open("outputs/model.pt", "wb").write(b"m" * 1000)
print("arguments", sys.argv[1:])
print("variable", os.environ.get("COLOR"))
"""
BAD = "import sys\nprint('about to fail', flush=True)\nsys.exit(3)\n"
RAISES = "def f():\n    raise ValueError('bad shape')\nf()\n"
LONG = "import time\nprint('started', flush=True)\nwhile True:\n    time.sleep(0.05)\n"


class Project(Program):
    def __init__(self, folder):
        super().__init__(folder / 'my "pro\'ject" é', folder / "ho me")
        for name, text in (("good", GOOD), ("bad", BAD), ("raises", RAISES), ("long run", LONG)):
            (self.folder / f"{name}.py").write_text(text)

    def wait(self, run_id, status):
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            run = self.json("show", run_id)
            if run["status"] in (status, "Completed", "Failed", "Canceled"):
                assert run["status"] == status, run
                return run
            assert time.monotonic() < deadline, run
            time.sleep(0.1)

    def on_terminal(self, *words, columns):
        """What a person sees in a terminal of this width."""
        import fcntl
        import struct
        import termios

        main, worker = pty.openpty()
        fcntl.ioctl(worker, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        env = {k: v for k, v in self.env.items() if k != "COLUMNS"}
        process = subprocess.Popen(
            [ROOKERY, *words],
            cwd=self.folder,
            env=env,
            stdin=worker,
            stdout=worker,
            stderr=worker,
            close_fds=True,
        )
        os.close(worker)
        seen, deadline = b"", time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            if select.select([main], [], [], 0.2)[0]:
                try:
                    chunk = os.read(main, 65536)
                except OSError:  # the other end is closed
                    break
                if not chunk:
                    break
                seen += chunk
        os.close(main)
        process.wait(TIMEOUT_S)
        return process.returncode, seen.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("story")
    project = Project(folder)
    project("init", "--name", "birds")
    yield project
    project("stop", "--all")
    stop_keepers(str(folder))


@pytest.fixture(scope="module")
def good(project):
    """The id of a run that completed."""
    ours = ["--name", "a good one", "--tag", "stage=test", "--env-var", "COLOR=b lue"]
    theirs = ["--json", "it's", 'a "b"', "é", "*", "-C"]
    assert project("run", *ours, "good.py", *theirs).stdout == f"arguments {theirs}\nvariable b lue\n"
    return project.json("ps")["runs"][0]["id"]


class TestRun:
    def test_the_scripts_own_words_and_output(self, project, good):
        run = project.json("show", good)
        assert (run["status"], run["display_name"], run["tags"]) == (
            "Completed",
            "a good one",
            {"stage": "test"},
        )
        assert {m["name"]: m["values"] for m in run["metrics"]} == {"loss": [1.0, 0.5, 1 / 3], "odd": ["NaN"]}
        assert {a["name"] for a in run["artifacts"]} >= {"outputs/a b/it's é.txt", "outputs/model.pt"}

    def test_exit_code_and_cause(self, project):
        done = project("run", "bad.py", code=3)
        assert done.stdout == "about to fail\n"
        assert "exit code 3" in done.stderr
        assert "about to fail" in done.stderr

    def test_an_exception_shows_its_traceback_once_more_in_the_cause(self, project):
        done = project("run", "raises.py", code=1)
        assert "ValueError: bad shape" in done.stderr
        assert "ValueError" in project("show", "@last").stdout

    def test_a_shell_line(self, project):
        assert (
            project("run", "-c", 'echo "it\'s $COLOR" && exit 4', "--env-var", "COLOR=red", code=4).stdout
            == "it's red\n"
        )

    def test_json_lines(self, project):
        done = project("run", "--json", "bad.py", code=3)
        lines = [json.loads(line, parse_constant=refuse) for line in done.stdout.splitlines()]
        assert lines[0]["event"] == "submitted"
        assert "".join(line["text"] for line in lines if line["event"] == "log") == "about to fail\n"
        assert (lines[-1]["event"], lines[-1]["run"]["status"], lines[-1]["exit_code"]) == (
            "end",
            "Failed",
            3,
        )

    def test_dry_run_submits_nothing(self, project, good):
        before = len(project.json("ps", "--all")["runs"])
        plan = json.loads(project("run", "--dry-run", "--json", "good.py", "--json").stdout, parse_constant=refuse)
        assert plan["spec"]["arguments"] == ["--json"]
        assert "good.py" in {f["path"] for f in plan["files"]}
        assert len(project.json("ps", "--all")["runs"]) == before

    def test_ctrl_c_leaves_it_running(self, project):
        process = project.start("run", "long run.py")
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 130
        assert "The run goes on." in err
        run = project.wait(project.json("ps")["runs"][0]["id"], "Running")  # its words may come before its status
        assert f"rookery stop {run['id']}" in err
        project("stop", run["id"])
        project.wait(run["id"], "Canceled")

    def test_an_unknown_compute_names_what_there_is(self, project):
        assert "local" in project("run", "--compute", "nope", "good.py", code=1).stderr


class TestFollowAndStop:
    def test_detach_follow_stop(self, project):
        run_id = project("run", "--detach", "long run.py").stdout.strip()
        follower = project.start("logs", "-f", run_id)
        assert follower.stdout.readline() == "started\n"
        assert run_id in project("ps").stdout
        assert "Stopping" in project("stop", run_id[:-2]).stdout
        _, err = follower.communicate(timeout=TIMEOUT_S)
        assert err == f"{run_id}: Canceled\n"
        assert project("stop", run_id).stdout == f"{run_id} had ended already: Canceled\n"

    def test_logs(self, project, good):
        assert project("logs", good, "--tail", "1").stdout == "variable b lue\n"
        assert project("logs", "a good one", "--name", "user_logs/std_log.txt").stdout.startswith("arguments ")
        assert project.json("logs", good)["text"].endswith("variable b lue\n")


class TestFilesAndModels:
    def test_download(self, project, good, tmp_path):
        project("download", good, "outputs", "--to", str(tmp_path))
        assert (tmp_path / "outputs" / "a b" / "it's é.txt").read_text() == "odd"
        assert project.json("download", good, "outputs/*.pt", "--to", str(tmp_path))["files"][0]["size"] == 1000

    def test_models(self, project, good, tmp_path):
        first = project.json("models", "register", "birds", "--run", good, "--path", "outputs/model.pt", "--tag", "a=b")
        assert (first["id"], first["run_id"]) == ("birds:1", good)
        (tmp_path / "mine.pt").write_bytes(b"here")
        second = project.json("models", "register", "birds", "--path", str(tmp_path / "mine.pt"))
        assert second["version"] == 2
        assert [m["id"] for m in project.json("models", "list", "--name", "birds")["models"]] == [
            "birds:2",
            "birds:1",
        ]
        assert good in project("models", "show", "birds:1").stdout
        project("models", "download", "birds:2", "--to", str(tmp_path / "down"))
        assert (tmp_path / "down" / "mine.pt").read_bytes() == b"here"
        project("models", "delete", "birds:2", "--yes")
        assert project.json("models", "show", "birds")["version"] == 1
        assert project.json("models", "show", "birds:9", code=1)["error"]["code"] == "model_not_found"


class TestTheRest:
    def test_compute(self, project):
        assert project.json("compute", "create", "pool", "--max-nodes", "1")["name"] == "pool"
        assert {c["name"] for c in project.json("compute", "list")["compute"]} == {"local", "pool"}
        project("run", "--compute", "pool", "good.py")
        assert project.json("compute", "nodes", "pool")["nodes"] is not None
        assert project.json("compute", "update", "pool", "--max-nodes", "2")["spec"]["max_nodes"] == 2
        project("compute", "show", "pool")
        project("compute", "delete", "pool")
        assert project.json("compute", "show", "pool", code=1)["error"]["code"] == "compute_not_found"

    def test_experiments(self, project, good):
        assert "good" in {e["name"] for e in project.json("experiments", "list")["experiments"]}
        assert project.json("experiments", "archive", "good")["archived_utc"]
        assert not project.json("experiments", "reactivate", "good")["archived_utc"]
        assert project.json("experiments", "delete", "good", code=1)["error"]["code"] == "conflict"

    def test_tokens(self, project, good):
        assert project("token").stdout.startswith("rko_")
        assert project("token", "--run", good).stdout.startswith("rkr_")

    def test_near_names(self, project, good):
        assert good in project("show", good[:-1] + "~", code=1).stderr
        assert project.json("show", "nope", code=1)["error"]["code"] == "run_not_found"

    def test_doctor(self, project):
        answer = project.json("doctor", "--python", "/no/python")
        assert answer["ok"] is True
        assert "keeper" in {c["name"] for c in answer["checks"]}

    def test_a_workspace_named_from_elsewhere(self, project, good, tmp_path):
        for where in (
            project.folder,
            project.folder / ".rookery",
            project.folder / ".azureml" / "config.json",
        ):
            env = {**project.env}
            done = subprocess.run(
                [ROOKERY, "-C", str(where), "show", good],
                cwd=tmp_path,
                env=env,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=True,
            )
            assert good in done.stdout

    def test_the_keeper_comes_and_goes(self, project, good):
        pid = project.json("keeper", "status")["pid"]
        assert project.json("keeper", "stop") == {"running": False, "stopped_pid": pid}
        assert project.json("keeper", "status") == {"running": False}
        assert project.json("keeper", "start")["pid"] != pid
        assert project.json("show", good)["status"] == "Completed"


class TestServer:
    def test_serves_a_client_elsewhere_until_ctrl_c(self, project, good, tmp_path):
        with socket.socket() as trial:
            trial.bind(("127.0.0.1", 0))
            port = trial.getsockname()[1]
            assert "--port" in project("server", "--port", str(port), code=1).stderr  # in use
        server = project.start("server", "--port", str(port), "--json")
        try:
            told = json.loads(server.stdout.readline())
            (tmp_path / ".azureml").mkdir()
            keys = {"subscription_id": "s", "resource_group": "g", "workspace_name": "birds"}
            config = {**keys, "rookery": {"format": 1, "url": told["url"]}}
            (tmp_path / ".azureml" / "config.json").write_text(json.dumps(config))
            deadline = time.monotonic() + TIMEOUT_S
            while project.json("keeper", "status").get("port") != port:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            token = project("token").stdout.strip()
            for env, code in (({**project.env, "ROOKERY_TOKEN": token}, 0), (project.env, 1)):
                done = subprocess.run(
                    [ROOKERY, "ps"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=TIMEOUT_S
                )
                assert done.returncode == code, done
                assert (good in done.stdout) == (code == 0)
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=TIMEOUT_S)
        assert project.json("show", good)["status"] == "Completed"  # one that starts by itself takes over


class TestJson:
    def test_what_no_other_test_asks_for(self, project, good):
        assert project.json("version")["protocol"] == 1
        assert project.json("stop", good)["runs"][0]["id"] == good
        assert project.json("token", "--run", good)["expires_utc"]
        assert project.json("compute", "show", "local")["kind"] == "local"
        assert project.json("compute", "nodes", "local")["nodes"] is not None
        assert project.json("experiments", "show", "good")["run_count"] >= 1
        assert project.json("keeper", "stop")["running"] is False
        assert project.json("ps", "--status", "nope", code=2)["error"]["code"] == "usage"


class TestTerminal:
    @pytest.mark.parametrize("columns", [100, 60, 40])
    def test_ps_fits(self, project, good, columns):
        code, seen = project.on_terminal("ps", columns=columns)
        assert code == 0
        plain = _without_style(seen).splitlines()
        assert max(len(line) for line in plain if not line.startswith("Next")) <= columns
        assert plain[-1].startswith("Next: rookery ")

    def test_run_on_a_terminal_ends_with_the_next_step(self, project):
        code, seen = project.on_terminal("run", "good.py", columns=80)
        assert code == 0
        assert "arguments []" in seen
        assert _without_style(seen).splitlines()[-1].startswith("Next: rookery show ")

    def test_show_is_coloured_on_a_terminal_only(self, project, good):
        assert "\x1b[32mCompleted" in project.on_terminal("show", good, columns=80)[1]
        assert "\x1b" not in project("show", good).stdout


def _without_style(text):
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", text)
