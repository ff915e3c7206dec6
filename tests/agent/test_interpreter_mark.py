"""An interpreter that people look after is tried once per machine, and again when it is another one."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from rookery.agent.environment import _note_tried, _tried_before
from rookery.agent.node import NodeFacts


@pytest.fixture
def facts(tmp_path):
    return NodeFacts(home=str(tmp_path / "a node's home"), shared=False, name="n0", cpus=1, cache_bytes=0, unused_s=0)


def wanted(python):
    return {"kind": "interpreter", "name": "mine", "python": python}


def test_it_is_known_once_it_was_tried(facts):
    assert _tried_before(wanted(sys.executable), facts) is None
    _note_tried(sys.executable, facts)
    answer = _tried_before(wanted(sys.executable), facts)
    assert (answer["python"], answer["bin_dir"]) == (sys.executable, os.path.dirname(sys.executable))


def test_another_one_at_the_same_path_is_tried_again(facts, tmp_path):
    path = tmp_path / "python"
    shutil.copy("/bin/true", path)
    _note_tried(str(path), facts)
    assert _tried_before(wanted(str(path)), facts) is not None
    path.unlink()
    assert _tried_before(wanted(str(path)), facts) is None
    shutil.copy("/bin/false", path)
    os.utime(path, ns=(1, 1))
    assert _tried_before(wanted(str(path)), facts) is None


def test_a_name_is_looked_up(facts, tmp_path, monkeypatch):
    (tmp_path / "python-of-mine").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    _note_tried(str(tmp_path / "python-of-mine"), facts)
    assert _tried_before(wanted("python-of-mine"), facts)["python"] == str(tmp_path / "python-of-mine")
    assert _tried_before(wanted("python-of-nobody"), facts) is None


def test_what_is_to_be_built_is_not_asked(facts):
    assert _tried_before({"kind": "build", "name": "x"}, facts) is None
