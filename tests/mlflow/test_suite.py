"""The suite of a real client, in its own environment over HTTP, against the list of what passes. The list may only grow.

`tests/mlflow/client_suite` knows the server by its address alone. After adding checks there:
    python -m tests.mlflow.test_suite   (in the project's folder) writes the list anew; it refuses to drop a line.
"""

from __future__ import annotations

import os
import subprocess
import xml.etree.ElementTree

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "passes.txt")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


def listed() -> list[str]:
    with open(LIST, encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]


def run_suite(python: str, server, report: str, *more: str) -> dict[str, str]:
    """{name of a check: passed, or the beginning of why not}"""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MLFLOW_", "ROOKERY_", "PYTHON", "PYTEST"))}
    environment = {
        **kept,
        "CHECK_TRACKING_URI": server.address(),
        "CHECK_RESET_URL": server.url + "/__reset",
        "GIT_PYTHON_REFRESH": "quiet",
        "MLFLOW_TRACE_ASYNC_LOGGING": "false",
    }
    suite = os.path.join(HERE, "client_suite")
    command = [python, "-m", "pytest", "-q", "-c", os.path.join(suite, "pytest.ini"), "--rootdir", suite, suite]
    done = subprocess.run(
        [*command, "--junitxml", report, "-x" if os.environ.get("STOP_EARLY") else "-q", *more],
        env=environment, capture_output=True, text=True, timeout=1400, check=False,
    )  # fmt: skip
    assert os.path.exists(report), done.stdout[-2000:] + done.stderr[-2000:]
    found = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = f"{(case.get('classname') or '').rpartition('.')[2]}::{case.get('name')}"
        trouble = next(
            (case.find(kind) for kind in ("failure", "error", "skipped") if case.find(kind) is not None), None
        )
        found[name] = "passed" if trouble is None else (trouble.get("message") or "")[:1500]
    return found


@pytest.fixture(scope="module")
def outcome(client_python, server, tmp_path_factory):
    return run_suite(client_python, server, str(tmp_path_factory.mktemp("suite") / "report.xml"))


class TestClientSuite:
    def test_everything_on_the_list_passes(self, outcome):
        failed = {name: outcome.get(name, "gone") for name in listed() if outcome.get(name) != "passed"}
        assert not failed

    def test_what_passes_is_on_the_list(self, outcome):
        assert sorted(name for name, how in outcome.items() if how == "passed" and name not in set(listed())) == []


def write_list() -> None:
    import tempfile

    from rookery.testing.mlflow_client import ensure_client
    from tests.mlflow.conftest import Server

    with tempfile.TemporaryDirectory() as root:
        server = Server(root)
        try:
            found = run_suite(ensure_client(), server, os.path.join(root, "report.xml"))
        finally:
            server.stop()
    for name, how in found.items():
        if how != "passed":
            print(f"FAILED {name}: {how}\n")
    passed = sorted(name for name, how in found.items() if how == "passed")
    before = set(listed()) if os.path.exists(LIST) else set()
    lost = sorted(before - set(passed))
    if lost:
        raise SystemExit(f"The list may only grow; these no longer pass: {lost}")
    with open(LIST, "w", encoding="utf-8") as f:
        f.write(
            "# What a real MLflow client (3.17.2) may expect of this server; checked by test_suite.py. It may only grow.\n"
        )
        f.writelines(name + "\n" for name in passed)
    print(f"{len(passed)} of {len(found)} pass")


if __name__ == "__main__":
    write_list()
