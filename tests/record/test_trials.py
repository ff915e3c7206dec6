"""Trials of tunings on both databases: stored together, looked at quickly, gone with their run."""

from __future__ import annotations

import math

import pytest

from rookery.errors import ConflictError
from rookery.record.collect import remove_run
from rookery.spec.status import RunStatus


def row(number, **fields):
    return {
        "number": number, "child_id": f"hd_{number}", "parameters": {"lr": 0.1 * number, "net": ["a", 1]}, "phase": "planned",
        "status": "", "stopped": "", "judged": 0, "resumed_from": "", "total": 0, "best": None, "best_at": None, "last": None, **fields,
    }  # fmt: skip


@pytest.fixture
def tuning(make_run):
    return make_run("hd", kind="tune", plan={"any": 1})


class TestStore:
    def test_new_and_changed_ones_with_the_state_and_an_event(self, record, tuning):
        record.trials.store("hd", [row(0), row(1)], state={"began": "x"}, status=RunStatus.RUNNING, reason="goes on")
        record.trials.store("hd", [row(1, phase="ended", best=0.5, total=3)], state={"began": "y"})
        found = record.trials.of("hd")
        assert [(t["number"], t["phase"], t["best"], t["parameters"]["net"]) for t in found] == [
            (0, "planned", None, ["a", 1]),
            (1, "ended", 0.5, ["a", 1]),
        ]
        assert record.runs.state("hd") == {"began": "y"}
        assert record.runs.get("hd")["reason"] == "goes on"
        assert record.runs.driven("tune") == ["hd"]
        assert [e["data"]["trials"][0]["number"] for e in events(record) if e["kind"] == "trial"] == [0, 1]

    def test_one_that_is_over_is_not_moved_on(self, record, tuning):
        record.trials.store("hd", [], state={}, status=RunStatus.COMPLETED)
        with pytest.raises(ConflictError):
            record.trials.store("hd", [row(0)], state={}, status=RunStatus.RUNNING)
        assert record.trials.of("hd") == []
        assert record.runs.driven("tune") == []

    def test_values_become_parameters_of_the_child(self, record, tuning, make_run):
        make_run("hd_0", parent_id="hd")
        for _ in range(2):
            record.trials.note_values("hd_0", {"--lr": 0.1, "net": [1, 2]})
        assert record.runs.get("hd_0")["params"] == {"lr": "0.1", "net": "[1, 2]"}


class TestLook:
    def test_statuses_and_only_values_that_are_new(self, record, tuning, make_run):
        for child in ("hd_0", "hd_1"):
            make_run(child, parent_id="hd")
        log = [["m", None, "acc", value, None, 1.0] for value in (0.5, 1, "x", float("nan"), True)]
        record.journals.apply_loose("hd_0", [*log, ["m", None, "loss", 3, None, 1.0]])
        seen = record.trials.look(["hd_0", "hd_1", "nobody"], "acc", {})
        assert set(seen) == {"hd_0", "hd_1"}
        values = seen["hd_0"].values
        assert values[:2] == (0.5, 1.0)
        assert math.isnan(values[2])
        assert math.isnan(values[3])
        assert seen["hd_1"] == ("NotStarted", None)
        assert record.trials.look(["hd_0"], "acc", {"hd_0": 5})["hd_0"].values is None
        assert record.trials.metric_kinds(["hd_0"]) == {"acc": "scalar", "loss": "scalar"}

    def test_very_many_children(self, record, tuning):
        assert record.trials.look([f"hd_{n}" for n in range(1500)], "acc", {}) == {}


def test_they_go_with_their_run(record, tuning):
    record.trials.store("hd", [row(0)], state={})
    with record.database.write() as tx:
        remove_run(tx, "hd")
    assert record.trials.of("hd") == []


def events(record):
    return record.events.after(0, run_id="hd")[0]
