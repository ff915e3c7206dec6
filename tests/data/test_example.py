"""`python examples/datasets.py` shows what issue 8 asks for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_datasets(tmp_path, home):
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "examples", "datasets.py"), "--folder", str(tmp_path / "some folder")],
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "shims")},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mounted at a folder with 19 files; run.input_datasets says the same: True" in done.stdout
    assert "mounted at a folder with 20 files" in done.stdout
    assert "downloaded as one file with 20 rows" in done.stdout
    assert "direct: a TabularDataset, the very one: True" in done.stdout
    assert "'bird-summary' version 2, made by that run: ['/summary.csv']" in done.stdout
