"""Environments at a real keeper."""

from __future__ import annotations

import glob
import hashlib
import os
import pathlib
import sys
import textwrap
import zipfile

import pytest

from rookery.client import stop_keeper
from rookery.errors import EnvironmentBuildError, EnvironmentNotFoundError, RunConfigError, UserError
from rookery.sdk import Environment, Experiment, ScriptRunConfig, Secret, Workspace
from rookery.sdk.environment import EnvironmentReference
from rookery.sdk.environment_sections import DockerBuildContext

VALUE = "hidden words 47"


@pytest.fixture
def ws():
    return Workspace.create("nest")


@pytest.fixture
def python(tmp_path):
    """An interpreter that the keeper has not tried yet."""
    path = tmp_path / "other python"
    path.symlink_to(sys.executable)
    return str(path)


def user_managed(python, name="mine"):
    environment = Environment(name)
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = python
    return environment


class TestRegistry:
    def test_versions_labels_and_collections(self, ws, tmp_path):
        environment = Environment("mine")
        environment.python.conda_dependencies.add_pip_package("six")
        environment.docker.base_image_registry.password = VALUE
        first = environment.register(ws)
        assert (first.name, first.version, first.asset_id) == ("mine", "1", "azureml:mine:1")
        assert first.register(workspace=ws).version == "1"
        first.python.conda_dependencies.add_pip_package("future")
        second = first.register(ws)
        assert second.version == "2"
        assert Environment.get(ws, "mine").version == "2"
        assert "future" not in Environment.get(ws, "mine", version=1).python.conda_dependencies.pip_packages
        Environment.label(ws, "mine", "1", ["prod"])
        assert Environment.get(ws, "mine", label="prod").version == "1"
        assert EnvironmentReference("mine", "1").get_environment(ws).version == "1"
        with pytest.raises(UserError, match="only one of them"):
            Environment.get(ws, "mine", version="1", label="prod")
        with pytest.raises(EnvironmentNotFoundError, match="Known: 1, 2"):
            Environment.get(ws, "mine", version=3)

        listed = Environment.list(ws)
        assert listed["mine"].version == "2"
        assert "AzureML-Minimal" in listed
        assert ws.environments["mine"].to_dict() == second.to_dict()
        assert "nothing" not in ws.environments
        assert VALUE not in repr(Environment.get(ws, "mine"))

        folder = str(tmp_path / "saved")
        second.save_to_directory(folder)
        assert Environment.load_from_directory(folder).register(ws).version == "2"

    def test_curated_ones_resolve_and_cannot_be_changed(self, ws, tmp_path):
        environment = Environment.get(workspace=ws, name="AzureML-PyTorch-1.6-GPU", version=1)
        assert (environment.name, environment.version) == ("AzureML-PyTorch-1.6-GPU", "1")
        assert "torch" in environment.python.conda_dependencies.pip_packages
        assert "Today's torch" in environment.maps_to
        folder = tmp_path / "curated"
        environment.save_to_directory(path=str(folder))
        assert sorted(os.listdir(folder)) == ["azureml_environment.json", "conda_dependencies.yml"]
        assert "torchvision" in (folder / "conda_dependencies.yml").read_text()
        with pytest.raises(UserError, match="clone"):
            environment.register(ws)
        copy = environment.clone(new_name="pytorch-1.6-gpu")
        assert (copy.version, copy.maps_to) == (None, "")
        assert copy.register(ws).version == "1"
        with pytest.raises(EnvironmentNotFoundError, match=r"Known: .*AzureML-Minimal"):
            Environment.get(ws, "AzureML-PyTorch-9-GPU")

    def test_a_build_context_is_a_snapshot(self, ws, tmp_path):
        folder = tmp_path / "context"
        folder.mkdir()
        with pytest.raises(UserError, match="Dockerfile"):
            DockerBuildContext.from_local_directory(ws, str(folder))
        (folder / "Dockerfile").write_text("FROM scratch\n")
        context = DockerBuildContext.from_local_directory(ws, str(folder))
        assert ws.client.exists(f"/snapshots/{context.location.partition(':')[2]}")
        again = Environment.from_docker_build_context("mine", context).register(ws)
        assert again.docker.build_context.to_dict() == context.to_dict()

    def test_a_private_wheel(self, ws, tmp_path):
        path = tmp_path / "chick-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("chick.py", "colour = 'yellow'\n")
        url = Environment.add_private_pip_wheel(ws, file_path=str(path))
        assert hashlib.sha256(path.read_bytes()).hexdigest() in url
        with pytest.raises(UserError, match="exist_ok"):
            Environment.add_private_pip_wheel(ws, str(path))
        assert Environment.add_private_pip_wheel(ws, str(path), exist_ok=True) == url
        environment = Environment("mine")
        environment.python.conda_dependencies.add_pip_package(url)
        assert url in environment.register(ws).python.conda_dependencies.pip_packages
        with pytest.raises(UserError, match="no wheel"):
            Environment.add_private_pip_wheel(ws, str(tmp_path))


class TestBuild:
    def test_streams_its_log_and_is_known_afterwards(self, ws, python, capsys):
        environment = user_managed(python)
        assert not environment.get_image_details(ws).image_exist
        build = environment.build(ws)
        assert build.wait_for_completion(show_output=True) is build
        shown = capsys.readouterr().out
        assert shown.startswith("Image Build Status: Running\n\nEnvironment 'mine'\n")
        assert shown.endswith("Image Build Status: Succeeded\n\n")
        assert build.get_log() in shown
        assert (build.status, build.error) == ("Succeeded", "")
        assert build.log_url.endswith(f"/environments/builds/{build.build_id}/log")
        details = environment.get_image_details(ws)
        assert (details.image_exist, details.interpreter_path) == (True, python)

    def test_a_failure_is_told(self, ws, capsys):
        environment = user_managed("/nowhere/python")
        build = environment.build(ws)
        build.wait_for_completion(show_output=False)
        assert build.status == "Failed"
        assert "/nowhere/python" in build.error
        assert "/nowhere/python" in capsys.readouterr().err
        with pytest.raises(EnvironmentBuildError, match="/nowhere/python"):
            environment.build_local(ws, useDocker=True)
        with pytest.raises(UserError, match="colour"):
            environment.build_local(ws, colour="red")


class TestSecretVariables:
    SCRIPT = """
        import hashlib, os
        print("TOKEN", hashlib.sha256(os.environ["TOKEN"].encode()).hexdigest(), os.environ["PLAIN"], flush=True)
    """

    @pytest.fixture
    def submit(self, ws, tmp_path):
        folder = tmp_path / "source"
        folder.mkdir()
        (folder / "t.py").write_text(textwrap.dedent(self.SCRIPT))

        def submit(environment):
            run = Experiment(ws, "birds").submit(ScriptRunConfig(str(folder), "t.py", environment=environment))
            run.wait_for_completion()
            return run

        return submit

    def printed(self, run):
        return run.get_all_logs() and run.get_details_with_logs()["logFiles"]["azureml-logs/70_driver_log.txt"]

    @pytest.mark.slow
    def test_reach_the_process_and_nothing_else(self, ws, submit, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        environment = Environment("mine")
        environment.environment_variables = {"TOKEN": Secret(VALUE), "PLAIN": "seen"}
        expected = f"TOKEN {hashlib.sha256(VALUE.encode()).hexdigest()} seen"
        run = submit(environment)
        assert expected in self.printed(run)
        details = run.get_details()
        assert details["runDefinition"]["environmentVariables"]["TOKEN"] == "***"
        assert not run.get_environment().environment_variables["TOKEN"].is_known

        # Registered, found by a new keeper, and used without the value.
        assert environment.register(ws).environment_variables["TOKEN"].reveal() == VALUE
        stop_keeper(ws.root)
        found = Environment.get(Workspace.get("nest"), "mine")
        assert not found.environment_variables["TOKEN"].is_known
        assert expected in self.printed(submit(found))
        with pytest.raises(RunConfigError, match="'TOKEN' has no value"):
            submit(found.clone("other"))

        stop_keeper(ws.root)
        files = [
            p for p in glob.glob(os.path.join(glob.escape(ws.root), "**", "*"), recursive=True) if os.path.isfile(p)
        ]
        assert any(p.endswith("job.json") for p in files)
        assert [p for p in files if VALUE.encode() in content(p)] == []


def content(path):
    """Nothing of a file that goes while one looks: a keeper that leaves takes its own with it."""
    try:
        return pathlib.Path(path).read_bytes()
    except FileNotFoundError:
        return b""
