"""Routes that are imported when they are first asked for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rookery.record import Record
from rookery.server.app import ROUTERS, create_app
from rookery.spec.protocol import PREFIX
from rookery.testing.fake_controller import FakeController
from tests.server.conftest import IDENTITY
from tests.server.test_access_matrix import table


@pytest.fixture
def apps(paths, home):
    """(with all routes at once, with routes as they are asked for)."""
    record = Record(paths)
    yield tuple(create_app(record, FakeController(record), IDENTITY, late=late) for late in (False, True))
    record.close()


def test_every_path_is_named_by_its_first_part(apps):
    named = {part for _, parts in ROUTERS for part in parts} | {"hello", "keeper", "openapi.json"}
    found = {path[len(PREFIX) + 1 :].partition("/")[0] for _, path in table(apps[0]) if path.startswith(PREFIX + "/")}
    assert found <= named, "name the first part of the path in ROUTERS (server/app.py)"


@pytest.mark.parametrize("first", ["/data/x", "/runs/a/metrics", "/snapshots/a", "/unheard-of/x", "/session"])
def test_the_order_is_the_same_whatever_is_asked_for_first(apps, first):
    whole, late = apps
    assert len(table(late)) < len(table(whole))
    late.state.late_routes.load_for(PREFIX + first)
    asked = [row for row in table(whole) if row in set(table(late))]
    assert table(late) == asked
    late.state.late_routes.load_all()
    assert table(late) == table(whole)


def test_what_is_asked_for_is_there(apps):
    whole, late = apps
    for part in sorted({part for _, parts in ROUTERS for part in parts}):
        late.state.late_routes.load_for(f"{PREFIX}/{part}/x")
        wanted = [row for row in table(whole) if (row[1] + "/").startswith(f"{PREFIX}/{part}/")]
        assert wanted
        assert set(wanted) <= set(table(late))


def test_a_keeper_starts_without_them():
    code = (
        "import json, sys, rookery.server.keeper\n"
        "print(json.dumps([m for m in sys.modules if m.startswith('rookery.server.')]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    loaded = {name.rpartition(".")[2] for name in json.loads(done.stdout) if ".routes." in name}
    assert loaded == {"keeper", "outside"}
    assert "rookery.server.mlflow.exchange" not in json.loads(done.stdout)
