"""What the Slurm engine does besides the exam: Slurm's words, its head away, answers that are lost, preemption by Slurm."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from dataclasses import replace

import pytest

from rookery.engine.engines.base import Place
from rookery.engine.engines.slurm import SlurmEngine
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec, Reach
from rookery.testing.engine_exam import Deaths
from rookery.testing.stand_in import SECRET, stand_in_boot, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def engine_of(slurm, tmp_path):
    """Starts engines over the same state, with options of Slurm and fields of ClusterSpec."""
    made = []

    def make(folder="state", python="python3", cpus_per_node=1, gpus_per_node=None, **options):
        reach = Reach(shared_files=True, python=python)
        spec = ClusterSpec("slurm", "", "dedicated", 0, 0, 0, cpus_per_node, gpus_per_node, reach=reach)
        spec = replace(spec, options={"conf": slurm.conf, **options})
        engine, deaths = SlurmEngine("slurm", spec, stand_in_boot, str(tmp_path / folder)), Deaths()
        engine.start(deaths)
        made.append(engine)
        return engine, deaths

    yield make
    for engine in made:
        engine.stop()


@pytest.fixture
def new_place(tmp_path):
    def make(node=0, run_id="a run", **job):
        root = tmp_path / "runs" / run_id / f"node-{node}"
        root.mkdir(parents=True)
        (root / "job.json").write_text(json.dumps({"key": f"{run_id}/1", "node": node, **job}))
        return Place(run_id, 1, node, str(root))

    return make


def test_kill_ends_one_agent_of_a_gang_and_leaves_the_other(engine_of, new_place):
    engine, deaths = engine_of()
    gang = [new_place(0), new_place(1)]
    engine.place(gang)
    _up(gang[0])
    beside = _up(gang[1])
    engine.kill(gang[0])
    death = wait_for(lambda: deaths.of(gang[0]), "the death")[0]
    assert death.signal == "SIGKILL"
    assert engine.is_alive(gang[1])
    assert os.path.exists(f"/proc/{beside['pid']}")
    assert {engine.machine(p) for p in gang} == {"n0", "n1"}


def test_gives_gpus_as_slurm_numbers_them(engine_of, new_place):
    engine, _ = engine_of(gpus_per_node=1)
    whole, _ = engine_of("another", cpus_per_node=None)
    place, other = new_place(run_id="one"), new_place(run_id="all")
    engine.place([place])
    assert _up(place)["env"]["CUDA_VISIBLE_DEVICES"] in ("0", "1")
    whole.place([other])
    found = _up(other)["env"]
    assert (found["CUDA_VISIBLE_DEVICES"], found["ROOKERY_NODE_CPUS"]) == ("0,1", "4")
    assert found["ROOKERY_NODE_ADDRESS"].startswith("10.")
    assert not {"SLURM_NTASKS", "SLURM_PROCID", "SLURM_JOBID", "SLURM_NODELIST"} & set(found)


def test_refuses_in_slurms_words_what_can_never_run(engine_of, new_place):
    engine, deaths = engine_of(constraint="no-such-feature")
    with pytest.raises(ComputeError, match=r"(?i)invalid feature.*--constraint=no-such-feature"):
        engine.check(1, replace(engine._spec, max_nodes=2))
    with pytest.raises(ComputeError, match=r"did not take the job: .*feature"):
        engine.place([new_place()])
    assert not deaths.seen
    other, _ = engine_of("another", partition="nope")
    with pytest.raises(ComputeError, match=r"'nope' does not exist in Slurm. Known: closed, main, short, spare"):
        other.check(1, other._spec)
    short, _ = engine_of("third", partition="short", time_limit="2:00:00")
    with pytest.raises(ComputeError, match=r"'2:00:00' is above the limit of the partition 'short', which is 00:01:00"):
        short.check(1, short._spec)
    large, _ = engine_of("fourth", cpus_per_node=64)
    with pytest.raises(ComputeError, match=r"1 node with 64 cores .* at most 0 such nodes .*largest has 4 cores"):
        large.check(1, large._spec)


def test_says_that_a_partition_is_down_and_takes_its_job_back(engine_of, new_place):
    engine, deaths = engine_of(partition="closed")
    place = new_place()
    engine.place([place])
    words = wait_for(lambda: "PartitionDown" in engine.waiting(place) and engine.waiting(place), "a reason")
    assert "the partition 'closed' is down" in words
    engine.kill(place)
    assert "taken back" in wait_for(lambda: deaths.of(place), "the death")[0].words


def test_takes_back_what_would_wait_for_ever(engine_of, new_place, slurm):
    engine, deaths = engine_of(partition="short", time_limit="30")
    place = new_place()
    engine.place([place])
    death = wait_for(lambda: deaths.of(place), "the death")[0]
    assert "PartitionTimeLimit" in death.reason
    assert "smaller time_limit" in death.reason
    wait_for(lambda: slurm.run("squeue", "-h").stdout == "", "an empty queue")


def test_says_that_python_is_not_there(engine_of, new_place):
    engine, deaths = engine_of(python="python9.9")
    place = new_place()
    engine.place([place])
    death = wait_for(lambda: deaths.of(place), "the death")[0]
    assert death.exit_code == 127
    assert "the Python of the compute target is not there" in death.reason


def test_tells_the_last_words_of_an_agent(engine_of, new_place):
    engine, deaths = engine_of()
    token = "rkr_" + "a1" * 20
    engine._boot = lambda gang: f"import sys\nprint('No room left: 17 bytes, {token}', file=sys.stderr)\nsys.exit(5)\n"
    place = new_place()
    engine.place([place])
    death = wait_for(lambda: deaths.of(place), "the death")[0]
    assert death.exit_code == 5
    assert "No room left 17 bytes, ***" in death.reason  # on its way it was there for all to see


def test_finds_a_job_whose_number_was_lost_and_submits_no_other(engine_of, new_place, slurm, tmp_path):
    engine, _ = engine_of()
    place = new_place()
    engine.place([place])
    up = _up(place)
    engine.stop()
    for name in os.listdir(tmp_path / "state"):  # all but who we are
        if name != "owner":
            os.unlink(tmp_path / "state" / name)
    again, deaths = engine_of()
    assert again.adopt([place]) == {place}
    wait_for(lambda: again.machine(place), "its machine")
    assert len(slurm.run("squeue", "-h", "-t", "running").stdout.splitlines()) == 1
    os.kill(up["pid"], 9)
    assert wait_for(lambda: deaths.of(place), "the death")[0].signal == "SIGKILL"


def test_waits_for_a_head_that_is_away_and_calls_nobody_dead(engine_of, new_place, slurm):
    engine, deaths = engine_of()
    first, second = new_place(run_id="before"), new_place(run_id="meanwhile")
    engine.place([first])
    up = _up(first)
    slurm.kill_head()
    engine.place([second])
    assert "Slurm, which does not answer" in wait_for(lambda: engine.waiting(second), "a reason")
    with pytest.raises(ComputeError, match=r"Slurm does not answer"):
        engine.nodes()
    assert engine.is_alive(first)
    slurm.start_head()
    _up(second)
    os.kill(up["pid"], 9)
    wait_for(lambda: deaths.of(first), "the death")
    assert not deaths.of(second)
    assert len(slurm.run("squeue", "-h", "-t", "all", "-o", "%j").stdout.split("meanwhile.1.0.rk")) == 2, (
        "submitted twice"
    )


def test_tells_that_slurm_took_a_node_for_a_more_urgent_job(engine_of, new_place, slurm):
    engine, deaths = engine_of(partition="spare", cpus_per_node=None)
    gang = [new_place(0), new_place(1)]
    engine.place(gang)
    for place in gang:
        _up(place)
    slurm.run("sbatch", "-p", "main", "--exclusive", "-N2", "-o", "/dev/null", "--wrap", "sleep 3")
    wait_for(lambda: all(deaths.of(p) for p in gang), "the deaths")
    assert all("Slurm took its nodes away for a job with a higher priority" in d.words for d in deaths.seen), (
        deaths.seen
    )


def test_tells_before_a_time_limit(engine_of, new_place, slurm):
    engine, deaths = engine_of(signal_s=100, time_limit="10")
    told = []
    engine.on_notice = lambda *what: told.append(what)
    place = new_place()
    engine.place([place])
    _up(place)
    number = slurm.run("squeue", "-h", "-o", "%A").stdout.strip()
    slurm.run("scancel", "--batch", "--signal=USR1", number)  # what Slurm itself does 100 s before the end
    ((where, grace_s, words),) = wait_for(lambda: told, "the notice")
    assert (where, grace_s) == (place, 70.0)
    assert words == f"Slurm job {number} is about to reach its time limit."
    assert engine.is_alive(place)
    assert not deaths.seen


def test_others_cannot_read_the_script(engine_of, new_place, slurm):
    engine, _ = engine_of()
    place = new_place()
    engine.place([place])
    _up(place)
    found = []
    for folder, _, names in os.walk(slurm.folder):
        for name in names:
            path = os.path.join(folder, name)
            if name != "munge.socket" and os.path.isfile(path):
                with contextlib.suppress(FileNotFoundError), open(path, "rb") as f:  # Slurm writes and renames
                    if SECRET.encode() in f.read():
                        found.append((path, os.fstat(f.fileno()).st_mode))
    assert found, "Slurm keeps the script somewhere"
    assert not [path for path, mode in found if mode & 0o077]


def test_says_that_slurm_is_not_there(tmp_path, new_place):
    spec = ClusterSpec("slurm", options={"bin": str(tmp_path)})
    engine = SlurmEngine("slurm", spec, stand_in_boot, str(tmp_path / "state"))
    with pytest.raises(
        ComputeError, match=r"`sbatch` is not in the folder .* give the folder of Slurm's commands as bin"
    ):
        engine.start(lambda death: None)
    shutil.rmtree(tmp_path / "state")


def _up(place):
    return wait_for(lambda: _read(os.path.join(place.root, "up.json")), "an agent")


def _read(path):
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return None
