"""A record of its own for every test, in a folder with an awkward name."""

from __future__ import annotations

import pytest

from rookery.record import Record
from rookery.spec.paths import WorkspacePaths


@pytest.fixture
def record(tmp_path, empty_record):
    root = tmp_path / "a work's space"
    root.mkdir()
    paths = WorkspacePaths(str(root))
    empty_record(paths)
    record = Record(paths)
    yield record
    record.close()


@pytest.fixture(scope="module")
def s3():
    from rookery.testing.s3_server import s3_server

    with s3_server() as address:
        yield address
