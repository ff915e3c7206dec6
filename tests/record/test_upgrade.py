from __future__ import annotations

import glob
import os
import sqlite3
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from rookery.errors import StorageError, VersionMismatchError, WorkspaceBusyError
from rookery.record import Record
from rookery.record.bell import Bell
from rookery.record.database import Database
from rookery.record.schema import SCHEMA_REVISION, metadata
from rookery.record.upgrade import alembic_config, migrate, settle, upgrade
from rookery.testing.old_records import all_rows, make_old_record, revisions


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def fresh_url(request, tmp_path):
    """A database without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'fresh one.db'}"
        return
    server = request.getfixturevalue("postgres")
    url = server.database()
    yield url
    server.drop(url)


@pytest.fixture
def fresh(fresh_url):
    database = Database("", Bell(), fresh_url)
    yield database
    database.close()


def shape(database):
    """Tables with their columns, keys and indexes, in words that do not depend on how they came about."""
    with database.read() as conn:
        look = inspect(conn)
        return {
            name: (
                sorted((c["name"], str(c["type"]), c["nullable"]) for c in look.get_columns(name)),
                look.get_pk_constraint(name)["constrained_columns"],
                sorted((i["name"], tuple(i["column_names"])) for i in look.get_indexes(name)),
                sorted((f["name"], tuple(f["constrained_columns"])) for f in look.get_foreign_keys(name)),
            )
            for name in look.get_table_names()
        }


class TestMigrations:
    def test_from_nothing_they_make_what_the_schema_says(self, fresh, record):
        with fresh.write() as tx:
            migrate(tx.conn)
            settle(tx.conn)
        with fresh.read() as conn:
            assert compare_metadata(MigrationContext.configure(conn), metadata) == []
            assert conn.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == SCHEMA_REVISION
        if fresh.is_sqlite == record.database.is_sqlite:
            assert shape(fresh) == shape(record.database)

    @pytest.mark.parametrize("revision", revisions()[:-1])
    def test_a_database_of_every_revision_comes_up_with_what_it_holds(self, fresh, fresh_url, tmp_path, revision):
        before = make_old_record(fresh, revision)
        kept = upgrade(fresh, str(tmp_path / "backups"))
        with fresh.read() as conn:
            after = all_rows(conn)
            assert compare_metadata(MigrationContext.configure(conn), metadata) == []
            assert conn.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == SCHEMA_REVISION
        for table, rows in before.items():
            assert rows, table
            had = rows[0].keys() & after[table][0].keys()
            assert [{c: r[c] for c in had} for r in after[table]] == [{c: r[c] for c in had} for r in rows], table
        # And what it was before lies in the backup, at the old revision.
        with sqlite3.connect(kept) as old:
            assert old.execute("SELECT version_num FROM alembic_version").fetchone() == (revision,)
            for table, rows in before.items():
                assert old.execute(f'SELECT count(*) FROM "{table}"').fetchone() == (len(rows),)
        old.close()

    def test_the_latest_values_of_old_metrics_are_filled_in(self, fresh):
        make_old_record(fresh, "0002")
        upgrade(fresh)
        with fresh.read() as conn:
            rows = conn.execute(text("SELECT last_value, last_step, last_time FROM metrics ORDER BY id")).all()
            began = conn.execute(text("SELECT count(*) FROM runs WHERE began_ms > 0")).scalar()
        # The second is NaN, which is null.
        assert [row.last_value for row in rows] == [1.5, None, 3.5]
        assert [row.last_step for row in rows] == [3, 4, 5]
        assert began == 3

    @pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
    def test_an_old_workspace_opens_and_works(self, paths, database_url):
        database = Database(paths.database, Bell())
        make_old_record(database, "0001")
        database.close()
        record = Record(paths)
        assert record.environments.register({"name": "mine"}, {}, "me")[0]["version"] == "1"
        with record.database.read() as conn:
            assert conn.execute(text("SELECT count(*) FROM experiments")).scalar() == 3
        record.close()
        (kept,) = glob.glob(os.path.join(glob.escape(paths.backups), "record-0001-*.db"))
        assert os.stat(kept).st_mode & 0o777 == 0o600
        Record(paths).close()
        assert len(os.listdir(paths.backups)) == 1

    def test_the_newest_revision_is_the_schemas(self):
        assert ScriptDirectory.from_config(alembic_config()).get_current_head() == SCHEMA_REVISION

    def test_up_and_down(self, fresh):
        from alembic import command

        with fresh.write() as tx:
            migrate(tx.conn)
        with fresh.write() as tx:
            config = alembic_config()
            config.attributes["connection"] = tx.conn
            command.downgrade(config, "base")
        assert set(shape(fresh)) == {"alembic_version"}

    def test_a_newer_database_is_refused_and_untouched(self, paths, record):
        with record.database.write() as tx:
            tx.conn.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        record.close()
        try:
            with pytest.raises(VersionMismatchError, match="9999"):
                Record(paths)
            with record.database.read() as conn:
                assert conn.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == "9999"
        finally:
            with record.database.write() as tx:
                tx.conn.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{SCHEMA_REVISION}'")

    def test_alembic_is_not_imported_without_need(self, paths):
        code = (
            "import sys; from rookery.record import Record; from rookery.spec.paths import WorkspacePaths\n"
            "for _ in range(2): Record(WorkspacePaths(sys.argv[1])).close()\n"
            "bad = ('alembic', 'fsspec', 'numpy', 'psycopg', 'rookery.record.postgres', 'rookery.record.backup')\n"
            "assert not any(m in sys.modules for m in bad), 'imported'"
        )
        subprocess.run([sys.executable, "-c", code, paths.root], check=True, timeout=60)


class TestDatabase:
    @pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
    def test_pragmas(self, record):
        with record.database.read() as conn:
            found = {
                name: conn.exec_driver_sql("PRAGMA " + name).scalar()
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            }
        assert found == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 10000}


class TestPostgres:
    @pytest.mark.slow
    def test_texts_sort_by_their_bytes_in_a_database_of_any_language(self, postgres):
        url = postgres.database("-T", "template0", "--locale-provider=icu", "--icu-locale=de-DE")
        database = Database("", Bell(), url)
        upgrade(database)
        names = ["a", "B", "ä", "Z", "_", "b"]
        with database.write() as tx:
            for name in names:
                tx.conn.execute(text("INSERT INTO model_names (name, last_version) VALUES (:n, 1)"), {"n": name})
        with database.read() as conn:
            found = [n for (n,) in conn.execute(text("SELECT name FROM model_names ORDER BY name"))]
        database.close()
        postgres.drop(url)
        assert found == sorted(names, key=lambda n: n.encode())

    @pytest.mark.slow
    def test_a_second_keeper_on_the_same_database_is_refused(self, postgres, monkeypatch):
        monkeypatch.setattr("rookery.record.postgres.LOCK_WAIT_S", 0.2)
        url = postgres.emptied()
        first, second = Database("", Bell(), url), Database("", Bell(), url)
        upgrade(first)
        with first.write():
            pass
        with pytest.raises(WorkspaceBusyError, match="Another keeper"), second.write():
            pass
        first.close()
        with second.write():
            pass
        second.close()

    @pytest.mark.slow
    def test_a_lost_connection_is_made_again_with_its_lock(self, postgres, monkeypatch):
        monkeypatch.setattr("rookery.record.postgres.LOCK_WAIT_S", 0.2)
        url = postgres.emptied()
        database, other = Database("", Bell(), url), Database("", Bell(), url)
        upgrade(database)
        kill = text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        with database.write():
            pass
        with database.read() as conn:
            conn.execute(kill)
        with database.write() as tx:
            tx.conn.execute(text("INSERT INTO model_names (name, last_version) VALUES ('kept', 1)"))
        with pytest.raises(WorkspaceBusyError), other.write():
            pass

        def write_while_killed():
            with database.write() as tx:
                with database.read() as conn:
                    conn.execute(kill)
                tx.conn.execute(text("INSERT INTO model_names (name, last_version) VALUES ('lost', 1)"))

        with pytest.raises(StorageError, match="cannot be used now"):
            write_while_killed()
        with database.read() as conn:
            assert conn.execute(text("SELECT name FROM model_names")).scalars().all() == ["kept"]
        database.close()
        other.close()

    def test_a_server_that_is_not_there_is_said_without_the_password(self, paths, monkeypatch):
        pytest.importorskip("psycopg")
        monkeypatch.setenv("ROOKERY_DATABASE_URL", "postgresql://me:s3cret@127.0.0.1:1/none")
        with pytest.raises(StorageError, match=r"me@127\.0\.0\.1:1/none cannot be reached") as error:
            Record(paths)
        assert "s3cret" not in str(error.value)
