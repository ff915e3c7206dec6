from __future__ import annotations

import pytest

from rookery.errors import ConflictError, RunNotFoundError, UserError
from rookery.record import RunFilter
from rookery.spec.run import EnvironmentSpec, RunSpec
from rookery.spec.status import RunStatus


def spec(run_id="run-1", **fields):
    return RunSpec(
        run_id=run_id,
        experiment="birds",
        script="train.py",
        environment=EnvironmentSpec(python="python"),
        **fields,
    )


class TestCreate:
    def test_same_spec_again_returns_the_same_run(self, record):
        first, is_new = record.runs.create(spec(tags={"a": "1", "b": None}), "owner")
        again, is_new_again = record.runs.create(spec(tags={"a": "1", "b": None}), "owner")
        assert (is_new, is_new_again) == (True, False)
        assert first == again
        assert first["status"] == "NotStarted"
        assert first["reason"]
        assert first["tags"] == {"a": "1", "b": None}

    def test_other_spec_with_the_same_id_is_a_conflict(self, record):
        record.runs.create(spec(), "owner")
        with pytest.raises(ConflictError, match="another specification"):
            record.runs.create(spec(arguments=("--lr", "1")), "owner")

    def test_numbers_count_per_experiment(self, record, make_run):
        assert [
            make_run("a")["number"],
            make_run("b")["number"],
            make_run("c", experiment="other")["number"],
        ] == [1, 2, 1]
        assert record.experiments.get("birds")["run_count"] == 2

    def test_a_missing_parent_is_named_and_nothing_is_left(self, record):
        with pytest.raises(RunNotFoundError, match="nobody"):
            record.runs.create(spec(parent_id="nobody"), "owner")
        assert record.runs.find("run-1") is None
        assert record.experiments.list("all") == []

    def test_a_child_runs_at_once(self, make_run):
        make_run("parent")
        child = make_run("kid", kind="child", parent_id="parent")
        assert child["status"] == "Running"
        assert child["root_id"] == "parent"
        assert child["started_utc"]


class TestAdvance:
    def test_times_phases_and_events(self, record, make_run):
        make_run()
        record.runs.advance("run-1", status=RunStatus.QUEUED, reason="waits for 'x'", state={"n": 1})
        record.runs.advance("run-1", status=RunStatus.QUEUED, reason="waits for 'y'")
        run = record.runs.advance("run-1", status=RunStatus.RUNNING)
        assert [p["status"] for p in run["phases"]] == ["NotStarted", "Queued", "Running"]
        assert run["phases"][1]["reason"] == "waits for 'y'"
        assert run["started_utc"]
        assert run["ended_utc"] is None
        done = record.runs.advance("run-1", status=RunStatus.COMPLETED)
        assert done["ended_utc"]
        assert record.runs.state("run-1") == {"n": 1}
        events, is_over = record.events.after(0, "run-1")
        assert [e["data"]["status"] for e in events] == [
            "NotStarted",
            "Queued",
            "Queued",
            "Running",
            "Completed",
        ]
        assert not is_over
        assert record.events.after(events[-1]["seq"], "run-1") == ([], True)

    def test_same_status_and_reason_stores_only_the_state(self, record, make_run):
        make_run()
        record.runs.advance("run-1", status=RunStatus.QUEUED, reason="r")
        before = record.events.last_seq()
        record.runs.advance("run-1", status=RunStatus.QUEUED, reason="r", state={"k": [1, None]})
        assert record.events.last_seq() == before
        assert record.runs.state("run-1") == {"k": [1, None]}

    def test_a_terminal_status_is_never_left(self, record, make_run):
        make_run()
        record.runs.advance("run-1", status=RunStatus.FAILED)
        with pytest.raises(ConflictError, match="is Failed already"):
            record.runs.advance("run-1", status=RunStatus.RUNNING)
        assert record.runs.get("run-1")["status"] == "Failed"

    def test_children_end_with_their_parent_but_submitted_runs_do_not(self, record, make_run):
        make_run("top")
        make_run("kid", kind="child", parent_id="top")
        make_run("grandkid", kind="child", parent_id="kid")
        make_run("done", kind="child", parent_id="top")
        make_run("submitted", parent_id="top")
        make_run("of-submitted", kind="child", parent_id="submitted")
        record.runs.advance("done", status=RunStatus.COMPLETED)
        record.runs.advance("top", status=RunStatus.FAILED)
        statuses = {run["id"]: run["status"] for run in record.runs.children("top", recursive=True)}
        assert statuses == {
            "kid": "Failed",
            "grandkid": "Failed",
            "done": "Completed",
            "submitted": "NotStarted",
            "of-submitted": "Running",
        }
        assert "top" in record.runs.get("kid")["reason"]

    def test_a_remembered_error_is_shown_when_it_fails(self, record, make_run):
        make_run()
        record.runs.set_error("run-1", {"kind": "UserError", "summary": "bad data"})
        run = record.runs.advance("run-1", status=RunStatus.FAILED)
        assert run["error"]["summary"] == "bad data"

    def test_warnings_are_shown_once(self, record, make_run):
        make_run()
        record.runs.warn("run-1", "slow disk")
        run = record.runs.advance("run-1", status=RunStatus.RUNNING, warnings=["slow disk", "hot"])
        assert run["warnings"] == ["slow disk", "hot"]


class TestChange:
    def test_properties_are_written_once_and_a_conflict_changes_nothing(self, record, make_run):
        make_run(properties={"p": "1"})
        assert record.runs.change("run-1", properties={"p": "1", "q": 2})["properties"] == {
            "p": "1",
            "q": "2",
        }
        with pytest.raises(ConflictError, match="'p'"):
            record.runs.change("run-1", properties={"p": "2", "r": "3"}, tags={"t": "1"})
        run = record.runs.get("run-1")
        assert run["properties"] == {"p": "1", "q": "2"}
        assert run["tags"] == {}

    def test_tags_and_names(self, record, make_run):
        make_run(tags={"a": "1", "b": "2"})
        run = record.runs.change(
            "run-1",
            names={"display_name": "nice", "description": None},
            tags={"a": "9", "c": None},
            remove=["b"],
        )
        assert run["tags"] == {"a": "9", "c": None}
        assert run["display_name"] == "nice"

    def test_odd_text_is_stored_not_an_error(self, record, make_run):
        make_run()
        run = record.runs.change(
            "run-1", tags={"k": "a\x00b\ud800"}, names={"display_name": "x\udfff'; DROP TABLE runs;--"}
        )
        assert "\x00" not in run["tags"]["k"]
        assert run["display_name"].endswith("DROP TABLE runs;--")

    def test_an_absurd_name_is_refused(self, record, make_run):
        make_run()
        with pytest.raises(UserError, match="1024"):
            record.runs.change("run-1", tags={"k" * 1025: "v"})


class TestPages:
    def test_ten_thousand_runs_page_by_page(self, record):
        from sqlalchemy import insert

        from rookery.record.schema import runs

        with record.database.write() as tx:
            from rookery.record.experiments import ensure_experiment

            experiment = ensure_experiment(tx, "birds")
            tx.conn.execute(
                insert(runs),
                [
                    {
                        "id": f"r{n}",
                        "experiment_id": experiment.id,
                        "number": n,
                        "kind": "script",
                        "parent_id": None,
                        "root_id": f"r{n}",
                        "display_name": "",
                        "description": "",
                        "status": "Completed",
                        "reason": "",
                        "attempt": 1,
                        "compute": "local",
                        "target": "local",
                        "created_utc": "2026-01-01T00:00:00.000000Z",
                        "submitted_by": "x",
                        "spec": {},
                        "warnings": [],
                        "phases": [],
                    }
                    for n in range(10_000)
                ],
            )
        seen, cursor, pages = [], None, 0
        while True:
            page, cursor = record.runs.page(RunFilter(), limit=999, cursor=cursor)
            seen += [run["id"] for run in page]
            pages += 1
            if cursor is None:
                break
        assert pages == 11
        assert seen == [f"r{n}" for n in reversed(range(10_000))]
        if not record.database.is_sqlite:
            return
        with record.database.read() as conn:
            # An index gives the order: no page needs a sort, or a look at every run.
            plan = conn.exec_driver_sql(
                "EXPLAIN QUERY PLAN SELECT * FROM runs WHERE parent_id IS NULL AND seq < 99 ORDER BY seq DESC LIMIT 101"
            ).all()
        assert "USING INDEX ix_runs_parent_id_seq" in str(plan)
        assert "TEMP B-TREE" not in str(plan)

    def test_filters(self, record, make_run):
        make_run("a", tags={"model": "resnet"}, properties={"p": "1"})
        make_run("b", tags={"model": "vgg"}, compute="gpu")
        make_run("c", experiment="other", tags={"model": "resnet", "x": None})
        make_run("kid", kind="child", parent_id="a")
        record.runs.advance("b", status=RunStatus.COMPLETED)

        def ids(**fields):
            return [run["id"] for run in record.runs.page(RunFilter(**fields))[0]]

        assert ids() == ["c", "b", "a"]
        assert ids(include_children=True) == ["kid", "c", "b", "a"]
        assert ids(parent="a") == ["kid"]
        assert ids(experiment="birds") == ["b", "a"]
        assert ids(experiment="nothing") == []
        assert ids(tags=("model",)) == ["c", "b", "a"]
        assert ids(tags=("model=resnet", "x")) == ["c"]
        assert ids(properties=("p=1",)) == ["a"]
        assert ids(statuses=("Completed", "Failed")) == ["b"]
        assert ids(compute="gpu") == ["b"]
        with pytest.raises(UserError, match="Finished"):
            ids(statuses=("Finished",))
        with pytest.raises(UserError, match="cursor"):
            record.runs.page(RunFilter(), cursor="1 OR 1=1")

    def test_live_runs_are_oldest_first_with_their_state(self, record, make_run):
        for name in ("a", "b", "c"):
            make_run(name)
        record.runs.advance("b", status=RunStatus.CANCELED)
        record.runs.advance("c", status=RunStatus.QUEUED, reason="x", state={"s": 1})
        assert [(run["id"], state) for run, state in record.runs.live()] == [("a", None), ("c", {"s": 1})]
        assert [(row.id, row.state) for row in record.runs.to_take_up()] == [("a", None), ("c", '{"s":1}')]


class TestExperiments:
    def test_archive_rename_delete(self, record, make_run):
        make_run()
        record.experiments.ensure("empty")
        record.experiments.change("birds", archived=True, tags={"a": 1}, new_name="fowl")
        assert [e["name"] for e in record.experiments.list("archived")] == ["fowl"]
        assert record.runs.get("run-1")["experiment"] == "fowl"
        with pytest.raises(ConflictError, match="has runs"):
            record.experiments.delete("fowl")
        record.experiments.delete("empty")
        assert [e["name"] for e in record.experiments.list("all")] == ["fowl"]
        assert record.experiments.change("fowl", archived=False, remove_tags=["a"])["tags"] == {}
