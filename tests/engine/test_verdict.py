"""Which node's end is the reason, once all have ended."""

from __future__ import annotations

from rookery.engine.outcome import Outcome
from rookery.engine.verdict import deciding_outcome


def failed(rank, time, collateral=False, result="failed"):
    return Outcome(
        result, {"kind": "UserError", "rank": rank, "time": time, "collateral": collateral, "summary": f"r{rank}"}
    )


class TestDecidingOutcome:
    def test_the_only_one(self):
        bad = failed(1, 5.0)
        assert deciding_outcome([bad, Outcome("canceled")], 0) is bad

    def test_a_lost_peer_that_reported_first_does_not_decide(self):
        assert deciding_outcome([failed(0, 5.0, collateral=True), failed(3, 5.1)], 0).cause["rank"] == 3

    def test_the_earliest_error_decides(self):
        assert deciding_outcome([failed(0, 6.0), failed(3, 5.0)], 0).cause["rank"] == 3

    def test_a_node_that_was_stopped_may_have_been_the_first(self):
        found = deciding_outcome([failed(0, 5.0, collateral=True), failed(2, 4.9, result="canceled")], 0)
        assert (found.result, found.cause["rank"]) == ("failed", 2)

    def test_a_lost_node_comes_before_those_that_lost_it(self):
        lost = Outcome("lost", {"kind": "NodeLost", "summary": "gone"})
        assert deciding_outcome([failed(0, 5.0, collateral=True), lost], 0) is lost
        assert deciding_outcome([lost, failed(2, 5.0)], 0) is lost

    def test_ranks_that_ended_well_left_the_others_alone(self):
        done = Outcome("completed", None, ({"rank": 2, "exit_code": 0, "signal": None},))
        found = deciding_outcome([failed(0, 5.0, collateral=True), done], 0)
        assert (found.result, found.cause["rank"], found.cause["fault"]) == ("failed", 2, "different_code_paths")

    def test_without_causes_the_first_report_decides(self):
        assert deciding_outcome([Outcome("canceled"), Outcome("completed")], 0) == Outcome("canceled")
