from __future__ import annotations

import os

import pytest

from rookery.client import Client, create_workspace
from tests.client.fake_keeper import FakeKeeper


@pytest.fixture
def keeper(tmp_path):
    """A fake keeper in this process, to look into."""
    root = str(tmp_path / "workspace")
    create_workspace(root, "birds")
    keeper = FakeKeeper(os.path.realpath(root)).start_thread()
    yield keeper
    keeper.stop()


@pytest.fixture
def client(keeper):
    from rookery.client import client as client_module

    yield Client.for_workspace(keeper.root, start=False)
    client_module._close_all()
    client_module._clients.clear()


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source's folder"
    folder.mkdir()
    return folder
