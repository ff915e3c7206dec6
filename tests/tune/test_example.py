"""`examples/tune_birds.py` with few pictures: real networks, the best one registered."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import tune_birds
from draw_birds import make_birds
make_birds("birds", train=8, val=8)
tune_birds.main(max_total_runs=3, num_epochs=1, max_concurrent_runs=2, data_dir=sys.argv[2])
"""


@pytest.mark.slow
def test_birds_are_tuned_and_the_best_net_is_registered(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, os.path.join(ROOT, "examples"), str(tmp_path / "birds")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    printed = done.stdout
    assert "Streaming azureml-logs/hyperdrive.txt" in printed
    assert len(re.findall(r"^  \w+ +val_acc [\d.]+  learning_rate", printed, re.M)) == 3, printed
    assert "registered as pytorch-birds-tuned, version 1" in printed
    assert "Completed: 3 completed." in printed
