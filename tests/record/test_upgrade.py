from __future__ import annotations

import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from rookery.errors import VersionMismatchError
from rookery.record import Record
from rookery.record.bell import Bell
from rookery.record.database import Database
from rookery.record.schema import SCHEMA_REVISION, metadata
from rookery.record.upgrade import alembic_config, migrate


def tables(database):
    with database.read() as conn:
        rows = conn.exec_driver_sql("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").all()
    # The order of columns inside a statement counts, white space and quotes do not.
    return {
        (kind, name): "".join((sql or "").replace('"', "").split())
        for kind, name, sql in rows
        if name != "alembic_version"
    }


class TestMigrations:
    def test_from_nothing_they_make_what_the_schema_says(self, tmp_path, record):
        database = Database(str(tmp_path / "migrated.db"), Bell())
        with database.write() as tx:
            migrate(tx.conn)
        with database.read() as conn:
            assert compare_metadata(MigrationContext.configure(conn), metadata) == []
            assert conn.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == SCHEMA_REVISION
        assert set(tables(database)) == set(tables(record.database))
        database.close()

    @pytest.mark.parametrize("revision", ["0001"])
    def test_a_database_of_every_released_revision_comes_up_with_what_it_holds(self, paths, tmp_path, revision):
        database = Database(paths.database, Bell())
        with database.write() as tx:
            migrate(tx.conn, revision)
            tx.conn.exec_driver_sql(
                "INSERT INTO experiments VALUES ('e', 'birds', '2026-11-15T20:00:00.000000Z', NULL, '{}', 0)"
            )
        assert ("table", "environments") not in tables(database)
        database.close()
        record = Record(paths)
        assert record.experiments.get("birds")["id"] == "e"
        assert record.environments.register({"name": "mine"}, {}, "me")[0]["version"] == "1"
        with record.database.read() as conn:
            assert compare_metadata(MigrationContext.configure(conn), metadata) == []
        record.close()

    def test_the_newest_revision_is_the_schemas(self):
        assert ScriptDirectory.from_config(alembic_config()).get_current_head() == SCHEMA_REVISION

    def test_up_and_down(self, tmp_path):
        from alembic import command

        database = Database(str(tmp_path / "x.db"), Bell())
        with database.write() as tx:
            migrate(tx.conn)
        with database.write() as tx:
            config = alembic_config()
            config.attributes["connection"] = tx.conn
            command.downgrade(config, "base")
        assert tables(database) == {}
        database.close()

    def test_a_newer_database_is_refused_and_untouched(self, paths, record):
        with record.database.write() as tx:
            tx.conn.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(VersionMismatchError, match="9999"):
            Record(paths)
        with record.database.read() as conn:
            assert conn.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == "9999"

    def test_alembic_is_not_imported_without_need(self, paths):
        code = (
            "import sys; from rookery.record import Record; from rookery.spec.paths import WorkspacePaths\n"
            "for _ in range(2): Record(WorkspacePaths(sys.argv[1])).close()\n"
            "assert not any(m in sys.modules for m in ('alembic', 'fsspec', 'numpy')), 'imported'"
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
