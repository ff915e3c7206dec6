"""What trackers add: external runs, parameters, latest values, searches."""

from __future__ import annotations

import math

import pytest

from rookery.errors import ConflictError, RunNotFoundError
from rookery.record.metric_values import chunk_of_values
from rookery.record.search import Condition, Order
from rookery.spec.run import RunKind, RunSpec
from rookery.spec.status import RunStatus


@pytest.fixture
def experiment(record):
    return record.experiments.create("free name / ü")["id"]


def begin(record, run_id, began_ms=None, **more):
    record.external.create(
        RunSpec(run_id, "free name / ü", kind=RunKind.EXTERNAL, compute="external", **more), "me", began_ms
    )
    return run_id


def chunk(*rows):
    return chunk_of_values([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows])


class TestExternal:
    def test_its_status_is_what_its_client_says_and_can_be_taken_back(self, record, experiment):
        begin(record, "r", 1_700_000_000_000)
        assert record.runs.get("r")["started_utc"] == "2023-11-14T22:13:20.000000Z"
        assert record.external.report("r", RunStatus.COMPLETED, 1_700_000_001_000)
        assert record.runs.get("r")["ended_utc"] == "2023-11-14T22:13:21.000000Z"
        assert record.external.report("r", RunStatus.RUNNING)
        run = record.runs.get("r")
        assert (run["status"], run["ended_utc"]) == ("Running", None)
        assert record.external.report("r", RunStatus.FAILED)
        assert record.runs.get("r")["status"] == "Failed"

    def test_the_controller_has_nothing_to_do_with_it(self, record, experiment):
        begin(record, "r")
        assert record.runs.live() == []

    def test_the_status_of_a_submitted_run_is_not_theirs(self, record):
        record.runs.create(RunSpec("s", "e", script="x.py"), "me")
        assert record.external.report("s", RunStatus.COMPLETED) is False
        assert record.runs.get("s")["status"] == "NotStarted"
        record.external.log("s", params={"a": "1"})
        assert record.runs.get("s")["params"] == {"a": "1"}

    def test_it_is_stale_when_nothing_comes(self, record, experiment):
        begin(record, "r")
        assert record.runs.get("r")["stale"] is False
        assert record.external.is_expected(60)
        with record.database.write() as tx:
            tx.conn.exec_driver_sql("UPDATE runs SET heard_utc = '2023-11-14T22:13:20.000000Z'")
        assert record.runs.get("r")["stale"] is True
        assert not record.external.is_expected(60)
        record.external.report("r", RunStatus.COMPLETED)
        assert record.runs.get("r")["stale"] is False

    def test_deleted_it_is_out_of_sight_and_takes_nothing(self, record, experiment):
        from rookery.record import RunFilter

        begin(record, "r")
        record.external.delete("r")
        assert record.runs.page(RunFilter())[0] == []
        with pytest.raises(ConflictError, match="deleted"):
            record.external.log("r", params={"a": "1"})
        record.external.delete("r", restore=True)
        assert [run["id"] for run in record.runs.page(RunFilter())[0]] == ["r"]

    def test_a_live_submitted_run_is_not_deleted(self, record):
        record.runs.create(RunSpec("s", "e", script="x.py"), "me")
        with pytest.raises(ConflictError, match="Stop it"):
            record.external.delete("s")

    def test_all_or_nothing(self, record, experiment):
        begin(record, "r")
        record.external.log("r", params={"a": "1"})
        with pytest.raises(ConflictError) as error:
            record.external.log(
                "r", params={"b": "2", "a": "3"}, tags={"t": "v"}, metrics=[("m", chunk((1.0, 0, 1.0)))]
            )
        assert error.value.details == {"key": "a", "value": "1", "given": "3"}
        run = record.runs.get("r")
        assert (run["params"], run["tags"]) == ({"a": "1"}, {})
        assert record.metrics.get("r") == []

    def test_no_such_run(self, record):
        with pytest.raises(RunNotFoundError):
            record.external.log("nope", params={"a": "1"})


class TestLatest:
    def test_the_largest_step_then_time_then_value(self, record, experiment):
        begin(record, "r")
        for rows in (((1.0, 5, 10.0),), ((2.0, 3, 20.0), (3.0, 5, 5.0)), ((4.0, 4, 10.0),)):
            record.external.log("r", metrics=[("m", chunk(*rows))])
        (latest,) = record.metrics.latest(["r"])["r"]
        assert (latest["value"], latest["step"]) == (1.0, 5)
        record.external.log("r", metrics=[("m", chunk((7.0, 5, 10.0), (6.0, 5, 10.0)))])
        assert record.metrics.latest(["r"])["r"][0]["value"] == 7.0

    def test_nan_and_texts(self, record, experiment):
        begin(record, "r")
        record.external.log("r", metrics=[("m", chunk((math.nan, 0, 1.0)))])
        record.journals.apply_loose("r", [["m", None, "word", "text", None, 1.0], ["m", None, "flag", True, None, 1.0]])
        latest = {m["name"]: m["value"] for m in record.metrics.latest(["r"])["r"]}
        assert math.isnan(latest["m"])
        assert latest["flag"] == 1.0
        assert "word" not in latest

    def test_values_without_steps_are_counted(self, record, experiment):
        begin(record, "r")
        for value in (1, 2, 3):
            record.journals.apply_loose("r", [["m", None, "m", value, None, float(value)]])
        (latest,) = record.metrics.latest(["r"])["r"]
        assert (latest["value"], latest["step"]) == (3.0, 2)


class TestSearch:
    @pytest.fixture
    def runs(self, record, experiment):
        for i, name in enumerate("abc"):
            begin(record, name, 1000 + i, display_name=name.upper(), tags={"half": "Low" if i < 2 else "high"})
            record.external.log(
                name, params={"p": f"v{i}", "long": "x" * 5000 + name}, metrics=[("m", chunk((float(i), 0, 1.0)))]
            )
        return experiment

    @pytest.mark.parametrize(
        ("condition", "names"),
        [
            (Condition("metric", "m", ">=", 1), "cb"),
            (Condition("param", "p", "=", "v1"), "b"),
            (Condition("param", "long", "=", "x" * 5000 + "a"), "a"),
            (Condition("param", "p", "LIKE", "v_"), "cba"),
            (Condition("param", "p", "LIKE", "V_"), ""),
            (Condition("tag", "half", "ILIKE", "l%"), "ba"),
            (Condition("tag", "half", "!=", "Low"), "c"),
            (Condition("tag", "none", "IS NULL"), "cba"),
            (Condition("attribute", "id", "NOT IN", ["a"]), "cb"),
            (Condition("attribute", "began_ms", "<", 1002), "ba"),
        ],
    )
    def test_conditions(self, record, runs, condition, names):
        assert "".join(r["id"] for r in record.search.runs([runs], [condition])[0]) == names

    def test_order_pages_and_what_a_run_shows(self, record, runs):
        found, more = record.search.runs([runs], order=[Order("metric", "m")], limit=2)
        assert [r["id"] for r in found] == ["a", "b"]
        assert more
        assert found[0]["params"]["p"] == "v0"
        assert found[0]["metrics"][0]["name"] == "m"
        rest, more = record.search.runs([runs], order=[Order("metric", "m")], limit=2, offset=2)
        assert ([r["id"] for r in rest], more) == (["c"], False)
        assert record.search.one("nope") is None

    def test_the_newest_page_is_read_from_an_index(self, record, runs):
        """A page of very many runs must not sort them all."""
        from sqlalchemy import select

        from rookery.record.schema import experiments
        from rookery.record.schema import runs as table

        query = (
            select(table.c.id)
            .join_from(table, experiments)
            .where(table.c.experiment_id == runs, table.c.deleted_utc.is_(None))
            .order_by(table.c.began_ms.desc(), table.c.seq.desc())
        )
        with record.database.read() as conn:
            text = str(query.compile(dialect=conn.dialect, compile_kwargs={"literal_binds": True}))
            if conn.dialect.name == "sqlite":
                plan = " ".join(row[3] for row in conn.exec_driver_sql("EXPLAIN QUERY PLAN " + text))
            else:
                # With three rows it would rather read them all: what is asked is whether it could go by the index.
                for way in ("seqscan", "bitmapscan", "sort"):
                    conn.exec_driver_sql(f"SET LOCAL enable_{way} = off")
                plan = " ".join(row[0] for row in conn.exec_driver_sql("EXPLAIN " + text))
        assert "ix_runs_experiment_id_began_ms_seq" in plan
        assert "TEMP B-TREE" not in plan
        assert "Sort" not in plan


class TestRegistry:
    def test_names_aliases_and_versions(self, record):
        record.model_names.create("a name", "words", {"k": "v"})
        record.models.register({"name": "a name", "source": "s3://elsewhere", "entries": []}, "me")
        record.model_names.set_alias("a name", "best", 1)
        assert record.models.get("a name", 1)["aliases"] == ["best"]
        renamed = record.model_names.rename("a name", "another")
        assert (renamed["aliases"], renamed["tags"]) == ({"best": 1}, {"k": "v"})
        assert record.models.get("another", 1)["source"] == "s3://elsewhere"
        record.models.delete("another", 1)
        assert record.model_names.get("another")["aliases"] == {}
        record.model_names.delete("another")
        assert record.model_names.list() == []
