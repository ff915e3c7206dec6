"""A real agent against a keeper that behaves."""

from __future__ import annotations

import tempfile

import pytest

from rookery.testing.agent_bench import Bench


@pytest.fixture
def bench():
    made = Bench(tempfile.mkdtemp(prefix="rk-"))  # short: socket paths are limited
    yield made
    made.close()
