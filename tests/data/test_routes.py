"""Files of data sets over the API: nothing stays open when a range is refused."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from starlette.exceptions import HTTPException

from rookery.data import resolver_of
from rookery.server.routes import data, datasets
from tests.data.test_collect import add


@pytest.fixture
def opened(record, monkeypatch):
    """The files that stores were asked for."""
    store, files = type(resolver_of(record).store(record.datastores.default())), []
    real = store.open

    def spy(*given, **more):
        files.append(real(*given, **more))
        return files[-1]  # a reader around a file

    monkeypatch.setattr(store, "open", spy)
    return files


@pytest.mark.parametrize("inline", [False, True])
def test_a_range_beyond_the_end(record, opened, inline):
    definition_id, manifest = add(record, "x")
    record.datasets.register({"name": "set", "definition_id": definition_id}, manifest, "owner")
    services = SimpleNamespace(record=record, paths=record.paths)
    opened.clear()
    with pytest.raises(HTTPException, match="416"):
        data.get_manifest_file(manifest.id, 0, services, "bytes=99-")
    with pytest.raises(HTTPException, match="416"):
        datasets.get_dataset_file("set", 1, "file", services, inline, "bytes=99-")
    assert opened  # of the second: what it is is looked at first
    assert all(reader._file.closed for reader in opened)
