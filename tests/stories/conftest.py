"""A temporary folder for each story; and what the stories of random kills have hit, for the last result in docs/reliability.md."""

from __future__ import annotations

import collections
import shutil
import tempfile

import pytest

_HITS: collections.Counter[str] = collections.Counter()


@pytest.fixture(autouse=True)
def own_temporary_folder(monkeypatch):
    """Of whatever a story starts: examples and what people are told to type leave files there. Short, because of sockets' paths."""
    folder = tempfile.mkdtemp(prefix="rk-", dir="/tmp")
    monkeypatch.setenv("TMPDIR", folder)
    yield
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def count_hit():
    """Call it with what was hit ('keeper', 'agent' …), or with None when there was nothing to hit at that moment."""
    return lambda what: _HITS.update([what] if what else [])


def pytest_terminal_summary(terminalreporter):
    if _HITS:
        parts = ", ".join(f"{what} {count}" for what, count in sorted(_HITS.items()))
        terminalreporter.write_line(f"random blows that hit: {sum(_HITS.values())} ({parts})")
