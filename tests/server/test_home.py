"""What is going on, in one answer; and the line before a compute target."""

from __future__ import annotations

from rookery.server import answer_views as v
from rookery.spec.status import RunStatus
from tests.server.test_search import strict

CAUSE = {
    "kind": "UserError",
    "summary": "ValueError: bad shape",
    "rank": 1,
    "node": 0,
    "fault": "",
    "traceback": "x" * 1000,
}


class TestHome:
    def test_an_empty_workspace(self, api):
        found = strict(api.owner.get("/home"))
        v.Home.model_validate(found)
        assert found["running"] == found["waiting"] == found["failed"] == found["ended"] == []
        assert [one["name"] for one in found["compute"]] == ["local"]
        assert 0 < found["disk"]["free_bytes"] <= found["disk"]["total_bytes"]
        assert found["disk"]["database_bytes"] > 0

    def test_what_runs_what_waits_and_why_what_failed_and_why(self, api):
        for i in range(6):
            api.run(f"run-{i}", node_count=1)
        for i in (2, 3):
            api.record.runs.advance(f"run-{i}", status=RunStatus.RUNNING)
        # The later one to end was made first.
        api.record.runs.advance("run-5", status=RunStatus.FAILED, error=CAUSE)
        api.record.runs.advance("run-4", status=RunStatus.FAILED, error=CAUSE)
        api.run("child", kind="child", parent_id="run-2")
        found = strict(api.owner.get("/home"))
        v.Home.model_validate(found)
        assert [run["id"] for run in found["running"]] == ["run-3", "run-2"]
        assert [(run["id"], run["reason"]) for run in found["waiting"]] == [
            ("run-0", "waiting for an agent"),
            ("run-1", "waiting for an agent"),
        ]
        assert [run["id"] for run in found["failed"]] == ["run-4", "run-5"]
        assert found["failed"][0]["cause"] == {
            "kind": "UserError", "summary": "ValueError: bad shape", "rank": 1, "node": 0, "fault": "",
        }  # fmt: skip
        assert found["running"][1]["num_children"] == 1
        assert found["running"][0]["duration_s"] >= 0
        assert found["waiting"][0]["duration_s"] is None
        assert found["counts"]["Failed"] == 2

    def test_children_are_told_by_their_parents(self, api):
        """What ended has no steps in it; what failed has those only whose parent did not."""
        for parent, status in (("pipeline", RunStatus.FAILED), ("tuning", RunStatus.COMPLETED)):
            api.run(parent)
            api.run(f"{parent}-child", parent_id=parent)
            api.record.runs.advance(f"{parent}-child", status=RunStatus.FAILED, error=CAUSE)
            api.record.runs.advance(parent, status=status, error=CAUSE if status is RunStatus.FAILED else None)
        found = strict(api.owner.get("/home"))
        assert [run["id"] for run in found["ended"]] == ["tuning", "pipeline"]
        assert [run["id"] for run in found["failed"]] == ["tuning-child", "pipeline"]

    def test_more_than_is_shown_is_said(self, api):
        for i in range(3):
            api.run(f"run-{i}")
        found = strict(api.owner.get("/home?limit=2"))
        assert len(found["waiting"]) == 2
        assert found["more"] == {"running": False, "waiting": True}

    def test_what_is_wrong_is_refused(self, api):
        assert api.owner.get("/home?limit=0").status_code == 400
        assert api.owner.get("/home?limit=51").status_code == 400


class TestQueue:
    def test_the_line_of_a_target(self, api):
        api.owner.post("/compute", json={"name": "pool", "spec": {"max_nodes": 2}})
        for i in range(3):
            api.run(f"run-{i}", compute="pool")
        api.run("elsewhere")
        api.record.runs.advance("run-0", status=RunStatus.RUNNING)
        found = strict(api.owner.get("/compute/pool/queue"))
        v.Queue.model_validate(found)
        assert [run["id"] for run in found["running"]] == ["run-0"]
        assert [(run["id"], run["place"]) for run in found["waiting"]] == [("run-1", 1), ("run-2", 2)]
        assert api.owner.get("/compute/nothing/queue").status_code == 404
