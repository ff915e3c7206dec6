"""The look at tables in Parquet files, by a real pyarrow."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from rookery.data import resolver_of
from rookery.data.preview import preview_table
from rookery.errors import DataError
from rookery.spec.data_definition import check_definition

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SITE = "import sysconfig; print(sysconfig.get_paths()['purelib'])"


@pytest.fixture(scope="module", autouse=True)
def pyarrow():
    """The one of this environment, or of the one that tables are tested with."""
    try:
        import pyarrow
    except ImportError:
        from rookery.testing.data_env import ensure_data_python

        asked = subprocess.run([ensure_data_python(), "-c", SITE], capture_output=True, text=True, check=True)
        sys.path.append(asked.stdout.strip())  # last: everything else stays this environment's own
        import pyarrow
    return pyarrow


@pytest.fixture
def look(record, tmp_path):
    """`look({path: bytes}, rows)`: what a page shows of them."""
    record.datastores.register({"name": "tables", "kind": "folder", "spec": {"folder": str(tmp_path)}}, "me")

    def show(files, rows=50, steps=()):
        for path, data in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(data)
        sources = [{"datastore": "tables", "path": next(iter(files)) if len(files) == 1 else "t/**/*.parquet"}]
        form = {"kind": "tabular", "sources": sources, "format": {"type": "parquet"}, "steps": list(steps)}
        definition = check_definition(form)
        return preview_table(record, resolver_of(record).resolve(definition), definition, rows)

    return show


def packed(columns, **more):
    import pyarrow
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file, **more)
    return file.getvalue()


def test_rows_of_every_kind(look):
    import datetime

    columns = {
        "n": [1, None, 3],
        "x": [0.5, float("inf"), None],
        "t": ["ä", "", None],
        "b": [True, False, None],
        "day": [datetime.date(2026, 11, 16), None, datetime.date(1, 1, 1)],
        "list": [[1, 2], [], None],
        "bytes": [b"\xff\x00", b"", None],
    }
    shown = look({"t/a.parquet": packed(columns)})
    assert shown["columns"] == list(columns)
    assert shown["is_whole"]
    assert shown["rows"][0][:4] == [1, 0.5, "ä", True]
    assert shown["rows"][0][4] == "2026-11-16"
    assert shown["rows"][0][5] == "[1, 2]"
    assert shown["rows"][2] == [3, None, None, None, "0001-01-01", None, None]


def test_only_the_first_rows_and_chosen_columns(look):
    data = packed({"a": list(range(5000)), "b": ["x" * 3000] * 5000}, row_group_size=700)
    shown = look({"t/a.parquet": data, "t/b.parquet": packed({"a": [1], "b": ["y"]})}, rows=10)
    assert [row[0] for row in shown["rows"]] == list(range(10))
    assert len(shown["rows"][0][1]) == 1000  # cells are cut, so a page stays small
    assert not shown["is_whole"]
    kept = look({"t/a.parquet": data}, rows=2, steps=[{"op": "keep_columns", "columns": ["b"]}])
    assert kept["columns"] == ["b"]
    dropped = look({"t/a.parquet": data}, rows=2, steps=[{"op": "drop_columns", "columns": ["b"]}])
    assert dropped["rows"] == [[0], [1]]


def test_empty_ones(look):
    assert look({"t/a.parquet": packed({"a": [], "b": []})}) == {"columns": ["a", "b"], "rows": [], "is_whole": True}
    assert look({"t/a.parquet": packed({})})["columns"] == []


@pytest.mark.parametrize("content", [b"", b"PAR1", b"a,b\n1,2\n", b"PAR1" + os.urandom(200) + b"PAR1"])
def test_what_is_no_parquet_says_so(look, content):
    with pytest.raises(DataError, match=r"'a\.parquet' is no Parquet file"):
        look({"t/a.parquet": content})


def test_one_that_is_cut_off(look):
    whole = packed({"a": list(range(1000))})
    with pytest.raises(DataError, match="no Parquet file"):
        look({"t/a.parquet": whole[: len(whole) // 2]})
