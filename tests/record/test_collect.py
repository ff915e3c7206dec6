from __future__ import annotations

import hashlib
import io
import os
import threading
import time

import pytest
from sqlalchemy import text, update

from rookery.record import Record
from rookery.record.schema import content, runs, snapshots
from rookery.spec.status import RunStatus

LONG_AGO = "2001-01-01T00:00:00.000000Z"
DAY = 86400.0


def put(record, data):
    return record.content.put(io.BytesIO(data))[0]


def age(record, folder=None):
    """Makes everything look old: rows, and files below a folder."""
    with record.database.write() as tx:
        tx.conn.execute(update(content).values(seen_utc=LONG_AGO))
        tx.conn.execute(update(snapshots).values(created_utc=LONG_AGO))
    for here, folders, files in os.walk(folder or record.paths.root):
        for name in [*folders, *files]:
            os.utime(os.path.join(here, name), (1e9, 1e9), follow_symlinks=False)


def collect(record, dry_run=False, grace_s=DAY, **more):
    return {
        c.kind: (c.items, c.bytes, c.removed) for c in record.collector.collect(dry_run, grace_s, **more) if c.items
    }


@pytest.fixture
def used(record, make_run):
    """A run whose files are named in every way there is."""
    snapshot = put(record, b"in a snapshot")
    entry = {"path": "a.py", "sha256": snapshot, "size": 13, "mode": 0o644, "link": None}
    make_run(snapshot_id=record.snapshots.create([entry])["id"])
    hashes = {name: put(record, name.encode()) for name in ("artifact", "model", "loose")}
    record.artifacts.link("run-1", "outputs/a", hashes["artifact"])
    record.models.register({"name": "m", "entries": [{"path": "m.pt", "sha256": hashes["model"], "size": 5}]}, "owner")
    record.loose_files.link("x/y", hashes["loose"])
    record.logs.append("run-1", "a.txt", 0, b"said")
    return [snapshot, *hashes.values()]


class TestContent:
    def test_only_what_nothing_names_and_is_old_goes(self, record, used):
        unused = put(record, b"nobody names me")
        assert collect(record) == {}  # too young
        age(record)
        assert collect(record, dry_run=True) == {"content": (1, 15, 0)}
        assert record.content.exists(unused)  # asking is a reason to keep it
        assert collect(record) == {}
        age(record)
        assert collect(record) == {"content": (1, 15, 1)}
        assert not record.content.exists(unused)
        assert not os.path.exists(record.content._local(unused))
        for sha in used:
            with record.content.open(sha) as f:
                assert hashlib.sha256(f.read()).hexdigest() == sha
        assert collect(record) == {}

    def test_what_is_unlinked_becomes_free(self, record, used):
        record.artifacts.delete("run-1", "outputs/a")
        age(record)
        assert collect(record)["content"] == (1, 8, 1)

    def test_killed_between_row_and_file_the_next_time_does_the_rest(self, record, monkeypatch):
        sha = put(record, b"half gone")
        age(record)
        monkeypatch.setattr(record.content, "remove_file", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            collect(record)
        monkeypatch.undo()
        assert os.path.exists(record.content._local(sha))
        assert collect(record) == {"files_without_row": (1, 9, 1)}
        assert not os.path.exists(record.content._local(sha))

    def test_beside_uploads_nothing_is_lost(self, record, make_run):
        """Writers store and link the same few blobs again and again while they are collected without grace."""
        make_run()
        blobs = [os.urandom(2000) for _ in range(4)]
        stop, problems, links = threading.Event(), [], [0]

        def write(n):
            try:
                while not stop.is_set():
                    data = blobs[links[0] % len(blobs)]
                    sha = put(record, data)
                    try:
                        record.artifacts.link("run-1", f"w{n}", sha)
                    except LookupError:
                        continue  # collected in between, which is said; without grace that may happen
                    with record.content.open(sha) as f:
                        assert f.read() == data
                    links[0] += 1
                    record.artifacts.delete("run-1", f"w{n}")
            except Exception as error:
                problems.append(error)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        rounds, deadline = 0, time.monotonic() + 200
        while (rounds < 30 or links[0] < 30) and time.monotonic() < deadline and not problems:
            with record.database.write() as tx:
                tx.conn.execute(update(content).values(seen_utc=LONG_AGO))
            record.collector.collect(False, 0.0)
            rounds += 1
        stop.set()
        for thread in threads:
            thread.join(30)
        assert not problems
        assert rounds >= 30
        assert links[0] >= 30


class TestDeletedRuns:
    def test_go_after_some_days_with_everything(self, record, used, make_run):
        make_run("kid", kind="child", parent_id="run-1")
        record.journals.apply_loose("run-1", [["m", None, "loss", 0.5, None, 1.0], ["g", None, {"a": "b"}]])
        record.external.log("run-1", params={"p": "1"})
        record.samples.add("run-1", 0, [{"cpu": 1}])
        record.models.register({"name": "mine", "run_id": "run-1", "path": "outputs/a"}, "owner")
        record.runs.advance("run-1", status=RunStatus.COMPLETED)
        for run_id in ("run-1", "kid"):
            record.external.delete(run_id)
        assert "deleted_runs" not in collect(record)  # deleted just now
        with record.database.write() as tx:
            tx.conn.execute(update(runs).values(deleted_utc=LONG_AGO))
        assert collect(record, dry_run=True)["deleted_runs"] == (2, 4, 0)
        age(record)
        done = collect(record)
        assert done["deleted_runs"] == (2, 4, 2)
        assert done["logs_of_no_run"][2] == 1
        assert record.runs.find("run-1") is None
        with record.database.read() as conn:
            assert conn.execute(text("SELECT count(*) FROM events WHERE run_id IS NOT NULL")).scalar() == 0
            for table in ("metrics", "metric_blocks", "run_tags", "run_params", "logs", "artifacts", "samples"):
                assert conn.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0, table
        model = record.models.get("mine")
        assert (model["run_id"], len(model["files"])) == (None, 1)  # what was registered stays
        assert record.snapshots.exists(model["snapshot_id"])  # with the source that it came from
        with record.content.open(model["files"][0]["sha256"]) as f:
            assert f.read() == b"artifact"

    def test_one_with_a_child_that_is_not_deleted_waits(self, record, make_run):
        make_run()
        make_run("kid", kind="child", parent_id="run-1")
        record.runs.advance("run-1", status=RunStatus.COMPLETED)
        record.external.delete("run-1")
        with record.database.write() as tx:
            tx.conn.execute(update(runs).where(runs.c.id == "run-1").values(deleted_utc=LONG_AGO))
        assert collect(record) == {"deleted_runs": (1, 0, 0)}
        assert record.runs.find("run-1") is not None


class TestLeftovers:
    def test_folders_of_what_is_gone(self, record, make_run, tmp_path):
        make_run()
        paths = record.paths
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "precious").write_text("x")
        for folder in (
            os.path.join(paths.logs, "run-1"), os.path.join(paths.logs, "gone"), paths.spool_of("run-1", 1, 0), paths.spool_of("gone", 1, 0),
            os.path.join(paths.payloads, "old"), os.path.join(paths.payloads, "now"), os.path.join(paths.runs, "gone"),
        ):  # fmt: skip
            os.makedirs(folder)
            with open(os.path.join(folder, "f"), "w") as f:
                f.write("12345")
        os.symlink(outside, os.path.join(paths.runs, "gone", "link"))
        os.makedirs(record.content.incoming, exist_ok=True)
        with open(os.path.join(record.content.incoming, "x.part"), "w") as f:
            f.write("half")
        age(record)
        keep = [os.path.join(paths.payloads, "now")]
        done = collect(record, keep=keep)
        assert set(done) == {
            "logs_of_no_run",
            "folders_of_no_run",
            "spool",
            "uploads",
        }  # a live run may use any payload
        assert all(items == removed == 1 for items, _, removed in done.values())
        record.runs.advance("run-1", status=RunStatus.COMPLETED)
        age(record)
        assert set(collect(record, keep=keep)) == {"payloads", "spool"}
        assert os.listdir(paths.payloads) == ["now"]
        assert os.listdir(paths.logs) == ["run-1"]
        assert (outside / "precious").read_text() == "x"

    def test_a_keeper_that_starts_keeps_uploads_that_can_go_on(self, record, paths):
        os.makedirs(record.content.incoming, exist_ok=True)
        for name in ("a" * 64 + ".part", "b" * 64 + ".part", "other"):
            with open(os.path.join(record.content.incoming, name), "w") as f:
                f.write("half")
        os.utime(os.path.join(record.content.incoming, "b" * 64 + ".part"), (1e9, 1e9))
        record.close()
        again = Record(paths)
        again.content.clear_incoming()
        assert os.listdir(again.content.incoming) == ["a" * 64 + ".part"]
        again.close()
