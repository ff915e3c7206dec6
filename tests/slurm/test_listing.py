"""What Slurm's commands print, read; and the script that we give it. No Slurm is needed here."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from rookery.engine.engines.slurm.commands import Commands, tidy
from rookery.engine.engines.slurm.listing import GangName, read_jobs, read_limit_s, read_nodes, read_partitions
from rookery.engine.engines.slurm.script import batch_script, notice_s, request_options, sbatch_options
from rookery.engine.engines.slurm.words import end_words, never_starts, waiting_words
from rookery.spec.compute import ClusterSpec, Reach
from rookery.spec.engine_options import SlurmOptions


@pytest.mark.parametrize("nodes", [(0,), (0, 1, 2), (1,), (0, 2, 3, 7)])
@pytest.mark.parametrize("run_id", ["exp_17_ab", "a.b c|d'e;f%", "ü"])
def test_a_name_carries_a_gang(run_id, nodes):
    name = GangName(run_id, 3, nodes, "0123456789ab")
    assert GangName.read(str(name)) == name
    assert not set("|; \n'\"") & set(str(name))


@pytest.mark.parametrize("text", ["", "train", "a.b.c.d", "a.1.x.rkab", "a.x.0.rkab"])
def test_other_peoples_names_are_nobodys(text):
    assert GangName.read(text) is None


def test_jobs_with_what_their_scripts_told():
    text = (
        "17|RUNNING|None|n[0-1]|2|main|r.1.0-1.rkab|rk;0=0:;limit;1=127:sh python9 not found\n"
        "18|PENDING|Resources||2|main|r.2.0-1.rkab|(null)\n"
        "19|PENDING|ReqNodeNotAvail, UnavailableNodes:n1||1|main|somebody's|a|b=1\n"
        "slurm_load_jobs error\n"
    )
    jobs = read_jobs(text)
    assert sorted(jobs) == [17, 18, 19]
    assert {n: (e.code, e.words) for n, e in jobs[17].ends.items()} == {0: (0, ""), 1: (127, "sh python9 not found")}
    assert (jobs[17].near_limit, jobs[18].near_limit) == (True, False)
    assert jobs[19].ends == {}
    assert waiting_words(jobs[18]) == "Slurm job 18 waits: Resources (it needs 2 nodes free together)"
    assert "nodes that it needs are not there" in waiting_words(jobs[19])


def test_reasons_that_never_pass_and_ends():
    held, never, over = read_jobs(
        "1|PENDING|JobHeldUser||1|main|x|\n2|PENDING|BadConstraints||1|main|x|\n3|TIMEOUT|TimeLimit|n0|1|main|x|\n"
    ).values()
    assert never_starts(held) is None
    assert "`scontrol release 1`" in waiting_words(held)
    assert "no node of the cluster has what it asks for" in never_starts(never)
    assert end_words(over) == "Slurm job 3 is TIMEOUT: it reached its time limit; Slurm's reason: TimeLimit."


def test_nodes_and_partitions():
    text = (
        "NodeName=n0 Arch=x86_64 CPUAlloc=2 CPUTot=8 ActiveFeatures=a100 Gres=gpu:a100:4(S:0-1) GresUsed=gpu:a100:1(IDX:0) "
        "NodeAddr=10.0.0.1 OS=Linux 6.1 #1 SMP RealMemory=1000 State=MIXED Partitions=main,short\n"
        "NodeName=n1 CPUAlloc=0 CPUTot=8 Gres=(null) NodeAddr=n1 RealMemory=1000 State=DOWN*+NOT_RESPONDING Partitions=main "
        "Reason=Not responding [slurm@2026-11-16T00:00:00]\n"
        "NodeName=n2 CPUAlloc=0 CPUTot=8 State=IDLE+DRAIN Partitions=other Reason=disk\n"
        "NodeName=n3 CPUAlloc=0 CPUTot=8 State=IDLE+POWERED_DOWN Partitions=main\n"
    )
    n0, n1, n3 = read_nodes(text, "main")
    assert (n0.state, n0.cpus, n0.free_cpus, n0.gpus, n0.free_gpus) == ("running", 8, 6, 4, 3)
    assert n0.memory_bytes == 1000 * 1024 * 1024
    assert (n1.state, n1.free_cpus) == ("down", 0)
    assert "Not responding" in n1.detail
    assert n3.state == "idle"  # it is woken when it is needed
    assert read_nodes(text, "other")[0].state == "drained"
    found = read_partitions(
        "PartitionName=main Default=YES MaxTime=1-00:00:00\nPartitionName=x Default=NO MaxTime=UNLIMITED\n"
    )
    assert found[""]["PartitionName"] == "main"
    assert read_limit_s(found["main"]["MaxTime"]) == 86400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 5400),
        ("2:30", 150),
        ("1:00:00", 3600),
        ("1-12", 129600),
        ("1-0:30", 88200),
        ("UNLIMITED", None),
        ("", None),
    ],
)
def test_times(text, seconds):
    assert read_limit_s(text) == seconds


def test_the_notice_is_at_most_half_of_the_limit():
    assert notice_s(SlurmOptions(), None) == 120
    assert notice_s(SlurmOptions(), 60) == 30
    assert notice_s(SlurmOptions(time_limit="2"), 86400) == 60
    assert notice_s(SlurmOptions(signal_s=0), 60) == 0


def test_what_is_asked_of_sbatch():
    options = SlurmOptions(partition="gpu", account="birds", time_limit="1:00:00", nice=0, extra=("--switches=1",))
    spec = ClusterSpec("slurm", cpus_per_node=3, gpus_per_node=2)
    asked = sbatch_options(options, spec, "name", 4, 120, "/dev/null", "n7")
    for word in ("--nodes=4", "--cpus-per-task=3", "--gres=gpu:2", "--partition=gpu", "--account=birds", "--nice=0"):
        assert word in asked
    assert {"--switches=1", "--nodelist=n7", "--no-requeue", "--no-kill", "--signal=B:USR1@120"} <= set(asked)
    assert "--exclusive" in request_options(SlurmOptions(), ClusterSpec("slurm"), 1)


def test_the_script_is_a_shell_script_whatever_is_in_it():
    boot = "text = '''EOF $(false) `false` \\\\ %s'''\n"
    spec = ClusterSpec("slurm", reach=Reach(python="/opt/a python's/bin/python3"))
    script = batch_script(boot, [0, 1], "run's/1", spec, SlurmOptions(setup=("module load x || true",)))
    assert boot in script
    assert shutil.which("bash")
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False, timeout=10)
    assert (done.returncode, done.stderr) == (0, "")


def test_commands_hand_on_no_run_and_no_other_job():
    given = {
        "PATH": "/bin",
        "SLURM_JOB_ID": "1",
        "ROOKERY_TOKEN": "x",
        "AZUREML_RUN_ID": "y",
        "HOME": "/h",
        "SLURM_CONF": "/c",
    }
    found = Commands(SlurmOptions()).environment(given)
    assert found == {"PATH": "/bin", "HOME": "/h", "SLURM_CONF": "/c", "SLURM_TIME_FORMAT": "standard"}
    assert Commands(SlurmOptions(conf="/mine")).environment(given)["SLURM_CONF"] == "/mine"
    assert (
        tidy("sbatch: error: no\nsbatch: error: Batch job submission failed: bad\n")
        == "no; Batch job submission failed: bad"
    )
