from __future__ import annotations

import errno
import os
import sqlite3
import threading

import pytest
from sqlalchemy.exc import OperationalError

from rookery.errors import AuthenticationError, ComputeNotFoundError, StorageError
from rookery.record import Record
from rookery.record.storage import storage_errors
from rookery.record.tokens import Tokens


class TestStorageErrors:
    @pytest.mark.parametrize(
        ("error", "words"),
        [
            (OSError(errno.ENOSPC, "No space left on device"), "is full"),
            (OSError(errno.EROFS, "Read-only file system"), "read-only"),
            (OSError(errno.EDQUOT, "quota"), "quota"),
            (OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full")), "is full"),
            (
                OperationalError("INSERT", {}, sqlite3.OperationalError("attempt to write a readonly database")),
                "read-only",
            ),
        ],
    )
    def test_become_a_clear_sentence(self, error, words):
        with pytest.raises(StorageError, match=words) as found, storage_errors("/data/ws"):
            raise error
        assert "/data/ws" in str(found.value)
        assert found.value.http_status == 507

    def test_others_stay(self):
        with pytest.raises(FileNotFoundError), storage_errors("x"):
            raise FileNotFoundError(errno.ENOENT, "gone")

    @pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
    def test_a_full_database_loses_nothing_acknowledged(self, record, make_run):
        make_run()
        record.logs.append("run-1", "a.txt", 0, b"kept")
        with record.database._writes.connect() as conn:
            pages = conn.exec_driver_sql("PRAGMA page_count").scalar()
            conn.exec_driver_sql(f"PRAGMA max_page_count={pages}")

        def fill():
            for n in range(10_000):
                record.runs.warn("run-1", f"{n}" * 1000)

        with pytest.raises(StorageError, match="is full"):
            fill()
        assert record.logs.read("run-1", "a.txt") == b"kept"
        with record.database._writes.connect() as conn:
            conn.exec_driver_sql("PRAGMA max_page_count=100000")
        record.runs.warn("run-1", "there is room again")
        assert "there is room again" in record.runs.get("run-1")["warnings"]


class TestBell:
    def test_rings_after_the_commit_in_every_waiters_ear(self, record, make_run):
        make_run()
        seen = []
        stop = record.bell.subscribe("run/run-1", lambda: seen.append(record.runs.get("run-1")["warnings"]))
        record.bell.subscribe("run/run-1", lambda: 1 / 0)
        record.runs.warn("run-1", "one")
        stop()
        stop()
        record.runs.warn("run-1", "two")
        assert seen == [["one"]]

    def test_nothing_rings_when_it_was_rolled_back(self, record, make_run):
        make_run(properties={"p": "1"})
        seen = []
        record.bell.subscribe("events", lambda: seen.append(1))
        with pytest.raises(Exception, match="written once"):
            record.runs.change("run-1", tags={"a": "b"}, properties={"p": "2"})
        assert seen == []


class TestThreads:
    def test_many_writers_and_readers(self, record, make_run):
        make_run()
        problems = []

        def work(n):
            try:
                for i in range(20):
                    record.journals.apply_loose("run-1", [["m", None, f"m{n}", i, i, 1.0]])
                    record.runs.get("run-1")
                    record.metrics.get("run-1", f"m{n}")
            except Exception as error:
                problems.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert problems == []
        assert {m["name"]: m["values"] for m in record.metrics.get("run-1")} == {
            f"m{n}": list(range(20)) for n in range(8)
        }


class TestTokens:
    def test_make_and_read(self, record):
        token = record.tokens.make("run-1", "agent")
        assert token.startswith("rkr_")
        claims = record.tokens.read(token)
        assert (claims["run"], claims["kind"]) == ("run-1", "agent")

    def test_changed_foreign_and_old_ones_are_refused(self, record):
        token = record.tokens.make("run-1", "run")
        other = Tokens(b"x" * 32, "rko_" + "y" * 43, 1)
        body, signature = token[4:].split(".")
        for bad in (
            "",
            "rkr_",
            "rkr_.",
            token[:-2],
            token + "A",
            f"rkr_{body}A.{signature}",
            other.make("run-1"),
            "rko_x",
            "rkr_\u00e9.x",
        ):
            with pytest.raises(AuthenticationError):
                record.tokens.read(bad)
        with pytest.raises(AuthenticationError, match="run_token_hours"):
            record.tokens.read(record.tokens.make("run-1", "run", expires=1000))

    def test_secrets_are_private_and_stay(self, record, paths):
        for path in (paths.secret, paths.token):
            assert os.stat(path).st_mode & 0o777 == 0o600
        with open(paths.token) as f:
            token = f.read()
        assert len(token) == 47
        assert record.tokens.is_owner(token)
        assert not record.tokens.is_owner(token[:-1])
        again = Record(paths)
        assert again.secret() == record.secret()
        assert again.tokens.is_owner(token)
        again.close()


class TestComputeAndSamples:
    def test_compute(self, record):
        rings = []
        record.bell.subscribe("compute", lambda: rings.append(1))
        record.compute.put("gpu", {"max_nodes": 2})
        changed = record.compute.put("gpu", {"max_nodes": 3})
        assert changed["spec"] == {"max_nodes": 3}
        assert [c["name"] for c in record.compute.list()] == ["gpu"]
        record.compute.delete("gpu")
        assert len(rings) == 3
        with pytest.raises(ComputeNotFoundError, match="Known: local"):
            record.compute.get("gpu")
        assert [e["data"] for e in record.events.after(0)[0]] == [{"name": "gpu"}] * 3

    def test_samples(self, record, make_run):
        make_run()
        record.samples.add("run-1", 1, [{"time": "t", "cpu_percent": 5.0}])
        record.samples.add("run-1", 0, [])
        assert record.samples.get("run-1") == [{"time": "t", "cpu_percent": 5.0, "node": 1}]
