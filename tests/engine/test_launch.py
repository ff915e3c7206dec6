"""Distributed runs, as the engine sees them: what is refused, what ranks are told, and where they meet."""

from __future__ import annotations

import pytest

from rookery.engine.jobs import make_job
from rookery.engine.launch_variables import threads_per_rank
from rookery.engine.outcome import Grant
from rookery.errors import ComputeError, ConflictError, RunConfigError, UserError
from rookery.spec.compute import ClusterSpec
from rookery.spec.launch import command_processes
from rookery.spec.run import EnvironmentSpec, RunSpec
from tests.engine.test_jobs import AROUND, BUILT, LIMITS

TWO = (Grant("n0", (0, 1)), Grant("n1", (2, 3)))


def jobs_of(paths, grants=TWO, **fields):
    fields = {"script": "train.py", "environment": EnvironmentSpec(python="python"), **fields}
    spec = RunSpec(run_id="r1", experiment="exp", **fields)
    return [
        make_job(paths, spec, 1, node, grants, BUILT, AROUND, "rkr_agent", f"/run/a-{node}.sock", LIMITS)
        for node in range(len(grants))
    ]


class TestRanks:
    def test_the_documented_variables_of_each_process(self, paths):
        jobs = jobs_of(paths, launcher="per_process", node_count=2, processes_per_node=2)
        found = [rank.variables for job in jobs for rank in job.ranks]
        assert [v["RANK"] for v in found] == ["0", "1", "2", "3"]
        assert [v["LOCAL_RANK"] for v in found] == ["0", "1", "0", "1"]
        assert [v["NODE_RANK"] for v in found] == [v["GROUP_RANK"] for v in found] == ["0", "0", "1", "1"]
        assert {v["WORLD_SIZE"] for v in found} == {"4"}
        assert {v["LOCAL_WORLD_SIZE"] for v in found} == {"2"}
        assert [r.log_name[-6:] for j in jobs for r in j.ranks] == ["_0.txt", "_1.txt", "_2.txt", "_3.txt"]

    def test_agents_of_a_gang_know_their_number_and_each_has_its_channel(self, paths):
        jobs = jobs_of(paths, launcher="mpi", node_count=2)
        assert [(j.launch.launcher, j.launch.node_count, j.launch.channel) for j in jobs] == [
            ("mpi", 2, "/run/m-0.sock"),
            ("mpi", 2, "/run/m-1.sock"),
        ]
        assert {j.launch.address for j in jobs} == {"127.0.0.1"}
        assert "RANK" not in jobs[0].ranks[0].variables  # mpirun says it in its own words
        assert jobs[0].ranks[0].variables["AZUREML_COMMUNICATOR"] == "IntelMpi"

    def test_a_run_of_one_process_has_nothing_of_it(self, paths):
        job = jobs_of(paths, grants=TWO[:1])[0]
        assert job.launch is None
        assert not {"RANK", "WORLD_SIZE", "AZ_BATCHAI_TASK_INDEX"} & set(job.ranks[0].variables)

    def test_parameter_servers_are_beside_the_chief(self, paths):
        options = {"worker_count": 2, "parameter_server_count": 1}
        first, second = jobs_of(paths, launcher="tensorflow", node_count=2, launcher_options=options)
        assert [(r.rank, r.background) for r in first.ranks] == [(0, False), (2, True)]
        assert [(r.rank, r.background) for r in second.ranks] == [(1, False)]

    def test_nccl_without_a_gpu_is_told_in_words(self, paths):
        words = jobs_of(paths, launcher="per_process", node_count=2, launcher_options={"backend": "nccl"})[0].launch
        assert "NCCL needs CUDA" in words.warnings[0]
        gloo = jobs_of(paths, launcher="per_process", node_count=2, launcher_options={"backend": "gloo"})[0].launch
        assert gloo.warnings == ()
        with_gpus = (Grant("n0", (0,), (0,)), Grant("n1", (1,), (1,)))
        nccl = jobs_of(paths, with_gpus, launcher="per_process", node_count=2, launcher_options={"backend": "nccl"})
        assert nccl[0].launch.warnings == ()

    def test_nodes_that_share_too_few_cores_are_warned(self, paths):
        few = (Grant("n0", (0,)), Grant("n1", (1,)))
        words = jobs_of(paths, few, launcher="per_process", node_count=2, processes_per_node=2)[0].launch.warnings
        assert "each has 1 core for 2 processes" in words[0]


class TestThreads:
    @pytest.mark.parametrize(
        ("cpus", "fields", "threads"),
        [
            (8, {"processes_per_node": 2}, 4),
            (2, {"processes_per_node": 4}, 1),
            (8, {}, 8),
            (8, {"command": "torchrun --nproc_per_node=4 t.py", "script": None}, 2),
            (8, {"command": "accelerate launch --num_processes 2 t.py", "script": None}, 4),
            (8, {"command": "accelerate launch --num_machines 2 --num_processes 4 t.py", "script": None}, 4),
            (8, {"command": "torchrun --nproc-per-node gpu t.py", "script": None}, 0),
            (8, {"command": "python t.py --num_processes 2", "script": None}, 8),
            (0, {}, 0),
        ],
    )
    def test_cores_are_divided_among_the_processes(self, cpus, fields, threads):
        assert threads_per_rank(RunSpec("r", "e", **{"script": "t.py", **fields}), cpus) == threads

    def test_what_the_user_set_stays(self, paths):
        fields = {"launcher": "per_process", "processes_per_node": 2, "variables": {"OMP_NUM_THREADS": "7"}}
        found = jobs_of(paths, grants=TWO[:1], **fields)[0].ranks[0].variables
        assert (found["OMP_NUM_THREADS"], found["MKL_NUM_THREADS"]) == ("7", "1")

    def test_a_launcher_that_decides_by_itself_is_left_to(self, paths):
        command = "python -m torch.distributed.launch t.py"
        assert command_processes(command) is None
        found = jobs_of(paths, script=None, command=command, launcher="per_node", node_count=2)[0].ranks[0].variables
        assert "OMP_NUM_THREADS" not in found


class TestRefusals:
    def test_more_processes_than_cores(self, house):
        with pytest.raises(ComputeError, match=r"Process count per node \(5\) is larger than the Processing Unit") as e:
            house.submit(launcher="per_process", processes_per_node=5)
        assert "4 cores" in str(e.value)
        assert "process_count=4 instead of 5" in str(e.value)

    def test_where_there_are_gpus_they_are_the_units(self, make_house):
        house = make_house(cpus=8, gpus=2)
        with pytest.raises(ComputeError, match="2 GPUs on each node"):
            house.submit(launcher="mpi", processes_per_node=3)
        house.submit(launcher="mpi", processes_per_node=2)

    def test_nodes_of_one_machine_may_share_its_cores(self, make_house):
        house = make_house(cpus=2)
        house.controller.create_compute("pool", ClusterSpec(max_nodes=2))
        run_id = house.submit(compute="pool", launcher="per_process", node_count=2, processes_per_node=2)
        assert house.wait_placed(run_id, node=1)

    def test_a_launcher_that_does_not_exist(self, house):
        with pytest.raises(RunConfigError, match="Known: none, per_process"):
            house.submit(launcher="smoke signals")


class TestRendezvous:
    @pytest.fixture
    def gang(self, house):
        house.controller.create_compute("pool", ClusterSpec(max_nodes=2))
        run_id = house.submit(compute="pool", launcher="per_process", node_count=2)
        house.wait_placed(run_id, node=1)
        for node in (0, 1):
            house.controller.agent_hello(run_id, 1, node, {})
        return run_id

    def test_is_told_to_the_others_and_survives_a_restart(self, house, gang):
        nowhere = {"address": None, "port": None, "cancel": False}
        assert house.controller.agent_rendezvous(gang, 1, 1) == nowhere
        rung = []
        house.record.bell.subscribe(f"rendezvous/{gang}/1", lambda: rung.append(1))
        house.controller.agent_open_rendezvous(gang, 1, 0, {"address": "10.0.0.1", "port": 6105})
        assert rung
        house.restart()
        found = house.controller.agent_rendezvous(gang, 1, 1)
        assert found == {"address": "10.0.0.1", "port": 6105, "cancel": False}

    def test_who_waits_hears_that_the_run_is_stopped(self, house, gang):
        house.controller.cancel(gang)
        assert house.controller.agent_rendezvous(gang, 1, 1)["cancel"] is True

    def test_one_of_another_attempt_is_refused(self, house, gang):
        with pytest.raises(ConflictError):
            house.controller.agent_rendezvous(gang, 2, 1)

    @pytest.mark.parametrize(
        "body", [{"address": "", "port": 1}, {"address": "a", "port": 0}, {"address": "a", "port": "6"}]
    )
    def test_one_that_is_none_is_refused(self, house, gang, body):
        with pytest.raises(UserError, match="is no rendezvous"):
            house.controller.agent_open_rendezvous(gang, 1, 0, body)
