"""`rookery db status|upgrade|backup|copy` and `rookery gc`, by the real program on real records."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat

import httpx
import pytest

from tests.cli.program import Program
from tests.conftest import stop_keepers

pytestmark = pytest.mark.slow

SCRIPT = """
import os
from rookery.worker import Run
run = Run.get_context()
for i in range(20):
    run.log("loss", 1.0 / (i + 1))
os.makedirs("outputs", exist_ok=True)
open("outputs/model.pt", "wb").write(b"m" * 5000)
"""


@pytest.fixture(scope="module")
def coop(tmp_path_factory):
    """A project with a run, whose keeper goes on."""
    folder = tmp_path_factory.mktemp("d b")
    program = Program(folder / "co'op", folder / "home")
    (program.folder / "train.py").write_text(SCRIPT)
    program("init", "--name", "coop")
    program("run", "train.py")
    yield program
    stop_keepers(str(folder))


def root(program):
    return str(program.folder / ".rookery")


def rows(answer):
    return {t["name"]: (t["rows"], t["checksum"]) for t in answer["tables"] if t["rows"]}


def put(program, data):
    """Stores a file that nothing names."""
    program("keeper", "start")
    with httpx.Client(
        transport=httpx.HTTPTransport(uds=program.json("keeper", "status")["socket"]), timeout=60
    ) as keeper:
        sent = keeper.put(f"http://keeper/api/v1/content/{hashlib.sha256(data).hexdigest()}", content=data)
    assert sent.status_code == 201, sent.text


class TestStatus:
    def test_says_where_which_and_how_large(self, coop):
        answer = coop.json("db", "status")
        assert answer["database"] == os.path.join(root(coop), "record.db")
        assert (answer["kind"], answer["schema"]) == ("sqlite", answer["schema_known"])
        assert rows(answer)["runs"][0] == 1
        assert answer["size_bytes"] > 0
        plain = coop("db", "status").stdout
        assert plain.startswith(f"Record in {answer['database']}\n")
        assert f"schema      {answer['schema']} (this version has {answer['schema']})" in plain
        assert "runs                            1 rows" in plain

    def test_a_workspace_that_was_never_used(self, tmp_path):
        fresh = Program(tmp_path / "fresh", tmp_path / "home")
        fresh("init", "--name", "fresh")
        said = fresh.fails("db", "status")
        assert "has no record yet" in said[0]
        assert said[1] == "not_found"

    def test_typos_get_a_suggestion(self, coop):
        assert "'status'" in coop("db", "stats", code=2).stderr
        assert "'backup'" in coop("db", "back", code=2).stderr
        assert "copy" in coop("db", code=2).stderr


class TestBackup:
    def test_to_backups_and_elsewhere_while_the_keeper_goes_on(self, coop):
        pid = coop.json("keeper", "start")["pid"]
        answer = coop.json("db", "backup")
        assert os.path.dirname(answer["backup"]) == os.path.join(root(coop), "backups")
        assert answer["size_bytes"] == os.path.getsize(answer["backup"])
        assert stat.S_IMODE(os.stat(answer["backup"]).st_mode) & 0o077 == 0  # hashes of passwords are in it
        with sqlite3.connect(answer["backup"]) as db:
            assert db.execute("select count(*) from runs").fetchone() == (1,)
        db.close()
        done = coop("db", "backup", "--to", "it's mine.db")
        assert done.stdout.startswith(str(coop.folder / "it's mine.db"))
        assert "Logs and files of runs" in done.stderr
        assert answer["backup"] in coop.json("db", "status")["backups"]
        assert coop.json("keeper", "status")["pid"] == pid

    def test_one_that_is_there_is_not_overwritten(self, coop):
        (coop.folder / "there.db").write_text("precious")
        message, _ = coop.fails("db", "backup", "--to", "there.db")
        assert "there.db" in message
        assert (coop.folder / "there.db").read_text() == "precious"
        assert "there.db" in coop.fails("db", "backup", "--to", "there.db/x.db")[0]


class TestCopy:
    def test_there_and_back_with_the_same_sums(self, coop, postgres, tmp_path):
        coop("keeper", "stop")
        before = rows(coop.json("db", "status"))
        url = postgres.database()
        out = coop.json("db", "copy", f"sqlite:///{root(coop)}/record.db", url)
        assert rows(out) == before
        assert out["rows"] == sum(n for n, _ in before.values())
        done = coop("db", "copy", url, f"sqlite:///{tmp_path}/back.db")
        assert f"{out['rows']} rows in" in done.stdout
        assert before["runs"][1][:16] in done.stdout
        back = coop.json("db", "copy", f"sqlite:///{tmp_path}/back.db", f"sqlite:///{tmp_path}/again.db")
        assert rows(back) == before

    def test_a_password_is_not_shown(self, coop, postgres, tmp_path):
        url = postgres.database().replace("rookery@", "rookery:verysecret@")
        done = coop("db", "copy", f"sqlite:///{root(coop)}/record.db", url)
        assert "verysecret" not in done.stdout + done.stderr
        said = coop("db", "copy", f"sqlite:///{root(coop)}/record.db", url, code=1).stderr
        assert "verysecret" not in said

    def test_what_cannot_be_is_said(self, coop, postgres, tmp_path):
        here = f"sqlite:///{root(coop)}/record.db"
        assert "same database" in coop("db", "copy", here, here, code=1).stderr
        assert "four slashes" in coop("db", "copy", "sqlite:///no.db", f"sqlite:///{tmp_path}/x.db", code=1).stderr
        assert "postgresql://user" in coop("db", "copy", "mysql://host/x", f"sqlite:///{tmp_path}/x.db", code=1).stderr
        full = postgres.database()
        coop("db", "copy", here, full)
        assert "empty" in coop("db", "copy", here, full, code=1).stderr
        assert coop.fails("db", "copy", here, "postgresql://nobody@127.0.0.1:9/none")[1] == "storage"
        (tmp_path / "text.db").write_text("this is no database" * 100)
        assert (
            "text.db"
            in coop("db", "copy", f"sqlite:///{tmp_path}/text.db", f"sqlite:///{tmp_path}/y.db", code=1).stderr
        )
        assert "Missing argument" in coop("db", "copy", here, code=2).stderr


class TestUpgrade:
    def test_nothing_to_do(self, coop):
        answer = coop.json("db", "upgrade")
        assert answer["before"] == answer["after"]
        assert answer["backup"] is None
        assert "nothing to do" in coop("db", "upgrade").stdout

    @pytest.mark.parametrize("form", ["plain", "json"])
    def test_an_old_record_is_brought_up_with_a_backup_before(self, tmp_path, form):
        from rookery.record.bell import Bell
        from rookery.record.database import Database
        from rookery.testing.old_records import make_old_record, revisions

        old = Program(tmp_path / "old", tmp_path / "home")
        old("init", "--name", "old")
        database = Database(os.path.join(root(old), "record.db"), Bell())
        make_old_record(database, revisions()[0])
        database.close()
        assert f"schema      {revisions()[0]} (this version has {revisions()[-1]})" in old("db", "status").stdout
        if form == "plain":
            said = old("db", "upgrade").stdout
            assert f"schema {revisions()[0]} → {revisions()[-1]}." in said
            assert "backups" in said
        else:
            answer = old.json("db", "upgrade")
            assert (answer["before"], answer["after"]) == (revisions()[0], revisions()[-1])
            assert os.path.exists(answer["backup"])
        answer = old.json("db", "status")
        assert answer["schema"] == answer["schema_known"]
        assert len(answer["backups"]) == 1

    def test_a_record_of_a_newer_version_is_left_alone(self, coop, tmp_path):
        newer = Program(tmp_path / "newer", tmp_path / "home")
        newer("init", "--name", "newer")
        newer("keeper", "start")
        newer("keeper", "stop")
        with sqlite3.connect(os.path.join(root(newer), "record.db")) as db:
            db.execute("update alembic_version set version_num = '9999'")
        db.close()
        assert "9999" in newer.fails("db", "upgrade")[0]


class TestGc:
    def test_shows_and_then_removes_what_nothing_names(self, coop):
        data = b"nobody names me" * 1000
        put(coop, data)
        assert "Nothing that is older than 24 h" in coop("gc", "--dry-run").stdout
        coop("keeper", "stop")
        with sqlite3.connect(os.path.join(root(coop), "record.db")) as db:
            db.execute("update content set seen_utc = '2001-01-01T00:00:00.000000Z'")
        db.close()
        looked = coop("gc", "--dry-run")
        assert "stored files that nothing names" in looked.stdout
        assert "would be removed" in looked.stdout
        kinds = {k["kind"]: k for k in coop.json("gc", "--dry-run")["kinds"]}
        assert (kinds["content"]["items"], kinds["content"]["bytes"], kinds["content"]["removed"]) == (1, len(data), 0)
        gone = {k["kind"]: k for k in coop.json("gc")["kinds"]}
        assert gone["content"]["removed"] == 1
        assert "Nothing that is older than 0.5 h can be removed" in coop("gc", "--older-than", "0.5").stdout
        run = coop.json("ps")["runs"][0]["id"]
        coop("download", run, "outputs", "--to", "kept")
        assert (coop.folder / "kept" / "outputs" / "model.pt").stat().st_size == 5000

    def test_what_cannot_be_is_said(self, coop):
        assert "older-than" in coop("gc", "--older-than", "-1", code=2).stderr
        assert "--dry-run" in coop("gc", "--dryrun", code=2).stderr
