"""What is built: listed, shown, held, pruned."""

import os
import platform
import subprocess
import sys

import pytest

from rookery.environments.building import builder, store
from rookery.environments.building.folders import EnvironmentFolder
from rookery.environments.specification.wanted import from_requirements
from rookery.errors import NotFoundError, UserError
from tests.environments_build.wheels import write_wheel


@pytest.fixture
def built(wheels):
    return builder.build(from_requirements("alpha"), lambda data: None)


@pytest.fixture
def sleeper():
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


class TestStore:
    def test_lists_and_shows(self, built):
        (one,) = store.list_environments()
        assert one.key == built.key
        assert (one.python_version, one.num_packages, one.in_use_by) == (platform.python_version(), 1, ())
        assert store.show_environment(built.key[:6]) == one
        assert "alpha==2.0" in one.lock.packages
        with pytest.raises(NotFoundError, match="env list"):
            store.show_environment("zzz")

    def test_use_is_noted(self, built):
        marker = EnvironmentFolder(built.key).marker
        os.utime(marker, (1, 1))
        builder.known(from_requirements("alpha"))
        assert store.show_environment(built.key).last_used > 1_000_000

    def test_prunes_what_nobody_uses(self, built):
        assert store.prune() == []  # used a moment ago
        os.utime(EnvironmentFolder(built.key).marker, (1, 1))
        assert store.prune(unused_for_s=1e12) == []
        assert [one.key for one in store.prune(dry_run=True)] == [built.key]
        assert [one.key for one in store.prune()] == [built.key]
        assert store.list_environments() == []
        assert not os.path.exists(EnvironmentFolder(built.key).root)

    def test_keeps_what_a_live_process_holds(self, built, sleeper):
        store.hold(built.key, "run-1", sleeper.pid)
        assert store.show_environment(built.key).in_use_by == ("run-1",)
        assert store.prune(keys=[built.key]) == []
        sleeper.kill()
        sleeper.wait()
        assert [one.key for one in store.prune(keys=[built.key])] == [built.key]

    def test_a_hold_can_be_released(self, built, sleeper):
        store.hold(built.key, "run-1", sleeper.pid)
        store.release_hold(built.key, "run-1")
        store.release_hold(built.key, "run-1")
        assert store.show_environment(built.key).in_use_by == ()
        with pytest.raises(UserError, match="run's id"):
            store.hold(built.key, "../x", sleeper.pid)

    def test_prunes_the_remains_of_a_build_that_died(self, wheels):
        remains = EnvironmentFolder("0" * 32)
        os.makedirs(remains.bin_dir)
        assert store.list_environments() == []
        store.prune()
        assert not os.path.exists(remains.root)

    def test_the_cache_can_go_and_environments_stay(self, built):
        store.prune_cache()
        done = subprocess.run([built.python, "-c", "import alpha"], timeout=60, check=False)
        assert done.returncode == 0


class TestForget:
    def test_the_next_build_sees_what_is_new(self, built, wheels):
        write_wheel(wheels, "alpha", "3.0", {"alpha/__init__.py": ""})
        assert builder.build(from_requirements("alpha"), lambda data: None).key == built.key
        builder.forget(from_requirements("alpha"))
        builder.forget(from_requirements("alpha"))
        assert builder.known(from_requirements("alpha")) is None
        fresh = builder.build(from_requirements("alpha"), lambda data: None)
        assert "alpha==3.0" in store.show_environment(fresh.key).lock.packages
        assert len(store.list_environments()) == 2


class TestDiskUse:
    def test_counts_hard_links_once(self, tmp_path):
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        (tmp_path / "a" / "own").write_bytes(os.urandom(100_000))
        (tmp_path / "a" / "shared").write_bytes(os.urandom(500_000))
        os.link(tmp_path / "a" / "shared", tmp_path / "b" / "shared")
        os.link(tmp_path / "a" / "own", tmp_path / "a" / "own2")  # both links inside: still its own
        one = store.disk_use(str(tmp_path / "a"))
        assert 100_000 <= one.own_bytes < 130_000
        assert 500_000 <= one.shared_bytes < 520_000
        both = store.disk_use(str(tmp_path / "a"), str(tmp_path / "b"))
        assert 600_000 <= both.own_bytes < 640_000
        assert both.shared_bytes == 0
