"""The table of runs: every filter, every order, pages that neither lose nor repeat; on both databases."""

from __future__ import annotations

import math

import pytest

from rookery.errors import UserError
from rookery.record.metric_values import chunk_of_values
from rookery.record.run_table import ARCHIVED_TAG, Columns, RunQuery
from rookery.record.search import Condition, Order
from rookery.spec.status import RunStatus

WORDS = ["0.1", "1e-3", "5", "-2", "2024-01-05", "abc", "Abc", "", None, "1e400", ".5", "1-2", "+7", "1.", "e5"]

ORDERS = [
    (),
    (Order("attribute", "created"),),
    (Order("metric", "loss"),),
    (Order("metric", "loss", False),),
    (Order("metric", "nothing"),),
    (Order("param", "lr", False),),
    (Order("tag", "word"),),
    (Order("tag", "word", False),),
    (Order("attribute", "name"),),
    (Order("attribute", "started"),),
    (Order("attribute", "duration", False),),
    (Order("attribute", "experiment"), Order("metric", "loss", False)),
    (Order("param", "lr"), Order("tag", "word"), Order("attribute", "created")),
    (Order("metric", "loss"), Order("attribute", "ended"), Order("attribute", "number")),
]
CONDITIONS = [
    (Condition("metric", "loss", "<", 1), [0, 5, 10]),
    (Condition("metric", "loss", ">=", 4), [4, 9, 14]),
    (Condition("metric", "loss", "IS NULL"), [7]),
    (Condition("metric", "nothing", "IS NOT NULL"), []),
    (Condition("param", "lr", "=", "2"), [2, 5, 8, 11, 14]),
    (Condition("param", "lr", ">", 0.5), [1, 2, 4, 5, 7, 8, 10, 11, 13, 14]),
    (Condition("tag", "word", "<", 0.5), [0, 1, 3]),
    (Condition("tag", "word", "ILIKE", "a%"), [5, 6]),
    (Condition("tag", "word", "LIKE", "a%"), [5]),
    (Condition("tag", "word", "IN", ["5", "abc"]), [2, 5]),
    (Condition("tag", "word", "IS NULL"), [8]),
    (Condition("attribute", "name", "LIKE", "Bird 0_"), list(range(10))),
    (Condition("attribute", "experiment", "=", "hens"), [1, 3, 5, 7, 9, 11, 13]),
    (Condition("attribute", "number", "<=", 2), [0, 1, 2, 3]),
    (Condition("attribute", "created", ">", "2020-01-01"), list(range(15))),
    (Condition("attribute", "created", "<", "2020-01-01T00:00:00.1234567Z"), []),
    (Condition("attribute", "ended", "IS NULL"), list(range(15))),
    (Condition("attribute", "duration", ">", 1e9), []),
]
BAD_CONDITIONS = [
    Condition("metric", "loss", "LIKE", "a"),
    Condition("metric", "loss", "<", "a"),
    Condition("metric", "loss", "<", math.nan),
    Condition("metric", "loss", "<", -math.inf),
    Condition("metric", "loss", "<", 10**400),
    Condition("tag", "word", "=", "\ud800"),
    Condition("metric", "loss", "<", True),
    Condition("param", "lr", "=", 3),
    Condition("param", "lr", "IN", []),
    Condition("attribute", "colour", "=", "red"),
    Condition("attribute", "created", "<", "yesterday"),
    Condition("dataset", "name", "=", "x"),
]


@pytest.fixture
def flock(record, make_run):
    """Fifteen runs: run i has the metric loss = i % 5 (the sixth NaN, the seventh none), the parameter lr, the tag word."""
    for i, word in enumerate(WORDS):
        make_run(f"run-{i:02d}", experiment="hens" if i % 2 else "Turkeys", display_name=f"Bird {i:02d}")
        tags = {} if word is None else {"word": word}
        values = [] if i == 7 else [("loss", chunk_of_values([math.nan if i == 6 else float(i % 5)], [1], [1.0]))]
        record.external.log(f"run-{i:02d}", metrics=values, params={"lr": str(i % 3)}, tags=tags)
    return record.table


def ids(found):
    return [run["id"] for run in found]


def walk(table, asked, limit):
    """Everything, page by page."""
    seen, cursor, pages = [], None, 0
    while True:
        page, cursor = table.page(asked, Columns((), (), ()), limit, cursor)
        seen += ids(page)
        pages += 1
        assert len(page) <= limit
        assert pages < 50
        if cursor is None:
            return seen


class TestPages:
    def test_newest_first_by_default(self, flock):
        page, cursor = flock.page(RunQuery(), limit=4)
        assert ids(page) == ["run-14", "run-13", "run-12", "run-11"]
        assert cursor is not None

    def test_a_page_has_what_its_columns_show(self, flock):
        page, _ = flock.page(RunQuery(), Columns(("loss",), (), None), limit=1)
        assert page[0]["metrics"] == {"loss": 4.0}
        assert page[0]["params"] == {}
        assert page[0]["tags"] == {"word": "e5"}

    def test_every_run_once_whatever_the_order(self, flock):
        for sort in ORDERS:
            asked = RunQuery(sort=sort)
            whole = ids(flock.page(asked, limit=100)[0])
            assert sorted(whole) == [f"run-{i:02d}" for i in range(len(WORDS))], sort
            for limit in (1, 4):
                assert walk(flock, asked, limit) == whole, sort

    def test_runs_that_come_meanwhile_shift_no_page(self, flock, make_run):
        first, cursor = flock.page(RunQuery(), limit=5)
        make_run("late")
        second, _ = flock.page(RunQuery(), limit=5, cursor=cursor)
        assert ids(first) + ids(second) == [f"run-{i:02d}" for i in range(14, 4, -1)]

    def test_a_cursor_belongs_to_its_question(self, flock):
        _, cursor = flock.page(RunQuery(), limit=5)
        with pytest.raises(UserError, match="another question"):
            flock.page(RunQuery(text="bird"), limit=5, cursor=cursor)

    def test_a_made_up_cursor_is_refused(self, flock):
        for cursor in ("", "x", "!!!", "W10", "WyJhIiwwLFsxXSwiYiJd", "bnVsbA", "A" * 5000):
            with pytest.raises(UserError, match="cursor"):
                flock.page(RunQuery(), limit=5, cursor=cursor)


class TestOrder:
    def test_what_has_no_value_comes_last_both_ways(self, flock):
        up, down = (ids(flock.page(RunQuery(sort=(Order("metric", "loss", a),)))[0]) for a in (True, False))
        assert up[-2:] == ["run-06", "run-07"]
        assert down[-2:] == ["run-06", "run-07"]
        assert up[:3] == ["run-10", "run-05", "run-00"]
        assert down[:3] == ["run-14", "run-09", "run-04"]

    def test_texts_that_are_numbers_sort_as_numbers_and_before_others(self, flock):
        found = flock.page(RunQuery(sort=(Order("tag", "word"),)))[0]
        words = [run["tags"].get("word") for run in found]
        assert words[:7] == ["-2", "1e-3", "0.1", ".5", "1.", "5", "+7"]
        assert words[7:] == ["", "1-2", "1e400", "2024-01-05", "Abc", "abc", "e5", None]

    def test_an_unknown_key_is_named(self, flock):
        with pytest.raises(UserError, match="duration"):
            flock.page(RunQuery(sort=(Order("attribute", "colour"),)))


class TestFilters:
    def test_conditions(self, flock):
        for condition, numbers in CONDITIONS:
            asked = RunQuery(where=(condition,), sort=(Order("attribute", "created"),))
            assert ids(flock.page(asked)[0]) == [f"run-{i:02d}" for i in numbers], condition
            assert flock.total(asked) == len(numbers), condition

    def test_all_conditions_must_hold(self, flock):
        asked = RunQuery(
            where=(Condition("metric", "loss", ">", 0), Condition("param", "lr", "=", "1")),
            experiments=("hens",),
            text="BIRD",
            sort=(Order("metric", "loss", False),),
        )
        assert ids(flock.page(asked)[0]) == ["run-13", "run-01"]

    def test_words(self, flock):
        for text in ("bird 03", "RUN-03", "03"):
            assert ids(flock.page(RunQuery(text=text))[0]) == ["run-03"]

    def test_words_of_a_search_are_no_pattern(self, flock):
        assert flock.page(RunQuery(text="%"))[0] == []
        assert flock.page(RunQuery(text="run_0"))[0] == []

    def test_statuses(self, flock, record):
        record.runs.advance("run-03", status=RunStatus.RUNNING)
        assert ids(flock.page(RunQuery(statuses=("Running",)))[0]) == ["run-03"]
        with pytest.raises(UserError, match="Finished"):
            flock.page(RunQuery(statuses=("Finished",)))

    def test_children_archived_and_deleted_ones(self, flock, record, make_run):
        make_run("child", kind="child", parent_id="run-03")
        record.runs.change("run-01", tags={ARCHIVED_TAG: "true"})
        record.runs.advance("run-02", status=RunStatus.CANCELED)
        record.external.delete("run-02")
        shown = ids(flock.page(RunQuery())[0])
        assert not {"child", "run-01", "run-02"} & set(shown)
        assert ids(flock.page(RunQuery(parent="run-03"))[0]) == ["child"]
        assert ids(flock.page(RunQuery(archived="only"))[0]) == ["run-01"]
        assert ids(flock.page(RunQuery(deleted=True))[0]) == ["run-02"]
        assert "child" in ids(flock.page(RunQuery(include_children=True))[0])
        parent = next(run for run in flock.page(RunQuery())[0] if run["id"] == "run-03")
        assert parent["num_children"] == 1

    def test_archived_experiments_are_out_of_sight_unless_named(self, flock, record):
        record.experiments.change("hens", archived=True)
        assert all(run["experiment"] == "Turkeys" for run in flock.page(RunQuery())[0])
        assert len(flock.page(RunQuery(experiments=("hens",)))[0]) == 7

    def test_a_bad_condition_is_refused(self, flock):
        for condition in BAD_CONDITIONS:
            with pytest.raises(UserError):
                flock.page(RunQuery(where=(condition,)))


class TestNames:
    def test_names_are_known_with_how_many_have_them(self, flock, record):
        found = record.facets.names()
        assert found["metrics"] == [{"name": "loss", "runs": 14}]
        assert found["params"] == [{"name": "lr", "runs": 15}]
        assert {"name": "word", "runs": 14} in found["tags"]
        assert found["experiments"] == [{"name": "Turkeys", "runs": 8}, {"name": "hens", "runs": 7}]
        assert found["computes"] == [{"name": "local", "runs": 15}]

    def test_names_of_an_experiment(self, flock, record):
        assert record.facets.names(["hens"])["metrics"] == [{"name": "loss", "runs": 6}]
        assert record.facets.names(["nothing"])["metrics"] == []

    def test_names_with_a_text(self, flock, record):
        assert record.facets.names(text="LO")["metrics"] == [{"name": "loss", "runs": 14}]
        assert record.facets.names(text="zz")["metrics"] == []

    def test_values(self, flock, record):
        assert record.facets.values("param", "lr") == [{"value": v, "runs": 5} for v in ("0", "1", "2")]
        assert record.facets.values("tag", "word", text="BC") == [
            {"value": "Abc", "runs": 1},
            {"value": "abc", "runs": 1},
        ]
        with pytest.raises(UserError):
            record.facets.values("metric", "loss")

    def test_runs_of_an_environment(self, flock, record):
        assert flock.of_environment("default-environment", None, 2) == ["run-14", "run-13"]
        assert flock.of_environment("default-environment", "1", 2) == []
        assert flock.of_environment("default%", None, 2) == []


class TestPlan:
    """With 100,000 runs a page must not sort them all. What SQLite says about the statements that were made, not a timing."""

    def test_first_pages_sort_nothing_but_themselves(self, flock, record):
        if not record.database.is_sqlite:
            return  # the other database keeps statistics, and plans by them
        few = Condition("metric", "loss", "<", 1)
        for asked in (
            RunQuery(),
            RunQuery(sort=(Order("attribute", "created"),)),
            RunQuery(experiments=("hens",)),
            RunQuery(statuses=("Failed",)),
            RunQuery(statuses=("Failed", "Completed")),
            RunQuery(statuses=("Failed",), kinds=("script",), include_children=True),
            RunQuery(sort=(Order("metric", "loss"),)),
            RunQuery(sort=(Order("metric", "loss", False),), experiments=("hens",)),
        ):
            plan = self.plan_of(record, asked)
            assert "USE TEMP B-TREE FOR ORDER BY" not in plan, (asked, plan)
        plan = self.plan_of(record, RunQuery(where=(few,)))
        assert "SEARCH runs USING INDEX sqlite_autoindex_runs_1 (id=?)" in plan  # begins at the few

    def plan_of(self, record, asked):
        """The plan of the first statement that has a page's keys."""
        from sqlalchemy import event

        found = []

        def note(conn, cursor, statement, parameters, context, many):
            if "key_0" in statement and not found:
                found.extend(row[3] for row in cursor.connection.execute("EXPLAIN QUERY PLAN " + statement, parameters))

        event.listen(record.database._reads, "before_cursor_execute", note)
        try:
            record.table.page(asked)
        finally:
            event.remove(record.database._reads, "before_cursor_execute", note)
        assert found
        return found
