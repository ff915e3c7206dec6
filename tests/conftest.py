"""What every test has: a ROOKERY_HOME of its own at an odd path, no variables of an outer run, and no keeper left behind."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import signal
import time

import pytest

# Two pieces share the cores. Threads of torch that wait for each other are to sleep: where they spin, a training beside other work takes
# ten times as long. Read when its library is loaded, in this process and in all that it starts.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI a skip is a failure: whatever a test needs, it installs or starts."""
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where nothing may be missing: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A private ROOKERY_HOME with a space and a quote in its path; its keepers are stopped at the end."""
    for name in list(os.environ):
        if name.startswith(("ROOKERY_", "AZUREML_", "MLFLOW_")):
            monkeypatch.delenv(name)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    folder = tmp_path / "rookery's home"
    monkeypatch.setenv("ROOKERY_HOME", str(folder))
    yield folder
    stop_keepers(str(tmp_path))
    stop_fronts(str(tmp_path))


@pytest.fixture(scope="session")
def postgres():
    """A real PostgreSQL for the whole session, started when the first test asks for it."""
    pytest.importorskip("psycopg")
    from rookery.testing.postgres import postgres_server

    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def empty_record(tmp_path_factory):
    """Call it with a workspace's paths: an empty record of today's schema lies there. It is copied, because making one takes 0.1 s, and
    hundreds of tests need one that is new; that all ways to it give the same tables is asked in tests/record/test_upgrade.py."""
    from rookery.record.bell import Bell
    from rookery.record.database import Database
    from rookery.record.upgrade import upgrade

    made = str(tmp_path_factory.mktemp("record") / "record.db")
    database = Database(made, Bell())
    upgrade(database)
    database.close()
    return lambda paths: shutil.copyfile(made, paths.database)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """A real Chromium for a module of tests (rookery.testing.browser says why not for longer)."""
    from rookery.testing.browser import chromium as start

    with start(str(tmp_path_factory.mktemp("shots"))) as browser:
        yield browser


def stop_keepers(below: str) -> None:
    """End the keepers whose keeper.json lies below a folder, and wait until they are gone."""
    for path in _found(below, "keeper", "keeper.json"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            with open(path) as f:
                endpoint = json.load(f)
            pid, ticks = endpoint["pid"], endpoint["start_ticks"]
            if start_ticks(pid) != ticks:
                continue
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + 10
            while start_ticks(pid) == ticks:
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
                time.sleep(0.01)


def stop_fronts(below: str) -> None:
    """End the fronts of endpoints below a folder, which outlive their keeper, and their scoring processes."""
    folders = _found(below, "serve")
    for name in ("front.json", "replicas.json"):  # the front first: it would start the others again
        for path in [p for folder in folders for p in glob.glob(os.path.join(glob.escape(folder), "*", name))]:
            with contextlib.suppress(OSError, ValueError, KeyError):
                with open(path) as f:
                    found = json.load(f)
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(os.path.dirname(path), "desired.json"))
                listed = [
                    r for v in found.get("versions", {}).values() for some in v["replicas"].values() for r in some
                ]
                for one in listed or [found]:
                    _end(int(one["pid"]), int(one["ticks"]))


def _found(below: str, folder: str, *file: str) -> list[str]:
    """All folders of that name below one, or a file in each. Where packages and stored files are, which are many, there is none."""
    found = []
    for here, folders, _ in os.walk(below):
        if folder in folders:
            found.append(os.path.join(here, folder, *file))
        folders[:] = [name for name in folders if name not in ("site-packages", "content")]
    return found


def _end(pid: int, ticks: int) -> None:
    deadline = time.monotonic() + 10
    while start_ticks(pid) == ticks:
        os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)


def start_ticks(pid: int) -> int:
    """When a process started (field 22 of /proc/<pid>/stat), -1 for one that is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return -1
    return -1 if fields[0] == "Z" else int(fields[19])
