"""What the API says of a tuning."""

from __future__ import annotations

import pytest

from rookery.server.answer_tune import Tuning
from rookery.spec.plain import to_plain
from rookery.spec.tune import TunePlan
from tests.server.conftest import run_spec
from tests.server.test_search import strict

PLAN = to_plain(TunePlan("accuracy", "maximize", {"lr": ["uniform", [0, 1]]}, 4))


class TestTuning:
    def test_is_made_as_any_run_and_shown_with_its_trials(self, api):
        made = api.owner.post("/runs", json=run_spec("HD_1", kind="tune", plan=PLAN))
        assert made.status_code == 201, made.text
        row = {
            "number": 0, "child_id": "HD_1_0", "parameters": {"lr": 0.5}, "phase": "active", "status": "", "stopped": "", "judged": 0,
            "resumed_from": "", "total": 2, "best": float("inf"), "best_at": 1, "last": 0.25,
        }  # fmt: skip
        api.record.trials.store("HD_1", [row], state={})
        told = strict(api.owner.get("/runs/HD_1/tune"))
        Tuning.model_validate({**told, "trials": []})
        assert (told["best"], told["max_concurrent_runs"], told["trials"][0]["rank"]) == ("HD_1_0", 4, 1)

    def test_others_have_none(self, api):
        api.run("r1")
        for run_id in ("r1", "nobody"):
            assert api.owner.get(f"/runs/{run_id}/tune").status_code == 404

    @pytest.mark.parametrize(
        "fields", [{"kind": "tune"}, {"kind": "script", "plan": PLAN}, {"kind": "tune", "plan": "x"}]
    )
    def test_a_plan_belongs_to_runs_that_are_driven(self, api, fields):
        answer = api.owner.post("/runs", json=run_spec("HD_1", **fields))
        assert answer.status_code == 400
        assert "plan" in answer.json()["error"]["message"]

    def test_it_can_be_submitted_again(self, api):
        api.owner.post("/runs", json=run_spec("HD_1", kind="tune", plan=PLAN))
        again = api.owner.post("/runs/HD_1/reproduce", json={})
        assert again.status_code == 201, again.text
        made = again.json()
        assert (made["kind"], made["id"][:3], made["spec"]["plan"]) == ("tune", "HD_", PLAN)
        assert made["id"] != "HD_1"

    def test_its_status_is_nobodys_to_report(self, api):
        api.owner.post("/runs", json=run_spec("HD_1", kind="tune", plan=PLAN))
        assert api.owner.post("/runs/HD_1/status", json={"status": "Completed"}).status_code == 409
