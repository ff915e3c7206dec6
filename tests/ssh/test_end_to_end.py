"""Runs on machines over ssh that share nothing with the keeper: neither files, nor loopback, nor processes."""

from __future__ import annotations

import io
import os
import signal

import pytest

from rookery.sdk import (
    ComputeTarget,
    Dataset,
    Environment,
    Experiment,
    OutputFileDatasetConfig,
    PyTorchConfiguration,
    RemoteCompute,
    Retries,
    ScriptRunConfig,
    Workspace,
)
from rookery.testing.ssh_machine import SshMachines
from rookery.testing.stand_in import wait_for

pytestmark = pytest.mark.slow
MEET = """
import os, socket, sys
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if rank == 0:
    with socket.create_server(address) as server:
        others = 0
        while others < world - 1:
            peer, _ = server.accept()
            others += int(peer.makefile().readline())
            peer.close()
    print("SUM", others, "on", socket.gethostname(), flush=True)
else:
    while True:
        try:
            with socket.create_connection(address, 60) as s:
                s.sendall(b"%d\\n" % rank)
            break
        except ConnectionRefusedError:
            pass
    print("I am", rank, "on", socket.gethostname(), flush=True)
from azureml.core import Run
Run.get_context().log("rank", rank)
os.makedirs("outputs", exist_ok=True)
with open("outputs/rank%d.txt" % rank, "w") as f:
    f.write(socket.gethostname())
"""
# Ends when the test says so, which it can only see through a node's own disk.
WAIT = """
import os, socket, sys, time
print("at", socket.gethostname(), "attempt", os.environ["ROOKERY_ATTEMPT"], flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
print("done", flush=True)
"""
# Reads its input and writes the same, upside down, for every rank.
DATA = """
import os, sys
with open(os.path.join(sys.argv[1], "ü b.txt"), "rb") as f:
    data = f.read()
with open(os.path.join(sys.argv[2], os.environ["RANK"]), "wb") as f:
    f.write(data[::-1])
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tmp_path_factory.mktemp("ssh-e2e")


@pytest.fixture(scope="module")
def machines(base):
    """Each machine has a node home of its own, and where the keeper's files are it sees an empty folder."""
    keys = base / "keys"
    keys.mkdir()
    private = [str(base / "side of the keeper"), str(base / "node")]
    with SshMachines(["m0", "m1"], keys, private=private) as made:
        yield made


@pytest.fixture(scope="module")
def workspace(base, machines):
    side = base / "side of the keeper"
    patch = pytest.MonkeyPatch()
    patch.setenv("ROOKERY_HOME", str(side / "home"))
    patch.chdir(side)
    made = Workspace.create("nest", exist_ok=True)
    try:
        options = machines.options(connect_timeout_s=10)
        options.pop("username")
        configuration = RemoteCompute.attach_configuration(
            "root", lost_after_s=20, node_home=str(base / "node" / "home"), **options
        )
        target = ComputeTarget.attach(made, "pool", configuration)
        target.wait_for_completion()
        assert target.get_status() == "Succeeded", target.provisioning_errors
        yield made
    finally:
        made.client.request("POST", "/keeper/stop", body={})
        patch.undo()


@pytest.fixture
def submit(workspace, tmp_path):
    runs = []

    def make(script, *arguments, nodes=1, retries=0):
        source = tmp_path / "source"
        source.mkdir(exist_ok=True)
        (source / "train.py").write_text(script)
        environment = Environment("mine")
        environment.python.user_managed_dependencies = True
        config = ScriptRunConfig(
            str(source),
            "train.py",
            arguments=list(arguments),
            compute_target="pool",
            environment=environment,
            distributed_job_config=PyTorchConfiguration(process_count=nodes, node_count=nodes) if nodes > 1 else None,
        )
        config.run_config.retries = Retries(lost_node=retries)
        runs.append(Experiment(workspace, "over-ssh").submit(config))
        return runs[-1]

    yield make
    for run in runs:
        if run.get_status() not in ("Completed", "Failed", "Canceled"):
            run.cancel()
            ended(run)


def ended(run, timeout_s=150.0):
    return wait_for(lambda: (s := run.get_status()) in ("Completed", "Failed", "Canceled") and s, "the end", timeout_s)


def log_of(run):
    client, text = run.experiment.workspace.client, io.BytesIO()
    for entry in client.request("GET", f"/runs/{run.id}/logs")["logs"]:
        if "driver_log" in entry["name"]:
            client.download(f"/runs/{run.id}/logs/{entry['name']}", text)
    return text.getvalue().decode()


def processes(machines):
    """What runs on the machines besides sshd: agents, guardians, ranks."""
    found = []
    for node in machines.network:
        for pid in node.pids():
            try:
                with open(f"/proc/{pid}/cmdline") as f:
                    line = f.read().replace("\0", " ")
            except OSError:
                continue
            if "sshd" not in line and "Hand(" not in line and "sys.stdin.readline" not in line:
                found.append((node.name, pid, line[:150]))
    return found


class TestRuns:
    def test_data_reaches_both_machines_and_comes_back(self, submit, workspace, tmp_path):
        data = os.urandom(3_000_000)
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "ü b.txt").write_bytes(data)
        store = workspace.get_default_datastore()
        store.upload(str(tmp_path / "in"), "over-ssh", show_progress=False)
        given = Dataset.File.from_files((store, "over-ssh")).as_named_input("given").as_mount()
        run = submit(DATA, given, OutputFileDatasetConfig("made").register_on_complete("over-ssh"), nodes=2)
        assert ended(run) == "Completed", run.get_details()
        Dataset.get_by_name(workspace, "over-ssh").download(str(tmp_path / "out"))
        assert sorted(os.listdir(tmp_path / "out")) == ["0", "1"]
        assert all((tmp_path / "out" / rank).read_bytes() == data[::-1] for rank in "01")

    def test_two_nodes_meet_and_everything_comes_back(self, submit, machines, tmp_path):
        run = submit(MEET, nodes=2)
        assert ended(run) == "Completed", run.get_details()
        text = log_of(run)
        first, second = ("m0", "m1") if "SUM 1 on m0" in text else ("m1", "m0")  # whichever was free first
        assert f"SUM 1 on {first}" in text
        assert f"I am 1 on {second}" in text
        assert sorted(run.get_metrics()["rank"]) == [0, 1]
        assert {"outputs/rank0.txt", "outputs/rank1.txt"} <= set(run.get_file_names())
        wait_for(lambda: not processes(machines), f"an empty machine, not {processes(machines)}")

    def test_nodes_tell_what_runs_on_them(self, submit, workspace, machines, base):
        go = base / "node" / "go-nodes"
        run = submit(WAIT, str(go))
        wait_for(lambda: run.get_status() == "Running", "that it runs")
        target = ComputeTarget(workspace, "pool")
        wait_for(
            lambda: [n["nodeState"] for n in target.list_nodes() if run.id in n["runs"]] == ["running"], "its node"
        )
        run.cancel()
        assert ended(run) == "Canceled"
        wait_for(lambda: not processes(machines), "an empty machine")


class TestTrouble:
    def test_a_keeper_that_is_killed_is_followed_by_one_that_finds_the_run(self, submit, workspace, machines, base):
        run = submit(WAIT, str(base / "node" / "go"))
        wait_for(lambda: "attempt 1\n" in log_of(run), "its first line")
        keeper = workspace.client.request("GET", "/keeper")["pid"]
        os.kill(keeper, signal.SIGKILL)
        wait_for(lambda: workspace.client.request("GET", "/keeper")["pid"] != keeper, "another keeper")
        for node in machines.network:
            with open(os.path.join(node.disk(str(base / "node")), "go"), "w"):
                pass
        try:
            assert ended(run) == "Completed", run.get_details()
        finally:
            for node in machines.network:
                os.unlink(os.path.join(node.disk(str(base / "node")), "go"))
        assert log_of(run).count("at m") == 1
        assert "done" in log_of(run)

    def test_a_machine_that_dies_is_a_lost_node_and_the_run_goes_on_elsewhere(self, submit, machines, base):
        run = submit(WAIT, str(base / "node" / "go2"), retries=1)
        text = wait_for(lambda: (t := log_of(run)) and "attempt 1\n" in t and t, "its machine")
        name = text.split("at ")[1].split()[0]
        machines.crash(name)
        try:
            other = next(n for n in machines.network if n.name != name)
            wait_for(lambda: "attempt 2\n" in log_of(run), "another attempt", 150)
            assert f"at {other.name} attempt 2" in log_of(run)
            with open(os.path.join(other.disk(str(base / "node")), "go2"), "w"):
                pass
            assert ended(run) == "Completed", run.get_details()
            attempts = run.experiment.workspace.client.request("GET", f"/runs/{run.id}")["attempts"]
            assert attempts[0]["result"] == "lost"
            assert machines.network[name].address in attempts[0]["cause"]["summary"]
        finally:
            machines.boot(name)
        wait_for(lambda: not processes(machines), "empty machines")


def test_waits_for_machines_that_are_away_and_says_so(submit, machines, base):
    for node in machines.network:
        node.cut()
    try:
        run = submit("print('hello')")
        client = run.experiment.workspace.client
        wait_for(lambda: "has not answered since" in client.request("GET", f"/runs/{run.id}")["reason"], "why")
    finally:
        for node in machines.network:
            node.restore()
    assert ended(run) == "Completed", run.get_details()
