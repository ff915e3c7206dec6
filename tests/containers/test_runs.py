"""Runs in real containers, from the SDK to the record."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import tempfile
import textwrap
import time
import uuid

import pytest

from rookery.errors import RunFailedError
from rookery.sdk import (
    Dataset,
    Datastore,
    Environment,
    Experiment,
    OutputFileDatasetConfig,
    ScriptRunConfig,
    Workspace,
)
from rookery.sdk.environment_sections import DockerBuildContext
from rookery.spec.container import container_name
from rookery.spec.paths import WorkspacePaths
from tests.containers.conftest import IMAGE
from tests.environments_build.wheels import write_wheel

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
DRIVER = "azureml-logs/70_driver_log.txt"
BUILD = "azureml-logs/20_image_build_log.txt"
WAIT = """
    import os, signal, sys, time
    def end(*_):
        with open("outputs/ended.txt", "a") as f:
            f.write("asked\\n")
        sys.exit(0)
    os.makedirs("outputs", exist_ok=True)
    if "deaf" not in sys.argv:
        signal.signal(signal.SIGTERM, end)
    print("waiting", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def ws(podman):
    return Workspace.create("nest")


def submit(ws, tmp_path, script, environment=None, arguments=(), command=None):
    source = tmp_path / f"source {uuid.uuid4().hex[:6]}"
    source.mkdir()
    (source / "train.py").write_text(textwrap.dedent(script))
    if environment is None:
        environment = image_environment()
    how = {"command": command} if command else {"script": "train.py", "arguments": list(arguments)}
    return Experiment(ws, "boxed").submit(ScriptRunConfig(str(source), environment=environment, **how))


def image_environment(image=IMAGE):
    environment = Environment("boxed")
    environment.docker.base_image = image
    environment.python.user_managed_dependencies = True
    return environment


def read_log(run, name=DRIVER):
    return run.get_details_with_logs()["logFiles"].get(name, "")


def until(condition, what, patience_s=150.0, pause_s=0.05):
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(pause_s)


def command_lines():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
            yield f.read().decode(errors="replace").split("\0")[:-1]


def is_running(command):
    return command in command_lines()


def monitors(name):
    """podman's processes that look after a container of that name."""
    return [line for line in command_lines() if line and line[0].endswith("conmon") and name in line]


def agent_pid(ws, run):
    with open(WorkspacePaths(ws.root).attempt(run.id, 1).node(0).agent) as f:
        return json.load(f)["pid"]


class TestRun:
    SCRIPT = """
        import json, os, sys
        from azureml.core import Run
        run = Run.get_context(allow_offline=False)
        for line in open("/etc/os-release"):
            if line.startswith("PRETTY_NAME"):
                print(line.strip())
        run.log("loss", 0.25)
        run.tag("where", "inside")
        print(json.dumps([sys.argv[1:], os.environ["ODD"], os.environ.get("CANARY"), os.getuid(), os.environ["PATH"]]))
        os.makedirs("outputs/deep", exist_ok=True)
        with open("outputs/deep/model.pt", "w") as f:
            f.write("weights")
        with open("notes.txt", "w") as f:
            f.write("by hand")
        run.upload_file("notes.txt", "notes.txt")
        assert run.get_metrics() == {"loss": 0.25}
        print("shared memory", os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize)
        print("interpreter", sys.executable)
    """

    def test_script_metrics_files_and_variables(self, podman, tmp_path, monkeypatch):
        monkeypatch.setenv("ROOKERY_KEEP_WORK_FOLDER", "1")
        monkeypatch.setenv("CANARY", "of the host")
        ws = Workspace.create("nest")
        environment = image_environment()
        odd = "two\nlines, 'quotes', \"more\" and $HOME\\"
        environment.environment_variables = {"ODD": odd}
        environment.docker.shm_size = "96m"
        run = submit(ws, tmp_path, self.SCRIPT, environment, ["a b", "$ODD'", "ü"])
        details = run.wait_for_completion()
        log = read_log(run)
        assert details["status"] == "Completed"
        assert details.get("warnings", []) == []
        assert 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"' in log
        given, inside, canary, uid, path = json.loads(next(x for x in log.splitlines() if x.startswith("[[")))
        assert (given, inside, canary) == (["a b", odd + "'", "ü"], odd, None)
        assert os.environ["PATH"] != path
        assert "interpreter /usr/bin/python3" in log
        assert f"shared memory {96 * 1024 * 1024}" in log
        assert run.get_metrics() == {"loss": 0.25}
        assert run.get_tags()["where"] == "inside"
        assert {"outputs/deep/model.pt", "notes.txt"} <= set(run.get_file_names())
        assert "container of " + IMAGE in read_log(run, BUILD)
        work = WorkspacePaths(ws.root).attempt(run.id, 1).node(0).work(run.id)
        assert os.stat(os.path.join(work, "outputs/deep/model.pt")).st_uid == os.getuid() == uid
        assert not os.path.exists(WorkspacePaths(ws.root).attempt(run.id, 1).node(0).rank(0).start), "holds values"

    def test_a_command_runs_in_the_images_shell(self, ws, tmp_path):
        run = submit(
            ws, tmp_path, "print('never')", command="python3 -c 'print(6 * 7)' && cat /etc/hostname | wc -l && ls"
        )
        assert run.wait_for_completion()["status"] == "Completed"
        assert read_log(run).splitlines()[0] == "42"
        assert "train.py" in read_log(run)

    def test_a_failing_script_has_its_traceback(self, ws, tmp_path):
        run = submit(ws, tmp_path, "def hatch():\n    raise ValueError('the nest is empty')\n\nhatch()\n")
        with pytest.raises(RunFailedError, match="the nest is empty"):
            run.wait_for_completion()
        cause = run.get_details()["error"]["cause"]
        assert cause["exception"] == "ValueError: the nest is empty"
        assert "in hatch" in cause["traceback"]
        assert (cause["exit_code"], cause["signal"]) == (1, None)

    def test_signals_are_told_apart_from_exit_codes(self, ws, tmp_path):
        run = submit(ws, tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
        crash = submit(ws, tmp_path, "import ctypes\nctypes.string_at(0)\n")
        cause = run.wait_for_completion(raise_on_error=False)["error"]["cause"]
        assert (cause["signal"], cause["exit_code"]) == ("SIGKILL", None)
        cause = crash.wait_for_completion(raise_on_error=False)["error"]["cause"]
        assert cause["signal"] == "SIGSEGV"
        assert "train.py" in cause["traceback"], "the stack of the process inside"

    def test_a_container_that_cannot_be_started_says_why(self, ws, tmp_path):
        environment = image_environment()
        environment.docker.arguments = ["--no-such-option"]
        run = submit(ws, tmp_path, "print('never')", environment)
        cause = run.wait_for_completion(raise_on_error=False)["error"]["cause"]
        assert "podman could not start a container of image" in cause["summary"]
        assert "no-such-option" in cause["summary"]

    def test_nothing_that_it_started_outlives_it(self, ws, tmp_path):
        seconds = str(100000 + uuid.uuid4().int % 100000)
        script = f"""
            import subprocess
            subprocess.Popen(["/bin/sleep", "{seconds}"], env={{}}, start_new_session=True)
            print("gone")
        """
        assert submit(ws, tmp_path, script).wait_for_completion()["status"] == "Completed"
        until(lambda: not is_running(["/bin/sleep", seconds]), "a process without any mark is still there")


class TestStopping:
    def test_cancel_asks_first(self, ws, tmp_path, podman):
        run = submit(ws, tmp_path, WAIT)
        until(lambda: "waiting" in read_log(run), "it never began")
        assert podman.names() == [container_name(run.id, 1, 0, 0)]
        run.cancel()
        assert run.wait_for_completion(raise_on_error=False)["status"] == "Canceled"
        until(lambda: podman.names() == [], "its container is still there")
        run.download_file("outputs/ended.txt", str(tmp_path / "ended.txt"))
        assert (tmp_path / "ended.txt").read_text() == "asked\n", "asked once"

    def test_without_a_handler_it_ends_at_once(self, tmp_path, podman, monkeypatch):
        monkeypatch.setenv("ROOKERY_CANCEL_GRACE_S", "100")
        ws = Workspace.create("nest")
        run = submit(ws, tmp_path, WAIT, arguments=["deaf"])
        until(lambda: "waiting" in read_log(run), "it never began")
        run.cancel()
        until(lambda: run.get_status() == "Canceled", "SIGTERM did not end it")
        until(lambda: podman.names() == [], "its container is still there")

    def test_a_killed_agent_leaves_no_container(self, ws, tmp_path, podman):
        run = submit(ws, tmp_path, WAIT)
        until(lambda: "waiting" in read_log(run), "it never began")
        os.kill(agent_pid(ws, run), signal.SIGKILL)
        details = run.wait_for_completion(raise_on_error=False)
        assert details["status"] == "Failed"
        assert details["error"]["cause"]["kind"] == "NodeLost"
        until(lambda: podman.names() == [], "its container is still there")

    def test_nor_one_that_is_killed_while_its_container_is_made(self, ws, tmp_path, podman):
        run = submit(ws, tmp_path, WAIT)
        name = container_name(run.id, 1, 0, 0)
        until(lambda: monitors(name), "its container was never made", pause_s=0.001)
        os.kill(agent_pid(ws, run), signal.SIGKILL)  # made and, most likely, not yet started
        assert run.wait_for_completion(raise_on_error=False)["status"] == "Failed"
        until(lambda: podman.names() == [], "its container is still there")
        until(lambda: not monitors(name), "it is waited for")

    def test_not_even_when_the_keeper_is_dead_too(self, ws, tmp_path, podman):
        run = submit(ws, tmp_path, WAIT)
        until(lambda: "waiting" in read_log(run), "it never began")
        with open(WorkspacePaths(ws.root).endpoint) as f:
            os.kill(json.load(f)["pid"], signal.SIGKILL)
        os.kill(agent_pid(ws, run), signal.SIGKILL)
        until(lambda: podman.names() == [], "its container is still there")
        assert run.wait_for_completion(raise_on_error=False)["status"] == "Failed"


class TestData:
    SCRIPT = """
        import os, sys
        given, placed, one, out = sys.argv[1:]
        for name in (given, placed):
            print("GIVEN", sorted(os.listdir(name)), open(os.path.join(name, "a b.txt")).read())
        print("ONE", open(one).read())
        with open(os.path.join(out, "made.txt"), "w") as f:
            f.write("made inside")
    """

    def test_inputs_that_lie_on_another_disk(self, ws, tmp_path):
        """They cannot be linked hard: the tree holds symbolic links, and the container has to see where they lead."""
        other = tempfile.mkdtemp(prefix="rookery-data-", dir="/dev/shm")
        elsewhere = str(tmp_path / "placed" / "there")  # not below the run's own folder
        try:
            assert os.stat(other).st_dev != os.stat(ws.root).st_dev
            for name in ("a b.txt", "c.txt"):
                with open(os.path.join(other, name), "w") as f:
                    f.write("content of " + name)
            store = Datastore.register_folder(ws, "other", other)
            data = Dataset.File.from_files((store, "")).register(ws, "other")
            single = Dataset.File.from_files((store, "c.txt"))
            output = OutputFileDatasetConfig("out").register_on_complete("made")
            arguments = [
                data.as_named_input("given").as_mount(),
                data.as_named_input("placed").as_mount(elsewhere),
                single.as_named_input("one").as_mount(),
                output,
            ]
            run = submit(ws, tmp_path, self.SCRIPT, arguments=arguments)
            assert run.wait_for_completion(raise_on_error=False)["status"] == "Completed", read_log(run)
            log = read_log(run)
            assert log.count("GIVEN ['a b.txt', 'c.txt'] content of a b.txt") == 2
            assert "ONE content of c.txt" in log
            made = Dataset.get_by_name(ws, "made").download(str(tmp_path / "down"))
            assert [os.path.basename(path) for path in made] == ["made.txt"]
        finally:
            shutil.rmtree(other)


class TestImages:
    def test_a_dockerfile_is_built_once(self, ws, tmp_path):
        mark = uuid.uuid4().hex
        environment = Environment.from_dockerfile("baked", f"FROM {IMAGE}\nRUN echo {mark} > /mark\nENV MARK={mark}\n")
        script = "import os\nprint(open('/mark').read().strip(), os.environ['MARK'])"
        runs = [submit(ws, tmp_path, script, environment)]
        runs[0].wait_for_completion()
        environment = Environment.from_dockerfile("baked again", environment.docker.base_dockerfile)
        runs.append(submit(ws, tmp_path, script, environment))
        runs[1].wait_for_completion()
        assert [read_log(run).strip() for run in runs] == [f"{mark} {mark}"] * 2
        assert ["STEP 2/3" in read_log(run, BUILD) for run in runs] == [True, False]

    def test_a_dockerfile_with_an_error_fails_the_run(self, ws, tmp_path):
        environment = Environment.from_dockerfile("broken", f"FROM {IMAGE}\nRUN exit 3\n")
        cause = submit(ws, tmp_path, "", environment).wait_for_completion(raise_on_error=False)["error"]["cause"]
        assert cause["kind"] == "EnvironmentError"
        assert "its Dockerfile could not be built" in cause["summary"]

    def test_a_build_that_takes_too_long_is_ended_with_all_it_started(self, podman, tmp_path, monkeypatch):
        monkeypatch.setenv("ROOKERY_ENVIRONMENT_BUILD_TIMEOUT_S", "15")
        seconds = str(100000 + uuid.uuid4().int % 100000)
        environment = Environment.from_dockerfile("slow", f"FROM {IMAGE}\nRUN /bin/sleep {seconds}\n")
        run = submit(Workspace.create("nest"), tmp_path, "", environment)
        until(lambda: is_running(["/bin/sleep", seconds]), "the build never began")
        cause = run.wait_for_completion(raise_on_error=False)["error"]["cause"]
        assert "environment_build_timeout_s=15" in cause["summary"]
        until(lambda: not is_running(["/bin/sleep", seconds]), "its step is still there")

    def test_a_build_context(self, ws, tmp_path):
        context = tmp_path / "context, of ours"
        (context / "parts").mkdir(parents=True)
        (context / "parts" / "egg.txt").write_text(uuid.uuid4().hex)
        (context / "Boxfile").write_text(f"FROM {IMAGE}\nCOPY parts/egg.txt /egg.txt\n")
        given = DockerBuildContext.from_local_directory(ws, str(context), dockerfile_path="Boxfile")
        environment = Environment.from_docker_build_context("baked", given)
        run = submit(ws, tmp_path, "print(open('/egg.txt').read())", environment)
        run.wait_for_completion()
        assert read_log(run).strip() == (context / "parts" / "egg.txt").read_text()

    def test_packages_are_installed_inside_and_once(self, podman, tmp_path, monkeypatch):
        wheels = tmp_path / "wheels"
        wheels.mkdir()
        write_wheel(wheels, "alpha", "2.0", {"alpha/__init__.py": "__version__ = '2.0'\n"})
        for name in [n for n in os.environ if n.startswith(("PIP_", "UV_"))]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
        ws = Workspace.create("nest")
        environment = Environment("packed")
        environment.docker.base_image = IMAGE
        environment.python.conda_dependencies.set_python_version("3.11")
        environment.python.conda_dependencies.add_pip_package("alpha")
        script = "import alpha, sys, os\nprint(alpha.__version__, sys.version_info[:2], os.path.exists('/etc/debian_version'))"
        first = submit(ws, tmp_path, script, environment)
        first.wait_for_completion()
        second = submit(ws, tmp_path, script, environment)
        assert second.wait_for_completion().get("warnings", []) == []
        for run in (first, second):
            assert read_log(run).strip() == "2.0 (3, 11) True"
        assert "import alpha: ok, 2.0" in read_log(first, BUILD)
        assert "import alpha" not in read_log(second, BUILD)


class TestWithoutAContainer:
    def test_a_missing_image_is_said_and_the_run_goes_on(self, ws, tmp_path):
        run = submit(ws, tmp_path, "print('on the machine')", image_environment("localhost/nowhere/none:1"))
        details = run.wait_for_completion()
        assert details["status"] == "Completed"
        (warning,) = [one["message"] for one in details["warnings"]]
        assert "not in a container of image 'localhost/nowhere/none:1'" in warning
        assert "is not on this machine" in warning
        assert warning in read_log(run, BUILD)
        assert read_log(run).strip() == "on the machine"

    def test_strict_fails_instead(self, podman, tmp_path, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONTAINERS", "strict")
        ws = Workspace.create("strict")
        run = submit(ws, tmp_path, "print('never')", image_environment("localhost/nowhere/none:1"))
        cause = run.wait_for_completion(raise_on_error=False)["error"]["cause"]
        assert cause["kind"] == "EnvironmentError"
        assert "localhost/nowhere/none:1" in cause["summary"]
        assert "containers=strict" in cause["summary"]


class TestDocker:
    def test_a_run_through_the_docker_client(self, docker, tmp_path):
        ws = Workspace.create("whale")
        run = submit(ws, tmp_path, TestRun.SCRIPT.replace('os.environ["ODD"]', "0"))
        assert run.wait_for_completion().get("warnings", []) == []
        assert "Debian GNU/Linux 12" in read_log(run)
        assert run.get_metrics() == {"loss": 0.25}
        assert "(docker)" in read_log(run, BUILD)
        waits = submit(ws, tmp_path, WAIT)
        until(lambda: "waiting" in read_log(waits), "it never began")
        waits.cancel()
        assert waits.wait_for_completion(raise_on_error=False)["status"] == "Canceled"
        until(lambda: docker.names() == [], "its container is still there")
