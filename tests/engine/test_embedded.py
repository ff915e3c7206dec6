"""The embedded engine sits the exam, and a real agent starts the way it starts them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rookery.engine.engines import EmbeddedEngine
from rookery.engine.engines.deathwatch import DeathWatch
from rookery.engine.engines.embedded import agent_command
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.testing.engine_exam import EngineExam
from rookery.testing.stand_in import ClusterUnderTest, stand_in_command, wait_for


class ThisMachine(ClusterUnderTest):
    gang_size = 3  # nodes share the machine

    def make_engine(self):
        return EmbeddedEngine(stand_in_command)


class TestEmbeddedEngine(EngineExam):
    @pytest.fixture
    def cluster(self):
        return ThisMachine()

    def test_places_all_or_none(self, started, new_place):
        engine, deaths = started()
        good, bad = new_place(node=0), new_place(node=1)
        os.unlink(bad.paths.job)
        os.rmdir(bad.root)
        Path(bad.root).write_text("a file where a folder should be")
        with pytest.raises(ComputeError):
            engine.place([good, bad])
        assert not engine.is_alive(good)
        assert not deaths.seen

    def test_refuses_more_cores_than_there_are(self, started):
        engine, _ = started()
        cores = len(engine.capacity().cpus)
        engine.check(1, ClusterSpec(max_nodes=1, cpus_per_node=cores))
        with pytest.raises(ComputeError, match="At most"):
            engine.check(1, ClusterSpec(max_nodes=1, cpus_per_node=cores + 1))


class TestWithoutPidfd(EngineExam):
    """Where the kernel has no pidfd the same promises hold, by polling."""

    @pytest.fixture
    def cluster(self, monkeypatch):
        monkeypatch.delattr(os, "pidfd_open")
        return ThisMachine()


class TestAgentCommand:
    def test_finds_our_package_without_site(self, tmp_path):
        command = agent_command(str(tmp_path))
        boot = command[command.index("-c") + 1].split("runpy.run_module")[0]
        answer = subprocess.run(
            [
                *command[: command.index("-c")],
                "-c",
                boot + "import rookery; print(rookery.__file__, 'site' in sys.modules)",
                "x",
            ],
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
            timeout=60,
        )
        assert answer.stdout.strip().endswith("rookery/__init__.py False")

    def test_starts_the_real_agent(self, tmp_path):
        answer = subprocess.run(agent_command(str(tmp_path)), capture_output=True, text=True, check=False, timeout=60)
        assert answer.returncode == 2
        assert "job.json cannot be read" in answer.stderr


class TestDeathWatch:
    def test_tells_of_a_process_that_is_dead_already(self):
        child = subprocess.Popen(["true"])
        child.wait()
        seen: list[object] = []
        watch = DeathWatch(lambda key, code, signal: seen.append(key))
        watch.start()
        try:
            watch.watch("gone", child.pid, 1)
            wait_for(lambda: seen == ["gone"], "the death")
        finally:
            watch.stop()

    def test_tells_nothing_of_what_it_was_told_to_forget(self):
        child = subprocess.Popen(["sleep", "600"])
        seen: list[object] = []
        watch = DeathWatch(lambda key, code, signal: seen.append(key))
        watch.start()
        try:
            watch.watch("forgotten", child.pid, 0)
            watch.forget("forgotten")
            child.kill()
            child.wait()
            other = subprocess.Popen(["true"])
            watch.watch("other", other.pid, 0)
            wait_for(lambda: "other" in seen, "the other's death")
            other.returncode = 0
            assert seen == ["other"]
        finally:
            watch.stop()
