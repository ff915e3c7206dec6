import math

import pytest

from tests.cli.fake import DRIVER, EARLY, LATE, make_run

CAUSE = {
    "kind": "UserError",
    "summary": "The script raised ValueError.",
    "attempt": 1,
    "node": 0,
    "rank": 0,
    "exit_code": 3,
    "signal": None,
    "exception": "ValueError: bad shape",
    "traceback": "Traceback (most recent call last):\nValueError: bad shape",
    "last_lines": [],
    "log": DRIVER,
    "advice": ["Look at the shapes."],
}


@pytest.fixture
def failed(keeper):
    run = keeper.add(
        make_run(
            "birds_2_bbbb",
            "Failed",
            error=CAUSE,
            display_name="night run",
            tags={"stage": "test", "bare": None},
            warnings=["a metric was refused"],
            properties={
                "azureml.git.branch": "main",
                "azureml.git.commit": "c0ffee",
                "azureml.git.dirty": "True",
                "mine": "1",
            },
        ),
        log=b"hello\n",
        artifacts={"outputs/model.pt": b"x" * 2048},
    )
    keeper.metrics[run["id"]] = [
        {"name": "loss", "kind": "scalar", "values": [3.0, 2.0, math.nan, 1.0], "steps": None, "times": []},
        {"name": "sizes", "kind": "row", "rows": 2, "columns": {"a": [1, 2], "b": [None, 4]}},
        {"name": "picture", "kind": "image", "items": [{"artifact": "picture_1.png"}]},
    ]
    return keeper


class TestShow:
    @pytest.mark.parametrize("columns", [None, 100, 60, 40])
    def test_everything_on_one_screen(self, cli, failed, columns):
        said = cli("show", "night run", columns=columns)
        for part in (
            "birds_2_bbbb",
            "night run",
            "Failed",
            "7.2s",
            "python train.py --lr 0.1",
            "local",
            "ab" * 8,
            "c0ffee",
            "uncommitted",
            "stage=test",
            "mine=1",
            "loss",
            "outputs/model.pt",
            DRIVER,
            "ValueError: bad shape",
            "Look at the shapes.",
            "refused",
        ):
            assert part in said.out.replace("\n" + " " * 14, " "), part
        assert said.code == 0

    def test_metrics_show_last_extremes_and_course(self, cli, failed):
        out = cli("show", "birds_2").out
        assert next(line for line in out.splitlines() if line.split()[:1] == ["loss"]).split() == [
            "loss",
            "1",
            "1",
            "3",
            "4",
            "█▅▁",
        ]
        assert "sizes.b" in out
        assert "picture_1.png" in out

    def test_json_is_strict_though_a_metric_is_nan(self, cli, failed):
        data = cli("--json", "show", "@last").json
        assert data["metrics"][0]["values"] == [3.0, 2.0, "NaN", 1.0]
        assert data["artifacts"][0]["name"] == "outputs/model.pt"
        assert data["error"]["exit_code"] == 3

    def test_a_waiting_run_says_why(self, cli, keeper):
        keeper.add(make_run("r1", "Queued", reason="pool is full", started_utc=None))
        assert "pool is full" in cli("show", "r1").out

    def test_unknown_run(self, cli, failed):
        said = cli("show", "birds_9")
        assert said.code == 1
        assert said.err.startswith("error: There is no run 'birds_9'.")
        assert said.out == ""


class TestAttempts:
    def test_each_is_shown_with_its_cause_and_ranks(self, cli, keeper):
        cause = {"kind": "Preempted", "summary": "Node 'spot-0' was preempted."}
        ranks = [{"rank": 0, "exit_code": 0, "signal": None}, {"rank": 1, "exit_code": None, "signal": "SIGKILL"}]
        first, second = (
            {"attempt": n, "started_utc": EARLY, "ended_utc": LATE, "result": result, "cause": why, "nodes": nodes}
            for n, result, why, nodes in (
                (1, "lost", cause, [{"id": "spot-0", "result": "lost", "ranks": ranks}]),
                (2, "failed", None, [{"id": "spot-1", "result": "failed", "ranks": ranks}]),
            )
        )
        keeper.add(make_run("birds_3_cccc", attempts=[first, second]))
        shown = cli("show", "birds_3").out
        assert "Node 'spot-0' was preempted." in shown
        assert "0: exit 0, 1: SIGKILL" in shown
        assert "spot-1" in shown

    def test_a_single_attempt_that_went_well_is_no_news(self, cli, keeper):
        ranks = [{"rank": 0, "exit_code": 0, "signal": None}]
        note = {"attempt": 1, "started_utc": EARLY, "ended_utc": LATE, "result": "completed", "cause": None}
        keeper.add(
            make_run("birds_4_dddd", attempts=[{**note, "nodes": [{"id": "l", "result": "completed", "ranks": ranks}]}])
        )
        shown = cli("show", "birds_4").out
        assert "Attempts" not in shown
        assert "Nodes" not in shown
