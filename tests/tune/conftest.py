"""A real record and a controller that starts nothing: children move when a test says so."""

from __future__ import annotations

import time

import pytest

from rookery.engine.creating import create_run
from rookery.record import Record
from rookery.spec.paths import WorkspacePaths
from rookery.spec.plain import to_plain
from rookery.spec.run import EnvironmentSpec, RunKind, RunSpec
from rookery.spec.status import RunStatus
from rookery.spec.tune import TunePlan
from rookery.testing.fake_controller import FakeController
from rookery.tune import TuneDriver

SPACE = {"lr": ["uniform", [0, 1]]}


class Bench:
    """A keeper's inside: `restart` is what a killed one and its follower come to."""

    def __init__(self, paths):
        self.paths = paths
        self.open()

    def open(self):
        self.record = Record(self.paths)
        self.controller = _Controller(self.record)
        self.driver = TuneDriver(self.record, self.controller)
        self.controller.driver = self.driver
        for row in self.record.runs.to_take_up():  # as the real controller does when it starts
            if self.record.runs.get(row.id)["status"] == "NotStarted":
                self.controller.submitted(row.id)
        self.driver.start()

    def close(self):
        self.driver.stop()
        self.record.close()

    def restart(self):
        self.close()
        self.open()

    def submit(self, run_id="HD_1", *, script="train.py", arguments=(), **fields):
        plan = TunePlan(
            **{"metric": "accuracy", "goal": "maximize", "space": SPACE, "max_total_runs": 4, "seed": 7, **fields}
        )
        spec = RunSpec(
            run_id, "birds", RunKind.TUNE, script=script, arguments=arguments, plan=to_plain(plan),
            environment=EnvironmentSpec(python="python"),
        )  # fmt: skip
        return create_run(self.record, self.controller, spec, "ann")[0]

    def children(self, run_id="HD_1"):
        """Those that the controller has."""
        return {run["id"]: run for run in self.record.runs.children(run_id) if run["status"] != "NotStarted"}

    def live(self, run_id="HD_1"):
        return [c for c, run in self.children(run_id).items() if not RunStatus(run["status"]).is_terminal]

    def log(self, child, *values, name="accuracy"):
        self.record.journals.apply_loose(child, [["m", None, name, value, None, time.time()] for value in values])

    def end(self, child, status="Completed"):
        self.record.runs.advance(child, status=RunStatus(status))

    def status(self, run_id="HD_1"):
        return self.record.runs.get(run_id)["status"]

    def until(self, condition, limit_s=60.0):
        """Waits until it holds; returns what it gave."""
        deadline = time.monotonic() + limit_s
        while not (found := condition()):
            assert time.monotonic() < deadline, "it did not happen"
            time.sleep(0.005)
        return found


class _Controller(FakeController):
    """Hands tunings to their driver, as the real one does; a canceled child, script or pipeline, ends at once."""

    driver = None

    def check(self, spec):
        if spec.kind == RunKind.TUNE:
            self.driver.check(spec)
        else:
            super().check(spec)

    def submitted(self, run_id):
        if self.record.runs.kind(run_id) == RunKind.TUNE:
            self.driver.submitted(run_id)
        else:
            super().submitted(run_id)

    def cancel(self, run_id):
        if self.record.runs.kind(run_id) == RunKind.TUNE:
            self.driver.cancel(run_id)
        elif not RunStatus(self.record.runs.get(run_id)["status"]).is_terminal:
            self.record.runs.advance(run_id, status=RunStatus.CANCELED)


@pytest.fixture
def bench(tmp_path, empty_record):
    root = tmp_path / "a work's space"
    root.mkdir()
    paths = WorkspacePaths(str(root))
    empty_record(paths)
    made = Bench(paths)
    yield made
    made.close()
