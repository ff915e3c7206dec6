"""What a run keeps for its next attempt goes over the network, while it runs and when it fails."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest

from rookery.errors import NotFoundError, PathError
from rookery.server.checkpoints import CheckpointFolder
from rookery.testing.hidden_node import marked, wait_gone

from .conftest import RUN, Coop

SAVES = """
import os, sys, time
folder = os.environ["ROOKERY_RESUME_DIR"]
print("found", sorted(os.listdir(folder)), flush=True)
step = int(open(folder + "/step").read()) if os.path.exists(folder + "/step") else 0
if step >= 2:
    sys.exit(0)
os.makedirs(folder + "/deep", exist_ok=True)
open(folder + "/deep/weights.bin", "wb").write(b"w" * 3_000_000)
open(folder + "/step", "w").write(str(step + 1))
print("saved", step + 1, flush=True)
if step == 0:
    time.sleep(300)  # killed
open(folder + "/step", "w").write("2")
sys.exit(1)  # fails right after it has saved
"""


def _next(coop: Coop, attempt: int) -> str:
    run_id = RUN
    snapshot = coop.get()["snapshot_id"]
    coop.record.runs.advance(run_id, status="Queued", reason="again", attempt=attempt, state={"attempt": attempt})
    return coop.boot_text(coop.job(run_id, snapshot, attempt))


@pytest.mark.slow
def test_a_run_goes_on_where_it_was_on_another_machine(coop: Coop) -> None:
    stored = coop.paths.checkpoints(RUN)
    first = coop.node("n0")
    process = first.boot(coop.boot_text(coop.run(SAVES)))
    coop.wait(lambda: os.path.exists(stored + "/step"))  # shipped while it runs, settled, and after what it points to
    assert os.path.getsize(stored + "/deep/weights.bin") == 3_000_000
    os.kill(process.pid, signal.SIGKILL)  # the machine is gone
    process.wait()
    wait_gone(f"{RUN}/1")

    second = coop.node("n1")
    assert second.run(_next(coop, 2))[0] == 0
    assert "found ['deep', 'step']" in coop.log()
    with open(stored + "/step") as f:
        assert f.read() == "2"  # written a moment before it failed

    assert os.path.exists(first.path("runs"))  # a dead agent's: for a finisher, or removed when it is old
    assert not os.path.exists(second.path("runs", RUN))


@pytest.mark.slow
def test_what_is_removed_is_removed_there(coop: Coop) -> None:
    script = (
        "import os, time\nfolder = os.environ['ROOKERY_RESUME_DIR']\nopen(folder + '/old', 'w').write('1')\n"
        "while not os.path.exists('go'): time.sleep(0.05)\nos.unlink(folder + '/old')\n"
        "open(folder + '/new', 'w').write('2')\ntime.sleep(300)\n"
    )
    stored = coop.paths.checkpoints(RUN)
    node = coop.node()
    process = node.boot(coop.boot_text(coop.run(script)))
    coop.wait(lambda: os.path.exists(stored + "/old"))
    work = node.path("runs", RUN, "1", "node-0", "wd", RUN, "go")
    with open(work, "w"):
        pass
    coop.wait(lambda: os.path.exists(stored + "/new") and not os.path.exists(stored + "/old"))
    coop.controller.cancel(RUN)
    assert process.wait(90) == 0


@pytest.mark.slow
def test_a_partition_that_heals(coop: Coop) -> None:
    """The keeper goes on without a node that it cannot reach; when the node is back it learns so, and leaves nothing."""
    job = coop.run("import time, os\nprint(os.getpid(), flush=True)\ntime.sleep(300)\n")
    node = coop.node()
    process = node.boot(coop.boot_text(job))
    pid = int(coop.wait(lambda: coop.log().strip()))
    os.kill(process.pid, signal.SIGSTOP)  # as good as a cut cable: nothing comes, the ranks go on
    coop.record.runs.advance(RUN, status="Failed", error={"kind": "LostNode", "summary": "cut"})
    assert os.path.exists(f"/proc/{pid}")
    os.kill(process.pid, signal.SIGCONT)
    assert process.wait(90) == 3
    assert not os.path.exists(f"/proc/{pid}")
    assert not marked(f"{RUN}/1")
    assert not os.path.exists(node.path("runs", RUN))


def test_ranks_die_with_their_agent(coop: Coop) -> None:
    node = coop.node()
    process = node.boot(coop.boot_text(coop.run("import time\nprint('up', flush=True)\ntime.sleep(300)\n")))
    coop.wait(lambda: "up" in coop.log())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_gone(f"{RUN}/1")


def test_a_finisher_on_the_same_node_ships_what_is_there(coop: Coop) -> None:
    script = (
        "import os, time\nopen('outputs/net.txt', 'w').write('weights')\n"
        "open(os.environ['ROOKERY_RESUME_DIR'] + '/step', 'w').write('7')\nprint('up', flush=True)\ntime.sleep(300)\n"
    )
    node, job = coop.node(), coop.run(script)
    process = node.boot(coop.boot_text(job))
    coop.wait(lambda: "up" in coop.log())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert node.run(coop.boot_text(replace(job, mode="finish")))[0] == 0
    run = coop.get()
    assert (run["status"], run["error"]["kind"]) == ("Failed", "NodeLost")
    assert coop.record.artifacts.get(RUN, "outputs/net.txt")
    with open(coop.paths.checkpoints(RUN) + "/step") as f:
        assert f.read() == "7"
    assert not os.path.exists(node.path("runs", RUN))


def test_names_that_lead_out(tmp_path) -> None:  # type: ignore[no-untyped-def]
    folder = CheckpointFolder(str(tmp_path / "c"))
    for name in ("../x", "/etc/passwd", "a/../../x"):
        with pytest.raises(PathError):
            folder.open(name)
    with pytest.raises(NotFoundError):
        folder.open("nothing")
    assert folder.list() == []
