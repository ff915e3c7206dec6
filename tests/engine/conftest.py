"""A workspace with a real record, and a controller over an engine whose agents the tests play."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from rookery.engine import Controller
from rookery.record import Record
from rookery.spec.paths import WorkspacePaths
from rookery.spec.run import EnvironmentSpec, RunSpec
from rookery.testing.engine_exam import wait_for
from tests.engine.fake_engine import FakeEngine


@pytest.fixture
def paths(tmp_path) -> WorkspacePaths:
    root = tmp_path / "a person's workspace"
    root.mkdir()
    found = WorkspacePaths(str(root))
    identity = {
        "id": "guid",
        "name": "nest",
        "subscription_id": "sub",
        "resource_group": "group",
        "location": "here",
    }
    with open(found.identity, "w") as f:
        json.dump(identity, f)
    return found


# What reads and writes the record most; these run on both databases, the second time marked slow.
ON_BOTH = ("test_controller", "test_holds", "test_preemption", "test_recovery")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database_url" in metafunc.fixturenames:
        is_both = metafunc.module.__name__.rpartition(".")[2] in ON_BOTH
        postgresql = pytest.param("postgresql", marks=pytest.mark.slow)
        metafunc.parametrize("database_url", ["sqlite", postgresql] if is_both else ["sqlite"], indirect=True)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, home: Any) -> str:
    """The record's database: SQLite in the workspace's folder (empty), or a real PostgreSQL."""
    url = request.getfixturevalue("postgres").emptied() if request.param == "postgresql" else ""
    if url:
        monkeypatch.setenv("ROOKERY_DATABASE_URL", url)
    return url


@pytest.fixture
def record(paths, database_url, empty_record) -> Iterator[Record]:
    if not database_url:
        empty_record(paths)
    found = Record(paths)
    yield found
    found.close()


@dataclass
class House:
    """A controller, and short words for what tests do with it."""

    record: Record
    paths: WorkspacePaths
    engine: FakeEngine
    controller: Controller
    numbers: Any

    def submit(self, **fields: Any) -> str:
        spec = RunSpec(
            **{
                "run_id": f"run-{next(self.numbers)}",
                "experiment": "exp",
                "script": "train.py",
                "environment": EnvironmentSpec(python=sys.executable),
                **fields,
            }
        )
        self.controller.check(spec)
        self.record.runs.create(spec, "me")
        self.controller.submitted(spec.run_id)
        return spec.run_id

    def status(self, run_id: str) -> str:
        return self.record.runs.get(run_id)["status"]

    def reason(self, run_id: str) -> str:
        return self.record.runs.get(run_id)["reason"]

    def wait(self, run_id: str, *statuses: str) -> dict[str, Any]:
        wait_for(lambda: self.status(run_id) in statuses, f"{run_id} in {statuses}, is {self.status(run_id)}")
        return self.record.runs.get(run_id)

    def wait_placed(self, run_id: str, times: int = 1, node: int = 0) -> Any:
        def found() -> Any:
            places = [p for p in self.engine.placed if p.run_id == run_id and p.node == node]
            return places[times - 1] if len(places) >= times else None

        return wait_for(found, f"the agent of {run_id}")

    def start_ranks(self, run_id: str, attempt: int = 1) -> Any:
        place = self.wait_placed(run_id)
        self.controller.agent_hello(run_id, attempt, 0, {})
        self.controller.agent_running(run_id, attempt, 0, {"ranks": []})
        return place

    def finish(self, run_id: str, result: str = "completed", attempt: int = 1, **outcome: Any) -> None:
        self.controller.agent_outcome(run_id, attempt, 0, {"result": result, **outcome})
        self.controller.agent_finished(run_id, attempt, 0, {"warnings": []})

    def restart(self) -> None:
        """As a keeper that was killed and one that follows: nothing is told to the old one."""
        self.controller.stop()
        self.controller = Controller(self.record, self.paths, engine=self.engine, ensure_payload=lambda p: p.root)
        self.controller.start()


@pytest.fixture
def make_house(record, paths) -> Iterator[Callable[..., House]]:
    houses: list[House] = []

    def make(**engine: Any) -> House:
        fake = FakeEngine(**engine)
        controller = Controller(record, paths, engine=fake, ensure_payload=lambda p: p.root)
        houses.append(House(record, paths, fake, controller, itertools.count()))
        controller.start()
        return houses[-1]

    yield make
    for house in houses:
        house.controller.stop()


@pytest.fixture
def house(make_house) -> House:
    return make_house()
