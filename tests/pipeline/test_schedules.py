"""Schedules over a real record: each moment once, also when the keeper dies in between; a datastore that changes."""

from __future__ import annotations

from types import SimpleNamespace

from rookery.data.resolve import resolver_of
from rookery.pipeline.schedules import ScheduleClock, check_schedule, first_due

from .conftest import graph, step


def schedule(bench, flow=None, **facts):
    made = bench.record.published.publish(flow or graph(a=step()), "flow", "", "", False, "ann")
    given = check_schedule(bench.record, {"experiment": "nightly", "pipeline_id": made["id"], **facts})
    found = bench.record.schedules.create("often", given, first_due(given), "ann")
    bench.driver.schedules_changed()
    return found["id"]


def runs_of(bench, schedule_id):
    from rookery.record import RunFilter

    wanted = RunFilter(kind="pipeline", properties=(f"azureml.scheduleid={schedule_id}",))
    return [run["id"] for run in bench.record.runs.page(wanted)[0]]


def write(bench, name, text):
    with resolver_of(bench.record).store("workspaceblobstore").writer(f"in/{name}") as writer:
        writer.write(text)
        writer.commit()


def look_now(bench, made):
    """Its time comes: what the clock would do."""
    bench.record.schedules.change(made, next_utc="2020-01-01T00:00:00.000000Z")
    bench.driver.schedules_changed()
    bench.until(lambda: bench.record.schedules.get(made)["next_utc"] > "2021")


def test_by_the_clock_the_first_at_once_and_the_next_later(bench):
    made = schedule(bench, recurrence={"frequency": "Day", "interval": 1})
    bench.until(lambda: runs_of(bench, made))
    bench.until(lambda: bench.record.schedules.get(made)["next_utc"] > bench.record.schedules.get(made)["created_utc"])
    look_now(bench, made)
    assert len(runs_of(bench, made)) == 2
    assert bench.driver.count() >= 1, "an active schedule keeps the keeper"
    found = bench.record.schedules.get(made)
    assert found["state"]["last_run_id"] in runs_of(bench, made)
    assert not found["state"]["pending"]


def test_killed_between_deciding_and_submitting_it_is_submitted_once(bench):
    made = schedule(bench, recurrence={"frequency": "Day", "interval": 1})
    bench.until(lambda: runs_of(bench, made))
    bench.until(lambda: bench.record.schedules.get(made)["next_utc"] > bench.record.schedules.get(made)["created_utc"])
    bench.driver.stop()
    bench.record.schedules.change(made, state={"pending": "decided-1"}, next_utc="2020-01-01T00:00:00.000000Z")
    bench.restart()
    bench.until(lambda: "decided-1" in runs_of(bench, made))
    bench.until(lambda: not bench.record.schedules.get(made)["state"]["pending"])
    assert len(runs_of(bench, made)) == 2


def test_a_datastore_is_watched_and_the_place_that_changed_is_told(bench):
    flow = graph(a=step())
    flow["parameters"] = {"place": {"type": "data", "default": None}}
    flow["nodes"]["new"] = {"kind": "data", "dataset": {"pipeline_parameter": "place"}}
    flow["nodes"]["a"]["inputs"] = {"files": {"node": "new", "port": "data"}}
    made = schedule(
        bench, flow, datastore="workspaceblobstore", path_on_datastore="in", data_path_parameter_name="place"
    )
    bench.until(lambda: bench.record.schedules.get(made)["state"].get("seen"))
    look_now(bench, made)
    assert runs_of(bench, made) == [], "nothing has changed"
    write(bench, "birds.csv", b"1")
    look_now(bench, made)
    run = bench.until(lambda: runs_of(bench, made))[0]
    given = bench.record.runs.get(bench.started(run, "a"))["spec"]["inputs"][0]
    source = bench.record.datasets.definition(given["definition_id"])["sources"][0]
    assert source == {"datastore": "workspaceblobstore", "path": "in"}
    look_now(bench, made)
    assert len(runs_of(bench, made)) == 1


def test_a_datastore_that_cannot_be_reached_has_not_changed(bench, tmp_path):
    shared, away = tmp_path / "shared", tmp_path / "away"
    (shared / "in").mkdir(parents=True)
    (shared / "in" / "birds.csv").write_text("1")
    bench.record.datastores.register({"name": "shared", "kind": "folder", "spec": {"folder": str(shared)}}, "ann")
    made = schedule(bench, graph(a=step()), datastore="shared", path_on_datastore="in")
    bench.until(lambda: bench.record.schedules.get(made)["state"].get("seen"))
    shared.rename(away)
    look_now(bench, made)
    bench.until(lambda: "is no folder" in bench.record.schedules.get(made)["state"].get("problem", ""))
    away.rename(shared)
    look_now(bench, made)
    bench.until(lambda: bench.record.schedules.get(made)["state"].get("problem") == "")
    assert runs_of(bench, made) == []


def test_a_problem_is_noted_and_the_next_time_comes(bench):
    flow = graph(a=step())
    flow["nodes"]["d"] = {"kind": "data", "dataset": "nobody"}
    flow["nodes"]["a"]["inputs"] = {"x": {"node": "d", "port": "data"}}
    made = schedule(bench, flow, recurrence={"frequency": "Hour", "interval": 1})
    bench.until(lambda: bench.record.schedules.get(made)["state"].get("problem"))
    found = bench.record.schedules.get(made)
    assert "does not exist" in found["state"]["problem"]
    assert found["next_utc"] > found["created_utc"]
    assert runs_of(bench, made) == []


def test_one_that_ends_while_the_record_is_read_is_not_started_again(monkeypatch):
    due = {"id": "s", "name": "often"}
    tasks, started = [], []

    def read(now):
        for task in tasks:  # it was due when this was read, and has been started since
            task()
        tasks.clear()
        return [due]

    record = SimpleNamespace(schedules=SimpleNamespace(due=read, next_due=lambda: None))
    clock = ScheduleClock(record, None, tasks.append)
    monkeypatch.setattr(clock, "_start", started.append)
    clock.look()
    clock.look()
    assert (started, tasks) == ([due], [])
    clock.look()
    assert len(tasks) == 1
