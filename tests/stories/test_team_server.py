"""A server for a team: PostgreSQL, S3, TLS, users, a stock MLflow client, a restart; then the same one behind a proxy.

The first part is `examples/team_server/team_server.sh`, the walk-through of docs/server.md, run as it is.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import urllib.request

import pytest

from rookery.testing.certificates import Certificate, make_certificate
from rookery.testing.debian import ensure_programs
from rookery.testing.mlflow_client import ROOT, ensure_client
from rookery.testing.s3_server import s3_server
from tests.cli.program import TIMEOUT_S, Program, free_port, wait_for_port
from tests.conftest import stop_keepers

EXAMPLE = os.path.join(ROOT, "examples", "team_server")
NGINX = """
daemon off; master_process off; pid "{folder}/nginx.pid"; error_log stderr;
events {{ worker_connections 100; }}
http {{
  access_log off;
  client_body_temp_path "{folder}/body"; proxy_temp_path "{folder}/proxy"; fastcgi_temp_path "{folder}/fastcgi";
  uwsgi_temp_path "{folder}/uwsgi"; scgi_temp_path "{folder}/scgi";
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate "{cert}"; ssl_certificate_key "{key}";
    client_max_body_size 0;
    location /rookery/ {{
      proxy_pass http://127.0.0.1:{behind};
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_read_timeout 1h;
    }}
  }}
}}
"""


class Team:
    """What the walk-through has left, and what it said."""

    def __init__(self, folder, said, s3):
        self.folder, self.said, self.s3 = folder, said, s3

    def person(self, name):
        return Program(self.folder / name, self.folder / "homes" / name)


@pytest.fixture(scope="module")
def team(tmp_path_factory, postgres):
    ensure_programs({"curl": "curl", "openssl": "openssl"})
    folder = tmp_path_factory.mktemp("te am")
    with s3_server() as s3:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("ROOKERY_", "AZUREML_", "MLFLOW_"))}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        env.update(
            DATABASE_URL=postgres.database(),
            ARTIFACTS="s3://rookery-test/team",
            MLFLOW_PYTHON=ensure_client(),
            PORT=str(free_port()),
            PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
        )
        done = subprocess.run(
            ["bash", os.path.join(EXAMPLE, "team_server.sh"), str(folder / "team")],
            env=env, capture_output=True, text=True, timeout=900, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        log = folder / "team" / "server.log"
        assert done.returncode == 0, done.stdout + done.stderr + (log.read_text()[-3000:] if log.exists() else "")
        yield Team(folder / "team", done, s3)
        stop_keepers(str(folder))


@contextlib.contextmanager
def nginx(folder, certificate: Certificate, behind: int):
    """Its address, with the server's prefix; TLS ends here."""
    program = ensure_programs({"nginx": "nginx-light"})["nginx"]
    port = free_port()
    folder.mkdir()
    text = NGINX.format(folder=folder, port=port, cert=certificate.cert, key=certificate.key, behind=behind)
    (folder / "nginx.conf").write_text(text)
    process = subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf")], stdin=subprocess.DEVNULL)
    try:
        wait_for_port(port, process)
        yield f"https://127.0.0.1:{port}/rookery"
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


def track(program, url, token, certificate):
    """The stock MLflow script → its finished process."""
    env = {
        **program.env, "MLFLOW_TRACKING_URI": url, "MLFLOW_TRACKING_TOKEN": token,
        "MLFLOW_TRACKING_SERVER_CERT_PATH": certificate, "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    }  # fmt: skip
    return subprocess.run(
        [ensure_client(), os.path.join(EXAMPLE, "track.py")],
        env=env, cwd=program.folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(1800)
class TestTeamServer:
    def test_the_walk_through(self, team):
        """Its own checks have passed; these are of what it left."""
        assert "equal in" in team.said.stdout  # db copy, row by row
        assert "needs the role contributor" in team.said.stderr
        server = team.person("server")
        status = server.json("db", "status")
        assert (status["kind"], status["artifacts"]) == ("postgresql", "s3://rookery-test/team")
        assert len(status["backups"]) == 1
        runs = server.json("ps")["runs"]  # by a keeper that started by itself
        assert [(r["status"], r["experiment"], r["submitted_by"]) for r in runs] == [
            ("Completed", "tracked", "bob"),
            ("Completed", "train", "bob"),
            ("Completed", "train", runs[2]["submitted_by"]),
        ]
        assert runs[0]["id"] in team.said.stdout  # MLflow's run id is ours
        tracked = server.json("show", runs[0]["id"])
        assert tracked["params"] == {"lr": "0.1"}
        assert {m["name"]: len(m["values"]) for m in tracked["metrics"]} == {"loss": 10}
        for n, run in enumerate(runs[1:]):  # one before the copy, from the folder; one after it, from the object store
            server("download", run["id"], "outputs", "--to", f"of {n}")
            assert (server.folder / f"of {n}" / "outputs" / "labels.txt").read_text() == "chicken\nturkey\n"
        with urllib.request.urlopen(f"{team.s3}/rookery-test?list-type=2&prefix=team/", timeout=60) as listing:
            assert listing.read().count(b"<Key>") >= 1

    def test_behind_a_proxy_with_a_prefix(self, team):
        certificate = make_certificate(str(team.folder), "proxy")
        server, bob, ann = team.person("server"), team.person("bob"), team.person("ann")
        with (
            server.server("--prefix", "/rookery", "--trust-proxy", "127.0.0.1") as inner,
            nginx(team.folder / "nginx", certificate, port_of(inner)) as url,
        ):
            for person, name in ((bob, "bob"), (ann, "ann")):
                (person.folder / ".azureml" / "config.json").unlink()
                words = ("login", url, "--ca", certificate.cert, "--user", name, "--password-stdin")
                assert person.json(*words, given=f"{name}'s long password\n")["name"] == name
            done = bob("run", "train.py")  # the log is followed through the proxy
            assert done.stdout == "trained\n"
            assert f"{url}/runs/" in done.stderr
            made = bob.json("token", "create", "--name", "mlflow again")
            said = track(bob, url, made["token"], certificate.cert)
            assert said.returncode == 0, said.stderr
            run_id = said.stdout.split()[-1]
            assert ann.json("show", run_id)["submitted_by"] == "bob"
            ann("user", "remove", "bob")
            assert bob.fails("ps")[1] == "authentication"
            gone = track(bob, url, made["token"], certificate.cert)
            assert gone.returncode != 0
            assert "token" in gone.stderr
            assert ann.json("show", run_id)["submitted_by"] == "bob"  # what he did stays


def port_of(url):
    return int(url.split(":")[2].split("/")[0])
