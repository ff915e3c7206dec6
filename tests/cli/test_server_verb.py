"""`rookery server`, by the real program: what it refuses, and what it serves with TLS, a prefix, another database and store."""

from __future__ import annotations

import json
import os
import socket
import stat

import httpx
import pytest

from rookery.testing.certificates import make_certificate
from tests.cli.program import Program, free_port
from tests.conftest import stop_keepers
from tests.node.test_story import TRACK

pytestmark = pytest.mark.slow

PASSWORD = "a long and good one"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ser ver")
    yield folder
    stop_keepers(str(folder))


@pytest.fixture(scope="module")
def coop(folder):
    program = Program(folder / "co'op", folder / "home")
    program("init", "--name", "coop")
    return program


@pytest.fixture(scope="module")
def certificate(folder):
    return make_certificate(str(folder), "server")


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--host", "0.0.0.0"), "rookery user add NAME --role owner"),
            (("--host", "203.0.113.7"), "cannot be listened on"),
            (("--host", "0.0.0.0", "--testing"), "for loopback only"),
            (("--database", "mysql://host/x"), "postgresql://user:password@host/name"),
        ],
    )
    def test_are_said_before_anything_is_promised(self, coop, words, said):
        message, _ = coop.fails("server", "--port", str(free_port()), *words)
        assert said in message

    @pytest.mark.parametrize(
        ("words", "said"),
        [(("--log", "xml"), "text, json, none"), (("--port", "99999"), "65535"), (("--prefx", "/x"), "--prefix")],
    )
    def test_bad_options(self, coop, words, said):
        assert said in coop("server", *words, code=2).stderr

    def test_a_port_in_use(self, coop):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            message, _ = coop.fails("server", "--port", str(taken.getsockname()[1]))
        assert "Choose others with --host, --port" in message

    @pytest.mark.parametrize(
        ("cert", "key", "said"),
        [
            ("nowhere.pem", "", "nowhere.pem"),
            ("", "server.key", "no certificate"),
            ("rubbish.pem", "", "PEM"),
            ("server.pem", "other.key", "belongs to the certificate"),
        ],
    )
    def test_certificates_that_cannot_be_used(self, coop, folder, certificate, cert, key, said):
        make_certificate(str(folder), "other")
        (folder / "rubbish.pem").write_text("-----BEGIN RUBBISH-----\n")
        words = ["--tls-cert", str(folder / cert)] if cert else []
        words += ["--tls-key", str(folder / key)] if key else []
        done = coop("server", "--port", str(free_port()), *words, code=1)
        assert said in done.stderr
        assert "defect" not in done.stderr

    def test_a_database_that_does_not_answer(self, tmp_path):
        lost = Program(tmp_path / "lost", tmp_path / "home")
        lost("init", "--name", "lost")
        url = "postgresql://rookery:verysecret@127.0.0.1:9/none"
        done = lost("server", "--port", str(free_port()), "--database", url, code=1)
        assert "cannot be reached" in done.stderr
        assert "verysecret" not in done.stderr + done.stdout


class TestTls:
    def test_who_trusts_the_certificate_gets_in(self, coop, folder, certificate):
        coop("user", "add", "ann", "--role", "owner", "--password-stdin", given=PASSWORD + "\n")
        with coop.server("--tls-cert", certificate.cert, "--tls-key", certificate.key) as url:
            assert url.startswith("https://127.0.0.1:")
            ann = Program(folder / "ann", folder / "home of ann")
            words = ("login", url, "--user", "ann", "--password-stdin")
            message, _ = ann.fails(*words, given=PASSWORD + "\n")
            assert "certificate" in message.lower()
            assert ann.json(*words, "--ca", certificate.cert, given=PASSWORD + "\n")["name"] == "ann"
            config = json.loads((ann.folder / ".azureml" / "config.json").read_text())
            assert os.path.samefile(ann.folder / ".azureml" / config["rookery"]["ca"], certificate.cert)
            assert "ann" in ann("user", "list").stdout
            (ann.folder / "track.py").write_text(TRACK)  # MLflow in a run needs to trust nothing
            ann("run", "track.py")
            assert [(m["name"], m["values"]) for m in ann.json("show", "@last")["metrics"]] == [("by mlflow", [0.5])]


class TestPrefix:
    def test_all_addresses_begin_with_it(self, coop, folder):
        coop("user", "add", "bea", "--password-stdin", given=PASSWORD + "\n")
        with coop.server("--prefix", "nest/coop/") as url:
            assert url.endswith("/nest/coop")
            bea = Program(folder / "bea", folder / "home of bea")
            bea("login", url, "--user", "bea", "--password-stdin", given=PASSWORD + "\n")
            assert bea.json("ps")["runs"] is not None
            with httpx.Client(base_url=url, timeout=60, trust_env=False) as browser:
                page = browser.get("/login")
                assert page.status_code == 200
                assert '<form method="post">' in page.text  # to its own address, whatever it begins with
                entered = browser.post(
                    "/login",
                    data={"name": "bea", "password": PASSWORD},
                    headers={"Origin": url.removesuffix("/nest/coop")},
                )
                assert entered.status_code == 303
                assert entered.headers["location"] == "/nest/coop/"
                assert "path=/nest/coop" in entered.headers["set-cookie"].lower()
                assert browser.get("/healthz").status_code == 200


class TestPlaces:
    def test_database_and_artifacts_are_remembered_and_kept_secret(self, folder, postgres, tmp_path):
        nest = Program(folder / "nest", folder / "home of nest")
        nest("init", "--name", "nest")
        (nest.folder / "train.py").write_text("open('outputs/x.txt', 'w').write('x' * 100)\n")
        database = postgres.database()
        with nest.server("--database", database, "--artifacts", str(tmp_path / "store")):
            nest("run", "train.py")
            settings = nest.folder / ".rookery" / "settings.json"
            assert stat.S_IMODE(os.stat(settings).st_mode) == 0o600
        status = nest.json("db", "status")  # and without the server
        assert status["kind"] == "postgresql"
        assert status["artifacts"] == f"file://{tmp_path}/store"
        run = nest.json("ps")["runs"][0]  # a keeper that starts by itself has the same record
        assert run["status"] == "Completed"
        nest("download", run["id"], "outputs/x.txt", "--to", str(tmp_path))
        assert (tmp_path / "outputs" / "x.txt").read_text() == "x" * 100
        stored = sum(len(files) for _, _, files in os.walk(tmp_path / "store"))
        assert stored >= 2  # the snapshot's file and the output
        assert not os.path.exists(nest.folder / ".rookery" / "record.db")
