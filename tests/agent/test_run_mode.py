"""Mode run: real processes from start to `finished`."""

from __future__ import annotations

import json
import os
import signal
import sys

from rookery.agent.tree import find_attempt
from rookery.spec.job import RankJob
from rookery.spec.logs import DRIVER_LOG
from rookery.testing.agent_bench import wait_until


class TestCompletedRun:
    def test_reports_in_order_and_removes_its_folder(self, bench):
        outcome = bench.run(bench.job("print('hi')"))
        kinds = [kind for kind, _ in bench.keeper.events if kind != "beat"]
        assert kinds == ["hello", "running", "outcome", "finished"]
        assert outcome["result"] == "completed"
        assert outcome["exit_code"] == 0
        assert outcome["cause"] is None
        assert bench.log() == "hi\n"
        assert not os.path.exists(bench.paths.work_parent)
        with open(bench.paths.outcome, encoding="utf-8") as f:
            assert json.load(f)["result"] == "completed"

    def test_keeps_the_folder_when_asked(self, bench):
        bench.run(bench.job("print('hi')", keep_work=True))
        assert os.path.exists(os.path.join(bench.paths.work(bench.run_id), "train.py"))

    def test_log_is_byte_exact(self, bench):
        script = (
            "import os\nfor i in range(300): os.write(1, bytes(range(256)) * 40)\nos.write(2, b'no newline at the end')"
        )
        bench.run(bench.job(script))
        assert bench.keeper.log(DRIVER_LOG) == bytes(range(256)) * 40 * 300 + b"no newline at the end"

    def test_log_of_a_silent_script_exists(self, bench):
        bench.run(bench.job("pass"))
        assert DRIVER_LOG in bench.keeper.logs
        assert bench.keeper.log(DRIVER_LOG) == b""

    def test_files_have_the_users_rights(self, bench, monkeypatch):
        monkeypatch.setenv("ROOKERY_UMASK", "027")
        bench.run(bench.job("import os; print('%03o' % os.umask(0), 'ROOKERY_UMASK' in os.environ)"))
        assert bench.log() == "027 False\n"

    def test_line_arrives_while_the_script_runs(self, bench):
        agent = bench.start(bench.job("import time\nprint('first %f' % time.time())\ninput_ = time.sleep(30)"))
        bench.wait_for_log("first")
        assert agent.poll() is None
        bench.keeper.command("cancel", grace_s=0.5)
        assert agent.wait(90) == 0

    def test_names_in_arguments_are_expanded_only_where_known(self, bench):
        argv = (
            sys.executable,
            "-c",
            "import sys; print(sys.argv[1:])",
            "$ROOKERY_RANK",
            "--r=${ROOKERY_RANK}",
            "$NO_SUCH",
            "$$5",
        )
        bench.run(bench.job(argv=argv))
        assert bench.log().strip() == "['0', '--r=0', '$NO_SUCH', '$$5']"

    def test_shell_line(self, bench):
        job = bench.job()
        rank = RankJob(
            0,
            0,
            shell="echo rank=$ROOKERY_RANK; exit 3",
            variables=job.ranks[0].variables,
            log_name=DRIVER_LOG,
        )
        outcome = bench.run(bench.job(ranks=(rank,)))
        assert bench.log() == "rank=0\n"
        assert outcome["exit_code"] == 3

    def test_process_left_behind_by_the_script_is_stopped(self, bench):
        script = "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\nprint('done')"
        outcome = bench.run(bench.job(script))
        assert outcome["result"] == "completed"
        assert find_attempt(f"{bench.run_id}/1") == []

    def test_second_try_continues_the_stored_log(self, bench):
        bench.keeper.logs[DRIVER_LOG] = bytearray(b"the try before\n")
        bench.run(bench.job("print('again')"))
        assert bench.log() == "the try before\nagain\n"

    def test_no_bytecode_switch_and_unbuffered(self, bench, monkeypatch):
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        bench.run(
            bench.job("import os; print(os.environ.get('PYTHONDONTWRITEBYTECODE'), os.environ['PYTHONUNBUFFERED'])")
        )
        assert bench.log() == "None 1\n"


class TestFailedRun:
    def test_exit_code_and_last_lines(self, bench):
        outcome = bench.run(bench.job("import sys\nprint('last words')\nsys.exit(7)"))
        assert outcome["result"] == "failed"
        assert outcome["exit_code"] == 7
        assert outcome["ranks"] == [{"rank": 0, "exit_code": 7, "signal": None}]
        assert outcome["cause"]["last_lines"] == ["last words"]
        assert "exit code 7" in outcome["cause"]["summary"]

    def test_signal_in_words(self, bench):
        outcome = bench.run(bench.job("import os\nos.kill(os.getpid(), 9)"))
        assert outcome["signal"] == "SIGKILL"
        assert "killed" in outcome["cause"]["summary"]

    def test_missing_interpreter(self, bench):
        outcome = bench.run(bench.job(argv=("/no/such/python", "x.py")))
        assert outcome["result"] == "failed"
        assert "/no/such/python" in outcome["cause"]["summary"]
        assert outcome["cause"]["advice"]

    def test_missing_script(self, bench):
        outcome = bench.run(bench.job(argv=(sys.executable, "no_such_script.py")))
        assert "no_such_script.py' does not exist in the snapshot" in outcome["cause"]["summary"]

    def test_outputs_are_collected_all_the_same(self, bench):
        bench.run(bench.job("open('outputs/half.pt', 'w').write('x')\nraise ValueError('bad shape')"))
        assert bench.keeper.artifacts[bench.run_id] == {"outputs/half.pt": b"x"}

    def test_first_failed_rank_stops_the_others(self, bench):
        job = bench.job("import os, sys, time\nif os.environ['R'] == '1': sys.exit(5)\ntime.sleep(600)")
        first = job.ranks[0]
        ranks = tuple(
            RankJob(
                n,
                n,
                first.argv,
                variables={**first.variables, "R": str(n)},
                log_name=f"azureml-logs/70_driver_log_{n}.txt",
            )
            for n in range(3)
        )
        outcome = bench.run(bench.job(ranks=ranks, world_size=3, cancel_grace_s=5.0))
        assert outcome["cause"]["rank"] == 1
        assert [r["signal"] for r in outcome["ranks"]] == ["SIGTERM", None, "SIGTERM"]


STUBBORN = """
import signal, subprocess, sys, time, os
signal.signal(signal.SIGTERM, signal.SIG_IGN)
depth = int(sys.argv[1]) if len(sys.argv) > 1 else 0
if depth < 3:
    subprocess.Popen([sys.executable, __file__, str(depth + 1)], start_new_session=True)
os.write(1, b'up %d\\n' % depth)  # one write: all of them share the log
time.sleep(600)
"""


class TestStopping:
    def test_cancel_leaves_nothing_behind(self, bench):
        agent = bench.start(bench.job(STUBBORN, cancel_grace_s=0.3))
        bench.wait_for_log("up 3")
        assert len(find_attempt(f"{bench.run_id}/1")) == 4
        bench.keeper.command("cancel", grace_s=0.3)
        assert agent.wait(90) == 0
        assert bench.keeper.wait_for("outcome", 0)["result"] == "canceled"
        assert find_attempt(f"{bench.run_id}/1") == []

    def test_cancel_lets_a_script_clean_up(self, bench):
        script = (
            "import signal, sys, time\n"
            "def stop(*_):\n    print('cleaning', flush=True); open('outputs/last.pt', 'w').write('x'); "
            "sys.exit(0)\n"
            "signal.signal(signal.SIGTERM, stop)\nprint('up', flush=True)\ntime.sleep(600)"
        )
        agent = bench.start(bench.job(script, cancel_grace_s=600.0))
        bench.wait_for_log("up")
        bench.keeper.command("cancel")
        assert agent.wait(90) == 0  # the grace is a limit, not a wait
        assert "cleaning" in bench.log()
        assert "outputs/last.pt" in bench.keeper.artifacts[bench.run_id]

    def test_cancel_before_the_start_starts_nothing(self, bench):
        bench.keeper.cancel = True
        outcome = bench.run(bench.job("print('never')"))
        assert outcome["result"] == "canceled"
        assert bench.log() == ""

    def test_time_limit(self, bench):
        outcome = bench.run(bench.job("import time\nprint('up', flush=True)\ntime.sleep(600)", max_duration_s=1))
        assert outcome["result"] == "failed"
        assert outcome["cause"]["kind"] == "TimeLimit"

    def test_attempt_that_is_over_stops_its_processes(self, bench):
        agent = bench.start(bench.job("import time\nprint('up', flush=True)\ntime.sleep(600)", cancel_grace_s=0.3))
        bench.wait_for_log("up")
        bench.keeper.over = True
        assert agent.wait(90) == 3
        assert find_attempt(f"{bench.run_id}/1") == []

    def test_sigterm_to_the_agent_reports_a_lost_node(self, bench):
        agent = bench.start(bench.job("import time\nprint('up', flush=True)\ntime.sleep(600)"))
        bench.wait_for_log("up")
        agent.send_signal(signal.SIGTERM)
        assert agent.wait(90) == 0
        assert bench.keeper.wait_for("outcome", 0)["result"] == "lost"


class TestKilledAgent:
    def test_ranks_die_at_once_and_finish_mode_ships_the_rest(self, bench):
        script = (
            "import time\nfrom rookery.worker import Run\nrun = Run.get_context(False)\n"
            "print('up', flush=True)\n"
            "for i in range(100000):\n    run.log('x', float(i)); print(i, flush=True); time.sleep(0.001)"
        )
        agent = bench.start(bench.job(script))
        bench.wait_for_log("\n20\n")
        agent.kill()
        agent.wait()
        wait_until(lambda: find_attempt(f"{bench.run_id}/1") == [])
        with open(bench.paths.rank(0).log, "rb") as f:
            written = f.read()
        bench.run(bench.job(script, mode="finish"))
        outcome = bench.keeper.wait_for("outcome", 0)
        assert outcome["result"] == "lost"
        assert outcome["cause"]["kind"] == "NodeLost"
        assert bench.keeper.log(DRIVER_LOG) == written
        values = bench.keeper.metrics(bench.run_id)["x"]["values"]
        assert values == [float(i) for i in range(len(values))]
        assert len(values) >= 20

    def test_finish_mode_reports_the_outcome_on_disk(self, bench):
        bench.run(bench.job("import sys; sys.exit(4)"))
        bench.keeper.events.clear()
        outcome = bench.run(bench.job(mode="finish"))
        assert outcome["exit_code"] == 4
        assert bench.keeper.wait_for("finished", 0) is not None
