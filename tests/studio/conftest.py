"""A keeper with the built studio, and a real Chromium that is logged in to it.

`studio` (one keeper per module, real): `studio.run("script.py", text, …)` submits, `studio.page()` gives a logged-in page (`Seen` of
rookery.testing.browser), `studio.wait(run, "Completed")` waits. Screenshots go to $BROWSER_SHOTS, else to the test's own folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rookery.client import Client
from rookery.errors import KeeperUnavailableError
from rookery.testing.browser import WIDE, Browser, Seen, chromium
from rookery.testing.studio import ensure_studio
from tests.conftest import stop_keepers

WAIT_S = 120.0
RUN_S = 240.0  # a loaded machine is slow, not wrong; a test has 300 s altogether where it does not say otherwise
OVER = ("Completed", "Failed", "Canceled")


@pytest.fixture(scope="session")
def built() -> Path:
    """The studio's files, built where they are missing or old."""
    return Path(ensure_studio())


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(str(tmp_path_factory.mktemp("shots"))) as made:
        yield made


class Studio:
    """A workspace of its own, the program `rookery` in it, and pages of its studio."""

    def __init__(self, folder: Path, browser: Browser) -> None:
        self.folder = folder
        self.browser = browser
        self.project = folder / "a project's code"
        self.project.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ROOKERY_", "AZUREML_"))}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        self.variables = {**kept, "ROOKERY_HOME": str(folder / "home"), "NO_COLOR": "1"}
        self.variables["ROOKERY_KEEPER_START_TIMEOUT_S"] = str(WAIT_S)
        self.cli("init", str(self.project))

    def cli(self, *arguments: str, check: bool = True) -> str:
        """What the program printed on stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "rookery.cli.main", *arguments],
            cwd=self.project, env=self.variables, capture_output=True, text=True, timeout=WAIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0 or not check, done.stderr[-2000:]
        return done.stdout

    def python(self, text: str, *arguments: str) -> str:
        """Runs a program in the project's folder, outside of any run; what it printed."""
        done = subprocess.run(
            [sys.executable, "-c", text, *arguments],
            cwd=self.project, env=self.variables, capture_output=True, text=True, timeout=RUN_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def run(self, name: str, text: str, *options: str, arguments: tuple[str, ...] = ()) -> str:
        """Submits a script of this text; the run's id."""
        (self.project / name).write_text(text)
        return self.cli("run", "--detach", *options, name, *arguments).strip()

    def wait(self, run_id: str, *statuses: str, limit_s: float = RUN_S) -> dict[str, Any]:
        """The run, once it has one of these statuses."""
        deadline = time.monotonic() + limit_s
        while True:
            run: dict[str, Any] = self._ask("GET", f"/runs/{run_id}") or json.loads(self.cli("show", run_id, "--json"))
            if run["status"] in statuses:
                return run
            assert run["status"] not in OVER, f"{run_id} is {run['status']}: {run['error']}"
            assert time.monotonic() < deadline, f"{run_id} is {run['status']}: {run['reason']}"
            time.sleep(0.1)

    def stop_runs(self) -> None:
        """Cancels what is not over, where a keeper runs, and gives it time to end."""
        deadline = time.monotonic() + 10
        asked: set[str] = set()
        while time.monotonic() < deadline:
            found = self._ask("GET", "/runs", {"include_children": "true"}) or {"runs": []}
            live = {run["id"] for run in found["runs"] if run["status"] not in OVER}
            if not live:
                return
            for run_id in live - asked:
                self._ask("POST", f"/runs/{run_id}/cancel")
            asked |= live
            time.sleep(0.1)

    def keeper_pid(self) -> int:
        pid: int = json.loads(self.cli("keeper", "status", "--json"))["pid"]
        return pid

    def enter_url(self) -> str:
        """An address that logs a browser in, once."""
        made = self._ask("POST", "/session/code")
        url: str = (
            f"{self.base}/enter?code={made['code']}&to=/" if made else json.loads(self.cli("studio", "--json"))["url"]
        )
        return url

    @property
    def base(self) -> str:
        told = self._ask("GET", "/keeper")
        base: str = told["url"] if told else json.loads(self.cli("studio", "--json"))["page"].rstrip("/")
        return base

    def _ask(self, method: str, path: str, query: dict[str, Any] | None = None) -> Any:
        """What a keeper that runs answers, or None: a program that starts for each question takes the cores from others."""
        try:
            return Client.for_workspace(str(self.project / ".rookery"), start=False).request(method, path, query)
        except KeeperUnavailableError:
            return None

    @contextlib.contextmanager
    def page(self, path: str = "/", *, size: tuple[int, int] = WIDE, dark: bool = False, **more: Any) -> Iterator[Seen]:
        """A logged-in page, live, at this path; what goes wrong on it fails the test."""
        url = self.enter_url()
        with self.browser.page(url, size=size, dark=dark, **more) as seen:
            self.wait_live(seen)
            if path != "/":
                seen.open(url.partition("/enter")[0] + path)
                self.wait_live(seen)
            try:
                yield seen
            except BaseException:
                self._tell(seen)
                raise

    @staticmethod
    def _tell(seen: Seen) -> None:
        """What the page showed when a test failed: for whoever reads the log of a machine that is gone."""
        with contextlib.suppress(Exception):
            print(seen.page.url, *seen.problems, seen.page.locator("body").inner_text(timeout=5000)[:4000], sep="\n")
            seen.shot("when-it-failed")

    @staticmethod
    def wait_live(seen: Seen) -> None:
        connection = seen.page.get_by_test_id("connection")
        deadline = time.monotonic() + WAIT_S
        while not (connection.count() and connection.get_attribute("data-state") == "live"):
            assert time.monotonic() < deadline, f"{seen.page.url} is not live: {seen.problems}"
            if seen.dropped and not connection.count():
                # Its script went with a network interface that another test has made or removed: nothing will come.
                seen.dropped = 0
                seen.open(seen.page.url)
            seen.page.wait_for_timeout(50)


@pytest.fixture(scope="module")
def studio(built: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("studio")
    made = Studio(folder, browser)
    try:
        yield made
    finally:
        made.stop_runs()
        stop_keepers(str(folder))
