"""Real agents far from their keeper: through files, and from another machine over TLS; with keepers killed and cables cut."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlsplit

import pytest

from rookery.record import Record
from rookery.spec.job import Job, KeeperAddress, RankJob
from rookery.spec.paths import NodePaths
from rookery.spec.plain import to_plain
from rookery.testing.certificates import make_certificate
from rookery.testing.netns import Network
from tests.server.conftest import run_spec

pytestmark = pytest.mark.slow

LOG = "azureml-logs/70_driver_log.txt"
LINES = 400
RUN = f"far-{os.getpid()}"  # of this process: agents stop what carries the key of their own run
SCRIPT = f"""
import os, sys, time
out = os.fdopen(1, "wb", buffering=0)
for i in range({LINES}):
    out.write(b"%06d " % i + bytes((i * 7 + k) % 256 for k in range(i % 97)) + b"\\n")
    time.sleep(0.005)
"""
OUTPUT = bytes(range(256)) * 4000


def expected_log():
    return b"".join(b"%06d " % i + bytes((i * 7 + k) % 256 for k in range(i % 97)) + b"\n" for i in range(LINES))


class Far:
    """One attempt of one run, whose agent is somewhere else."""

    def __init__(self, keepers, paths, folder):
        self.keepers, self.paths = keepers, paths
        self.share = NodePaths(os.path.join(folder, "node"))
        self.process, _ = keepers.start()
        with keepers.client() as client:
            assert client.post("/runs", json=run_spec(RUN)).status_code == 201
        record = Record(paths)
        self.token = record.tokens.make(RUN, "agent")
        record.close()

    def attach(self, **reach):
        """A target whose nodes reach the keeper so; the next keeper opens what it needs."""
        spec = {"engine": "slurm", "max_nodes": 2, "reach": reach}
        record = Record(self.paths)
        record.compute.put("far", spec)
        record.close()
        self.restart()

    def restart(self):
        self.process.kill()
        self.process.wait(60)
        self.process, byte = self.keepers.start()
        assert byte == b"1"

    def write_job(self, keeper, socket):
        work = self.share.work(RUN)
        os.makedirs(os.path.join(work, "outputs"))
        with open(os.path.join(work, "train.py"), "w") as f:
            f.write(SCRIPT)
        with open(os.path.join(work, "outputs", "net.bin"), "wb") as f:
            f.write(OUTPUT)
        rank = self.share.rank(0)
        variables = {
            "ROOKERY_RUN_ID": RUN,
            "ROOKERY_ATTEMPT_KEY": f"{RUN}/1",
            "ROOKERY_NODE": "0",
            "PATH": os.environ["PATH"],
            "ROOKERY_JOURNAL_DIR": rank.journal,
            "ROOKERY_UPLOADS_DIR": rank.uploads,
            "ROOKERY_ERRORS_DIR": rank.errors,
        }
        job = Job(
            run_id=RUN,
            attempt=1,
            node=0,
            mode="run",
            token=self.token,
            keeper=keeper,
            ranks=(RankJob(0, 0, (sys.executable, "train.py"), variables=variables, log_name=LOG),),
            work=work,
            heartbeat_s=0.2,
            socket=socket,
        )
        with open(self.share.job, "w") as f:
            json.dump(to_plain(job), f)

    def start(self, popen=subprocess.Popen):
        with open(self.share.agent_log, "wb") as log:
            return popen(
                [sys.executable, "-m", "rookery.agent", self.share.root],
                stdout=log,
                stderr=log,
                cwd="/",
                env=self.keepers.environment,
            )

    def wait_for_log(self, agent, size):
        deadline = time.monotonic() + 60
        while self._size() <= size and agent.poll() is None:
            assert time.monotonic() < deadline, self.agent_log()
            time.sleep(0.01)

    def _size(self):
        try:
            return os.path.getsize(self.paths.log(RUN, LOG))
        except OSError:
            return 0

    def agent_log(self):
        with open(self.share.agent_log) as f:
            return f.read()

    def check(self):
        with self.keepers.client() as client:
            run = client.get(f"/runs/{RUN}").json()
            assert run["status"] == "Completed", run
            assert client.get(f"/runs/{RUN}/logs/{LOG}").content == expected_log()
            assert client.get(f"/runs/{RUN}/artifacts/outputs/net.bin").content == OUTPUT


@pytest.fixture
def far(keepers, paths, tmp_path):
    return Far(keepers, paths, str(tmp_path))


@pytest.fixture
def short():
    with tempfile.TemporaryDirectory(prefix="rk-") as folder:
        yield os.path.join(folder, "a.sock")


def end(agent):
    if agent.poll() is None:
        agent.kill()
    agent.wait(60)


class TestFiles:
    def test_the_log_is_complete_to_the_byte_although_keepers_are_killed(self, far, short):
        far.attach(transport="spool")
        far.write_job(KeeperAddress(spool=far.paths.spool_of(RUN, 1, 0)), short)
        agent = far.start()
        try:
            for size in (2_000, 8_000, 14_000):
                far.wait_for_log(agent, size)
                far.restart()
            assert agent.wait(120) == 0, far.agent_log()
        finally:
            end(agent)
        far.check()


class TestNetwork:
    def test_from_another_machine_over_tls_although_keepers_are_killed_and_the_cable_is_cut(self, far, short, tmp_path):
        made = make_certificate(str(tmp_path), "keeper", host="keeper.invalid")
        far.keepers.environment.update(ROOKERY_AGENTS_TLS_CERT=made.cert, ROOKERY_AGENTS_TLS_KEY=made.key)
        with Network(["n1"]) as network:
            far.attach(transport="http", keeper_url=f"https://{network.address}:1")
            [url] = far.keepers.endpoint()["agents"]["urls"]
            assert (urlsplit(url).scheme, urlsplit(url).hostname) == ("https", network.address)
            address = KeeperAddress(endpoint_file=far.paths.endpoint, url=url, certificate=made.pem)
            far.write_job(address, short)
            agent = far.start(network["n1"].popen)
            try:
                far.wait_for_log(agent, 2_000)
                far.restart()
                assert far.keepers.endpoint()["agents"]["urls"] == [url]
                far.wait_for_log(agent, 8_000)
                network["n1"].cut()
                time.sleep(1.0)  # long enough for packets to be lost
                network["n1"].restore()
                assert agent.wait(120) == 0, far.agent_log()
            finally:
                end(agent)
        far.check()

    def test_the_owners_token_opens_nothing_from_there(self, far):
        with open(far.paths.token) as f:
            token = f.read()
        with Network(["n1"]) as network:
            far.attach(transport="http", keeper_url=f"http://{network.address}:1")
            [url] = far.keepers.endpoint()["agents"]["urls"]
            ask = (
                "import sys, urllib.request as u, urllib.error as e\n"
                "try: print(u.urlopen(u.Request(sys.argv[1], headers={'Authorization': 'Bearer ' + sys.argv[2]}), timeout=60).status)\n"
                "except e.HTTPError as error: print(error.code, error.read().decode())"
            )
            far_python = [sys.executable, "-I", "-c", ask]
            assert network["n1"].run([*far_python, url + "/api/v1/hello", "x"]).stdout.strip() == "200"
            refused = network["n1"].run([*far_python, url + "/api/v1/runs", token]).stdout
            assert refused.startswith("403")
            main = f"http://{network.address}:{far.keepers.endpoint()['port']}/api/v1/hello"
            closed = network["n1"].popen([*far_python, main, token], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            _, err = closed.communicate(timeout=60)
            assert b"refused" in err  # the main port is on loopback only
