"""What becomes of requests whose process dies: asked once more where that can do no harm, and not for ever."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rookery.serve.front.version import Version
from rookery.serve.front.wire import Request
from tests.serve.conftest import ECHO

LIMIT_S = 90.0
LONG_MS = 3_600_000


class _Client:
    """Whoever asks: keeps the status of its answer."""

    def __init__(self) -> None:
        self.status = 0

    def respond(self, request: Request, status: int, headers: Any, body: bytes, content_type: str) -> None:
        assert not self.status, "it is answered once"
        self.status = status


def _ask(body: bytes = b"{}") -> tuple[_Client, Request]:
    client = _Client()
    request = Request(client, "POST", "/score", "", {})  # type: ignore[arg-type]
    request.body = body
    request.arrived = time.perf_counter()
    return client, request


def _version(sockets: str, told: list[dict[str, Any]]) -> Version:
    version = Version("default", sockets, lambda: None, lambda *numbers: None)
    config = {"scoring_timeout_ms": LONG_MS, "max_request_wait_ms": LONG_MS, "max_queue": 10}
    version.want({"traffic": 100, "is_default": True, "config": config, "revisions": told}, {})
    return version


async def _until(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not is_done():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


class TestTakenBack:
    def test_it_is_asked_once_more_and_then_refused(self):
        version = _version("s", [])
        client, request = _ask()
        version.take_back(request, may_repeat=True, words="its process died")
        assert (list(version.waiting), client.status) == ([request], 0)
        version.waiting.clear()
        version.take_back(request, may_repeat=True, words="its process died")
        assert (list(version.waiting), client.status) == ([], 502)

    def test_what_has_begun_in_a_script_is_not_asked_again(self):
        version = _version("s", [])
        client, request = _ask()
        version.take_back(request, may_repeat=False, words="its process died")
        assert (list(version.waiting), client.status) == ([], 502)

    def test_what_waited_behind_one_that_took_too_long_is_answered(self, tmp_path: Path):
        """The first is over its time and its process is ended; the one behind it had not begun."""
        (tmp_path / "score.py").write_text(ECHO)
        mark, never = tmp_path / "begun", tmp_path / "never"
        os.mkfifo(never)
        env = {**os.environ, "ROOKERY_SCORING": f'{{"script": "{tmp_path}/score.py"}}'}
        argv = [sys.executable, "-m", "rookery.serve.host"]
        launch = {"argv": argv, "env": env, "cwd": str(tmp_path), "log": str(tmp_path / "log")}

        async def scenario() -> None:
            told = {"revision": 1, "launch": launch, "startup_timeout_s": 600, "num_replicas": 1}
            version = _version(str(tmp_path / "s"), [told])
            await _until(lambda: version.serving is not None)
            first, slow = _ask(f'{{"mark": "{mark}", "wait": "{never}"}}'.encode())
            second, behind = _ask()
            version.take(slow)
            version.take(behind)
            await _until(mark.exists)
            version.config["scoring_timeout_ms"] = 1
            await asyncio.sleep(0.01)  # so long that it has taken longer than that
            version.look()
            version.config["scoring_timeout_ms"] = LONG_MS
            assert first.status == 504
            await _until(lambda: second.status != 0)
            assert second.status == 200
            version.leave()
            await _until(lambda: version.is_gone)

        asyncio.run(scenario())


class TestCannotBeStarted:
    """No memory, no space, too many files: the system refuses the process itself."""

    def test_a_new_one_fails_and_says_why(self, tmp_path: Path):
        async def scenario() -> dict[str, Any]:
            launch = {"argv": ["true"], "env": {}, "cwd": str(tmp_path), "log": str(tmp_path / "not there" / "log")}
            version = _version("s", [{"revision": 1, "launch": launch, "num_replicas": 2}])
            return version.revisions[1].describe()

        told = asyncio.run(scenario())
        assert (told["state"], told["replicas"]) == ("failed", [])
        assert "cannot be started" in told["error"]["summary"]

    def test_one_that_serves_is_tried_again_until_it_can(self, tmp_path: Path):
        (tmp_path / "score.py").write_text(ECHO)
        env = {**os.environ, "ROOKERY_SCORING": f'{{"script": "{tmp_path}/score.py"}}'}
        argv = [sys.executable, "-m", "rookery.serve.host"]
        launch = {"argv": argv, "env": env, "cwd": str(tmp_path), "log": str(tmp_path / "log")}

        async def scenario() -> None:
            version = _version(str(tmp_path / "s"), [{"revision": 1, "launch": launch, "num_replicas": 1}])
            await _until(lambda: version.serving is not None)
            revision = version.revisions[1]
            first = revision.replicas[0].pid
            launch["cwd"] = str(tmp_path / "gone")
            revision.replicas[0].kill()
            await _until(lambda: "cannot be started" in (revision.error or {}).get("summary", ""))
            assert revision.state == "ready"
            launch["cwd"] = str(tmp_path)
            await _until(lambda: bool(revision.ready) and revision.ready[0].pid != first)
            version.leave()
            while not version.is_gone:
                version.look()
                await asyncio.sleep(0.02)

        asyncio.run(scenario())
