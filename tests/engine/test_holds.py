"""A run holds its environment from the moment it has it until it has ended; prune takes only what nobody holds."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time

import pytest

from rookery import environments
from rookery.engine.build_logs import BuildLogs
from rookery.environments import BuiltEnvironment
from rookery.environments.building import leases, store
from rookery.environments.building.folders import EnvironmentFolder, write_json
from rookery.spec.logs import BUILD_LOG
from rookery.testing.engine_exam import wait_for

KEY = "ab" * 16


def make_environment():
    """What a build leaves: an interpreter and the marker."""
    folder = EnvironmentFolder(KEY)
    os.makedirs(folder.bin_dir)
    os.symlink(sys.executable, folder.python)
    write_json(folder.marker, {"key": KEY, "name": "birds", "built": time.time() - 1000})
    os.utime(folder.marker, (time.time() - 1000, time.time() - 1000))
    return folder


@pytest.fixture
def folder(monkeypatch):
    """A built environment that every run gets; `prepare` makes it again."""
    found = make_environment()
    built = BuiltEnvironment(python=found.python, bin_dir=found.bin_dir, key=KEY)
    monkeypatch.setattr(environments, "prepared", lambda spec: built if found.is_built() else None)
    monkeypatch.setattr(environments, "prepare", lambda spec, log, **_: (log(b"built again\n"), make_environment()))
    return found


def log_of(house, run_id):
    has_one = BUILD_LOG in house.record.logs.sizes(run_id)
    return house.record.logs.read(run_id, BUILD_LOG, 0, 100) if has_one else b""


def prune():
    return [one.key for one in store.prune(keys=[KEY])]


@pytest.fixture
def agent():
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


class TestHolds:
    def test_from_ready_to_the_end(self, house, folder):
        run_id = house.submit()
        house.start_ranks(run_id)
        assert store.show_environment(KEY).in_use_by == (run_id,)
        assert prune() == []
        house.finish(run_id)
        house.wait(run_id, "Completed")
        wait_for(lambda: store.show_environment(KEY).in_use_by == (), "the hold's end")
        assert prune() == [KEY]

    def test_while_it_waits_in_the_queue_and_not_after_it_was_canceled(self, make_house, folder):
        house = make_house(cpus=1)
        first, second = house.submit(), house.submit()
        house.wait_placed(first)
        house.wait(second, "Queued")
        assert set(store.show_environment(KEY).in_use_by) == {first, second}
        house.controller.cancel(second)
        assert store.show_environment(KEY).in_use_by == (first,)

    def test_the_agent_holds_it_where_the_keeper_has_died(self, house, folder, agent, monkeypatch):
        run_id = house.submit()
        house.wait_placed(run_id)
        house.controller.agent_hello(run_id, 1, 0, {"pid": agent.pid, "hostname": socket.gethostname()})
        monkeypatch.setattr(
            leases, "start_ticks", lambda pid, real=leases.start_ticks: -1 if pid == os.getpid() else real(pid)
        )
        assert store.show_environment(KEY).in_use_by == (run_id,)
        assert prune() == []
        agent.kill()
        agent.wait()
        assert prune() == [KEY]

    def test_an_agent_elsewhere_holds_nothing_here(self, house, folder, agent):
        run_id = house.submit()
        house.wait_placed(run_id)
        house.controller.agent_hello(run_id, 1, 0, {"pid": agent.pid, "hostname": "another"})
        store.release_hold(KEY, run_id)
        assert store.show_environment(KEY).in_use_by == ()

    def test_the_next_keeper_holds_it_again(self, house, folder):
        run_id = house.submit()
        house.start_ranks(run_id)
        house.controller.stop()
        store.release_hold(KEY, run_id)  # as good as a lease of a dead process
        house.restart()
        assert store.show_environment(KEY).in_use_by == (run_id,)

    def test_what_was_removed_while_no_keeper_was_up_is_prepared_again(self, make_house, folder):
        house = make_house(cpus=1)
        first, second = house.submit(), house.submit()
        house.start_ranks(first)
        house.wait(second, "Queued")
        house.controller.stop()
        store.release_hold(KEY, second)
        os.unlink(folder.marker)
        shutil.rmtree(folder.root)
        house.restart()
        wait_for(lambda: log_of(house, second) == b"built again\n", "the second build")
        house.wait(second, "Queued")
        assert second in store.show_environment(KEY).in_use_by


class TestPruneAgainstHold:
    def test_a_hold_that_comes_while_it_is_removed_wins_or_hears_of_it(self, folder, monkeypatch):
        """The lease is written between the first look and the removal."""
        looks = []

        def look(one, real=store.users):
            if not looks:
                looks.append(store.hold(KEY, "late", os.getpid()))
                return []
            return real(one)

        monkeypatch.setattr(store, "users", look)
        monkeypatch.setattr(
            store,
            "_stored",
            lambda key, real=store._stored: type("One", (), {"key": key, "in_use_by": (), "last_used": 0.0})(),
        )
        assert prune() == []
        assert looks == [True]
        assert folder.is_built()

    def test_what_is_gone_cannot_be_held(self, folder):
        assert prune() == [KEY]
        assert store.hold(KEY, "late", os.getpid()) is False


class TestBuildLogs:
    def test_every_run_has_all_of_it_also_one_that_came_late(self, house, folder):
        runs = [house.submit() for _ in range(3)]
        logs = BuildLogs(house.record)
        logs.add(runs[0])
        logs(b"one\n")
        logs.add(runs[1])
        wait_for(lambda: log_of(house, runs[0]) == b"one\n", "the first line, by itself")
        logs(b"two\n")
        logs.add("gone")
        logs.add(runs[2])
        logs.close()
        for run_id in runs:
            assert log_of(house, run_id) == b"one\ntwo\n"

    def test_nothing_said_is_no_log(self, house, folder):
        run_id = house.submit()
        logs = BuildLogs(house.record)
        logs.add(run_id)
        logs.close()
        assert BUILD_LOG not in house.record.logs.sizes(run_id)
