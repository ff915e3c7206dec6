"""Runs on a cluster in tests, the same for every engine on other machines: scripts, how they are submitted, what is seen of them."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import signal
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rookery.engine.processes import all_pids, environment_of, is_running
from rookery.sdk import (
    Dataset,
    Datastore,
    Environment,
    Experiment,
    OutputFileDatasetConfig,
    Retries,
    ScriptRunConfig,
)
from rookery.spec.paths import WorkspacePaths
from rookery.testing.ending import evidence, wait_for_end
from rookery.testing.stand_in import wait_for

__all__ = [
    "DATA",
    "DDP",
    "MPI",
    "STEPS",
    "check_delivery",
    "completes",
    "kill_keeper",
    "lines",
    "marked",
    "submit_script",
    "wait_for_start",
]

START_S = 300.0

DDP = """
    import socket, torch, torch.distributed as dist
    dist.init_process_group('gloo')
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    torch.manual_seed(rank)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(5):
        loss = net(torch.randn(16, 4)).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    mine = torch.cat([p.detach().flatten() for p in net.parameters()])
    mean = mine.clone(); dist.all_reduce(mean)
    assert torch.allclose(mean / world, mine, atol=1e-6)
    print('RANK %d OF %d ON %s\\n' % (rank, world, socket.gethostname()), end='', flush=True)
    dist.barrier(); dist.destroy_process_group()
"""
MPI = """
    import os, socket
    print('RANK', os.environ['OMPI_COMM_WORLD_RANK'], 'OF', os.environ['OMPI_COMM_WORLD_SIZE'], 'ON', socket.gethostname())
"""
# Goes on where it stopped, and ends when a file `end` lies in the folder that is given.
STEPS = """
    import os, socket, sys, time
    from rookery.worker import checkpoint_dir, leave_for_resume, should_stop
    done = os.path.join(checkpoint_dir(), 'done-' + os.environ['ROOKERY_NODE'])
    step = int(open(done).read()) if os.path.exists(done) else 0
    def save():
        with open(done + '.new', 'w') as f:
            f.write(str(step))
        os.replace(done + '.new', done)
    should_stop()
    begin, step = step, step + 1
    save()  # before anybody hears of it: whoever reads the line may end us at once
    print('ATTEMPT', os.environ['ROOKERY_ATTEMPT'], 'FROM', begin, 'ON', socket.gethostname(), flush=True)
    while not os.path.exists(os.path.join(sys.argv[1], 'end')):
        if should_stop():
            leave_for_resume()
        step += 1
        save()
        time.sleep(0.05)
    print('DONE', step, flush=True)
"""
# Tells what it was given, and on which machine's disk it lies; leaves a file for each rank.
DATA = """
    import hashlib, os, socket, sys
    _, seen_from_there, data, out = sys.argv[1:]
    total, names = hashlib.sha256(), sorted(os.listdir(data))
    for name in names:
        with open(os.path.join(data, name), 'rb') as f:
            total.update(name.encode() + f.read())
    rank, inode = os.environ['RANK'], os.stat(os.path.join(data, names[0])).st_ino
    with open(os.path.join(out, 'of rank ' + rank), 'w') as f:
        f.write(total.hexdigest())
    print('DATA', rank, total.hexdigest(), socket.gethostname(), inode, os.path.exists(seen_from_there), flush=True)
"""


def check_delivery(workspace: Any, hidden: str, submit: Callable[..., Any]) -> Any:
    """Data on a datastore that nodes do not see: fetched once per machine, and what they make of it comes back. The last run.

    Args:
        hidden: a folder of this machine, in whose place nodes have an empty one.
        submit: `submit(script, arguments)` starts four ranks on two nodes that are said to share no files.
    """
    place = os.path.join(hidden, secrets.token_hex(4))
    os.makedirs(place)
    store = Datastore.register_folder(workspace, "hidden", place)
    digest = hashlib.sha256()
    os.makedirs(os.path.join(place, "in"))
    for name, data in (("a b.bin", os.urandom(3_000_000)), ("empty", b""), ("it's.txt", b"words")):
        with open(os.path.join(place, "in", name), "wb") as f:
            f.write(data)
        digest.update(name.encode() + data)
    given = Dataset.File.from_files((store, "in")).register(workspace, "given")
    seen: list[dict[str, str]] = []
    for version in (1, 2):
        output = OutputFileDatasetConfig("out", destination=(store, "out/{run-id}")).register_on_complete("made")
        run = submit(DATA, [os.path.join(place, "in"), given.as_named_input("given").as_mount(), output])
        completes(run)
        found = lines(run, "DATA")
        assert sorted(line[1] for line in found) == ["0", "1", "2", "3"], evidence(run)
        assert {line[2] for line in found} == {digest.hexdigest()}
        assert {line[5] for line in found} == {"False"}, "a node sees the keeper's files: nothing was fetched"
        # One copy on each of the two machines, for both of its ranks, and the same one for the next run.
        assert len({line[3] for line in found}) == 2
        assert len({(line[3], line[4]) for line in found}) == 2
        seen.append({line[3]: line[4] for line in found})
        made = Dataset.get_by_name(workspace, "made")
        assert made.version == version
        assert made.to_path() == [f"/of rank {rank}" for rank in range(4)]
    both = seen[0].keys() & seen[1].keys()  # of three machines the second run may get another pair
    assert both
    assert [seen[0][machine] for machine in both] == [seen[1][machine] for machine in both], "it was fetched again"
    return run


def submit_script(
    workspace: Any,
    target: Any,
    folder: Path,
    text: str,
    distributed: Any = None,
    retries: int = 0,
    arguments: Sequence[Any] = (),
) -> Any:
    """Submit a script with this interpreter; its first argument is `folder`."""
    source = folder / "a source folder"
    source.mkdir(exist_ok=True)
    (source / "train.py").write_text(textwrap.dedent(text))
    here = Environment("here")
    here.python.user_managed_dependencies = True
    here.python.interpreter_path = sys.executable
    config = ScriptRunConfig(
        str(source),
        script="train.py",
        arguments=[str(folder), *arguments],
        compute_target=target,
        environment=here,
        distributed_job_config=distributed,
    )
    config.run_config.retries = Retries(lost_node=retries)
    return Experiment(workspace, target.name).submit(config)


def completes(run: Any) -> dict[str, Any]:
    """Waits for its end, which must be a good one."""
    details = wait_for_end(run)
    assert details["status"] == "Completed", evidence(run)
    return details


def wait_for_start(run: Any, count: int) -> None:
    """Until so many ranks of STEPS have begun, and the record says so."""
    try:
        wait_for(lambda: len(lines(run, "ATTEMPT")) == count, "the ranks", START_S)
        wait_for(lambda: run.get_status() == "Running", "that it runs", START_S)
    except AssertionError as error:
        raise AssertionError(evidence(run)) from error


def lines(run: Any, word: str) -> list[list[str]]:
    """The words of all lines of its ranks that begin with one. Whole lines only: without a buffer a `print` is several writes."""
    logs = run.get_details_with_logs()["logFiles"]
    texts = [value for name, value in sorted(logs.items()) if "70_driver_log" in name]
    text = "".join(value[: value.rfind("\n") + 1] for value in texts)
    return [line.split() for line in text.splitlines() if line.startswith(word)]


def marked(run: Any) -> list[int]:
    """Processes of a run, on all nodes (which are namespaces of this machine)."""
    mark = f"ROOKERY_ATTEMPT_KEY={run.id}/".encode()
    return [pid for pid in all_pids() if any(v.startswith(mark) for v in environment_of(pid)) and is_running(pid, 0)]


def kill_keeper(workspace: Any) -> int:
    """The number of the keeper that was killed."""
    with open(WorkspacePaths(workspace.root).endpoint) as f:
        keeper = json.load(f)
    os.kill(keeper["pid"], signal.SIGKILL)
    wait_for(lambda: not is_running(keeper["pid"], keeper["start_ticks"]), "the end of the keeper")
    return int(keeper["pid"])
