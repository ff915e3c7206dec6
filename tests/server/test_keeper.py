"""The keeper as a process: started, killed, restarted, raced. With the fake controller, so that only this
room is on trial.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

from rookery.record import Record
from rookery.server.lease import Lease, file_system_of, is_network_file_system
from tests.server.conftest import IDENTITY, PROGRAM, run_spec

LOG = "azureml-logs/70_driver_log.txt"


class TestStart:
    def test_listens_on_both_and_says_so(self, keepers, paths):
        process, byte = keepers.start()
        assert byte == b"1"
        endpoint = keepers.endpoint()
        assert endpoint["pid"] == process.pid
        assert os.stat(endpoint["socket"]).st_mode & 0o777 == 0o600
        assert os.stat(os.path.dirname(endpoint["socket"])).st_mode & 0o777 == 0o700
        assert len(endpoint["socket"]) < 100
        with keepers.client() as client:
            assert client.get("/hello").json()["pid"] == process.pid
            assert client.get("/keeper").json()["port"] == endpoint["port"]
        with open(paths.token) as f:
            headers = {"Authorization": "Bearer " + f.read()}
        url = f"http://127.0.0.1:{endpoint['port']}/api/v1"
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
            assert client.get("/runs").status_code == 401
            assert client.get("/runs", headers=headers).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert not os.path.exists(paths.endpoint)
        assert not os.path.exists(endpoint["socket"])

    def test_a_starter_that_has_gone_is_no_obstacle(self, keepers, paths):
        ready, told = os.pipe()
        command = [sys.executable, "-c", PROGRAM, "--workspace", paths.root, "--ready-fd", str(told)]
        process = subprocess.Popen(
            command, pass_fds=(told,), env=keepers.environment, stderr=subprocess.PIPE, text=True
        )
        keepers.processes.append(process)
        os.close(told)
        os.close(ready)  # nobody listens any more
        deadline = time.monotonic() + 60
        while not os.path.exists(paths.endpoint) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        with keepers.client() as client:
            assert client.get("/hello").json()["pid"] == process.pid
        assert keepers.endpoint()["root"] == os.path.realpath(paths.root)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0

    @pytest.mark.slow
    def test_the_port_is_kept_and_given_up_only_when_somebody_has_it(self, keepers):
        ports = []
        for _ in range(2):
            process, _ = keepers.start()
            ports.append(keepers.endpoint()["port"])
            process.terminate()
            process.wait(60)
        assert ports[0] == ports[1]
        with socket.create_server(("127.0.0.1", ports[0])):
            process, byte = keepers.start()
            assert byte == b"1"
            assert keepers.endpoint()["port"] != ports[0]
            process.terminate()
            process.wait(60)
            assert "port" in keepers.fails("--port", str(ports[0]))["message"]

    def test_two_keepers_on_one_workspace(self, keepers):
        first, _ = keepers.start()
        error = keepers.fails()
        assert error["code"] == "workspace_busy"
        assert error["details"] == {"host": socket.gethostname(), "pid": first.pid}
        assert str(first.pid) in error["message"]
        with keepers.client() as client:
            assert client.get("/hello").json()["pid"] == first.pid

    def test_no_workspace(self, keepers, tmp_path):
        (tmp_path / "plain").mkdir()
        error = keepers.fails(root=str(tmp_path / "plain"))
        assert error["code"] == "workspace_not_found"
        assert "rookery init" in error["message"]

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("{", "config"),
            ("[]", "config"),
            ('{"id": "x"}', "config"),
            (json.dumps({**IDENTITY, "format": 99}), "version_mismatch"),
        ],
    )
    def test_a_workspace_that_cannot_be_read(self, keepers, paths, text, code):
        with open(paths.identity, "w") as f:
            f.write(text)
        assert keepers.fails()["code"] == code

    def test_a_newer_database(self, keepers, paths):
        record = Record(paths)
        with record.database.write() as tx:
            tx.conn.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        record.close()
        error = keepers.fails()
        assert (error["code"], error["details"]["found"]) == ("version_mismatch", "9999")


@pytest.mark.slow
class TestLeaving:
    def test_open_streams_and_polls_do_not_hold_it(self, keepers):
        process, _ = keepers.start()
        with keepers.client() as client, keepers.client() as other:
            client.post("/runs", json=run_spec())
            with client.stream("GET", "/runs/run-1/events") as response:
                lines = response.iter_lines()
                assert next(lines) == ": rookery"
                assert other.post("/keeper/stop").status_code == 202
                for _ in lines:
                    pass  # it comes to its end: one that is cut off would be an error here
                assert process.wait(60) == 0

    def test_leaves_when_idle_and_not_before(self, keepers):
        # Counted from before it listens: on a busy machine a second may pass until somebody is there.
        keepers.environment["ROOKERY_KEEPER_IDLE_S"] = "3"
        process, _ = keepers.start()
        with keepers.client() as client:
            with client.stream("GET", "/events") as response:
                lines = response.iter_lines()
                next(lines)
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(4.5)
                with keepers.client() as other:
                    assert other.post("/runs", json=run_spec()).status_code == 201
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(4.5)  # a live run keeps it
            client.post("/runs/run-1/cancel")
        assert process.wait(60) == 0

    def test_a_successor_waits_for_one_that_is_leaving(self, keepers):
        first, _ = keepers.start()
        with keepers.client() as client:
            client.post("/keeper/stop")
        second, byte = keepers.start()
        assert byte == b"1"
        assert first.wait(60) == 0
        assert keepers.endpoint()["pid"] == second.pid


@pytest.mark.slow
class TestKill:
    def test_nothing_acknowledged_is_lost(self, keepers, paths):
        acknowledged_log, acknowledged_journal, runs = 0, 0, []
        for round_number in range(4):
            process, byte = keepers.start()
            assert byte == b"1"
            with keepers.client() as client:
                run_id = f"run-{round_number}"
                client.post("/runs", json=run_spec(run_id)).raise_for_status()
                runs.append(run_id)
                hello = client.post("/agent/run-0/1/0/hello", json={}).json()
                # What was acknowledged is there; more may be, when the answer was lost with the keeper.
                log, journal = hello["logs"].get(LOG, 0), hello["journals"].get("j", 0)
                assert log >= acknowledged_log
                assert journal >= acknowledged_journal
                killer = subprocess.Popen(["sh", "-c", f"sleep 0.{round_number + 1}; kill -9 {process.pid}"])
                try:
                    while True:
                        line = b"%09d\n" % (log // 10)
                        log = client.post(
                            "/agent/run-0/1/0/log", params={"name": LOG, "offset": log}, content=line
                        ).json()["ack"]
                        acknowledged_log = log
                        part = {
                            "journal": "j",
                            "from": journal,
                            "to": journal + 1,
                            "records": [["m", None, "n", journal, journal, 1.0]],
                        }
                        journal = client.post("/agent/run-0/1/0/journal", json=part).json()["ack"]
                        acknowledged_journal = journal
                except httpx.HTTPError:
                    pass
                killer.wait(60)
                process.wait(60)
        keepers.start()
        with keepers.client() as client:
            text = client.get(f"/runs/run-0/logs/{LOG}").content
            assert len(text) >= acknowledged_log > 0
            assert text == b"".join(b"%09d\n" % n for n in range(len(text) // 10))
            (metric,) = client.get("/runs/run-0/metrics").json()["metrics"]
            assert len(metric["values"]) >= acknowledged_journal > 0
            assert metric["values"] == list(range(len(metric["values"])))
            assert {r["id"] for r in client.get("/runs").json()["runs"]} == set(runs)


class TestLease:
    def test_file_systems(self, tmp_path):
        mounts = tmp_path / "mounts"
        mounts.write_text(
            "rootfs / ext4 rw 0 0\nsrv:/x /data nfs4 rw 0 0\nssd /data/local xfs rw 0 0\nh:/ "
            "/with\\040space fuse.sshfs rw 0 0\n"
        )
        found = [
            file_system_of(p, str(mounts))
            for p in ("/x", "/data", "/data/a/b", "/data/local/c", "/database", "/with space/q")
        ]
        assert found == ["ext4", "nfs4", "nfs4", "xfs", "ext4", "fuse.sshfs"]

    def test_a_lease_that_another_host_renewed_lately_counts_on_a_network(self, paths, monkeypatch):
        monkeypatch.setattr("rookery.server.lease.file_system_of", lambda path: "nfs4")
        assert is_network_file_system(paths.root)
        os.makedirs(paths.keeper)
        holder = {"host": "other-host", "pid": 77, "boot": "b", "renewed": time.time() - 3}
        with open(paths.lease, "w") as f:
            json.dump(holder, f)
        with pytest.raises(Exception, match=r"other-host, pid 77.*rookery server"), Lease(paths):
            pass
        with open(paths.lease, "w") as f:
            json.dump({**holder, "renewed": time.time() - 60}, f)
        with Lease(paths), open(paths.lease) as f:
            assert json.load(f)["pid"] == os.getpid()

    def test_the_text_of_another_host_does_not_count_on_this_machines_disk(self, paths):
        os.makedirs(paths.keeper)
        with open(paths.lease, "w") as f:
            json.dump({"host": "other-host", "pid": 77, "renewed": time.time()}, f)
        with Lease(paths):
            pass
