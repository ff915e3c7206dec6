"""Environments from submit to run: built once whoever asks, held while used, and no worse for kills, cancels and failures."""

import json
import os
import platform
import shlex
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from rookery.environments.building import store
from rookery.environments.python import uv_program
from rookery.sdk import CondaDependencies, Environment, Experiment, Run, ScriptRunConfig, Workspace
from rookery.spec.paths import WorkspacePaths
from rookery.testing.ending import wait_for_end
from rookery.testing.engine_exam import wait_for
from tests.environments_build.conftest import REAL_UV, wheels  # noqa: F401  a fixture
from tests.environments_build.wheels import sha256_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD, DRIVER = "azureml-logs/20_image_build_log.txt", "azureml-logs/70_driver_log.txt"
PYTHON = ".".join(platform.python_version_tuple()[:2])


class Gate:
    """uv behind a door: every call is noted, and one that `holds` names waits at it until `open`."""

    def __init__(self, folder, uv):
        self._calls, self._closed, self.program = folder / "calls", folder / "closed", folder / "gated uv"
        q = shlex.quote
        closed = q(str(self._closed))
        self.program.write_text(
            f'#!/bin/sh\necho "$*" >> {q(str(self._calls))}\n'
            f'while [ -e {closed} ] && case "$*" in *"$(cat {closed})"*) true;; *) false;; esac; do sleep 0.05; done\n'
            f'exec {q(uv)} "$@"\n'
        )
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        self._calls.write_text("")

    def close(self, words):
        self._closed.write_text(words)

    def open(self):
        self._closed.unlink()

    def calls(self, words=""):
        return [line for line in self._calls.read_text().splitlines() if words in line]


@pytest.fixture
def gate(wheels, tmp_path, monkeypatch):  # noqa: F811
    if REAL_UV:
        monkeypatch.setenv("ROOKERY_UV", REAL_UV)
    made = Gate(tmp_path, uv_program.find_uv())
    monkeypatch.setenv("ROOKERY_UV", str(made.program))  # the keeper is started by this process and inherits it
    yield made
    if os.path.exists(made._closed):
        made.open()


@pytest.fixture
def ws(gate):
    return Workspace.create("nest")


@pytest.fixture
def submit(ws, tmp_path):
    """submit("alpha") → a run that prints alpha's version, in an environment of its own with that package."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "versions.py").write_text("import sys, alpha\nprint('alpha', alpha.__version__)\n")
    (source / "wait.py").write_text("import alpha, os, time\nwhile not os.path.exists('done'): time.sleep(0.05)\n")

    def call(*packages, name="birds", script="versions.py"):
        environment = Environment(name)
        conda = CondaDependencies.create(pip_packages=list(packages), python_version=PYTHON)
        environment.python.conda_dependencies = conda
        return Experiment(ws, "envs").submit(ScriptRunConfig(str(source), script=script, environment=environment))

    return call


def ended(run):
    return wait_for_end(run, 240.0)["status"]


def logs(run):
    return run.get_details_with_logs()["logFiles"]


def phases(run):
    data = run.experiment.workspace.client.request("GET", f"/runs/{run.id}")
    return [phase["status"] for phase in data["phases"]]


class TestBuiltOnce:
    def test_the_second_submit_starts_at_once(self, submit, gate):
        first = submit("alpha")
        assert ended(first) == "Completed"
        assert "alpha==2.0" in logs(first)[BUILD]
        assert "Built in" in logs(first)[BUILD]
        called = gate.calls()
        second = submit("alpha", name="another-name")
        assert ended(second) == "Completed"
        assert "alpha 2.0" in logs(second)[DRIVER]
        assert BUILD not in logs(second)
        assert "Preparing" not in phases(second)
        assert gate.calls() == called, "nothing was resolved or built: how quick that is, the benchmarks say"

    def test_twenty_runs_with_one_new_specification_are_one_build(self, submit, gate):
        gate.close("pip compile")
        with ThreadPoolExecutor(10) as pool:
            runs = list(pool.map(lambda _: submit("beta"), range(20)))
        wait_for(lambda: all(run.get_status() == "Preparing" for run in runs), "all runs in Preparing")
        gate.open()
        assert {ended(run) for run in runs} == {"Completed"}
        assert len(store.list_environments(measure=False)) == 1
        assert len(gate.calls("pip install")) == 1
        texts = {logs(run)[BUILD] for run in runs}
        assert len(texts) == 1, "every run has the whole build log"
        text = texts.pop()
        assert (text.count("Resolving 1 requirements"), text.count("Built in")) == (1, 1)

    def test_what_a_live_run_uses_is_not_pruned(self, ws, submit, tmp_path):
        run = submit("alpha", script="wait.py")
        wait_for(lambda: run.get_status() == "Running", "the run's start")
        (one,) = ws.client.request("GET", "/built-environments")["environments"]
        assert one["in_use_by"] == [run.id]
        told = ws.client.request("POST", "/built-environments/prune", body={"keys": [one["key"]]})
        assert (told["removed"], told["kept"][0]["reason"]) == ([], f"in use by {run.id}")
        run.cancel()
        assert ended(run) == "Canceled"
        told = ws.client.request("POST", "/built-environments/prune", body={"keys": [one["key"]]})
        assert [gone["key"] for gone in told["removed"]] == [one["key"]]
        assert ended(submit("alpha")) == "Completed", "and it is built again when somebody wants it"


class TestFailures:
    def test_a_failed_build_fails_all_who_wait_and_is_not_tried_again(self, ws, submit, gate):
        gate.close("pip compile")
        runs = [submit("no-such-package") for _ in range(4)]
        wait_for(lambda: all(run.get_status() == "Preparing" for run in runs), "all runs in Preparing")
        gate.open()
        for run in runs:
            details = wait_for_end(run, 240.0)
            assert details["status"] == "Failed"
            assert "no-such-package" in details["error"]["error"]["message"]
            assert logs(run)[BUILD].count("Resolving 1 requirements") == 1
        called = gate.calls()
        late = submit("no-such-package")
        assert ended(late) == "Failed"
        assert "no-such-package" in late.get_details()["error"]["error"]["message"]
        assert gate.calls() == called
        assert store.list_environments() == []
        # Somebody who asks for a build by name wants it tried.
        build = Environment("birds")
        build.python.conda_dependencies = CondaDependencies.create(
            pip_packages=["no-such-package"], python_version=PYTHON
        )
        assert build.build(ws).wait_for_completion(show_output=False).status == "Failed"
        assert len(gate.calls()) > len(called)

    def test_cancel_while_it_is_prepared(self, submit, gate):
        gate.close("pip install")
        run = submit("alpha")
        wait_for(lambda: gate.calls("pip install"), "the build to be under way")
        run.cancel()
        assert ended(run) == "Canceled"
        assert DRIVER not in logs(run)
        gate.open()
        assert ended(submit("alpha")) == "Completed"
        assert len(gate.calls("pip install")) == 1, "what was under way was not lost"

    def test_a_killed_keeper_is_followed_by_one_that_builds_on(self, ws, submit, gate):
        gate.close("pip install")
        run = submit("alpha")
        wait_for(lambda: gate.calls("pip install"), "the build to be under way")
        with open(WorkspacePaths(ws.root).endpoint) as f:
            old = json.load(f)["pid"]
        os.kill(old, signal.SIGKILL)
        assert store.list_environments() == [], "half an environment is none"
        assert Run.get(ws, run.id).get_status() == "Preparing"  # asking starts the next keeper
        wait_for(lambda: len(gate.calls("pip install")) == 2, "the next keeper's own build")
        gate.open()
        assert ended(run) == "Completed"
        assert "alpha 2.0" in logs(run)[DRIVER]
        assert len(store.list_environments()) == 1
        with open(WorkspacePaths(ws.root).endpoint) as f:
            assert json.load(f)["pid"] != old


class TestCommandLine:
    def test_run_takes_every_kind_of_file(self, ws, gate, wheels, tmp_path):  # noqa: F811
        project = tmp_path / "a project"
        project.mkdir()
        ws.write_config(path=str(project))
        (project / "show.py").write_text("import alpha\nprint('alpha', alpha.__version__)\n")
        digest = sha256_of(wheels / "alpha-1.0-py3-none-any.whl")
        files = {
            "conda.yml": (f"dependencies: [python={PYTHON}, {{pip: [alpha]}}]", "2.0"),
            "requirements.txt": ("alpha<2\n", "1.0"),
            "pyproject.toml": ('[project]\nname = "p"\nversion = "0"\ndependencies = ["alpha>=2"]\n', "2.0"),
            "locked.txt": (f"alpha==1.0 --hash=sha256:{digest}\n", "1.0"),
            "uv.lock": (
                'version = 1\n[[package]]\nname = "p"\nsource = { virtual = "." }\ndependencies = [{ name = "alpha" }]\n'
                '[[package]]\nname = "alpha"\nversion = "1.0"\n',
                "1.0",
            ),
            "pylock.toml": ('lock-version = "1.0"\n[[packages]]\nname = "alpha"\nversion = "2.0"\n', "2.0"),
        }
        for file, (text, version) in files.items():
            (project / file).write_text(text)
            done = rookery(project, "run", "--env", file, "show.py")
            assert (done.returncode, done.stdout) == (0, f"alpha {version}\n"), file + done.stderr
        listed = json.loads(rookery(project, "env", "list", "--json").stdout)["environments"]
        assert {one["num_packages"] for one in listed} == {1}
        assert len(listed) == 2, "files that come to the same lock share one environment"

    def test_build_list_show_prune(self, ws, gate, tmp_path):
        ws.write_config(path=str(tmp_path))
        (tmp_path / "requirements.txt").write_text("beta\n")
        done = rookery(tmp_path, "env", "build", "requirements.txt")
        assert done.returncode == 0, done.stderr
        assert "Resolving 1 requirements" in done.stderr
        (one,) = json.loads(rookery(tmp_path, "env", "list", "--json").stdout)["environments"]
        assert "beta==1.0" in rookery(tmp_path, "env", "show", one["key"][:8]).stdout
        assert "Resolving" not in rookery(tmp_path, "env", "build", "requirements.txt").stderr
        assert "Resolving 1 requirements" in rookery(tmp_path, "env", "build", "--fresh", "requirements.txt").stderr
        assert "Would remove" in rookery(tmp_path, "env", "prune", one["key"][:8], "--dry-run").stdout
        assert "Removed" in rookery(tmp_path, "env", "prune", one["key"][:8], "--yes").stdout
        assert store.list_environments() == []
        failed = rookery(tmp_path, "env", "build", "AzureML-Nothing")
        assert failed.returncode == 1
        assert "AzureML-Nothing" in failed.stderr


def test_the_example_runs_in_every_kind_of_environment(tmp_path):
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "examples", "environments.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=560,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for name in ("AzureML-Minimal", "from-conda", "from-pip", "minimal-and-idna"):
        assert f"\n{name} " in "\n" + done.stdout, done.stdout
    assert done.stdout.count(f"python {platform.python_version()}") == 5
    assert "azureml_environment.json, conda_dependencies.yml" in done.stdout
    assert "registered minimal-and-idna, version 1" in done.stdout


def rookery(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "rookery.cli.main", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
