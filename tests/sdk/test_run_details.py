"""`RunDetails`: text outside of a notebook, a live widget in a real Jupyter kernel, its picture in a real Chromium."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import shutil
import threading

import pytest

from rookery.errors import KeeperUnavailableError, RunNotFoundError
from rookery.sdk import run_details, run_watch
from rookery.sdk.run_details import RunDetails
from rookery.sdk.run_watch import Watch, look_at_run
from rookery.testing.notebook_env import ensure_notebook_packages
from tests.conftest import stop_keepers

SDK = os.path.dirname(run_details.__file__)
WIDGET = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
CELLS = (
    "from rookery import Workspace, Experiment\n"
    "from azureml.widgets import RunDetails\n"
    "ws = Workspace.create('birds', exist_ok=True)",
    "run = Experiment(ws, 'hens').start_logging(snapshot_directory=None)\nfor i in range(5): run.log('loss', 1.0 / (i + 1))",
    # In one cell: what the kernel sends from a thread belongs to the cell that started it.
    "details = RunDetails(run)\ndetails.show()\nprint('begins', details._widget.seen['status'])\n"
    "run.fail(error_details='the fox came')\ndetails._widget.watch.join(200)\nprint('ends', details._widget.seen['status'])",
    "RunDetails(run).show()",
)


class FakeClient:
    """Answers what a look asks, from a list of statuses, one a look."""

    def __init__(self, *statuses):
        self.statuses = list(statuses)

    def request(self, method, path, query=None):
        if path.endswith("/overview"):
            status = self.statuses.pop(0)
            if isinstance(status, Exception):
                raise status
            error = {"kind": "UserError", "summary": "ValueError: bad"} if status == "Failed" else None
            run = {"display_name": "", "experiment": "hens", "status": status, "reason": "", "error": error}
            metrics = [{"name": "loss", "kind": "scalar"}, {"name": "rows", "kind": "row"}]
            return {
                "run": run,
                "phases": [],
                "metrics": metrics,
                "logs": [{"name": "a/70_driver_log.txt"}, {"name": "z.txt"}],
            }
        if path.endswith("/series"):
            assert query["name"] == ["loss"]
            return {"series": [{"name": "loss", "xs": [0, 1], "ys": [1.0, None]}]}
        assert path == "/runs/r/log-lines/a/70_driver_log.txt"
        return {"lines": ["hello"]}


class TestLook:
    def test_all_that_is_shown(self):
        seen = look_at_run(FakeClient("Failed"), "r", "file:///no")
        assert (seen["status"], seen["is_over"], seen["url"], seen["log"]) == ("Failed", True, "", ["hello"])
        assert seen["cause"].startswith("ValueError: bad")
        assert seen["series"] == [{"name": "loss", "x": [0, 1], "y": [1.0, None]}]

    def test_a_watch_tells_what_changed_until_the_end(self, monkeypatch):
        monkeypatch.setattr(run_watch, "EVERY_S", 0.01)
        told = []
        away = KeeperUnavailableError("The keeper does not answer.")
        watch = Watch(FakeClient("Running", "Running", away, "Running", "Completed"), "r", told.append)
        watch.start()
        watch.join(60)
        assert [(seen["status"], seen["problem"]) for seen in told] == [
            ("Running", ""),
            ("Running", "The keeper does not answer."),
            ("Running", ""),
            ("Completed", ""),
        ]

    def test_a_run_that_is_gone_ends_it(self, monkeypatch):
        monkeypatch.setattr(run_watch, "EVERY_S", 0.01)
        told = []
        watch = Watch(FakeClient("Running", RunNotFoundError("Run 'r' does not exist.")), "r", told.append)
        watch.start()
        watch.join(60)
        assert told[-1]["problem"] == "Run 'r' does not exist."


class TestShow:
    def test_outside_of_a_notebook_it_is_text(self, capsys):
        class Run:
            id, experiment = "hens_1", type("Experiment", (), {"name": "hens"})

            def get_status(self):
                return "Running"

            def get_portal_url(self):
                return "http://127.0.0.1:1/"

        RunDetails(Run()).show()
        assert capsys.readouterr().out.splitlines()[:3] == ["Run: hens_1", "Experiment: hens", "Status: Running"]

    @pytest.mark.slow
    def test_in_a_real_kernel(self, tmp_path, monkeypatch):
        """A run that fails while it is looked at."""
        import nbformat
        from nbclient import NotebookClient

        for name, folder in (("IPYTHONDIR", "ipython"), ("JUPYTER_RUNTIME_DIR", "jupyter"), ("ROOKERY_HOME", "home")):
            monkeypatch.setenv(name, str(tmp_path / folder))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        shims = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(SDK))), "shims")
        # At the end: what the kernel's own environment has stays as it is.
        first = f"import sys\nsys.path += [{ensure_notebook_packages()!r}, {shims!r}]\n"
        cells = [nbformat.v4.new_code_cell(source) for source in (first, *CELLS)]
        notebook = nbformat.v4.new_notebook(cells=cells)
        client = NotebookClient(
            notebook,
            timeout=240,
            kernel_name="python3",
            store_widget_state=True,
            resources={"metadata": {"path": str(tmp_path)}},
        )
        try:
            client.execute()
        finally:
            stop_keepers(str(tmp_path))
        shown = [output for cell in notebook.cells for output in cell.outputs if WIDGET in output.get("data", {})]
        assert len(shown) == 2
        states = notebook.metadata["widgets"][STATE]["state"]
        said = "".join(output.get("text", "") for cell in notebook.cells for output in cell.outputs)
        assert "begins Running\n" in said
        assert "ends Failed\n" in said
        for one in shown:  # the first has followed the run, the second was made when it was over
            seen = states[one["data"][WIDGET]["model_id"]]["state"]["seen"]
            assert (seen["status"], seen["is_over"]) == ("Failed", True)
            assert "the fox came" in seen["cause"]
            assert [(s["name"], s["y"]) for s in seen["series"]] == [("loss", [1.0, 0.5, 1.0 / 3, 0.25, 0.2])]
        assert "export default" in states[shown[0]["data"][WIDGET]["model_id"]]["state"]["_esm"]


PAGE = """<!doctype html><meta charset="utf-8"><title>widget</title><link rel="stylesheet" href="run_widget.css"><main id="here"></main>
<script type="module" src="page.js"></script>"""
SCRIPT = """import widget from "./run_widget.js";
const listeners = [];
window.model = { seen: SEEN, get(name) { return this[name]; }, on(_, f) { listeners.push(f); }, off() {},
  set(seen) { this.seen = seen; listeners.forEach(f => f()); } };
widget.render({ model: window.model, el: document.getElementById("here") });
window.ready = true;"""
SEEN = {
    "status": "Running", "name": "<img src=x onerror=alert(1)>", "experiment": "hens", "reason": "", "url": "javascript:alert(1)", "cause": "",
    "problem": "", "log_name": "70_driver_log.txt", "log": ["<b>one</b>", "two"],
    "series": [{"name": "loss", "x": [0, 1, 2, 3], "y": [1.0, 0.5, None, 0.25]}, {"name": "one", "x": [0], "y": [3]}, {"name": "none", "x": [], "y": []}],
}  # fmt: skip


@contextlib.contextmanager
def served(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def end_headers(self):
            self.send_header("Content-Security-Policy", "default-src 'self'")
            super().end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.slow
class TestPicture:
    def test_it_is_drawn_and_follows_and_runs_nothing_from_outside(self, tmp_path):
        from rookery.testing.browser import chromium

        for name in ("run_widget.js", "run_widget.css"):
            shutil.copy(os.path.join(SDK, name), tmp_path)
        (tmp_path / "index.html").write_text(PAGE)
        (tmp_path / "page.js").write_text(SCRIPT.replace("SEEN", json.dumps(SEEN)))
        (tmp_path / "favicon.ico").write_bytes(b"")
        with served(tmp_path) as url, chromium(str(tmp_path / "shots")) as browser, browser.page(url) as seen:
            page = seen.page
            page.wait_for_function("window.ready === true")
            assert page.inner_text(".rk-status") == "Running"
            assert page.inner_text("strong") == SEEN["name"]  # text, not a picture
            assert page.locator("img").count() == 0
            assert page.locator("a").count() == 0  # no address that is a script
            assert page.locator("svg.rk-chart").count() == 3
            curve = page.get_attribute("svg.rk-chart path", "d")
            assert curve.count("M") == 2  # the pen is lifted where a value is none
            assert page.inner_text(".rk-log") == "<b>one</b>\ntwo"
            assert page.is_hidden(".rk-cause")
            failed = {**SEEN, "status": "Failed", "cause": "ValueError: <i>bad</i>", "url": "http://127.0.0.1:1/runs/x"}
            page.evaluate("seen => window.model.set(seen)", failed)
            assert page.inner_text(".rk-status") == "Failed"
            assert page.inner_text(".rk-cause") == "ValueError: <i>bad</i>"
            assert page.get_attribute("a", "href") == "http://127.0.0.1:1/runs/x"
            assert seen.axe("#here", but=("region",)) == []
            seen.shot("run_widget")
