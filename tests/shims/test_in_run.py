"""A submitted script finds `azureml` in environments that have none, on every installed Python."""

from __future__ import annotations

import glob
import os

import pytest

from rookery.sdk.environment import Environment
from rookery.sdk.experiment import Experiment
from rookery.sdk.script_run_config import ScriptRunConfig
from rookery.sdk.workspace import Workspace

PYTHONS = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python")))
SCRIPT = """
import sys
from azureml.core import Run, Dataset, Workspace
from azureml.core.run import Run as Same
from azureml.train.automl import AutoMLConfig
run = Run.get_context()
assert Run is Same and run is Run.get_context()
run.log("minor", sys.version_info[1])
try:
    AutoMLConfig(task="classification")
except NotImplementedError as error:
    assert "azureml.train" in str(error) and "AutoMLConfig" in str(error)
else:
    raise AssertionError("a placeholder was used without a word")
"""


class TestInRun:
    @pytest.mark.slow
    def test_every_python(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        source = tmp_path / "source"
        source.mkdir()
        (source / "train.py").write_text(SCRIPT)
        experiment = Experiment(Workspace.create("birds"), "pythons")
        runs = {python: experiment.submit(self.config(str(source), python)) for python in PYTHONS}
        for python, run in runs.items():
            run.wait_for_completion()
            assert f"/3.{run.get_metrics()['minor']}." in python
        assert runs

    def config(self, source, python):
        environment = Environment("some-python")
        environment.python.user_managed_dependencies = True
        environment.python.interpreter_path = python
        return ScriptRunConfig(source, "train.py", environment=environment)
