"""Tables, read by a real pandas in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rookery.errors import UnsupportedError
from rookery.sdk.partitions import partition_names, partition_values
from rookery.sdk.tabular_dataset import TabularDataset
from rookery.testing.data_env import ensure_data_python

TABLE = {
    "kind": "tabular",
    "sources": [{"datastore": "workspaceblobstore", "path": "x.csv"}],
    "format": {"type": "delimited"},
}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_with_pandas(tmp_path, home):
    from rookery.client import start

    python = ensure_data_python()
    # The keeper is ours, in the project's environment; only the reader has pandas.
    from rookery.sdk import Workspace

    root = Workspace.create("tables").root
    start.ensure_keeper(root)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table_checks.py")
    done = subprocess.run(
        [python, "-W", "error::UserWarning", script, str(tmp_path / "some files")],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "all of it"


def test_without_pandas_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UnsupportedError, match=r"rookery\[data\]"):
        TabularDataset(TABLE).to_pandas_dataframe()


class TestPartitions:
    def test_values(self):
        pattern = "/{day:yyyy/MM/dd}/{kind}-*.csv"
        assert partition_names(pattern) == ["day", "kind"]
        values = partition_values(pattern, "/some/2026/11/16/bird-3.csv")
        assert (values["day"].isoformat(), values["kind"]) == ("2026-11-16T00:00:00", "bird")
        assert partition_values(pattern, "/some/2026/11/bird-3.csv") is None
        assert partition_values(pattern, "/some/2026/13/45/bird-3.csv") is None
