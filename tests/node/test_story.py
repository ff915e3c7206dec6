"""The whole way, with a real keeper process: a target of machines that see neither the workspace nor ROOKERY_HOME nor our code.

The engine is a small one of the tests (rookery.testing.hidden_engine); everything else is what people use.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rookery.sdk import Environment, Experiment, ScriptRunConfig, Workspace
from rookery.sdk.distributed import PyTorchConfiguration
from rookery.spec.logs import BUILD_LOG, DRIVER_LOG
from rookery.testing.ending import wait_for_end
from rookery.testing.hidden_node import marked, wait_gone
from tests.conftest import start_ticks
from tests.stories.test_distributed import DDP

from .test_environment import wheels  # noqa: F401  a fixture

pytestmark = pytest.mark.slow

# As in the stories of distributed runs; pairs meet at MASTER_ADDR, without torch.
MEET = """
    import os, socket, time
    e = os.environ
    rank, world = int(e['RANK']), int(e['WORLD_SIZE'])
    address = (e['MASTER_ADDR'], int(e['MASTER_PORT']))
    if rank == 0:
        with socket.create_server(address) as server:
            guests = [server.accept()[0] for _ in range(world - 1)]
            for guest in guests:
                guest.sendall(b'met')
                guest.close()
    else:
        for _ in range(2400):
            try:
                with socket.create_connection(address, 120) as s:  # until the last one has come
                    assert s.recv(3) == b'met'
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        else:
            raise SystemExit('nobody there')
    print('RANK %d OF %d AT %s THREADS %s ON %s' % (rank, world, address[0], e['OMP_NUM_THREADS'], os.getcwd()), flush=True)
"""


# What a stock MLflow client sends, with what it finds in its variables.
TRACK = """
import json, os, urllib.request
said = {"run_id": os.environ["MLFLOW_RUN_ID"], "key": "by mlflow", "value": 0.5, "timestamp": 1, "step": 0}
head = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]}
where = os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/runs/log-metric"
urllib.request.urlopen(urllib.request.Request(where, json.dumps(said).encode(), head), timeout=60).close()
"""


class Farm:
    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.ws = Workspace.create("nest")
        self.root = self.ws.root or ""
        self.hidden = [str(home)]
        self.keeper: Any = None

    def start_keeper(self) -> None:
        variables = {
            **os.environ,
            "ROOKERY_TEST_MACHINES": str(self.folder / "machines"),
            "ROOKERY_TEST_HIDDEN": ":".join(self.hidden),
        }
        ready, told = os.pipe()
        command = [sys.executable, "-m", "rookery.testing.hidden_engine", "--workspace", self.root, "--no-idle"]
        self.keeper = subprocess.Popen([*command, "--ready-fd", str(told)], pass_fds=(told,), env=variables)
        os.close(told)
        assert os.read(ready, 1), "the keeper did not start"
        os.close(ready)

    def kill_keeper(self) -> None:
        self.keeper.kill()
        self.keeper.wait()

    def submit(self, text: str, env: Environment, distributed: Any = None, **fields: Any) -> Any:
        source = self.folder / "a source folder"
        source.mkdir(exist_ok=True)
        (source / "train.py").write_text(textwrap.dedent(text))
        config = ScriptRunConfig(
            str(source),
            "train.py",
            compute_target="farm",
            environment=env,
            distributed_job_config=distributed,
            **fields,
        )
        return Experiment(self.ws, "exp").submit(config)

    def machine(self, name: str, *names: str) -> str:
        return str(self.folder / "machines" / name / Path(".rookery", "node", *names))


@pytest.fixture
def farm(tmp_path: Path, home: Path) -> Iterator[Farm]:
    """A workspace with a target `farm` of two machines; the keeper is one that knows them."""
    farm = Farm(tmp_path, home)
    farm.start_keeper()
    yield farm
    if farm.keeper.poll() is None:
        farm.keeper.terminate()
    farm.keeper.wait(90)


def attach(farm: Farm, reach: Any = None, **fields: Any) -> dict[str, Any]:
    given = {"keeper_url": "", "python": sys.executable, **(reach or {})}
    body = {"name": "farm", "spec": {"engine": "slurm", "max_nodes": 2, "options": {}, "reach": given, **fields}}
    made: dict[str, Any] = farm.ws.client.request("POST", "/compute", body=body)
    return made


def managed(python: str = os.path.realpath(sys.executable)) -> Environment:
    env = Environment("there")
    env.python.user_managed_dependencies = True
    env.python.interpreter_path = python
    return env


def show(run: Any) -> str:
    return str(run.get_details().get("error"))


def test_a_script_and_two_nodes(farm: Farm) -> None:
    made = attach(farm)
    assert made["spec"]["reach"]["shared_files"] is False  # found out from a node
    assert made["spec"]["reach"]["transport"] == "http"
    script = f"""
        import os
        from azureml.core import Run
        run = Run.get_context()
        run.log("loss", 0.25)
        print("SEES", os.path.exists({os.path.join(farm.root, "workspace.json")!r}), run.id)
        open("outputs/net.txt", "w").write("weights")
    """
    run = farm.submit(textwrap.dedent(script) + TRACK, managed())
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)
    assert f"SEES False {run.id}" in run.get_details_with_logs()["logFiles"]["azureml-logs/70_driver_log.txt"]
    assert run.get_metrics() == {"loss": 0.25, "by mlflow": 0.5}
    assert "outputs/net.txt" in run.get_file_names()

    run = farm.submit(MEET, managed(), PyTorchConfiguration("Gloo", 4, 2))
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)
    logs = run.get_details_with_logs()["logFiles"]
    found = [
        re.search(r"RANK (\d) OF 4 AT (\S+) THREADS (\d+) ON (\S+)", logs[name])
        for name in sorted(logs)
        if "70_" in name
    ]
    assert [m and m.group(1) for m in found] == ["0", "1", "2", "3"]
    assert {m.group(3) for m in found if m} == {"1"}  # two cores, two processes
    assert ["barn-0" in m.group(4) for m in found if m] == [True, True, False, False]
    for name in ("barn-0", "barn-1"):  # nothing of the runs is left
        runs = farm.machine(name, "runs")
        wait(lambda runs=runs: not os.path.exists(runs) or os.listdir(runs) == [])


def test_shared_files(farm: Farm) -> None:
    """Machines that see the workspace's folder: the run's files lie there, the code still comes by hash."""
    farm.kill_keeper()
    farm.hidden = []
    farm.start_keeper()
    made = attach(farm)
    assert made["spec"]["reach"]["shared_files"] is True
    script = """
        import os
        from azureml.core import Run
        Run.get_context().log("loss", 0.25)
        print("WORKS IN", os.getcwd())
        open("outputs/net.txt", "w").write("weights")
    """
    run = farm.submit(script, managed())
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)
    log = run.get_details_with_logs()["logFiles"]["azureml-logs/70_driver_log.txt"]
    assert f"WORKS IN {os.path.realpath(farm.root)}" in log
    assert run.get_metrics() == {"loss": 0.25}
    assert "outputs/net.txt" in run.get_file_names()
    assert os.path.isdir(farm.machine("barn-0", "kit"))
    assert not os.path.exists(farm.machine("barn-0", "payload"))


def test_a_spool_is_enough(farm: Farm) -> None:
    """Shared files, and no way to the keeper over the network."""
    farm.kill_keeper()
    farm.hidden = []
    farm.start_keeper()
    attach(farm, {"transport": "spool", "shared_files": True})
    run = farm.submit("print('hello')\nopen('outputs/a.txt', 'w').write('a')\n" + TRACK, managed())
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)
    assert "outputs/a.txt" in run.get_file_names()
    assert run.get_metrics() == {"by mlflow": 0.5}


def test_ddp(farm: Farm) -> None:
    attach(farm)
    run = farm.submit(DDP, managed(sys.executable), PyTorchConfiguration("Gloo", 4, 2))
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)
    logs = run.get_details_with_logs()["logFiles"]
    found = "".join(text for name, text in logs.items() if "70_driver_log" in name)
    assert sorted(re.findall(r"RANK (\d) OF 4", found)) == ["0", "1", "2", "3"]


def test_an_environment_is_built_on_every_node(farm: Farm, wheels: Path, home: Path) -> None:  # noqa: F811
    farm.kill_keeper()  # the next one has pip's settings of the fixture
    farm.hidden.append(str(wheels))
    farm.start_keeper()
    attach(farm)
    env = Environment("mine")
    env.python.conda_dependencies.add_pip_package("beta")
    text = MEET.replace("import os, socket, time", "import os, socket, time, beta")
    run = farm.submit(text, env, PyTorchConfiguration("Gloo", 2, 2))
    wait_for_end(run, 240.0)
    assert run.get_status() == "Completed", show(run)
    logs = run.get_details_with_logs()["logFiles"]
    assert "is built on node barn-0" in logs[BUILD_LOG]
    assert "is built on node barn-1" in logs[BUILD_LOG.replace(".txt", "_1.txt")]
    assert not os.path.exists(os.path.join(home, "environments", "resolved", "env"))

    run = farm.submit("import no_such_thing_at_all\n", env)
    wait_for_end(run)
    assert run.get_status() == "Failed"
    assert "no_such_thing_at_all" in show(run)


def test_a_lost_node_and_what_it_had_saved(farm: Farm) -> None:
    attach(farm, vm_priority="lowpriority")
    script = """
        import os, sys, time
        folder = os.environ["ROOKERY_RESUME_DIR"]
        if os.path.exists(folder + "/step"):
            print("GOES ON FROM", open(folder + "/step").read())
            sys.exit(0)
        open(folder + "/step", "w").write("7")
        print("saved", flush=True)
        time.sleep(300)
    """
    run = farm.submit(script, managed())
    stored = os.path.join(farm.root, "runs", run.id, "checkpoints", "step")
    wait(lambda: os.path.exists(stored) and Path(stored).read_text() == "7")
    with open(os.path.join(farm.root, "keeper", "engines", "farm", "agents.json")) as f:
        pid = json.load(f)[f"{run.id}/1/0"][0]
    os.kill(pid, 9)
    wait_gone(f"{run.id}/1")
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)
    log = run.get_details_with_logs()["logFiles"]["azureml-logs/70_driver_log.txt"]
    assert "saved" in log
    assert "GOES ON FROM 7" in log
    wait(lambda: not os.path.exists(stored))  # it has served its purpose


def test_a_preempted_node_saves_its_work(farm: Farm) -> None:
    attach(farm, vm_priority="lowpriority")
    script = """
        import os, signal, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        folder = os.environ["ROOKERY_RESUME_DIR"]
        if os.path.exists(folder + "/step"):
            print("GOES ON FROM", open(folder + "/step").read())
            sys.exit(0)
        print("up", flush=True)
        while not os.path.exists(os.environ["ROOKERY_STOP_FILE"]):
            time.sleep(0.02)
        open(folder + "/step", "w").write("9")
        sys.exit(85)
    """
    run = farm.submit(script, managed())
    log = os.path.join(farm.root, "logs", run.id, DRIVER_LOG)
    wait(lambda: os.path.exists(log) and "up" in Path(log).read_text())
    body = {"node": None, "grace_s": 20.0, "away_s": 0.1, "force": False}
    farm.ws.client.request("POST", "/compute/farm/preempt", body=body)
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)
    assert "GOES ON FROM 9" in run.get_details_with_logs()["logFiles"]["azureml-logs/70_driver_log.txt"]


def test_what_a_partition_leaves(farm: Farm) -> None:
    """An agent that the keeper has given up for lost, and that comes back, stops its ranks and clears up."""
    attach(farm)
    script = (
        "import os, time\nos.write(1, b'%d\\n' % os.getpid())\n"
        "time.sleep(300 if os.environ['ROOKERY_ATTEMPT'] == '1' else 0)\n"
    )
    run = farm.submit(script, managed())
    log = Path(farm.root, "logs", run.id, DRIVER_LOG)
    wait(lambda: log.exists() and log.read_text().endswith("\n") and run.get_status() == "Running")
    rank = int(log.read_text())
    with open(os.path.join(farm.root, "keeper", "engines", "farm", "agents.json")) as f:
        pid, ticks, _ = json.load(f)[f"{run.id}/1/0"]
    cut = farm.folder / "machines" / "barn-0" / "cut"
    cut.write_text("")
    os.kill(pid, signal.SIGSTOP)  # nothing comes from there; the ranks go on
    farm.kill_keeper()
    farm.start_keeper()
    wait_for_end(run)
    attempts = farm.ws.client.request("GET", f"/runs/{run.id}")["attempts"]
    assert attempts[0]["result"] == "lost", attempts
    assert rank in marked(f"{run.id}/1")
    cut.unlink()
    os.kill(pid, signal.SIGCONT)
    wait_gone(f"{run.id}/1")
    wait(lambda: start_ticks(pid) != ticks)
    assert not os.path.exists(farm.machine("barn-0", "runs", run.id))


def test_a_keeper_that_is_killed_meanwhile(farm: Farm) -> None:
    attach(farm)
    run = farm.submit(
        "import time, os\nprint('up', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.05)\n", managed()
    )
    work = farm.machine("barn-0", "runs", run.id, "1", "node-0", "wd", run.id)
    wait(lambda: run.get_status() == "Running")
    farm.kill_keeper()
    with open(os.path.join(work, "go"), "w"):
        pass
    wait_gone(f"{run.id}/1")  # the rank ends while nobody is there to hear it
    farm.start_keeper()
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)


def test_an_interpreter_that_is_not_there(farm: Farm, home: Path) -> None:
    attach(farm)
    run = farm.submit("print(1)\n", managed(str(home / "bin" / "python")))
    wait_for_end(run)
    assert run.get_status() == "Failed"
    assert "does not exist on node barn-0" in show(run)


def wait(condition: Any, timeout_s: float = 120.0) -> None:
    until = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < until, "the condition did not come true"
        time.sleep(0.05)
