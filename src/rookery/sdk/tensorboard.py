"""TensorBoard over runs: their event files brought to this machine as they grow, and metrics written as event files."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Optional, Union

from rookery.errors import RookeryError, UserError
from rookery.spec.tfevents import Scalar, event_record, version_record
from rookery.worker.http import quote_path

__all__ = ["Tensorboard", "export_to_tensorboard"]

LOOK_S = 2.0
START_S = 120.0


class Tensorboard:
    """A TensorBoard process over the event files of runs, which are fetched again and again while it is up.

    Args:
        runs: one run or several.
        local_root: where the files go; a temporary folder when None.
        port: of the page, on this machine only; 0 takes a free one.
        use_display_name: folders are called as the runs are, not by their ids.
    """

    LOGS_ARTIFACT_PREFIX = "logs/"

    def __init__(
        self, runs: Any, local_root: Optional[str] = None, port: int = 6006, use_display_name: bool = False
    ) -> None:
        self._runs = list(runs) if isinstance(runs, (list, tuple)) else [runs]
        self._root, self._port, self._by_name = local_root, port, use_display_name
        self._made_root = ""
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._ending = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def start(self, start_browser: bool = False) -> str:
        """The address of the page, once it answers. UserError where TensorBoard is not installed."""
        if self._process is not None:
            raise UserError("This Tensorboard is started already. Stop it first.")
        command = _program()
        port = self._port or _free_port()
        _check_free(port)  # what answers there already would be taken for ours
        if self._root is None:
            self._root = self._made_root = tempfile.mkdtemp(prefix="rookery-tensorboard-")
        self._fetch()
        self._process = subprocess.Popen(
            [*command, "--logdir", self._root, "--host", "127.0.0.1", "--port", str(port), "--reload_interval", "3"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._wait(port)
        except BaseException:
            self.stop()
            raise
        self._ending.clear()
        self._thread = threading.Thread(target=self._follow, name="tensorboard", daemon=True)
        self._thread.start()
        url = f"http://127.0.0.1:{port}/"
        print(url)
        if start_browser:
            import webbrowser

            webbrowser.open(url)
        return url

    def stop(self) -> None:
        """Ends the process. A folder that was given stays."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join(30)
            self._thread = None
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._made_root:
            shutil.rmtree(self._made_root, ignore_errors=True)
            self._root, self._made_root = None, ""

    def _follow(self) -> None:
        while not self._ending.wait(LOOK_S):
            try:
                self._fetch()
            except (RookeryError, OSError):
                continue  # the keeper is away: what is there stays to be looked at

    def _fetch(self) -> None:
        assert self._root is not None
        for run in self._runs:
            name = str(getattr(run, "display_name", None) or run.id) if self._by_name else run.id
            _fetch_events(run, os.path.join(self._root, name.replace("/", "_")), self.LOGS_ARTIFACT_PREFIX)

    def _wait(self, port: int) -> None:
        deadline = time.monotonic() + START_S
        while True:
            assert self._process is not None
            if self._process.poll() is not None:
                raise UserError(
                    f"TensorBoard did not start (exit code {self._process.returncode}). `tensorboard --logdir .` says why."
                )
            try:
                with socket.create_connection(("127.0.0.1", port), 1):
                    return
            except OSError:
                if time.monotonic() > deadline:
                    raise UserError(f"TensorBoard did not answer on port {port} within {START_S:g} s.") from None
                time.sleep(0.1)


def export_to_tensorboard(
    run_data: Union[Any, list[Any]], logsdir: str, logger: Any = None, recursive: bool = True
) -> None:
    """Writes the metrics of a run, or of several, as event files: one folder per run.

    recursive: those of its children too. What has no number in it (images, texts) is left out.
    """
    runs = list(run_data) if isinstance(run_data, (list, tuple)) else [run_data]
    for run in runs:
        _export(run, os.path.join(logsdir, run.id), logger)
        if recursive:
            for child in run.get_children(recursive=True):
                _export(child, os.path.join(logsdir, child.id), logger)


def _export(run: Any, folder: str, logger: Any) -> None:
    metrics = run._client.request("GET", f"/runs/{quote_path(run.id)}/metrics")["metrics"]
    scalars = sorted((s for metric in metrics for s in _scalars(metric)), key=lambda s: s.time)
    os.makedirs(folder, exist_ok=True)
    began = scalars[0].time if scalars else time.time()
    # A fixed name: exporting again replaces the file instead of showing everything twice.
    path = os.path.join(folder, f"events.out.tfevents.{int(began)}.rookery")
    with open(path + ".part", "wb") as f:
        f.write(version_record(began))
        for scalar in scalars:
            f.write(event_record(scalar))
    os.replace(path + ".part", path)
    if logger is not None:
        logger.info("%s: %d values of %d metrics in %s", run.id, len(scalars), len(metrics), path)


def _scalars(metric: dict[str, Any]) -> list[Scalar]:
    """Its numbers; a column of a row or table is called `<metric>/<column>`."""
    times = metric.get("times") or []
    if "values" in metric:
        columns = {metric["name"]: metric["values"]}
    elif "columns" in metric:
        columns = {f"{metric['name']}/{column}": values for column, values in metric["columns"].items()}
    else:
        return []
    found = []
    for name, values in columns.items():
        steps = metric.get("steps") or range(len(values))
        for i, (value, step) in enumerate(zip(values, steps)):
            if isinstance(value, (bool, int, float)):
                moment = times[min(i, len(times) - 1)] if times else 0.0
                found.append(Scalar(name, float(value), step if step is not None else i, moment))
    return found


def _fetch_events(run: Any, folder: str, prefix: str) -> None:
    """What has grown since the last look: logs as they are streamed, artifacts as they are stored."""
    client, base = run._client, f"/runs/{quote_path(run.id)}"
    for kind in ("logs", "artifacts"):
        for file in client.request("GET", f"{base}/{kind}")[kind]:
            name = str(file["name"])
            if ".tfevents." not in name.rpartition("/")[2]:
                continue
            inside = name[len(prefix) :] if name.startswith(prefix) else name
            path = os.path.join(folder, *inside.split("/"))
            have = os.path.getsize(path) if os.path.exists(path) else 0
            if have >= file["size"]:
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if kind == "logs":
                with open(path, "ab") as f:
                    client.download(f"{base}/logs/{quote_path(name)}", f, query={"offset": have})
            else:
                with open(path, "wb") as f:
                    client.download(f"{base}/artifacts/{quote_path(name)}", f)


def _program() -> list[str]:
    import importlib.util

    if importlib.util.find_spec("tensorboard") is not None:
        return [sys.executable, "-m", "tensorboard.main"]
    beside = os.path.join(os.path.dirname(sys.executable), "tensorboard")
    found = beside if os.path.exists(beside) else shutil.which("tensorboard")
    if not found:
        raise UserError("TensorBoard is not installed. Install it with `pip install tensorboard`, then start it again.")
    return [found]


def _check_free(port: int) -> None:
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError as error:
            raise UserError(
                f"Port {port} cannot be used: {error.strerror}. Give another; port=0 takes a free one."
            ) from error


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])
