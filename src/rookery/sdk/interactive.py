"""`experiment.start_logging()`: a run of this very process.

An agent watches the process, so a killed notebook leaves no run Running.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
import weakref
from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import ConflictError, KeeperUnavailableError, RookeryError, UserError
from rookery.sdk.filters import texts
from rookery.sdk.run import Run
from rookery.sdk.snapshots import snapshot_folder, warn
from rookery.sdk.streaming import run_events
from rookery.sdk.visiting import start_agent, visit_paths
from rookery.spec.names import check_run_id, new_guid
from rookery.spec.paths import NodePaths, WorkspacePaths
from rookery.spec.plain import to_plain
from rookery.spec.run import RunKind, RunSpec, WatchedProcess
from rookery.worker.http import HttpClient, unix_connector
from rookery.worker.journal import Journal
from rookery.worker.run_status import error_data
from rookery.worker.sinks import HttpSink

if TYPE_CHECKING:
    from rookery.sdk.experiment import Experiment

__all__ = ["InteractiveRun", "start_interactive_run"]

AGENT_PATIENCE_S = 30.0  # how long an agent may take to appear before we go on without it
FINISH_TIMEOUT_S = 600.0  # draining and collecting ./outputs may move gigabytes
_TERMINAL = ("Completed", "Failed", "Canceled")


def start_interactive_run(
    experiment: Experiment,
    outputs: Any = None,
    snapshot_directory: Optional[str] = ".",
    display_name: Optional[str] = None,
    run_id: Optional[str] = None,
    tags: Optional[dict[str, Any]] = None,
    properties: Optional[dict[str, Any]] = None,
    **kwargs: Any,
) -> InteractiveRun:
    """Create the run, Running at once, with the snapshot of a folder and ./outputs collected at the end.

    outputs: another folder to store at the end, besides ./outputs. snapshot_directory: None takes none.
    """
    for name in kwargs:
        known = "outputs, snapshot_directory, display_name, run_id, tags, properties"
        warn(f"start_logging() does not know {name!r} and leaves it aside. Known: {known}.")
    workspace, client = experiment.workspace, experiment.workspace.client
    own_properties = dict(texts(properties) or {})
    snapshot_id = _snapshot(client, snapshot_directory, own_properties)
    _make_outputs(outputs)
    spec = RunSpec(
        run_id=check_run_id(run_id) if run_id else new_guid(),
        experiment=experiment.name,
        kind=RunKind.INTERACTIVE,
        display_name=display_name or "",
        snapshot_id=snapshot_id,
        max_duration_s=None,
        watched=WatchedProcess(os.getpid(), _start_ticks(), socket.gethostname(), visits=bool(client.url)),
        target="sdk",
        tags=texts(tags) or {},
        properties={key: value or "" for key, value in own_properties.items()},
    )
    node: Optional[NodePaths] = None
    sink: Any = None
    if workspace.root is not None or client.url:
        node = (
            visit_paths(spec.run_id)
            if client.url
            else WorkspacePaths(workspace.root or "").attempt(spec.run_id, 1).node(0)
        )
        rank = node.rank(0)
        os.makedirs(rank.journal, exist_ok=True)
        os.makedirs(rank.uploads, exist_ok=True)
        sink = RunJournal(rank.journal, rank.uploads, HttpSink(client, spec.run_id))
    data = client.request("POST", "/runs", body=to_plain(spec))
    if client.url and node is not None:
        start_agent(client, spec, node)
    run = InteractiveRun(experiment, spec.run_id, node, _sink=sink, _data=data)
    if isinstance(outputs, (str, os.PathLike)):
        run._outputs = os.fspath(outputs)
    _fail_with_process(run)
    return run


class InteractiveRun(Run):
    """The run of this process. It is ended by `complete`, `fail`, `cancel`, `with`, or by the end of the
    process."""

    def __init__(self, experiment: Experiment, run_id: str, node: Optional[NodePaths], **kwargs: Any) -> None:
        super().__init__(experiment, run_id, _in_run=node is not None, **kwargs)
        self._node = node
        self._owner_pid = os.getpid()
        if node is not None:
            self._drainer = self._drain_agent

    def complete(self, _set_status: bool = True) -> None:
        """Everything written is stored, ./outputs too, and the run is Completed when this returns."""
        if _set_status:
            self._end("Completed", None)
        else:
            self.flush()

    def fail(self, error_details: Any = None, error_code: Any = None, _set_status: bool = True) -> None:
        """End it as Failed, with a text, an exception or a dict as the cause."""
        error = error_data(error_details, error_code)
        if _set_status:
            self._end("Failed", error)
        else:
            self._sink.append(["s", None, "Failed", error])

    def cancel(self) -> None:
        """End it as Canceled. The process goes on: it is yours."""
        self._end("Canceled", None)

    def _fail_with(self, error: dict[str, Any]) -> None:
        self._end("Failed", error)

    def _refresh(self) -> dict[str, Any]:
        data = super()._refresh()
        if data["status"] in _TERMINAL:
            self._leave_journal()
        return data

    def _leave_journal(self) -> None:
        if isinstance(self._sink, RunJournal):
            self._sink.leave()

    def _end(self, status: str, error: Optional[dict[str, Any]]) -> None:
        if self.get_status() in _TERMINAL:
            return
        if self._outputs:
            self.upload_folder(self._outputs_name(), self._outputs)
        self._leave_journal()
        try:
            if not self._ask_agent("/finish", {"status": status, "error": error}):
                self._say_status(status, error)
        except KeeperUnavailableError:
            # It left while we asked: it had finished, or it died and the keeper knows by now.
            self._say_status(status, error)
        self._await_end()

    def _say_status(self, status: str, error: Optional[dict[str, Any]]) -> None:
        try:
            self._ask("POST", "/status", body={"status": status, "error": error})
        except ConflictError:
            pass  # it has ended meanwhile

    def _await_end(self) -> None:
        for _ in run_events(self._client, self.id, kinds="status"):
            pass
        self._refresh()

    def _drain_agent(self, timeout_s: Optional[float]) -> None:
        if self._data is not None and self._data["status"] in _TERMINAL:
            return
        try:
            self._ask_agent("/drain", {"timeout_s": 300.0 if timeout_s is None else timeout_s})
        except KeeperUnavailableError:
            if self.get_status() not in _TERMINAL:
                raise

    def _ask_agent(self, path: str, body: dict[str, Any]) -> bool:
        """Ask the agent that watches us, once it listens. False where there is none (any more)."""
        deadline = time.monotonic() + AGENT_PATIENCE_S
        while self._node is not None:
            agent = _reach_agent(self._node)
            if agent is not None:
                with contextlib.closing(agent):
                    agent.request("POST", path, body=body)
                return True
            if self.get_status() in _TERMINAL or time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return False


class RunJournal(Journal):
    """The journal of this process's run. Once the run ends nobody reads it: what is written later, about the run or its
    children, goes to the keeper."""

    def __init__(self, folder: str, uploads: str, late: HttpSink) -> None:
        super().__init__(folder, uploads)
        self._keeper, self._has_left = late, False

    def leave(self) -> None:
        """Write no more of it."""
        if not self._has_left:
            self._has_left, self.uploads = True, None
            self.close()

    def _slow(self, line: bytes) -> None:
        # Everything comes by here when the file is closed, `scalar` too.
        if self._has_left:
            self._keeper.append(json.loads(line[9:]))
        else:
            super()._slow(line)


_open: weakref.WeakSet[InteractiveRun] = weakref.WeakSet()


def _fail_with_process(run: InteractiveRun) -> None:
    """An exception that ends the process becomes the cause of the run that was still open."""
    if not getattr(sys.excepthook, "_ends_runs", False):
        before = sys.excepthook

        def hook(kind: Any, value: BaseException, trace: Any) -> None:
            before(kind, value, trace)
            for left in [run for run in _open if run._owner_pid == os.getpid()]:
                with contextlib.suppress(Exception):  # the interpreter is on its way out; the agent notices that anyway
                    left.fail(value)

        hook._ends_runs = True  # type: ignore[attr-defined]
        sys.excepthook = hook
    _open.add(run)


def _reach_agent(node: NodePaths) -> Optional[HttpClient]:
    address = _agent_socket(node)
    if not address:
        return None
    agent = HttpClient(unix_connector(address, FINISH_TIMEOUT_S), prefix="")
    try:
        agent.request("GET", "/agent")
    except KeeperUnavailableError:
        return None  # agent.json is there a moment before the socket listens
    return agent


def _agent_socket(node: NodePaths) -> Optional[str]:
    try:
        with open(node.agent, encoding="utf-8") as file:
            return str(json.load(file)["socket"])
    except (OSError, ValueError, KeyError):
        return None


def _snapshot(client: Any, folder: Optional[str], properties: dict[str, Optional[str]]) -> Optional[str]:
    """The id of the folder's snapshot; its facts are added to the properties. A run is worth more than its
    snapshot."""
    if folder is None:
        return None
    from rookery.submit import git_properties_in_background

    whole = os.path.realpath(folder)
    if whole in (os.path.realpath(os.path.expanduser("~")), os.path.sep):
        warn(f"no snapshot is taken of {whole}: it is a whole home or disk. Name a folder with snapshot_directory=….")
        return None
    git = git_properties_in_background(folder)
    try:
        snapshot = snapshot_folder(client, folder)
    except UserError:
        raise
    except RookeryError as error:
        warn(f"the run has no snapshot: {error}")
        return None
    properties.update({"ContentSnapshotId": snapshot.id, **git()})
    return str(snapshot.id)


def _make_outputs(outputs: Any) -> None:
    folders = ["outputs"] + ([os.fspath(outputs)] if isinstance(outputs, (str, os.PathLike)) else [])
    for folder in folders:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"The folder {folder!r} cannot be made in {os.getcwd()!r}: {error}. Change to a writable folder."
            ) from error


def _start_ticks() -> int:
    """Field 22 of /proc/self/stat; 0 where there is none. The name in field 2 may hold spaces and
    brackets."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0
