"""Environments that are really built, by a real keeper, from wheels made on the fly."""

from __future__ import annotations

import os
import sys
import textwrap

import pytest

from rookery.sdk import CondaDependencies, Environment, Experiment, ScriptRunConfig, Workspace
from tests.environments_build.wheels import write_wheel

HERE = "{}.{}".format(*sys.version_info)
DRIVER = "azureml-logs/70_driver_log.txt"
REAL_UV = os.environ.get("ROOKERY_UV", "")  # read before the home fixture drops every ROOKERY_ variable


@pytest.fixture
def wheels(home, tmp_path, monkeypatch):
    """A folder that is the only place where packages are found."""
    if REAL_UV:
        monkeypatch.setenv("ROOKERY_UV", REAL_UV)
    for name in [n for n in os.environ if n.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    folder = tmp_path / "links"
    folder.mkdir()
    (tmp_path / "pip.conf").write_text("[global]\nno-index = true\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def ws(wheels):
    return Workspace.create("nest")


def run_in(ws, environment, folder, script):
    folder.mkdir(exist_ok=True)
    (folder / "t.py").write_text(textwrap.dedent(script))
    run = Experiment(ws, "envs").submit(ScriptRunConfig(str(folder), "t.py", environment=environment))
    run.wait_for_completion()
    return run


class TestBuilt:
    def test_a_private_wheel_is_installed_and_the_build_is_used_by_the_run(self, ws, wheels, tmp_path, capsys):
        write_wheel(wheels, "alpha", "1.0", {"alpha.py": "size = 3\n"})
        private = write_wheel(tmp_path, "chick", "1.0", {"chick.py": "colour = 'yellow'\n"})
        address = Environment.add_private_pip_wheel(ws, private)
        environment = Environment("mine")
        environment.python.conda_dependencies = CondaDependencies.create(
            python_version=HERE, pip_packages=["azureml-defaults", "alpha", address]
        )
        build = environment.build_local(ws)
        assert "import chick: ok" in capsys.readouterr().out
        assert environment.get_image_details(ws).image_exist
        run = run_in(
            ws,
            environment,
            tmp_path / "source",
            "import alpha, chick, sys; print(chick.colour, alpha.size, sys.prefix)",
        )
        text = run.get_details_with_logs()["logFiles"][DRIVER]
        assert text.startswith("yellow 3 ")
        assert environment.get_image_details(ws).environment_path == text.split(None, 2)[2].strip()
        assert build.status == "Succeeded"
        # The run remembers its software, which is there already.
        again = run.get_environment()
        assert again.python.conda_dependencies.as_dict() == environment.python.conda_dependencies.as_dict()

    def test_a_package_that_is_not_to_be_had_is_named(self, ws):
        environment = Environment("mine")
        environment.python.conda_dependencies = CondaDependencies.create(
            python_version=HERE, pip_packages=["nobody-has-this==9"]
        )
        build = environment.build(ws).wait_for_completion(show_output=False)
        assert build.status == "Failed"
        assert "nobody-has-this" in build.error

    def test_a_curated_environment_runs(self, ws, tmp_path):
        environment = Environment.get(ws, "AzureML-Minimal")
        run = run_in(
            ws, environment, tmp_path / "source", "import azureml.core, sys; print('%d.%d' % sys.version_info[:2])"
        )
        assert run.get_details_with_logs()["logFiles"][DRIVER].strip() == HERE
        details = run.get_details()["runDefinition"]["environment"]
        assert (details["name"], details["version"]) == ("AzureML-Minimal", "1")
