"""Processes added and taken away by what there is to do, and replaced when they take too much memory."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rookery.errors import EndpointError
from rookery.serve.asked import autoscale_of, check_config
from rookery.serve.front.revision import Revision
from rookery.serve.front.scaling import Scaling
from rookery.serve.front.wire import Request
from tests.serve.conftest import ECHO, LIMIT_S, score

BOUNDS = {"min": 1, "max": 4, "share": 0.7, "refresh_s": 1.0}

HOARDER = """
import json, os, time

def take(megabytes):
    global kept
    kept = bytearray(b"x") * (megabytes << 20)

def init():
    take(int(os.environ.get("TAKE", "0")))

def run(data):
    asked = json.loads(data)
    if "take" in asked:
        take(asked["take"])
        time.sleep(600)
    return os.getpid()
"""


class TestScaling:
    """By a clock of our own."""

    def _after(self, scaling: Scaling, start: float, seconds: float, demand: float) -> float:
        for step in range(1, int(seconds * 4) + 1):
            scaling.look(start + step / 4, demand)
        return start + seconds

    def test_grows_at_once_and_shrinks_slowly(self):
        scaling = Scaling(BOUNDS, 0.0)
        now = self._after(scaling, 0.0, 3, 0.5)
        assert scaling.wanted == 1
        now = self._after(scaling, now, 6, 2.0)
        assert scaling.wanted == 3  # 2 are busy all the time, and each may be for 70 per cent of it
        now = self._after(scaling, now, 6, 100.0)
        assert scaling.wanted == 4
        now = self._after(scaling, now, 50, 0.0)
        assert scaling.wanted == 4
        now = self._after(scaling, now, 18, 0.0)
        assert scaling.wanted == 3
        self._after(scaling, now, 60, 0.0)
        assert scaling.wanted == 1
        assert scaling.describe() == {"min_replicas": 1, "max_replicas": 4, "wanted": 1, "utilization": 0.0}

    def test_one_busy_moment_a_minute_keeps_what_it_needs(self):
        scaling = Scaling(BOUNDS, 0.0)
        now = self._after(scaling, 0.0, 10, 2.0)
        for _ in range(4):
            now = self._after(scaling, now, 40, 0.0)
            now = self._after(scaling, now, 6, 2.0)
            assert scaling.wanted == 3

    def test_those_that_are_there_already_are_kept(self):
        assert Scaling(BOUNDS, 0.0, wanted=3).wanted == 3
        assert Scaling(BOUNDS, 0.0, wanted=9).wanted == 4

    def test_options(self):
        assert autoscale_of({"autoscale_max_replicas": 3}) is None
        assert autoscale_of({"autoscale_enabled": True}) == {"min": 1, "max": 10, "share": 0.7, "refresh_s": 1.0}
        with pytest.raises(EndpointError, match="must not be the larger"):
            check_config({"autoscale_enabled": True, "autoscale_min_replicas": 3, "autoscale_max_replicas": 2})


class _Owner:
    """A version, as its revision sees it."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.refused: list[str] = []

    def answered(self, request: Request, head: dict[str, Any], body: bytes) -> None:
        self.answers.append(body)

    def take_back(self, request: Request, may_repeat: bool, words: str) -> None:
        self.refused.append(words)

    def wake(self) -> None: ...
    def revision_ready(self, revision: Revision) -> None: ...
    def revision_failed(self, revision: Revision) -> None: ...


async def _until(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not is_done():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


class TestProcesses:
    def test_whoever_has_work_finishes_it(self, tmp_path: Path):
        (tmp_path / "score.py").write_text(ECHO)
        mark, go = tmp_path / "begun", tmp_path / "go"
        env = {**os.environ, "ROOKERY_SCORING": f'{{"script": "{tmp_path}/score.py"}}'}
        argv = [sys.executable, "-m", "rookery.serve.host"]
        launch = {"argv": argv, "env": env, "cwd": str(tmp_path), "log": str(tmp_path / "log")}
        told = {"revision": 1, "launch": launch, "startup_timeout_s": 600, "autoscale": {**BOUNDS, "share": 1.0}}

        async def scenario() -> None:
            owner = _Owner()
            revision = Revision(told, str(tmp_path / "s"), owner, [])
            await _until(lambda: len(revision.ready) == 1)
            start = time.monotonic()
            for step in range(24):
                revision.look(start + step / 4, 1e9, num_waiting=3)
            await _until(lambda: len(revision.ready) == 3)

            busy = revision.ready[0]
            os.mkfifo(go)
            request = Request(None, "POST", "/score", "", {})  # type: ignore[arg-type]
            request.body = f'{{"mark": "{mark}", "wait": "{go}"}}'.encode()
            assert busy.send(request, b"{}")
            await _until(mark.exists)
            for step in range(24, 600):
                revision.look(start + step / 4, 1e9)
            await _until(lambda: revision.replicas == [busy])
            assert revision.describe()["scaling"]["wanted"] == 1

            busy.dismiss()
            with open(go, "wb"):
                pass
            await _until(lambda: not revision.replicas)
            assert len(owner.answers) == 1
            assert (owner.refused, revision.restarts, revision.error) == ([], 0, None)

        asyncio.run(scenario())

    def test_an_endpoint_grows(self, coop):
        config = {"autoscale_enabled": True, "autoscale_max_replicas": 2, "autoscale_target_utilization": 50}
        found = coop.deploy(config=config)
        assert [one["state"] for one in found["versions"][0]["replicas"]] == ["ready"]
        pids, is_over = set(), threading.Event()

        def press() -> None:
            while not is_over.is_set():
                pids.add(score(found, {"sleep": 0.2}).json()["pid"])

        asking = [threading.Thread(target=press) for _ in range(3)]
        for one in asking:
            one.start()
        try:
            coop.until(lambda: len(pids), lambda count: count == 2)
            version = coop.until(
                lambda: coop.ask("GET", "/endpoints/echo")["versions"][0],
                lambda v: len(v["replicas"]) == 2 and v["scaling"]["utilization"] > 0.5,
            )
        finally:
            is_over.set()
            for one in asking:
                one.join()
        assert {one["pid"] for one in version["replicas"]} == pids
        assert version["scaling"]["wanted"] == 2


class TestMemory:
    def test_a_process_that_takes_too_much_is_replaced(self, coop):
        found = coop.deploy(inference=coop.script(HOARDER), config={"memory_gb": 0.25})
        before = score(found, {}).json()
        answered = score(found, {"take": 320})
        assert answered.status == 502
        assert "GB of memory and may have 0.25 (memory_gb)" in answered.text
        shown = coop.until(lambda: coop.ask("GET", "/endpoints/echo"), lambda e: e["state"] == "Healthy" and e["error"])
        assert shown["error"]["code"] == "memory"
        assert "deploy it with more" in shown["error"]["summary"]
        assert score(found, {}).json() != before
        assert "(memory_gb)" in coop.logs()

    def test_an_init_that_takes_too_much_fails(self, coop):
        config = {"memory_gb": 0.25, "environment_variables": {"TAKE": "320"}}
        slow = HOARDER.replace('"0")))', '"0")))\n    time.sleep(600)')
        found = coop.deploy(inference=coop.script(slow), config=config)
        assert (found["state"], found["operation"]["state"]) == ("Failed", "Failed")
        assert "may have 0.25 (memory_gb)" in found["error"]["summary"]
