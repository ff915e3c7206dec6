"""A real record and a controller that starts nothing: steps move when a test says so."""

from __future__ import annotations

import os
import time

import pytest

from rookery.data import complete_outputs
from rookery.data.resolve import resolver_of
from rookery.pipeline.driver import PipelineDriver
from rookery.pipeline.submitting import submit_pipeline
from rookery.pipeline.view import show_run
from rookery.record import Record
from rookery.spec.data import output_path
from rookery.spec.paths import WorkspacePaths
from rookery.spec.pipeline import new_graph
from rookery.spec.plain import from_plain
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus
from rookery.testing.fake_controller import FakeController


class Bench:
    """A keeper's inside: `restart` is what a killed one and its follower come to."""

    def __init__(self, paths):
        self.paths = paths
        self.open()

    def open(self):
        self.record = Record(self.paths)
        self.controller = _Controller(self.record)
        self.driver = PipelineDriver(self.record, self.controller)
        self.controller.own = self.driver
        self.driver.start()

    def close(self):
        self.driver.stop()
        self.record.close()

    def restart(self):
        self.close()
        self.open()

    def submit(self, graph, run_id=None, **options):
        return submit_pipeline(self.record, self.controller, graph, "birds", "ann", run_id=run_id, **options)["id"]

    def steps(self, run_id):
        return show_run(self.record, run_id)["steps"]

    def phase(self, run_id, node):
        return self.record.pipeline_steps.of_run(run_id).get(node, {}).get("phase")

    def started(self, run_id, node):
        """Waits until the step has a run that the controller has; its id."""

        def look():
            row = self.record.pipeline_steps.of_run(run_id).get(node)
            if row and row["phase"] == "running":
                found = self.record.runs.find(row["run_id"])
                return found["id"] if found and found["status"] == "Queued" else None
            return None

        return self.until(look)

    def finish(self, run_id, node, content="x", status="Completed"):
        """Ends a step as its agent would: its outputs are there first."""
        step = self.started(run_id, node)
        if status == "Completed":
            spec = from_plain(RunSpec, self.record.runs.get(step)["spec"])
            for output in spec.outputs:
                store = resolver_of(self.record).store(output.datastore or self.record.datastores.default())
                with store.writer(f"{output_path(output, step)}/file.txt") as writer:
                    writer.write(f"{output.name} {content}".encode())
                    writer.commit()
            complete_outputs(self.record, step)
        cause = {"kind": "UserError", "summary": "it broke", "attempt": 1} if status == "Failed" else None
        self.record.runs.advance(step, status=RunStatus(status), error=cause)
        return step

    def status(self, run_id):
        return self.record.runs.get(run_id)["status"]

    def ended(self, run_id, status="Completed"):
        self.until(lambda: RunStatus(self.status(run_id)).is_terminal)
        assert self.status(run_id) == status, self.record.runs.get(run_id)["error"]
        return self.steps(run_id)

    def until(self, condition, limit_s=60.0):
        """Waits until it holds; returns what it gave."""
        deadline = time.monotonic() + limit_s
        while not (found := condition()):
            assert time.monotonic() < deadline, "it did not happen"
            time.sleep(0.005)
        return found


class _Controller(FakeController):
    """Hands pipelines to their driver, as the real one does; a canceled step ends at once."""

    own = None

    def check(self, spec):
        if spec.kind == RunKind.PIPELINE:
            self.own.check(spec)
        else:
            super().check(spec)

    def submitted(self, run_id):
        if self.record.runs.kind(run_id) == RunKind.PIPELINE:
            self.own.submitted(run_id)
        else:
            super().submitted(run_id)

    def cancel(self, run_id):
        if self.record.runs.kind(run_id) == RunKind.PIPELINE:
            self.own.cancel(run_id)
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


def step(*after, arguments=(), outputs=("out",), **more):
    """A script node that takes the output of each of `after`."""
    return {
        "kind": "script",
        "run": {"command": "work", "variables": {}, **({"arguments": list(arguments)} if arguments else {})},
        "inputs": {f"from_{name}": {"node": name, "port": "out"} for name in after},
        "outputs": {name: {} for name in outputs},
        **more,
    }


def graph(name="flow", **nodes):
    """Steps of other names do other things; those of one name do the same in every graph."""
    made = new_graph(name)
    for key, node in nodes.items():
        if node.get("kind") == "script":
            node["run"]["variables"].setdefault("WHO", key)
    made["nodes"] = nodes
    return made


@pytest.fixture
def diamond():
    """a, then b and c, then d."""
    return graph(a=step(), b=step("a"), c=step("a"), d=step("b", "c"))


@pytest.fixture(autouse=True)
def no_modules_python(monkeypatch):
    """The interpreter is this one, whatever the person's settings say."""
    monkeypatch.delenv("ROOKERY_MODULES_PYTHON", raising=False)
    assert os.environ.get("ROOKERY_MODULES_PYTHON") is None
