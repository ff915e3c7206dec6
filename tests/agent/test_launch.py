"""Several agents meet, agree on a port and start their ranks; or say in seconds why not."""

from __future__ import annotations

import json
import socket
from dataclasses import replace

import pytest

from rookery.agent.launch_ports import claim_port, is_free
from rookery.agent.launch_variables import meeting_variables
from rookery.agent.tree import find_attempt
from rookery.spec.job import Job, KeeperAddress, RankJob
from rookery.spec.launch import LaunchJob
from rookery.testing.agent_bench import wait_until
from tests.agent.gang import Gang

SHOW = """
import os, sys
print('RANK', os.environ['RANK'], sys.argv[1], os.environ['MASTER_ADDR'], os.environ['MASTER_PORT'],
      os.environ['GLOO_SOCKET_IFNAME'], os.environ['TP_SOCKET_IFNAME'])
"""


class TestPerProcess:
    def test_every_rank_has_its_number_its_log_and_the_same_master(self, bench):
        gang = Gang(bench, "per_process", 2, 2, SHOW)
        outcomes = gang.run()
        assert [o["result"] for o in outcomes] == ["completed", "completed"]
        port = bench.keeper.rendezvous["port"]
        for rank in range(4):
            assert gang.log(rank) == f"RANK {rank} {rank % 2} 127.0.0.1 {port} lo lo\n"

    def test_an_interface_that_the_user_chose_is_kept(self, bench):
        gang = Gang(bench, "per_process", 1, 2, SHOW)
        job = gang.jobs[0]
        gang.jobs[0] = replace(
            job, ranks=tuple(replace(r, variables={**r.variables, "GLOO_SOCKET_IFNAME": "eth7"}) for r in job.ranks)
        )
        gang.run()
        assert gang.log(1).split()[-2:] == ["eth7", "lo"]

    def test_one_node_waits_for_nobody(self, bench):
        gang = Gang(bench, "per_process", 1, 2, SHOW)
        gang.run()
        assert not bench.keeper.rendezvous
        assert gang.log(0).split()[4] == gang.log(1).split()[4]

    def test_no_rank_starts_before_the_last_node_has_come(self, bench):
        gang = Gang(bench, "per_process", 2, 1, SHOW)
        gang.start(0)
        bench.keeper.wait_for("rendezvous")
        assert not [kind for kind, _ in bench.keeper.events if kind == "running"]
        gang.start(1)
        for agent in gang.agents:
            assert agent.wait(90) == 0, gang.agent_logs()
        assert gang.log(0).startswith("RANK 0")

    def test_warnings_of_the_launch_are_shown_at_once(self, bench):
        gang = Gang(bench, "per_process", 2, 1, SHOW, warnings=("NCCL needs CUDA",))
        gang.run()
        assert [r for r in bench.keeper.records if r[0] == "w"] == [["w", None, "NCCL needs CUDA"]]


class TestJournals:
    SCRIPT = "import os\nfrom rookery.worker.journal import Journal\nJournal(os.environ['ROOKERY_JOURNAL_DIR']).scalar('loss', 1.5)"

    def test_it_is_said_whose_they_are(self, bench):
        Gang(bench, "per_process", 2, 2, self.SCRIPT).run()
        assert sorted(bench.keeper.journal_ranks.values()) == [0, 1, 2, 3]

    def test_a_run_of_one_says_nothing(self, bench):
        Gang(bench, "per_process", 1, 1, self.SCRIPT).run()
        assert list(bench.keeper.journal_ranks.values()) == [None]


class TestFolders:
    def test_the_same_name_below_logs_on_two_nodes_is_two_logs(self, bench):
        script = (
            "import os\nos.makedirs('logs/deep', exist_ok=True)\n"
            "open('logs/train.txt', 'a').write('of rank ' + os.environ['RANK'])\n"
            "open('logs/deep/x.txt', 'a').write('x' * (1 + int(os.environ['RANK'])))\n"
        )
        gang = Gang(bench, "per_process", 3, 1, script)
        gang.run()
        for node, below in enumerate(("", "node-1/", "node-2/")):
            assert bench.keeper.log(f"logs/{below}train.txt").decode() == f"of rank {node}"
            assert bench.keeper.log(f"logs/{below}deep/x.txt") == b"x" * (1 + node)


class TestPort:
    def test_a_port_that_is_taken_is_left_alone(self, bench):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            wanted = taken.getsockname()[1]
            gang = Gang(bench, "per_process", 2, 1, SHOW, port=wanted)
            assert [o["result"] for o in gang.run()] == ["completed", "completed"]
        assert int(gang.log(0).split()[4]) != wanted
        assert gang.log(0).split()[4] == gang.log(1).split()[4]

    def test_a_port_that_was_chosen_is_not_chosen_again_before_it_is_bound(self):
        first = claim_port(6105)
        second = claim_port(first.number)
        try:
            assert is_free(first.number)
            assert second.number != first.number
        finally:
            first.release()
            second.release()

    def test_a_released_port_can_be_had_again(self):
        first = claim_port(6300)
        first.release()
        again = claim_port(first.number)
        assert again.number == first.number
        again.release()


class TestPreflight:
    @pytest.mark.slow
    def test_an_address_that_cannot_be_reached_is_an_error_in_seconds_that_names_both_nodes(self, bench):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            bench.keeper.rendezvous = {"address": "127.0.0.1", "port": closed.getsockname()[1]}
            gang = Gang(bench, "per_process", 2, 1, SHOW)
            gang.start(1)
            assert gang.agents[0].wait(90) == 0, gang.agent_logs()  # not the half hour that a rank would wait
        cause = bench.keeper.wait_for("outcome")["cause"]
        assert "Node 1" in cause["summary"]
        assert f"node 0 at 127.0.0.1:{bench.keeper.rendezvous['port']}" in cause["summary"]

    def test_a_caller_without_the_secret_is_not_counted(self, bench):
        gang = Gang(bench, "per_process", 2, 1, SHOW)
        gang.start(0)
        port = bench.keeper.wait_for("rendezvous")["port"]
        with socket.create_connection(("127.0.0.1", port), 60) as stranger:
            stranger.sendall(json.dumps({"node": 1, "proof": "guess", "mine": {}}).encode() + b"\n")
            assert stranger.recv(10) == b""
        gang.start(1)
        for agent in gang.agents:
            assert agent.wait(90) == 0, gang.agent_logs()
        assert gang.log(1).startswith("RANK 1")

    def test_a_run_that_is_stopped_while_nodes_wait_starts_nothing(self, bench):
        gang = Gang(bench, "per_process", 2, 1, SHOW)
        gang.start(0)
        bench.keeper.wait_for("rendezvous")
        bench.keeper.cancel = True
        assert gang.agents[0].wait(90) == 0, gang.agent_logs()
        assert bench.keeper.wait_for("outcome")["result"] == "canceled"
        assert gang.log(0) == ""


class TestBackground:
    def test_parameter_servers_end_with_the_workers_of_their_node(self, bench):
        script = "import os, time, sys\nprint(os.environ['TF_CONFIG'], flush=True)\n"
        script += "time.sleep(0 if os.environ['RANK'] == '0' else 1000)\n"
        gang = Gang(bench, "tensorflow", 1, 1, script, workers=1)
        job = gang.jobs[0]
        server = replace(
            job.ranks[0],
            rank=1,
            background=True,
            variables={**job.ranks[0].variables, "RANK": "1"},
            log_name="azureml-logs/70_driver_log_1.txt",
        )
        gang.jobs[0] = replace(
            job, ranks=(replace(job.ranks[0], log_name="azureml-logs/70_driver_log_0.txt"), server), cancel_grace_s=1.0
        )
        assert gang.run()[0]["result"] == "completed"
        wait_until(lambda: not find_attempt(f"{bench.run_id}/1"))
        config = json.loads(gang.log(0))
        assert (len(config["cluster"]["worker"]), len(config["cluster"]["ps"])) == (1, 1)
        assert config["task"] == {"type": "worker", "index": 0}


class TestVariables:
    @pytest.fixture
    def job(self):
        launch = LaunchJob("tensorflow", node_count=2, processes_per_node=1, workers=2)
        return Job("r", 1, 0, "run", "t", KeeperAddress(), launch=launch, work="/x/wd/r")

    NODES = [{"address": "10.0.0.1", "ports": [2222, 2223]}, {"address": "10.0.0.2", "ports": [2222]}]

    def test_tf_config_names_every_task(self, job):
        config = json.loads(meeting_variables(job, RankJob(1, 0), "10.0.0.1", 6105, self.NODES, {})["TF_CONFIG"])
        assert config["cluster"] == {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"], "ps": ["10.0.0.1:2223"]}
        assert (config["task"], config["environment"]) == ({"type": "worker", "index": 1}, "cloud")
        server = RankJob(2, 1, background=True)
        config = json.loads(meeting_variables(job, server, "10.0.0.1", 6105, self.NODES, {})["TF_CONFIG"])
        assert config["task"] == {"type": "ps", "index": 0}

    def test_the_batch_master_is_named_only_where_there_are_several_nodes(self, job):
        several = meeting_variables(job, RankJob(0, 0), "10.0.0.1", 6105, self.NODES, {})
        assert several["AZ_BATCH_MASTER_NODE"] == "10.0.0.1:6105"
        assert several["AZ_BATCH_HOST_LIST"] == "10.0.0.1,10.0.0.2"
        alone = meeting_variables(job, RankJob(0, 0), "10.0.0.1", 6105, self.NODES[:1], {})
        assert "AZ_BATCH_MASTER_NODE" not in alone
        assert alone["AZ_BATCHAI_MPI_MASTER_NODE"] == "10.0.0.1"

    def test_older_samples_find_where_to_meet(self, job):
        """They give $AZ_BATCHAI_PYTORCH_INIT_METHOD and $AZ_BATCHAI_TASK_INDEX to init_process_group."""
        torch = replace(job, launch=replace(job.launch, launcher="per_process"))
        found = meeting_variables(torch, RankJob(0, 0), "10.0.0.1", 6105, self.NODES, {})
        assert found["AZ_BATCHAI_PYTORCH_INIT_METHOD"] == "tcp://10.0.0.1:6105"
        six = meeting_variables(torch, RankJob(0, 0), "fd00::1", 6105, self.NODES, {})
        assert six["AZ_BATCHAI_PYTORCH_INIT_METHOD"] == "tcp://[fd00::1]:6105"
        assert "AZ_BATCHAI_PYTORCH_INIT_METHOD" not in meeting_variables(job, RankJob(0, 0), "h", 1, self.NODES, {})

    def test_interfaces_are_left_alone_on_real_networks(self, job):
        there = replace(job, launch=replace(job.launch, one_machine=False))
        assert "GLOO_SOCKET_IFNAME" not in meeting_variables(there, RankJob(0, 0), "10.0.0.1", 1, self.NODES, {})
