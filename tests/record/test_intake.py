"""What programs say about their runs, stored together: whole or not at all, in order, and only then answered."""

from __future__ import annotations

import threading

import pytest

from rookery.errors import ConflictError, RunNotFoundError, ServiceError, StorageError, UserError
from rookery.record.collect import remove_run
from rookery.record.external import Said
from rookery.record.metric_batch import MetricBatch
from rookery.record.metric_values import Chunk, chunk_of_values
from rookery.spec.run import RunKind, RunSpec

T = 1.7e9


@pytest.fixture
def begin(record):
    def begin(run_id):
        record.external.create(RunSpec(run_id, "birds", kind=RunKind.EXTERNAL, compute="external"), "me")
        return run_id

    return begin


def values(*numbers, first=0):
    count = len(numbers)
    return chunk_of_values([float(n) for n in numbers], list(range(first, first + count)), [T] * count)


def stored(record, run_id):
    return {m["name"]: m.get("values") for m in record.metrics.get(run_id)}


class Told:
    """Collects what `done` is called with, and waits for it."""

    def __init__(self):
        self.problems = {}
        self._changed = threading.Condition()

    def by(self, key):
        def done(problem):
            with self._changed:
                assert key not in self.problems
                self.problems[key] = problem
                self._changed.notify_all()

        return done

    def wait(self, count):
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.problems) >= count, 60)


class TestTogether:
    def test_what_is_wrong_with_one_harms_no_other(self, record, begin):
        for run in ("a", "b", "gone"):
            begin(run)
        record.journals.apply_loose("b", [["r", None, "row", {"x": 1}, T]])
        record.external.log("b", params={"lr": "1"})
        record.external.delete("gone")
        problems = record.external.log_all(
            [
                Said("a", [("loss", values(1, 2))]),
                Said("nowhere", [("loss", values(1))]),
                Said("gone", [("loss", values(1))]),
                Said("b", [("fine", values(7)), ("row", values(1))], params={"new": "1"}),
                Said("b", [("loss", values(3))], params={"lr": "2"}, tags={"t": "1"}),
                Said("a", [("loss", values(3, first=2))], params={"p": "1"}, tags={"t": "1"}),
            ]
        )
        assert [type(problem) for problem in problems] == [
            type(None), RunNotFoundError, ConflictError, UserError, ConflictError, type(None),
        ]  # fmt: skip
        assert stored(record, "a") == {"loss": [1, 2, 3]}
        assert list(stored(record, "b")) == ["row"]  # of what is refused nothing is stored
        run_a, run_b = record.runs.get("a"), record.runs.get("b")
        assert (run_a["params"], run_a["tags"]) == ({"p": "1"}, {"t": "1"})
        assert (run_b["params"], run_b["tags"]) == ({"lr": "1"}, {})

    def test_kinds_of_the_same_group_count(self, record, begin):
        begin("a")
        batch = MetricBatch()
        with record.database.write() as tx:
            batch.add("a", "x", "row", Chunk(1, "j", b"[1]\n", None, b"", None))
            assert "of kind row" in str(batch.refusal(tx, "a", ["x"], "scalar"))
            assert batch.refusal(tx, "a", ["y"], "scalar") is None

    def test_one_event_for_all_values_of_a_metric(self, record, begin):
        begin("a")
        record.external.log_all([Said("a", [("loss", values(n, first=n))]) for n in range(5)])
        events = [e["data"] for e in record.events.after(0, "a")[0] if e["kind"] == "metric"]
        assert [(e["start"], e["count"], e["last"]) for e in events] == [(0, 5, 4.0)]


class TestIntake:
    def test_it_is_stored_when_one_is_told_and_in_order(self, record, begin):
        runs = [begin(f"run-{n}") for n in range(3)]
        told, seen = Told(), []

        def writer(number):
            for n in range(40):
                key = (number, n)
                done = told.by(key)

                def then(problem, key=key, done=done):
                    if key == (0, 20):
                        seen.append(stored(record, runs[0])["w0"][20])
                    done(problem)

                record.intake.submit(Said(runs[number % 3], [(f"w{number}", values(n, first=n))]), then)

        threads = [threading.Thread(target=writer, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        told.wait(240)
        for thread in threads:
            thread.join()
        assert set(told.problems.values()) == {None}
        assert seen == [20.0]
        for number in range(6):
            assert stored(record, runs[number % 3])[f"w{number}"] == [float(n) for n in range(40)]

    def test_what_nobody_foresaw_in_one_is_its_own(self, record, begin):
        begin("a")
        told = Told()
        broken = Chunk(1, "d", object(), None, b"12345678", 1.0)
        with record.database.write():  # so that they come together
            record.intake.submit(Said("a", [("x", values(1))]), told.by("x"))
            record.intake.submit(Said("a", [("broken", broken)]), told.by("broken"))
            record.intake.submit(Said("a", [("y", values(2))]), told.by("y"))
        told.wait(3)
        assert (told.problems["x"], told.problems["y"]) == (None, None)
        assert told.problems["broken"] is not None
        assert stored(record, "a") == {"x": [1.0], "y": [2.0]}

    def test_closing_stores_what_has_come_and_refuses_the_rest(self, record, begin):
        begin("a")
        told = Told()
        for n in range(20):
            record.intake.submit(Said("a", [("x", values(n, first=n))]), told.by(n))
        record.intake.close()
        record.intake.submit(Said("a", [("x", values(99))]), told.by("late"))
        told.wait(21)
        assert isinstance(told.problems.pop("late"), ServiceError)
        assert set(told.problems.values()) == {None}
        assert stored(record, "a") == {"x": [float(n) for n in range(20)]}


class TestNow:
    """In the caller's own thread, where that is quick: in a file, nobody else writing, not much at once."""

    def test_it_is_stored_at_once_in_a_file(self, record, begin):
        begin("a")
        problems = record.intake.try_now([Said("a", [("x", values(1))]), Said("nowhere", [("x", values(2))])])
        if not record.database.is_sqlite:
            assert problems is None
            return
        assert [type(problem) for problem in problems] == [type(None), RunNotFoundError]
        assert stored(record, "a") == {"x": [1.0]}

    def test_otherwise_nothing_is_stored_and_it_is_to_be_submitted(self, record, begin, monkeypatch):
        begin("a")
        said = [Said("a", [("x", values(1))]), Said("a", [("y", values(2))])]
        with record.database.write():
            assert record.intake.try_now(said) is None  # it would have to wait
        with monkeypatch.context() as patch:
            patch.setattr("rookery.record.intake.QUICK_CALLS", 1)
            assert record.intake.try_now(said) is None
        with monkeypatch.context() as patch:
            patch.setattr("rookery.record.intake.QUICK_VALUES", 1)
            assert record.intake.try_now(said) is None
        assert (
            record.intake.try_now([*said, Said("a", [("z", Chunk(1, "d", object(), None, b"12345678", 1.0))])]) is None
        )
        assert stored(record, "a") == {}

    def test_what_waits_for_the_thread_is_not_overtaken(self, record, begin):
        begin("a")
        told = Told()
        with record.database.write():
            record.intake.submit(Said("a", [("x", values(1))]), told.by(1))
            assert record.intake.try_now([Said("a", [("x", values(2))])]) is None
        told.wait(1)
        assert stored(record, "a") == {"x": [1.0]}

    def test_a_slow_disk_is_left_to_the_thread(self, record, begin, monkeypatch):
        if not record.database.is_sqlite:
            assert record.intake.try_now([]) is None
            return
        begin("a")
        monkeypatch.setattr("rookery.record.intake.QUICK_S", -1.0)
        done = 0
        while record.intake.try_now([Said("a", [("x", values(done, first=done))])]) is not None:
            done += 1
            assert done < 100
        assert stored(record, "a") == {"x": [float(n) for n in range(done)]}

    def test_a_full_disk_is_everybodys_problem(self, record, begin, monkeypatch):
        def full(self, tx):
            raise StorageError("full")

        begin("a")
        monkeypatch.setattr(MetricBatch, "write", full)
        problems = record.intake.try_now([Said("a", [("x", values(1))]), Said("a", [("y", values(2))])])
        expected = [StorageError, StorageError] if record.database.is_sqlite else None
        assert (problems and [type(problem) for problem in problems]) == expected


class TestMemory:
    """The writer remembers what it wrote; a transaction that failed, or a run that is gone, must leave no trace in it."""

    def test_a_failed_transaction_is_forgotten(self, record, begin):
        begin("a")
        record.external.log("a", metrics=[("x", values(1, 2))])
        batch = MetricBatch()
        batch.add("a", "x", "scalar", values(8, 9))
        batch.add("a", "new", "scalar", values(8))

        def fail():
            with record.database.write() as tx:
                batch.write(tx)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        record.external.log("a", metrics=[("x", values(3, first=2))])
        assert stored(record, "a") == {"x": [1, 2, 3]}
        assert record.metrics.latest(["a"])["a"] == [{"name": "x", "value": 3.0, "step": 2, "time": T}]

    def test_a_deleted_run_takes_nothing_until_it_is_restored(self, record, begin):
        begin("a")
        record.external.log("a", metrics=[("x", values(1))])
        record.external.delete("a")
        with pytest.raises(ConflictError):
            record.external.log("a", metrics=[("x", values(2))])
        record.external.delete("a", restore=True)
        record.external.log("a", metrics=[("x", values(3))])
        assert stored(record, "a") == {"x": [1.0, 3.0]}

    def test_a_run_that_was_removed_begins_anew_under_its_id(self, record, begin):
        begin("a")
        record.external.log("a", metrics=[("x", values(1, 2, 3))])
        with record.database.write() as tx:
            remove_run(tx, "a")
        with pytest.raises(RunNotFoundError):
            record.external.log("a", metrics=[("x", values(4))])
        begin("a")
        record.external.log("a", metrics=[("x", values(5))])
        assert stored(record, "a") == {"x": [5.0]}

    def test_more_metrics_than_it_holds(self, record, begin, monkeypatch):
        monkeypatch.setattr("rookery.record.memory.MAX_METRICS", 3)
        for n in range(3):
            begin(f"run-{n}")
        for step in range(4):
            for n in range(3):
                chunk = values(step, first=step)
                record.external.log(f"run-{n}", metrics=[("x", chunk), ("y", chunk)])
        for n in range(3):
            assert stored(record, f"run-{n}") == {"x": [0, 1, 2, 3], "y": [0, 1, 2, 3]}
