"""A notebook as a run and as a step: it is executed, its values come in, its metrics and the notebook itself come out."""

from __future__ import annotations

import json

import pytest

from rookery.azureml.contrib.notebook import NotebookRunConfig, NotebookRunnerStep
from rookery.azureml.core import Experiment, Workspace
from rookery.errors import UnsupportedError, UserError
from rookery.sdk import Pipeline, PipelineParameter
from rookery.sdk.submission import check_submission

CELLS = ["lr = 1\nname = ''", "from azureml.core import Run\nrun = Run.get_context()", "run.log('lr', lr)\nprint(name)"]


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source's folder"
    folder.mkdir()
    cells = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text} for text in CELLS
    ]
    cells[0]["metadata"]["tags"] = ["parameters"]
    text = json.dumps({"metadata": {}, "nbformat": 4, "nbformat_minor": 4, "cells": cells})
    (folder / "a notebook.ipynb").write_text(text)
    return folder


@pytest.mark.slow
def test_it_runs_with_its_values_as_a_run_and_as_a_step(source):
    ws = Workspace.create("notes")
    config = NotebookRunConfig(str(source), "a notebook.ipynb", "made.ipynb", {"lr": 0.25, "name": "it's"})
    run = Experiment(ws, "notes").submit(config)
    rate = PipelineParameter("rate", 0.75)
    step = NotebookRunnerStep(
        "note", NotebookRunConfig(str(source), "a notebook.ipynb", parameters={"lr": rate, "name": "$HOME"}),
        output_notebook_pipeline_data_name="kept",
    )  # fmt: skip
    flow = Pipeline(ws, [step]).submit("flows")
    run.wait_for_completion(raise_on_error=False)
    assert run.get_status() == "Completed", run.get_details_with_logs()
    assert run.get_metrics() == {"lr": 0.25}
    assert "outputs/made.ipynb" in run.get_file_names()
    assert "it's" in run.get_details_with_logs()["logFiles"]["azureml-logs/70_driver_log.txt"]
    assert flow.wait_for_completion(show_output=False) == "Finished"
    (made,) = flow.find_step_run("note")
    assert made.get_metrics() == {"lr": 0.75}
    assert "$HOME" in made.get_stdout_log()
    assert made.get_output_data("kept").path_on_datastore


class TestRefused:
    def test_no_such_notebook(self, source):
        with pytest.raises(UserError, match=r"no notebook 'b\.ipynb'"):
            NotebookRunConfig(str(source), "b.ipynb")

    def test_handlers(self, source):
        with pytest.raises(UnsupportedError, match="handler"):
            NotebookRunConfig(str(source), "a notebook.ipynb", handler=object())

    def test_a_parameter_of_a_pipeline_without_one(self, source):
        config = NotebookRunConfig(str(source), "a notebook.ipynb", parameters={"lr": PipelineParameter("rate", 1)})
        with pytest.raises(UserError, match=r"command\[8\]"):
            check_submission(config)

    def test_a_step_of_something_else(self):
        with pytest.raises(UserError, match="Give a NotebookRunConfig"):
            NotebookRunnerStep("note", "a.ipynb")
