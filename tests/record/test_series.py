"""Series for charts: ranges, peaks that stay, gaps, small ones for tables; on both databases."""

from __future__ import annotations

import math
import random

import pytest

from rookery.errors import RunNotFoundError, UserError
from rookery.record.metric_values import chunk_of_values


@pytest.fixture
def log(record, make_run):
    make_run()

    def write(name, values, steps=None, start=0.0, run_id="run-1"):
        times = [start + i for i in range(len(values))]
        record.external.log(run_id, metrics=[(name, chunk_of_values(values, steps, times))])

    return write


@pytest.fixture
def log_as(record, log):
    """As a journal of that rank does."""
    offsets: dict[int, int] = {}

    def write(rank, name, values, steps=None):
        start = offsets.get(rank, 0)
        records = [["m", None, name, value, steps[i] if steps else None, 1.7e9 + i] for i, value in enumerate(values)]
        offsets[rank] = record.journals.apply("run-1", 1, 0, f"{rank}.jnl", start, start + 1, [], records, rank=rank)

    return write


def one(record, name="loss", **more):
    (found,) = record.series.get(["run-1"], [name], **more)
    return found


class TestSeries:
    def test_few_values_come_as_they_are(self, record, log):
        log("loss", [3.0, 2.0, 1.0], [10, 20, 30], start=100.0)
        assert one(record) == {
            "run": "run-1", "name": "loss", "kind": "scalar", "x": "step", "total": 3, "xs": [10, 20, 30], "ys": [3.0, 2.0, 1.0],
            "in_range": 3, "sampled": False, "holes": 0, "low": 1.0, "high": 3.0,
        }  # fmt: skip
        assert one(record, axis="time")["xs"] == [100.0, 101.0, 102.0]
        assert one(record, axis="index")["xs"] == [0, 1, 2]

    def test_many_values_keep_their_peaks(self, record, log):
        chance = random.Random(7)
        values = [math.sin(i / 5000) + chance.gauss(0, 0.01) for i in range(60_000)]
        values[31_234], values[47_001] = 99.0, -99.0
        for start in range(0, 60_000, 20_000):
            log("loss", values[start : start + 20_000], list(range(start, start + 20_000)))
        found = one(record, points=500)
        assert found["sampled"]
        assert found["in_range"] == found["total"] == 60_000
        assert 250 <= len(found["xs"]) <= 502
        assert found["xs"] == sorted(found["xs"])
        assert (found["xs"][0], found["xs"][-1]) == (0, 59_999)
        shown = dict(zip(found["xs"], found["ys"]))
        assert shown[31_234] == found["high"] == 99.0
        assert shown[47_001] == found["low"] == -99.0
        assert all(values[int(x)] == y for x, y in shown.items())

    def test_a_range_is_looked_at_closer(self, record, log):
        log("loss", [float(i) for i in range(10_000)], list(range(10_000)))
        found = one(record, points=100, low=200, high=259)
        assert (found["in_range"], found["sampled"]) == (60, False)
        assert found["xs"] == list(range(200, 260))
        assert one(record, low=20_000)["xs"] == []
        assert one(record, low=5, high=3)["xs"] == []

    def test_what_is_not_finite_is_a_gap(self, record, log):
        log("loss", [1.0, math.nan, math.inf, 4.0], [1, 2, 3, 4])
        found = one(record)
        assert found["ys"] == [1.0, None, None, 4.0]
        assert (found["holes"], found["low"], found["high"]) == (2, 1.0, 4.0)
        log("gaps", [math.nan] * 1000, list(range(1000)))
        found = one(record, "gaps", points=10)
        assert set(found["ys"]) == {None}
        assert (found["holes"], found["low"]) == (1000, None)

    def test_steps_that_go_back_are_put_in_order(self, record, log):
        log("loss", [1.0, 2.0, 3.0, 4.0], [5, 1, 3, 1])
        found = one(record)
        assert (found["xs"], found["ys"]) == ([1, 1, 3, 5], [2.0, 4.0, 3.0, 1.0])

    def test_values_without_steps_count(self, record, log):
        log("loss", [1, 2])
        log("loss", [3.5])
        found = one(record)
        assert (found["xs"], found["ys"]) == ([0, 1, 2], [1.0, 2.0, 3.5])

    def test_texts_are_no_points(self, record, log):
        log("loss", [1.0, "two", 3, None, 10**400], [0, 1, 2, 3, 4])
        assert one(record)["xs"] == [0, 2, 4]
        assert one(record)["ys"] == [1.0, 3.0, None]

    def test_several_runs(self, record, log, make_run):
        make_run("run-2")
        log("loss", [1.0], [0])
        log("loss", [2.0], [0], run_id="run-2")
        found = record.series.get(["run-2", "run-1", "run-2"], ["loss", "acc"])
        assert [(s["run"], s["ys"]) for s in found] == [("run-2", [2.0]), ("run-1", [1.0])]

    def test_what_is_wrong_is_said(self, record, log):
        with pytest.raises(RunNotFoundError):
            record.series.get(["nobody"], ["loss"])
        with pytest.raises(UserError, match="index"):
            record.series.get(["run-1"], ["loss"], axis="colour")

    def test_lines_of_everything(self, record, log):
        log("loss", [1.0, 2.0], [5, 6], start=10.0)
        log("acc", ["high"])
        assert list(record.series.lines("run-1")) == [
            ("loss", 5, 10.0, 1.0, None),
            ("loss", 6, 11.0, 2.0, None),
            ("acc", None, 0.0, "high", None),
        ]
        assert [line[0] for line in record.series.lines("run-1", "acc")] == ["acc"]

    def test_names(self, record, log):
        log("loss", [1.0, math.nan], [5, 6])
        log("words", ["a", "b"])
        loss, words = record.series.names("run-1")
        assert (loss["name"], loss["total"], loss["last_step"]) == ("loss", 2, 6)
        assert math.isnan(loss["last"])
        assert words["last"] == "b"


class TestByRank:
    def test_each_rank_has_its_curve_and_the_plain_one_has_all(self, record, log_as):
        for turn in range(3):
            for rank in (0, 1, 10):
                log_as(rank, "loss", [float(10 * rank + turn)], [turn])
        found = record.series.get(["run-1"], ["loss"], by_rank=True)
        assert [(s["rank"], s["ranks"], s["total"], s["xs"], s["ys"]) for s in found] == [
            (0, 3, 3, [0, 1, 2], [0.0, 1.0, 2.0]),
            (1, 3, 3, [0, 1, 2], [10.0, 11.0, 12.0]),
            (10, 3, 3, [0, 1, 2], [100.0, 101.0, 102.0]),
        ]
        plain = one(record)
        assert plain["total"] == 9
        assert "rank" not in plain
        assert sorted(plain["ys"]) == sorted(y for s in found for y in s["ys"])
        (tenth,) = record.series.get(["run-1"], ["loss"], ranks=[10])
        assert tenth["ys"] == [100.0, 101.0, 102.0]
        assert record.series.get(["run-1"], ["loss"], ranks=[7]) == []

    def test_values_without_steps_count_within_their_rank(self, record, log_as):
        log_as(1, "loss", [1, 2])
        log_as(0, "loss", [3])
        log_as(1, "loss", [4.5])
        found = record.series.get(["run-1"], ["loss"], by_rank=True)
        assert [(s["rank"], s["xs"], s["ys"]) for s in found] == [(0, [0], [3.0]), (1, [0, 1, 2], [1.0, 2.0, 4.5])]
        assert [s["xs"] for s in record.series.get(["run-1"], ["loss"], by_rank=True, axis="index")] == [[0], [0, 1, 2]]

    def test_texts_among_them(self, record, log_as):
        log_as(0, "loss", ["a", 1.0], [0, 1])
        log_as(1, "loss", [2.0, None], [0, 1])
        found = record.series.get(["run-1"], ["loss"], by_rank=True)
        assert [(s["rank"], s["xs"], s["ys"]) for s in found] == [(0, [1], [1.0]), (1, [0], [2.0])]

    def test_only_what_several_logged_is_said_to_be_by_rank(self, record, log, log_as):
        log("alone", [1.0, 2.0])
        log_as(0, "chief", [1.0])
        log_as(0, "chief", [2.0])
        log_as(0, "all", [1.0])
        log_as(1, "all", [2.0])
        assert {m["name"]: m["by_rank"] for m in record.series.names("run-1")} == {
            "alone": False, "chief": False, "all": True,
        }  # fmt: skip
        (alone,) = record.series.get(["run-1"], ["alone"], by_rank=True)
        assert (alone["rank"], alone["ranks"]) == (None, 1)

    def test_a_keeper_that_starts_anew_goes_on_with_the_block(self, record, log, log_as):
        log("loss", [0.5], [0])  # as it was before anybody said whose it is
        log_as(3, "loss", [1.5], [1])
        with record.database.write() as tx:
            tx.memory.forget_all()
        log_as(3, "loss", [2.5], [2])
        found = record.series.get(["run-1"], ["loss"], by_rank=True)
        assert [(s["rank"], s["ys"]) for s in found] == [(3, [1.5, 2.5]), (None, [0.5])]
        with record.database.read() as conn:
            (count,) = conn.exec_driver_sql("SELECT count(*) FROM metric_blocks").one()
        assert count == 1

    def test_ranks_that_take_turns_fill_blocks_together(self, record, log_as):
        for turn in range(100):
            for rank in range(4):
                log_as(rank, "loss", [float(turn)], [turn])
        with record.database.read() as conn:
            (count,) = conn.exec_driver_sql("SELECT count(*) FROM metric_blocks").one()
        assert count <= 4  # not one for each value
        assert [s["total"] for s in record.series.get(["run-1"], ["loss"], by_rank=True)] == [100] * 4

    def test_lines_tell_it(self, record, log_as):
        log_as(1, "loss", [1.0], [5])
        assert [line[4] for line in record.series.lines("run-1")] == [1]

    def test_no_more_than_a_page_can_draw(self, record, log_as):
        for rank in range(70):
            log_as(rank, "loss", [1.0], [0])
        found = record.series.get(["run-1"], ["loss"], by_rank=True)
        assert [s["rank"] for s in found] == list(range(64))
        assert found[0]["ranks"] == 70

    def test_a_rank_that_is_none_is_refused(self, record, make_run):
        make_run()
        with pytest.raises(UserError, match="rank -1"):
            record.journals.apply("run-1", 1, 0, "j", 0, 1, [], [], rank=-1)


class TestSparklines:
    def test_short_ones_are_made_from_all(self, record, log):
        log("loss", [float(i) for i in range(1000)], list(range(1000)))
        found = record.series.sparklines(["run-1"], ["loss"], 40)["run-1"]["loss"]
        assert 20 <= len(found["x"]) <= 42
        assert found["x"] == found["y"]

    @pytest.mark.parametrize("blocks", [1, 7, 90])
    def test_long_ones_are_spread_evenly_and_not_read(self, record, log, blocks):
        size = 9000 // blocks
        for number in range(blocks):
            steps = list(range(number * size, (number + 1) * size))
            # Of another type each time, so that every batch is a block of its own.
            log("loss", [float(s) if number % 2 else s for s in steps], steps)
        found = record.series.sparklines(["run-1"], ["loss"], 40)["run-1"]["loss"]
        assert 20 <= len(found["x"]) <= 41
        assert found["x"] == found["y"]
        assert found["x"][-1] == blocks * size - 1
        gaps = [b - a for a, b in zip(found["x"], found["x"][1:])]
        assert max(gaps) <= 4 * 9000 / 20

    def test_what_is_not_there_is_left_out(self, record, log):
        log("words", ["a"] * 10)
        assert record.series.sparklines(["run-1", "nobody"], ["loss"], 40) == {}
