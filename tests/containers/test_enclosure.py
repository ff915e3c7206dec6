"""What an agent does about containers, without a runtime."""

import os
import shlex
import subprocess
import sys

import pytest

from rookery.agent.container import Enclosure
from rookery.agent.process import RankEnd
from rookery.spec.container import ContainerSpec, Runtime, container_name
from rookery.spec.job import Job, KeeperAddress, RankJob
from rookery.spec.paths import NodePaths

SLEEP = "import time; time.sleep(600)"
# As podman leaves it when its client is killed between making and starting a container.
MONITOR = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}, 'init']).wait()"


@pytest.fixture
def node(tmp_path):
    paths = NodePaths(str(tmp_path / "node's folder"))
    for folder in (paths.rank(0).errors, paths.work("r")):
        os.makedirs(folder)
    return paths


@pytest.fixture
def make(node):
    def make(program="/bin/true", **variables):
        rank = RankJob(0, 0, variables=variables)
        job = Job("r", 1, 0, "run", "t", KeeperAddress(), ranks=(rank,), work=node.work("r"))
        return Enclosure(ContainerSpec(Runtime.PODMAN, program, "id", "image:1"), job, node), rank

    return make


class TestStartScript:
    def test_gives_exactly_what_was_asked_for(self, make, node):
        enclosure, rank = make(ODD="two\nlines 'and' \"more\" $HOME \\", EMPTY="")
        code = "import os, sys; print([os.environ['ODD'], os.environ['EMPTY'], sys.argv[1:], os.getcwd(), os.getpid()])"
        command = enclosure.command(rank, [sys.executable, "-c", code, "a b", "$X", ""])
        assert command[-1] == node.rank(0).start
        assert os.stat(command[-1]).st_mode & 0o777 == 0o600
        assert not any("lines 'and'" in word for word in command), "values are not on the command line"
        process = subprocess.Popen(["/bin/sh", command[-1]], env={"PATH": "/image/bin"})
        assert process.wait(60) == 0
        with open(node.rank(0).log) as f:
            said = eval(f.read())
        assert said == [rank.variables["ODD"], "", ["a b", "$X", ""], node.work("r"), process.pid]
        assert enclosure.pids() == [process.pid]

    def test_paths_of_the_image_stay_behind_ours(self, make, node):
        enclosure, rank = make(PYTHONPATH="/payload/first")
        command = enclosure.command(rank, ["/bin/sh", "-c", 'echo "$PATH $PYTHONPATH"'])
        subprocess.run(["/bin/sh", command[-1]], env={"PATH": "/image/bin:/bin", "PYTHONPATH": "/own"}, check=True)
        with open(node.rank(0).log) as f:
            assert f.read() == "/image/bin:/bin /payload/first:/own\n"


class TestReadEnd:
    @pytest.mark.parametrize(("code", "signal"), [(137, 9), (143, 15), (139, 11)])
    def test_signals(self, make, node, code, signal):
        self._begin(node, 77)
        end = make()[0].read_end(RankEnd(0, 5, exit_code=code))
        assert (end.pid, end.exit_code, end.signal) == (77, None, signal)

    @pytest.mark.parametrize("code", [0, 1, 125, 127])
    def test_exit_codes_of_what_began(self, make, node, code):
        self._begin(node, 77)
        assert make()[0].read_end(RankEnd(0, 5, exit_code=code)) == RankEnd(0, 77, exit_code=code)

    @pytest.mark.parametrize("code", [125, 126, 127])
    def test_one_that_never_began(self, make, node, code):
        with open(node.rank(0).log, "w") as f:
            f.write("Error: no such image\nSee 'podman run --help'\n")
        end = make()[0].read_end(RankEnd(0, 5, exit_code=code))
        assert end.start_error == "podman could not start a container of image 'image:1': Error: no such image"
        assert end.exit_code is None

    def _begin(self, node, pid):
        with open(node.rank(0).inside, "w") as f:
            f.write(f"{pid}\n")


class TestRemove:
    def test_ends_the_monitor_of_a_container_that_never_started(self, make, tmp_path):
        (tmp_path / "conmon").symlink_to(os.path.realpath(sys.executable))
        program = str(tmp_path / "conmon")
        ours, other = (self._monitor(program, container_name(run, 1, 0, 0)) for run in ("r", "other"))
        try:
            make()[0].remove()
            assert ours.wait(60) == -9
            assert other.poll() is None
        finally:
            for process in (ours, other):
                self._end(process)

    def test_values_do_not_stay_on_disk(self, make, node):
        enclosure, rank = make(TOKEN="hidden")
        enclosure.command(rank, ["true"])
        enclosure.release()
        assert not os.path.exists(node.rank(0).start)

    def _monitor(self, program, name):
        process = subprocess.Popen([program, "-c", MONITOR, "-n", name])
        while not self._children(process):
            assert process.poll() is None
        return process

    def _children(self, process):
        try:
            with open(f"/proc/{process.pid}/task/{process.pid}/children") as f:
                return [int(word) for word in f.read().split()]
        except FileNotFoundError:
            return []

    def _end(self, process):
        for pid in self._children(process):
            os.kill(pid, 9)
        process.kill()
        process.wait(60)


class TestGuard:
    @pytest.mark.slow
    @pytest.mark.parametrize("released", [True, False])
    def test_removes_when_the_agent_is_gone_without_a_word(self, make, tmp_path, released):
        mark = tmp_path / "removed"
        program = tmp_path / "podman"
        program.write_text(f'#!/bin/sh\necho "$*" > {shlex.quote(str(mark))}\n')
        program.chmod(0o755)
        enclosure, _ = make(str(program))
        enclosure.protect()
        guard, lifeline = enclosure._guard, enclosure._lifeline
        if released:
            enclosure.release()
        else:
            os.close(lifeline)  # as the end of the agent does
        guard.wait(60)
        assert mark.exists() is not released
        if not released:
            assert mark.read_text() == "rm --force --time 0 --ignore rookery-r-1-0-0\n"
