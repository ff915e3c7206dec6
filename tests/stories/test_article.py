"""The article's flow as a script and as a notebook, and the check that comes with the mission."""

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(900)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECK = os.path.join(os.path.dirname(ROOT), "shared", "checks", "article.py")


def _run(command, tmp_path, timeout_s=560, **variables):
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_the_example_trains_registers_and_downloads(tmp_path):
    printed = _run([sys.executable, os.path.join(ROOT, "examples", "article.py"), "--num_epochs", "1"], tmp_path)
    assert "Creating a new compute target..." in printed
    assert "Streaming azureml-logs/70_driver_log.txt" in printed
    assert "epoch 1/1" in printed
    assert "pytorch-birds\tpytorch-birds:1\t1" in printed
    assert "model.pt" in printed


@pytest.mark.slow
def test_quickstart_ends_with_accuracy_model_and_next_command(tmp_path):
    printed = _run(
        [
            sys.executable,
            os.path.join(ROOT, "examples", "quickstart.py"),
            "--folder",
            str(tmp_path / "quick start"),
            "--num_epochs",
            "1",
        ],
        tmp_path,
    )
    assert "440 pictures" in printed
    assert "accuracy   " in printed
    assert "pytorch-birds, version 1" in printed
    assert "predictions_" in printed
    assert re.search(r"studio     http://127\.0\.0\.1:\d+/runs/Tutorial-pytorch-birds_", printed)
    assert re.search(r"designer   http://127\.0\.0\.1:\d+/designer$", printed, re.MULTILINE)
    last = printed.strip().splitlines()[-1]
    assert last.startswith("Next: cd ")
    assert " studio Tutorial-pytorch-birds_" in last


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch):
    """Train, tune with random values and a Bandit, take the best run, register, deploy, score, delete."""
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("NUM_EPOCHS", "1")
    monkeypatch.setenv("TOTAL_RUNS", "2")
    monkeypatch.setenv("PICTURES", "16")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "jupyter"))
    notebook = nbformat.read(os.path.join(ROOT, "examples", "article.ipynb"), as_version=4)
    client = NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": os.path.join(ROOT, "examples")}}
    )
    client.execute()
    text = "".join(
        output.get("text", "") for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    )
    assert "epoch 1/1" in text
    assert "pytorch-birds:1\t1" in text
    assert "best run: HD_" in text
    assert "pytorch-birds:2\t2" in text  # the best of the tuned ones
    assert "Healthy" in text
    assert re.search(r"label: (chickens|turkeys) probability: [01]\.\d+", text)
    assert text.rstrip().endswith("[]")  # the service is gone


# What the example would train, untrained: how it is served is the same.
UNTRAINED = """
from rookery_vision.stack import models, torch
from azureml.core import Model, Workspace
network = models.resnet18()
network.fc = torch.nn.Linear(network.fc.in_features, 2)
torch.save(network.state_dict(), "model.pt")
Model.register(Workspace.from_config(), "model.pt", "pytorch-birds")
"""


@pytest.mark.slow
def test_deploy_birds_prints_label_and_probability(tmp_path):
    _run([sys.executable, "-c", UNTRAINED], tmp_path)
    example = os.path.join(ROOT, "examples", "deploy_birds.py")
    printed = _run([sys.executable, example], tmp_path)
    assert "State: running" in printed
    assert re.search(r"turkey\.jpg: (chickens|turkeys), probability [01]\.\d{4}", printed)
    assert printed.rstrip().endswith("Deleted")


@pytest.mark.slow
@pytest.mark.skipif(
    not os.path.exists(CHECK) and not os.environ.get("CI"),
    reason="the mission's check lies beside the checkout, not in it",
)
def test_the_missions_check(tmp_path):
    printed = _run([sys.executable, CHECK, "single"], tmp_path)
    assert "single       ok   pytorch-birds version 1" in printed
