"""MPI runs with a real mpirun: ranks are its children, and yet their logs, ends and errors are kept by the agents."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from rookery.agent.launch_meeting import LaunchError
from rookery.agent.launch_mpirun import Mpirun, find_mpirun, mpirun_command
from rookery.agent.tree import find_attempt
from rookery.spec.launch import MPI_LOG
from rookery.testing.agent_bench import wait_until
from rookery.testing.openmpi import ensure_openmpi
from tests.agent.gang import Gang

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
        subprocess.run(["mpicc", str(source), "-o", str(program)], check=True, timeout=60)
        gang = Gang(bench, "mpi", 2, 2, "")
        for n, job in enumerate(gang.jobs):
            gang.jobs[n] = replace(job, ranks=tuple(replace(r, argv=(str(program),)) for r in job.ranks))
        assert [o["result"] for o in gang.run()] == ["completed", "completed"], gang.agent_logs()
        for rank in range(4):
            assert gang.log(rank) == f"rank {rank} of 4 sum 6 local {rank % 2}\n"


class TestFailure:
    @pytest.mark.parametrize("broken", [0, 3])
    def test_exit_code_and_traceback_are_the_ranks_own(self, bench, broken):
        script = f"import os, time\nif os.environ['RANK'] == '{broken}': os._exit(17)\ntime.sleep(100)\n"
        gang = Gang(bench, "mpi", 2, 2, script)
        gang.start()
        node = broken // 2
        assert gang.agents[node].wait(30) == 0, gang.agent_logs()
        outcome = gang.outcomes_of(node)
        ends = {r["rank"]: r for r in outcome["ranks"]}
        assert (outcome["result"], ends[broken]["exit_code"]) == ("failed", 17)
        assert outcome["cause"]["rank"] == broken
        assert gang.agents[1 - node].wait(30) == 0, gang.agent_logs()  # mpirun ends the others by itself
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
        wait_until(lambda: not find_attempt(f"{bench.run_id}/1"))

    def test_cancel_ends_everything(self, bench):
        gang = Gang(bench, "mpi", 2, 1, "import time; print('up', flush=True); time.sleep(1000)")
        gang.start()
        wait_until(lambda: "up" in gang.log(0) and "up" in gang.log(1))
        bench.keeper.command("cancel", grace_s=1.0)
        for agent in gang.agents:
            assert agent.wait(30) == 0, gang.agent_logs()
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

    def test_a_single_node_needs_no_way_to_others(self):
        command = mpirun_command(Mpirun("/usr/bin/mpirun", (4, 1, 4)), ["127.0.0.2"], 2, True, None)
        assert "--host" not in command
        assert command[command.index("-n") + 1] == "2"
