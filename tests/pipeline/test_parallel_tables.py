"""A ParallelRunStep over a table, really run: a mini batch for each value of its partition keys."""

from __future__ import annotations

import pytest

from rookery.sdk import Dataset, Environment, ParallelRunConfig, ParallelRunStep, Pipeline, PipelineData, Workspace
from rookery.testing.data_env import ensure_data_python

ENTRY = """
from azureml_user.parallel_run import EntryScript

def init():
    EntryScript().logger.info("it begins")

def run(mini_batch, context):
    EntryScript().logger.info("%s rows", len(mini_batch))
    bird = context.partition_key_value["bird"]
    assert set(mini_batch["bird"]) == {bird}, mini_batch
    return ["%s %s %d" % (context.dataset_name, bird, eggs) for eggs in mini_batch["eggs"]]
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_rows_of_the_same_key_are_one_batch(tmp_path):
    python = ensure_data_python()
    ws = Workspace.create("tables")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "entry.py").write_text(ENTRY)
    for name, eggs in (("chicken", (1, 2)), ("turkey", (3,))):
        (tmp_path / f"{name}.csv").write_text("eggs;x\n" + "".join(f"{n};0\n" for n in eggs))
    store = ws.get_default_datastore()
    files = [str(tmp_path / f"{name}.csv") for name in ("chicken", "turkey")]
    store.upload_files(files, target_path="eggs", show_progress=False)
    table = Dataset.Tabular.from_delimited_files(
        (store, "eggs/*.csv"), validate=False, separator=";", partition_format="/{bird}.csv"
    )
    environment = Environment("tables")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = python
    config = ParallelRunConfig(
        environment, "entry.py", 0, "append_row", None, 1, 2,
        source_directory=str(tmp_path / "source"), partition_keys=["bird"],
    )  # fmt: skip
    rows = PipelineData("rows")
    step = ParallelRunStep("by-bird", config, [table.as_named_input("eggs")], rows)
    run = Pipeline(ws, [step]).submit("tables")
    run.wait_for_completion(show_output=False)
    done = run.find_step_run("by-bird")[0]
    done.get_output_data("rows").download(str(tmp_path / "got"))
    found = next((tmp_path / "got").rglob("parallel_run_step.txt"))
    assert found.read_text().splitlines() == ["eggs chicken 1", "eggs chicken 2", "eggs turkey 3"]
    assert any("entry_script_log/0/process" in name for name in done.get_file_names()), done.get_file_names()
