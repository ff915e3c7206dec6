from __future__ import annotations

import base64
import itertools
import math
from array import array

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.errors import ConflictError, UserError
from rookery.record.metric_batch import TAIL_VALUES

T = 1700000000.5
NUMBERS = itertools.count()


def b64(dtype, values):
    return base64.b64encode(array(dtype, values).tobytes()).decode()


def block(name, values, dtype="d", steps=None, run=None):
    packed = list(values) if dtype == "j" else b64(dtype, values)
    return {
        "run": run,
        "name": name,
        "n": len(values),
        "dtype": dtype,
        "values": packed,
        "steps": None if steps is None else b64("q", steps),
        "times": b64("d", [T] * len(values)),
    }


class TestJournal:
    def test_exactly_once(self, record, make_run):
        make_run()
        assert record.journals.apply("run-1", 1, 0, "j", 0, 10, [block("loss", [1.0])], [["g", None, {"a": "b"}]]) == 10
        assert record.journals.apply("run-1", 1, 0, "j", 0, 10, [block("loss", [1.0])], [["g", None, {"a": "b"}]]) == 10
        assert record.journals.apply("run-1", 1, 0, "j", 0, 5, [block("loss", [1.0])], []) == 10
        with pytest.raises(ConflictError) as gap:
            record.journals.apply("run-1", 1, 0, "j", 20, 30, [block("loss", [9.0])], [])
        assert gap.value.details == {"offset": 10}
        with pytest.raises(ConflictError):
            record.journals.apply("run-1", 1, 0, "j", 5, 30, [block("loss", [9.0])], [])
        assert record.journals.apply("run-1", 1, 0, "j", 10, 20, [block("loss", [2.0])], []) == 20
        assert record.metrics.get("run-1")[0]["values"] == [1.0, 2.0]
        assert record.journals.offsets("run-1", 1, 0) == {"j": 20}
        assert record.journals.offsets("run-1", 2, 0) == {}

    def test_children_made_in_the_same_batch(self, record, make_run):
        make_run()
        records = [
            ["c", "kid", None, "fold 1", {"fold": "1"}, T],
            ["c", "grandkid", "kid", "inner", {}, T],
            ["m", "grandkid", "acc", 0.5, None, T],
            ["s", "kid", "Completed", None],
        ]
        record.journals.apply("run-1", 1, 0, "j", 0, 10, [block("loss", [1.0, 2.0], run="kid")], records)
        assert record.metrics.get("kid")[0]["values"] == [1.0, 2.0]
        assert record.metrics.get("grandkid")[0]["values"] == [0.5]
        kid = record.runs.get("kid")
        assert (kid["status"], kid["display_name"], kid["tags"], kid["parent_id"]) == (
            "Completed",
            "fold 1",
            {"fold": "1"},
            "run-1",
        )

    def test_bad_records_are_warnings_and_do_not_stop_the_others(self, record, make_run):
        make_run(properties={"p": "1"})
        make_run("stranger")
        bad = [
            ["zz", None], "not a list", [], ["m", None, "x"], ["m", "stranger", "loss", 1.0, None, T], ["m", 7, "loss", 1.0, None, T],
            ["m", None, "n" * 1025, 1.0, None, T], ["m", None, "loss", {"no": "scalar"}, None, T], ["p", None, {"p": "2"}],
            ["s", None, "Exploded", None], ["c", "../../x", None, "n", {}, T], ["t", None, "t", {"a": 1}, T], ["d", None, "d", "movie", {}, T],
            ["m", None, "loss", 1.0, 2**70, T], ["m", None, "loss", 1.0, None, "soon"],
        ]  # fmt: skip
        blocks = [
            block("ok", [1.0]),
            {**block("bad", [1.0]), "n": 2},
            {**block("bad", [1.0]), "values": "@@"},
            {**block("b", [1.0]), "dtype": "x"},
            3,
        ]
        record.journals.apply("run-1", 1, 0, "j", 0, 10, blocks, [*bad, ["m", None, "good", 1, None, T]])
        assert {m["name"] for m in record.metrics.get("run-1")} == {"ok", "good"}
        assert record.metrics.get("stranger") == []
        warnings = record.runs.get("run-1")["warnings"]
        assert len(warnings) == len(bad) - 1 + 4  # two of them say the same
        assert record.runs.get("run-1")["properties"] == {"p": "1"}

    def test_in_run_fail_records_the_error_without_the_status(self, record, make_run):
        make_run()
        record.journals.apply(
            "run-1",
            1,
            0,
            "j",
            0,
            1,
            [],
            [["s", None, "Failed", {"message": "no data", "code": "E1"}], ["s", None, "Completed", None]],
        )
        run = record.runs.get("run-1")
        assert run["status"] == "NotStarted"
        assert run["error"]["summary"] == "no data"
        assert run["error"]["exception"] == "E1"

    def test_loose_records_are_all_well_formed_or_none_is_stored(self, record, make_run):
        make_run()
        with pytest.raises(UserError, match="Record 1"):
            record.journals.apply_loose("run-1", [["m", None, "a", 1, None, T], ["m", None]])
        assert record.metrics.get("run-1") == []
        record.journals.apply_loose("run-1", [["m", None, "a", 1, None, T]])
        assert record.metrics.get("run-1")[0]["values"] == [1]


class TestShapes:
    def test_kinds(self, record, make_run):
        make_run()
        records = [
            ["m", None, "loss", 1, None, T], ["m", None, "loss", 2.5, 7, T], ["m", None, "loss", "text", None, T], ["m", None, "loss", None, None, T],
            ["l", None, "lst", [1, 2], T], ["l", None, "lst", [3.5, True], T],
            ["r", None, "row", {"x": 1}, T], ["r", None, "row", {"y": "b"}, T],
            ["t", None, "tab", {"a": [1, 2], "b": [3]}, T], ["t", None, "tab", {"c": [9]}, T],
            ["d", None, "img", "image", {"artifact": "a.png"}, T], ["d", None, "cm", "confusion_matrix", {"data": {}}, T],
        ]  # fmt: skip
        record.journals.apply_loose("run-1", records)
        found = {m["name"]: m for m in record.metrics.get("run-1")}
        assert list(found) == ["loss", "lst", "row", "tab", "img", "cm"]
        assert found["loss"]["values"] == [1, 2.5, "text", None]
        assert found["loss"]["steps"] == [None, 7, None, None]
        assert found["loss"]["times"] == [T] * 4
        assert found["lst"]["values"] == [1, 2, 3.5, True]
        assert found["lst"]["steps"] is None
        assert found["row"] == {
            "name": "row",
            "kind": "row",
            "rows": 2,
            "columns": {"x": [1, None], "y": [None, "b"]},
        }
        assert found["tab"]["rows"] == 3
        assert found["tab"]["columns"] == {"a": [1, 2, None], "b": [3, None, None], "c": [None, None, 9]}
        assert found["img"]["items"] == [{"artifact": "a.png"}]
        assert [m["name"] for m in record.metrics.get("run-1", "row")] == ["row"]

    def test_scalar_and_list_mix_others_are_refused_with_a_warning(self, record, make_run):
        make_run()
        record.journals.apply_loose(
            "run-1", [["m", None, "x", 1, None, T], ["l", None, "x", [2], T], ["r", None, "x", {"a": 1}, T]]
        )
        record.journals.apply_loose("run-1", [["t", None, "x", {"a": [1]}, T], ["m", None, "x", 3, None, T]])
        (metric,) = record.metrics.get("run-1")
        assert (metric["kind"], metric["values"]) == ("list", [1, 2, 3])
        warnings = record.runs.get("run-1")["warnings"]
        assert len(warnings) == 2
        assert all("'x' is of kind" in w for w in warnings)

    def test_not_a_number_and_infinities_survive(self, record, make_run):
        make_run()
        record.journals.apply(
            "run-1",
            1,
            0,
            "j",
            0,
            1,
            [block("a", [math.nan, math.inf, -math.inf]), block("b", [math.nan, "s"], "j")],
            [],
        )
        a, b = record.metrics.get("run-1")
        assert math.isnan(a["values"][0])
        assert a["values"][1:] == [math.inf, -math.inf]
        assert math.isnan(b["values"][0])

    @settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.tuples(st.sampled_from("dqj"), st.booleans(), st.integers(1, 700)), min_size=1, max_size=12),
        st.booleans(),
    )
    def test_whatever_comes_in_goes_out_in_order(self, record, make_run, parts, at_once):
        name = "loss"
        run = f"run-{next(NUMBERS)}"
        make_run(run)
        values, steps, blocks, count = [], [], [], 0
        for dtype, has_steps, n in parts:
            part = [float(i) if dtype == "d" else i if dtype == "q" else str(i) for i in range(count, count + n)]
            blocks.append(block(name, part, dtype, list(range(n)) if has_steps else None))
            values += part
            steps += list(range(n)) if has_steps else [None] * n
            count += n
        if at_once:
            record.journals.apply(run, 1, 0, "j", 0, 1, blocks, [])
        else:
            for i, b in enumerate(blocks):
                record.journals.apply(run, 1, 0, "j", i, i + 1, [b], [])
        (metric,) = record.metrics.get(run)
        assert metric["values"] == values
        assert metric["steps"] == (steps if any(s is not None for s in steps) else None)
        assert len(metric["times"]) == count

    def test_blocks_not_rows(self, record, make_run):
        make_run()
        for n in range(300):
            record.journals.apply("run-1", 1, 0, "j", n, n + 1, [block("loss", [float(n)] * 10)], [])
        with record.database.read() as conn:
            (count,) = conn.exec_driver_sql("SELECT count(*) FROM metric_blocks").one()
        assert count == -(-3000 // (TAIL_VALUES // 10 * 10))
        assert len(record.metrics.get("run-1")[0]["values"]) == 3000


class TestEvents:
    def test_a_batch_is_one_event_and_the_end_leaves_one_per_metric(self, record, make_run):
        from rookery.spec.status import RunStatus

        make_run()
        for n in range(5):
            record.journals.apply("run-1", 1, 0, "j", n, n + 1, [block("loss", [1.0, float(n)])], [])
        before = [e["data"] for e in record.events.after(0, "run-1")[0] if e["kind"] == "metric"]
        assert [(e["start"], e["count"], e["last"]) for e in before] == [(2 * n, 2, float(n)) for n in range(5)]
        record.runs.advance("run-1", status=RunStatus.COMPLETED)
        after = [e["data"] for e in record.events.after(0, "run-1")[0] if e["kind"] == "metric"]
        assert after == [{"run": "run-1", "name": "loss", "kind": "scalar", "start": 0, "count": 10, "last": 4.0}]
