"""The embedded engine sits the exam, and a real agent starts the way it starts them."""

from __future__ import annotations

import os
import subprocess

import pytest

from rookery.engine.engines import EmbeddedEngine
from rookery.engine.engines.deathwatch import DeathWatch
from rookery.engine.engines.embedded import agent_command
from rookery.testing.engine_exam import EngineExam, stand_in_command, wait_for


class TestEmbeddedEngine(EngineExam):
    @pytest.fixture
    def engine_maker(self):
        return lambda: EmbeddedEngine(stand_in_command)


class TestWithoutPidfd(EngineExam):
    """Where the kernel has no pidfd the same promises hold, by polling."""

    @pytest.fixture
    def engine_maker(self, monkeypatch):
        monkeypatch.delattr(os, "pidfd_open")
        return lambda: EmbeddedEngine(stand_in_command)


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
