"""What stays on a node, and for how long: contents, code, environments, folders of dead runs."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rookery.agent import boot, content_cache
from rookery.agent.content_cache import ContentCache
from rookery.agent.node import NodeFacts, node_facts, settle
from rookery.agent.node_home import remove_unused
from rookery.agent.proc import start_ticks
from rookery.errors import SnapshotError
from rookery.spec.job import Job, KeeperAddress, RankJob
from rookery.spec.launch import LaunchJob

OLD = time.time() - 100 * 86400


class Contents:
    """A keeper that has contents, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, bytes] = {}

    def add(self, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        self.answers[sha256] = data
        return sha256

    def download(self, path: str, file: str) -> None:
        self.asked.append(path)
        Path(file).write_bytes(self.answers[path.rpartition("/")[2]])


def test_contents_are_fetched_once_and_the_longest_unused_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper: Any = Contents()
    cache = ContentCache(keeper, str(tmp_path / "content"), limit_bytes=250)
    hashes = [keeper.add(bytes([n]) * 100) for n in range(4)]
    for sha256 in hashes:
        assert Path(cache.get(sha256)).read_bytes() == keeper.answers[sha256]
    cache.get(hashes[0])
    assert len(keeper.asked) == 4
    assert cache.trim() == 0  # what was used just now stays, whatever the limit
    monkeypatch.setattr(content_cache, "KEPT_S", 0.0)
    for age, sha256 in enumerate(reversed(hashes)):
        os.utime(cache.get(sha256), (OLD + age, OLD + age))
    assert cache.trim() == 200
    assert [os.path.exists(tmp_path / "content" / h[:2] / h) for h in hashes] == [True, True, False, False]


def test_a_content_with_another_hash_is_not_kept(tmp_path: Path) -> None:
    keeper: Any = Contents()
    sha256 = keeper.add(b"right")
    keeper.answers[sha256] = b"wrong"
    with pytest.raises(SnapshotError, match="another hash"):
        ContentCache(keeper, str(tmp_path)).get(sha256)
    assert [name for _, _, names in os.walk(tmp_path) for name in names] == []


def test_what_nobody_has_used_for_long_goes(tmp_path: Path) -> None:
    for kind in ("kit", "payload", "tools"):
        for name in ("old", "new"):
            (tmp_path / kind / name).mkdir(parents=True)
            (tmp_path / kind / name / "file").write_text("")
        os.utime(tmp_path / kind / "old", (OLD, OLD))
    for run, agent in (("dead", {}), ("alive", {"pid": os.getpid(), "start_ticks": start_ticks(os.getpid())})):
        root = tmp_path / "runs" / run / "1" / "node-0"
        root.mkdir(parents=True)
        (root / "agent.json").write_text(json.dumps(agent))
        os.utime(root, (OLD, OLD))
    (tmp_path / "kit" / "used").mkdir()
    os.utime(tmp_path / "kit" / "used", (OLD, OLD))
    user = subprocess.Popen(["sleep", "60"], env={"PYTHONPATH": f"{tmp_path}/kit/used"})
    try:
        remove_unused(NodeFacts(str(tmp_path), unused_s=86400.0))
    finally:
        user.kill()
        user.wait()
    assert sorted(os.listdir(tmp_path / "kit")) == ["new", "used"]
    assert sorted(os.listdir(tmp_path / "tools")) == ["new"]
    assert os.listdir(tmp_path / "runs") == ["alive"]


def test_machines_with_the_same_process_numbers_may_share_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, unlink, others = str(tmp_path / "home"), os.unlink, []

    def remove(path: str) -> None:
        if not others:  # another one tries it in this very moment
            others.append("")
            others.append(boot.try_home(home))
        unlink(path)

    monkeypatch.setattr(os, "unlink", remove)
    assert boot.try_home(home) == ""
    assert others == ["", ""]
    assert os.listdir(home) == []


def test_a_runs_folder_may_go_while_the_next_attempt_makes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makedirs, tries = os.makedirs, []

    def make(path: str, **options: Any) -> None:
        tries.append(path)
        if len(tries) < 3:
            raise FileNotFoundError(path)
        makedirs(path, **options)

    monkeypatch.setattr(os, "makedirs", make)
    boot.write_private(str(tmp_path / "runs" / "r" / "2" / "node-0" / "job.json"), "{}")
    assert (tmp_path / "runs" / "r" / "2" / "node-0" / "job.json").read_text() == "{}"


def test_environments_that_are_held_stay(tmp_path: Path) -> None:
    keys = ["a" * 32, "b" * 32]
    for key in keys:
        folder = tmp_path / "environments" / key
        (folder / "env" / "bin").mkdir(parents=True)
        (folder / "env" / "bin" / "python").symlink_to(sys.executable)
        (folder / "built.json").write_text("{}")
        os.utime(folder / "built.json", (OLD, OLD))
    leases = tmp_path / "environments" / "leases" / keys[0]
    leases.mkdir(parents=True)
    lease = {"owner": "run", "pid": os.getpid(), "start_ticks": start_ticks(os.getpid())}
    (leases / "run@1-0.json").write_text(json.dumps(lease))
    remove_unused(NodeFacts(str(tmp_path), unused_s=86400.0))
    assert [os.path.exists(tmp_path / "environments" / key / "built.json") for key in keys] == [True, False]


def _job(**fields: Any) -> Job:
    node = {"home": "/n", "cpus": 8, "name": "barn"}
    ranks = (RankJob(0, 0, variables={"MKL_NUM_THREADS": "3"}), RankJob(1, 1, cpus=(1,)))
    return Job("r", 1, 0, "run", "t", KeeperAddress(), ranks=ranks, extra={"node": node}, **fields)


def test_threads_and_address_are_settled_on_the_node() -> None:
    job = settle(
        _job(thread_share=2, launch=LaunchJob("per_process", one_machine=False)), {"CUDA_VISIBLE_DEVICES": "1"}
    )
    assert job.ranks[0].variables["OMP_NUM_THREADS"] == "4"
    assert job.ranks[0].variables["MKL_NUM_THREADS"] == "3"  # the person's own stands
    assert "OMP_NUM_THREADS" not in job.ranks[1].variables  # the keeper gave it cores
    assert job.launch is not None
    assert job.launch.has_gpus
    assert job.launch.address  # without an address of the keeper: the one that leads out
    facts = node_facts(job)
    assert facts is not None
    assert facts.shown == "barn"


def test_an_agent_beside_its_keeper_settles_nothing() -> None:
    job = Job("r", 1, 0, "run", "t", KeeperAddress(), ranks=(RankJob(0, 0),), thread_share=2)
    assert settle(job, {}) is job
