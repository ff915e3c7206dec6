"""Ranks that a launcher in the command starts: each has its own log, its own end and its own errors, though it is the launcher's child.

The launcher here does what torchrun does, without torch; the real ones are in tests/stories/test_launchers.py.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace

import pytest

import rookery.worker
from rookery.agent.launch_children import Children
from rookery.agent.tree import find_attempt
from rookery.engine.payload import ensure_payload
from rookery.spec.launch import starts_ranks
from rookery.spec.paths import WorkspacePaths
from rookery.testing.agent_bench import wait_until
from tests.agent.gang import Gang

LAUNCHER = """
import os, signal, subprocess, sys, time
each, node = int(sys.argv[1]), int(os.environ['NODE_RANK'])
print('launcher of node', node, flush=True)
ranks = []
for i in range(each):
    mine = dict(os.environ, RANK=str(node * each + i), LOCAL_RANK=str(i), WORLD_SIZE=os.environ['ALL'])
    ranks.append(subprocess.Popen([sys.executable, '-u', *sys.argv[2:]], env=mine, start_new_session=True))
# Impatient with its ranks when it is asked to end itself.
signal.signal(signal.SIGTERM, lambda *a: ([r.kill() for r in ranks], os._exit(143)))
while any(r.poll() is None for r in ranks):
    if any(r.poll() for r in ranks):
        for r in ranks:
            if r.poll() is None:
                r.terminate()
    time.sleep(0.02)
sys.exit(any(r.returncode for r in ranks))
"""
COMMAND = f"echo from the shell; {sys.executable} torchrun.py 2 train.py"


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The payload's folder that comes first on a rank's path."""
    return os.path.join(ensure_payload(WorkspacePaths(str(tmp_path_factory.mktemp("payload")))), "first")


@pytest.fixture
def launched(bench, first):
    """Makes a gang whose nodes run a launcher with two ranks each."""

    def make(script, nodes=1, command=COMMAND, **fields):
        gang = Gang(bench, "per_node", nodes, 1, script)
        for node, job in enumerate(gang.jobs):
            files = gang.paths[node].rank(node)
            for name, text in (("torchrun.py", LAUNCHER), ("run.sh", "# torchrun\n" + COMMAND + "\n")):
                with open(os.path.join(job.work, name), "w", encoding="utf-8") as f:
                    f.write(text)
            variables = {
                **job.ranks[0].variables,
                "NODE_RANK": str(node),
                "WORLD_SIZE": str(nodes),
                "ALL": str(2 * nodes),
                "PYTHONPATH": first,
                "ROOKERY_STOP_FILE": files.stop,
            }
            rank = replace(job.ranks[0], argv=(), shell=command, variables=variables)
            gang.jobs[node] = replace(job, ranks=(rank,), failure_grace_s=30.0, **fields)
        return gang

    return make


def ends(outcome):
    return {r["rank"]: r["signal"] or r["exit_code"] for r in outcome["ranks"]}


class TestLogs:
    def test_each_rank_has_its_own_and_the_launcher_too(self, launched, bench):
        script = (
            "import os, sys\nprint('out', os.environ['RANK'], os.environ['ROOKERY_RANK'])\nsys.stderr.write('err\\n')"
        )
        gang = launched(script, nodes=2)
        outcomes = gang.run()
        assert [o["result"] for o in outcomes] == ["completed", "completed"], gang.agent_logs()
        for rank in range(4):
            assert gang.log(rank) == f"out {rank} {rank}\nerr\n"
        for node in (0, 1):
            said = bench.keeper.log(f"azureml-logs/70_launcher_log_{node}.txt").decode()
            assert said == f"from the shell\nlauncher of node {node}\n"
        assert [ends(o) for o in outcomes] == [{0: 0, 1: 0}, {2: 0, 3: 0}]

    def test_journals_say_whose_they_are(self, launched, bench):
        log = "from rookery.worker.journal import Journal\nJournal(os.environ['ROOKERY_JOURNAL_DIR']).scalar('loss', 1.5)\n"
        source = os.path.dirname(os.path.dirname(os.path.dirname(rookery.worker.__file__)))
        script = f"import os, sys\nsys.path.append({source!r})\n{log}if os.fork():\n os.wait()\nelse:\n {log.splitlines()[1]}"
        launched(script, nodes=2).run()
        # Of a loader that a rank has forked as well.
        assert sorted(bench.keeper.journal_ranks.values()) == [0, 0, 1, 1, 2, 2, 3, 3]

    def test_they_are_live(self, launched, tmp_path):
        go = tmp_path / "go"
        script = f"import os, time\nprint('up', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.02)"
        gang = launched(script)
        gang.start()
        wait_until(lambda: (gang.log(0), gang.log(1)) == ("up\n", "up\n"))
        go.touch()
        assert gang.agents[0].wait(90) == 0, gang.agent_logs()

    def test_bytes_are_exact_when_all_are_killed(self, launched, bench):
        script = (
            "import os, time\nfor i in range(10**9):\n    os.write(1, b'%d %s\\n' % (i, b'x' * (i % 300)))\n"
            "    i % 100 or time.sleep(0.001)\n"  # not more than can be shipped while it is looked at
        )
        gang = launched(script)
        gang.start()
        wait_until(lambda: len(gang.log(0)) > 100000 and len(gang.log(1)) > 100000)
        files = [os.path.join(gang.paths[0].rank(0).launched, f"{rank}.txt") for rank in (0, 1)]
        lines = {pid: read(f"/proc/{pid}/cmdline") for pid in find_attempt(f"{bench.run_id}/1")}
        launchers = [pid for pid, line in lines.items() if b"torchrun.py" in line]
        ranks = [pid for pid, line in lines.items() if b"train.py" in line and pid not in launchers]
        # The launcher is held: it would end the second one itself when it sees the first one gone.
        for pids, number in ((launchers, signal.SIGSTOP), (ranks, signal.SIGKILL), (launchers, signal.SIGCONT)):
            for pid in pids:
                os.kill(pid, number)
        assert gang.agents[0].wait(90) == 0, gang.agent_logs()
        assert ends(gang.outcomes_of(0)) == {0: "SIGKILL", 1: "SIGKILL"}
        for rank, file in enumerate(files):
            assert bench.keeper.log(f"azureml-logs/70_driver_log_{rank}.txt") == read(file)

    def test_processes_below_a_rank_write_where_it_does(self, launched):
        script = (
            "import os, subprocess, sys\nif len(sys.argv) == 1:\n    print('rank', flush=True)\n"
            "    subprocess.run([sys.executable, 'train.py', 'below'], check=True)\nelse:\n    print('below')\n"
        )
        gang = launched(script)
        assert gang.run()[0]["result"] == "completed"
        assert (gang.log(0), gang.log(1)) == ("rank\nbelow\n",) * 2
        assert ends(gang.outcomes_of(0)) == {0: 0, 1: 0}

    def test_what_the_user_redirected_stays_where_it_is(self, launched, bench):
        # One write each: `print` without a buffer writes the line's end by itself, and two ranks share the pipe.
        script = "import os; os.write(1, b'hello\\n')"
        gang = launched(script, command=f"{sys.executable} torchrun.py 2 train.py 2>&1 | tee mine.txt")
        assert gang.run()[0]["result"] == "completed"
        said = bench.keeper.log("azureml-logs/70_launcher_log.txt").decode()
        assert sorted(said.splitlines()) == ["hello", "hello", "launcher of node 0"]
        assert "azureml-logs/70_driver_log_0.txt" not in bench.keeper.logs

    def test_a_rank_that_is_alone_has_the_plain_name(self, launched, bench):
        gang = launched("print('alone')", command=f"ALL=1 {sys.executable} torchrun.py 1 train.py")
        gang.run()
        assert bench.keeper.log("azureml-logs/70_driver_log.txt") == b"alone\n"
        assert ends(gang.outcomes_of(0)) == {0: 0}

    def test_a_launcher_in_a_shell_script_is_seen_too(self, launched, bench):
        gang = launched("print('mine')", command="sh run.sh")
        gang.run()
        assert gang.log(1) == "mine\n"

    def test_torchruns_own_files_go_with_the_work(self, launched):
        gang = launched("print(1)")
        children = Children(gang.jobs[0], gang.paths[0])
        assert children.prepare(gang.jobs[0].work)
        assert children.variables()["PET_LOG_DIR"].startswith(gang.paths[0].work_parent + os.sep)
        rank = replace(gang.jobs[0].ranks[0], variables={"PET_LOG_DIR": "mine"})
        assert "PET_LOG_DIR" not in Children(replace(gang.jobs[0], ranks=(rank,)), gang.paths[0]).variables()

    def test_a_program_that_only_mentions_one_is_none(self, launched):
        gang = launched('"""torchrun train.py"""\nprint(1)', command=f"{sys.executable} train.py")
        children = Children(gang.jobs[0], gang.paths[0])
        assert not children.prepare(gang.jobs[0].work)
        assert children.variables() == {}
        assert children.node_log_name("a") == "a"
        assert not starts_ranks("python train_torchrun.py")


class TestEnds:
    @pytest.mark.parametrize(
        ("end", "told"),
        [
            ("os._exit(17)", 17),
            ("sys.exit(3)", 3),
            ("os.kill(os.getpid(), 9)", "SIGKILL"),
            ("os.kill(os.getpid(), 11)", "SIGSEGV"),
            ("raise ValueError('bad label')", 1),
        ],
    )
    def test_the_first_cause_is_the_ranks_own(self, launched, end, told):
        script = (
            "import os, sys, time\nprint('line of', os.environ['RANK'], flush=True)\n"
            "open('up-' + os.environ['RANK'], 'w').close()\nif os.environ['RANK'] == '3':\n"
            f"    while not os.path.exists('up-2'): time.sleep(0.01)\n    {end}\ntime.sleep(100)\n"
        )
        gang = launched(script, nodes=2)
        gang.start()
        assert gang.agents[1].wait(90) == 0, gang.agent_logs()
        outcome = gang.outcomes_of(1)
        assert (outcome["result"], ends(outcome)[3]) == ("failed", told)
        assert ends(outcome)[2] == "SIGTERM"
        cause = outcome["cause"]
        assert (cause["rank"], cause["signal"] or cause["exit_code"]) == (3, told)
        assert cause["log"] == "azureml-logs/70_driver_log_3.txt"
        assert cause["last_lines"][0] == "line of 3"
        if "raise" in end:
            assert "bad label" in cause["traceback"]
        gang.bench.keeper.command("cancel", grace_s=0.5)
        assert gang.agents[0].wait(90) == 0, gang.agent_logs()

    def test_ranks_that_outlive_their_launcher_are_known_too(self, launched, bench):
        script = "import os, signal, time\nsignal.signal(15, lambda *a: os._exit(7))\nprint('up', flush=True)\ntime.sleep(1000)"
        gang = launched(script)
        gang.start()
        wait_until(lambda: gang.log(0) == gang.log(1) == "up\n")
        launcher = [p for p in find_attempt(f"{bench.run_id}/1") if b"torchrun.py" in read(f"/proc/{p}/cmdline")]
        os.kill(launcher[-1], signal.SIGKILL)
        assert gang.agents[0].wait(90) == 0, gang.agent_logs()
        assert ends(gang.outcomes_of(0)) == {0: 7, 1: 7}

    def test_a_launcher_that_fails_alone_is_named_with_its_own_words(self, launched):
        gang = launched("", command="torchrun --no-such-option; exit 2")
        outcome = gang.run()[0]
        assert (outcome["result"], outcome["exit_code"]) == ("failed", 2)
        assert outcome["cause"]["log"] == "azureml-logs/70_launcher_log.txt"

    def test_an_agent_that_dies_leaves_logs_under_the_same_names(self, launched, bench):
        gang = launched("import time\nprint('up', flush=True)\ntime.sleep(1000)")
        gang.start()
        wait_until(lambda: gang.log(0) == gang.log(1) == "up\n")
        gang.agents[0].kill()
        gang.agents[0].wait()
        with open(os.path.join(gang.paths[0].rank(0).launched, "1.txt"), "a") as f:
            f.write("last words\n")
        gang.jobs[0] = replace(gang.jobs[0], mode="finish")
        gang.start(0)
        assert gang.agents[1].wait(90) == 0, gang.agent_logs()
        assert gang.log(1) == "up\nlast words\n"
        assert "azureml-logs/70_driver_log.txt" not in bench.keeper.logs
        assert not find_attempt(f"{bench.run_id}/1")


class TestPreempt:
    def test_ranks_are_asked_and_not_their_launcher(self, launched, first):
        """A launcher that is told would stop its ranks after a time of its own."""
        worker = os.path.join(os.path.dirname(first), "offered")
        script = (
            f"import os, sys, time\nsys.path.insert(0, {worker!r})\n"
            "from rookery.worker import leave_for_resume, should_stop\nshould_stop()\nprint('up', flush=True)\n"
            "while not should_stop(): time.sleep(0.02)\n"
            "time.sleep(0.3 * int(os.environ['RANK']))\nprint('saved', flush=True)\nleave_for_resume()\n"
        )
        gang = launched(script)
        gang.start()
        wait_until(lambda: gang.log(0) == gang.log(1) == "up\n")
        gang.bench.keeper.command("preempt", grace_s=60.0, node=0)
        assert gang.agents[0].wait(90) == 0, gang.agent_logs()
        outcome = gang.outcomes_of(0)
        assert (outcome["result"], ends(outcome)) == ("lost", {0: 85, 1: 85})
        assert "2 of 2 ranks saved" in outcome["cause"]["summary"]
        assert gang.log(1) == "up\nsaved\n"


class TestSurroundings:
    def test_ranks_on_an_old_python(self, launched):
        old = os.path.expanduser("~/.pyenv/versions/3.6.15/bin/python")
        python = old if os.path.exists(old) else sys.executable
        script = (
            "import os, time\nprint('mine')\nif os.environ['RANK'] == '0':\n    open('zero', 'w').close()\nelse:\n"
            "    while not os.path.exists('zero'): time.sleep(0.02)\n    os._exit(17)\n"
        )
        gang = launched(script, command=f"{python} torchrun.py 2 train.py")
        outcome = gang.run()[0]
        assert (gang.log(0), gang.log(1)) == ("mine\n", "mine\n")
        assert ends(outcome)[1] == 17

    def test_variables_of_an_outer_rank_do_not_count(self, launched, monkeypatch):
        """A keeper, and with it the agent, may have been started from inside another run's rank."""
        monkeypatch.setenv("ROOKERY_RANK_MAIN", "1")
        monkeypatch.setenv("TORCHELASTIC_RUN_ID", "outer")
        gang = launched("print('mine')")
        gang.run()
        assert (gang.log(0), gang.log(1)) == ("mine\n", "mine\n")


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""
