from __future__ import annotations

import os
import sqlite3

import pytest
from sqlalchemy import text

from rookery.errors import ConflictError, NotFoundError
from rookery.record.backup import back_up
from rookery.record.bell import Bell
from rookery.record.copying import copy_database, measure_tables
from rookery.record.database import Database
from rookery.record.schema import metadata
from rookery.record.upgrade import upgrade
from rookery.testing.old_records import fill_tables, make_old_record


@pytest.fixture
def made():
    """Opens databases and closes them at the end."""
    opened = []

    def open_at(url):
        opened.append(Database("", Bell(), url))
        return opened[-1]

    yield open_at
    for database in opened:
        database.close()


@pytest.fixture
def source(made, tmp_path):
    database = made(f"sqlite:///{tmp_path / 'source.db'}")
    upgrade(database)
    with database.write() as tx:
        fill_tables(tx.conn)
        # A number that was given to a row that is gone.
        tx.conn.execute(text("UPDATE sqlite_sequence SET seq = 77 WHERE name = 'events'"))
    return database


def next_event(database):
    with database.write() as tx:
        tx.conn.execute(text("INSERT INTO events (kind) VALUES ('x')"))
        return tx.conn.execute(text("SELECT max(seq) FROM events")).scalar()


class TestCopy:
    @pytest.mark.slow
    def test_there_and_back_everything_is_equal(self, source, made, postgres, tmp_path):
        url = postgres.database()
        target, back = made(url), made(f"sqlite:///{tmp_path / 'back.db'}")
        told = []
        there = copy_database(source, target, told.append)
        assert there == told == measure_tables(source) == measure_tables(target)
        assert {t.name for t in there} == set(metadata.tables)
        assert all(t.rows == 3 for t in there)
        assert copy_database(target, back) == there
        assert next_event(target) == next_event(back) == 78
        with target.write() as tx:  # counters of other tables go on too
            tx.conn.execute(text("INSERT INTO samples (run_id, node, data) SELECT id, 1, '{}' FROM runs LIMIT 1"))
        target.close()
        postgres.drop(url)

    def test_a_target_with_rows_is_refused_and_unchanged(self, source, made, tmp_path):
        target = made(f"sqlite:///{tmp_path / 'target.db'}")
        upgrade(target)
        with target.write() as tx:
            tx.conn.execute(text("INSERT INTO model_names (name, last_version) VALUES ('mine', 1)"))
        before = measure_tables(target)
        with pytest.raises(ConflictError, match="table model_names has rows"):
            copy_database(source, target)
        assert measure_tables(target) == before

    @pytest.mark.slow
    def test_it_is_all_or_nothing(self, source, made, postgres):
        url = postgres.database()
        target = made(url)
        with source.write() as tx:  # SQLite takes it, PostgreSQL does not
            tx.conn.execute(text("UPDATE compute SET name = :long WHERE name LIKE '3-%'"), {"long": "x" * 300})
        with pytest.raises(Exception, match="too long"):
            copy_database(source, target)
        with target.read() as conn:
            assert conn.execute(text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")).scalar() == 0
        target.close()
        postgres.drop(url)

    def test_a_difference_is_seen(self, source, made, tmp_path):
        target = made(f"sqlite:///{tmp_path / 'target.db'}")
        there = copy_database(source, target)
        with target.write() as tx:
            tx.conn.execute(text("UPDATE run_tags SET value = value || ' ' WHERE run_id LIKE '1-%'"))
        changed = [a.name for a, b in zip(there, measure_tables(target)) if a != b]
        assert changed == ["run_tags"]

    def test_what_holds_no_record_is_no_source(self, made, tmp_path):
        with pytest.raises(NotFoundError, match="holds no record"):
            copy_database(made(f"sqlite:///{tmp_path / 'a.db'}"), made(f"sqlite:///{tmp_path / 'b.db'}"))


class TestBackup:
    def test_of_a_database_that_is_being_written(self, source, made, tmp_path):
        with source.read() as conn:  # somebody looks meanwhile
            conn.execute(text("SELECT 1"))
            path = back_up(source, str(tmp_path / "kept"))
        assert os.listdir(tmp_path / "kept") == [os.path.basename(path)]
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert measure_tables(made(f"sqlite:///{path}")) == measure_tables(source)

    @pytest.mark.slow
    @pytest.mark.parametrize("revision", ["0001", "0003"])
    def test_of_postgresql_at_any_revision_is_one_file(self, made, postgres, tmp_path, revision):
        url = postgres.database()
        old = made(url)
        rows = make_old_record(old, revision)
        path = back_up(old, str(tmp_path))
        with sqlite3.connect(path) as kept:
            assert kept.execute("SELECT version_num FROM alembic_version").fetchone() == (revision,)
            assert kept.execute("SELECT count(*) FROM runs").fetchone() == (len(rows["runs"]),)
        kept.close()
        assert measure_tables(made(f"sqlite:///{path}")) == measure_tables(old)
        old.close()
        postgres.drop(url)

    def test_it_replaces_nothing(self, source, tmp_path):
        taken = tmp_path / "taken.db"
        taken.write_text("mine")
        with pytest.raises(ConflictError, match="exists already"):
            back_up(source, "", str(taken))
        assert taken.read_text() == "mine"
