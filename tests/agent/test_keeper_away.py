"""The keeper goes away, is slow, fails at random: nothing is lost, nothing is doubled."""

from __future__ import annotations

import os
import sys

from rookery.spec.job import KeeperAddress
from rookery.spec.logs import DRIVER_LOG
from rookery.testing.agent_bench import wait_until

SCRIPT = """
import os, sys, time
from rookery.worker import Run
run = Run.get_context(False)
print('up', flush=True)
while not os.path.exists('../go'):
    time.sleep(0.005)
for i in range(2000):
    run.log('x', float(i), step=i)
    print('line', i, flush=True)
run.tag('done', 'yes')
open('a.bin', 'wb').write(b'z' * 300000)
run.upload_file('a.bin', 'a.bin')
open('outputs/m', 'w').write('model')
"""


def check_all(bench):
    assert bench.log() == "up\n" + "".join(f"line {i}\n" for i in range(2000))
    metric = bench.keeper.metrics(bench.run_id)["x"]
    assert metric["values"] == [float(i) for i in range(2000)]
    assert metric["steps"] == list(range(2000))
    assert [r for r in bench.keeper.records if r[0] == "g"] == [["g", None, {"done": "yes"}]]
    assert bench.keeper.artifacts[bench.run_id] == {"a.bin": b"z" * 300000, "outputs/m": b"model"}


def go(bench):
    with open(os.path.join(bench.paths.work_parent, "go"), "w"):
        pass


class TestKeeperAway:
    def test_the_run_goes_on_and_is_caught_up(self, bench):
        agent = bench.start(bench.job(SCRIPT))
        bench.wait_for_log("up")
        bench.keeper.stop()
        go(bench)
        wait_until(lambda: os.path.exists(bench.paths.outcome))
        assert agent.poll() is None
        bench.keeper.start()
        assert agent.wait(90) == 0
        check_all(bench)

    def test_random_failures(self, bench):
        agent = bench.start(bench.job(SCRIPT))
        bench.wait_for_log("up")
        bench.keeper.fail_rate = 0.4
        go(bench)
        bench.keeper.wait_for("outcome")
        bench.keeper.wait_until(lambda: "a.bin" in bench.keeper.artifacts.get(bench.run_id, {}))
        bench.keeper.fail_rate = 0.0
        assert agent.wait(90) == 0
        check_all(bench)

    def test_starts_a_keeper_that_survives_the_attempt(self, bench):
        """The start command's descendants are the agent's too (subreaper), and must not be stopped with the
        ranks."""
        mark = os.path.join(bench.folder, "keeper.pid")
        starter = (
            "import subprocess; p = subprocess.Popen(['sleep', '60'], start_new_session=True); "
            f"open({mark!r}, 'w').write(str(p.pid))"
        )
        address = KeeperAddress(endpoint_file=bench.keeper.endpoint, start_command=(sys.executable, "-c", starter))
        agent = bench.start(bench.job(SCRIPT, keeper=address))
        bench.wait_for_log("up")
        bench.keeper.stop()
        go(bench)
        wait_until(lambda: os.path.exists(mark) and os.path.getsize(mark) > 0)
        with open(mark, encoding="ascii") as f:
            pid = int(f.read())
        try:
            bench.keeper.start()
            assert agent.wait(90) == 0
            os.kill(pid, 0)
        finally:
            os.kill(pid, 9)
        check_all(bench)

    def test_agent_leaves_when_its_folder_is_removed(self, bench):
        agent = bench.start(bench.job("import time\nprint('up', flush=True)\ntime.sleep(600)", cancel_grace_s=0.2))
        bench.wait_for_log("up")
        bench.keeper.stop()
        os.unlink(bench.paths.job)
        agent.terminate()
        assert agent.wait(90) == 3

    def test_torn_journal_is_a_warning(self, bench):
        script = (
            "import os\nfrom rookery.worker import Run\nrun = Run.get_context(False)\nrun.log('x', 1.0)\n"
            "with open(run._sink.path, 'ab') as f: f.write(b'00000000 [\"m\",null,\"x\",2.0,null,1]\\n')\n"
            "run.log('x', 3.0)\n"
            "with open(run._sink.path, 'ab') as f: f.write(b'1234abcd [\"m\",nu')\n"
        )
        bench.run(bench.job(script))
        assert bench.keeper.metrics(bench.run_id)["x"]["values"] == [1.0, 3.0]
        warnings = bench.keeper.wait_for("finished", 0)["warnings"]
        assert any("1 damaged" in w for w in warnings)
        assert any("middle of a record" in w for w in warnings)


class TestSlowKeeper:
    def test_training_does_not_wait(self, bench):
        script = (
            "import time\nfrom rookery.worker import Run\nrun = Run.get_context(False)\nt = time.time()\n"
            "for i in range(1000): run.log('x', float(i))\nprint('took', time.time() - t < 30)"
        )
        bench.keeper.delay_s = 0.2  # a thousand times that would be minutes
        bench.run(bench.job(script))
        assert bench.keeper.log(DRIVER_LOG) == b"took True\n"
        assert len(bench.keeper.metrics(bench.run_id)["x"]["values"]) == 1000
