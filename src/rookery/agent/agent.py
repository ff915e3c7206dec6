"""The agent: one node's share of one attempt, from job.json to `finished`.

The end has a fixed order, because every step may be the last one that this process sees: ranks reaped →
outcome.json on disk → outcome reported (slots are free) → logs, journals, uploads, outputs shipped →
finished → the working folder
removed.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

import rookery
from rookery.agent.beat import Heart, Sampler
from rookery.agent.checkpoints import Checkpoints
from rookery.agent.commands import Listener
from rookery.agent.disk import read_json, write_json
from rookery.agent.folders import LogFolders, collect_folder
from rookery.agent.journals import JournalShipper
from rookery.agent.keeper import Gone, Keeper
from rookery.agent.launch_children import Children
from rookery.agent.logs import LogShipper, Stream
from rookery.agent.node import node_facts
from rookery.agent.preempt import Preempt, read_preempt
from rookery.agent.proc import start_ticks
from rookery.agent.wake import Wake
from rookery.agent.watch import Watcher
from rookery.errors import ConflictError, RookeryError
from rookery.spec.job import Job
from rookery.spec.launch import MPI_LOG, Launcher
from rookery.spec.paths import NodePaths, RankPaths
from rookery.spec.protocol import PROTOCOL

if TYPE_CHECKING:
    from rookery.agent.event_files import EventFiles
    from rookery.agent.relay import Relay  # imported when it is needed: the ranks start sooner

__all__ = ["Agent", "Gone", "Over", "ignore_terminal_signals", "take_user_umask"]


class Over(Exception):
    """The keeper says that this attempt is over: nothing more is wanted of us."""


class Agent:
    """What all modes share. Modes are functions that use it: rookery.agent.modes."""

    def __init__(self, job: Job, paths: NodePaths) -> None:
        self.job, self.paths = job, paths
        self.key = f"{job.run_id}/{job.attempt}"
        self.warnings: list[str] = []
        self.wake = Wake()
        self.cancel_grace_s: Optional[float] = None  # set: somebody asked to stop
        self.preempt: Optional[Preempt] = None  # set: a node of the run is taken away
        self.over: Optional[str] = None
        self._pulsed = time.monotonic()
        self.environment_failed = False  # what it was to run in cannot be had on this node
        self.data_failed = False  # an input cannot be had here
        self.data_mounts: list[Any] = []  # what containers need to see of inputs, beside the cache
        self.doing = ""  # what it is about before its ranks start, in words for the run's page
        self.ended = threading.Event()  # `finished` is reported
        self.finish_asked: Optional[tuple[str, Optional[dict[str, Any]]]] = None
        self.keeper = Keeper(job, paths.job, self.say)
        self.watcher = Watcher()
        self.logs = LogShipper(self.keeper, self.watcher, self.warn)
        self.sampler = Sampler(self.sampled_pids, paths.root if "node" in job.extra else "")
        self.heart = Heart(self.keeper, self.sampler, job.heartbeat_s, self.cancel, self.set_over)
        self.listener = Listener(self.keeper, self._command, self.set_over)
        self.journals: Optional[JournalShipper] = None
        self.folders: Optional[LogFolders] = None
        self.events: Optional[EventFiles] = None  # there once an event file was found
        self._journal_offsets: dict[str, int] = {}
        self.children = Children(job, paths)
        self.checkpoints = Checkpoints(self)
        self._log_bases: dict[str, int] = {}
        self._log_sizes: dict[str, int] = {}
        self.roots: list[int] = []
        self.rank_pids: Callable[[], list[tuple[int, int]]] = list  # (rank, pid) of those that were started
        self.roots_now: Callable[[], list[int]] = lambda: self.roots  # those of ranks in containers come later
        self.before_end: Callable[[], object] = lambda: None  # what a launcher still has to say
        self.at_end: list[Callable[[], object]] = []  # clearing up, when everything is shipped
        self.claims: list[Any] = []  # ports that no other run takes while this agent lives
        self.socket: Optional[socket.socket] = None
        self.relay: Optional[Relay] = None

    # ---- beginning

    def hello(self) -> dict[str, Any]:
        """Shake hands; from the answer the shippers learn where to go on from."""
        me = {"pid": os.getpid(), "start_ticks": start_ticks(os.getpid())}
        before = read_json(self.paths.agent) or {}
        body = {
            **me,
            "hostname": socket.gethostname(),
            "version": rookery.__version__,
            "protocol": PROTOCOL,
            "mode": self.job.mode,
        }
        facts = node_facts(self.job)
        if facts is not None:
            body["machine"] = facts.shown
        answer: dict[str, Any] = self.told(lambda: self.keeper.call("POST", "hello", body=body))
        sizes = {str(k): int(v) for k, v in (answer.get("logs") or {}).items()}
        # A retry continues the logs of the try before: where ours begin is decided once and kept for mode
        # 'finish'.
        bases: dict[str, int] = before.get("log_bases", dict(sizes))
        self._listen()
        write_json(self.paths.agent, {**me, "socket": self.job.socket, "mode": self.job.mode, "log_bases": bases})
        self._make_shippers(answer, sizes, bases)
        if answer.get("cancel"):
            self.cancel()
        return answer

    def _make_shippers(self, answer: dict[str, Any], sizes: dict[str, int], bases: dict[str, int]) -> None:
        ranks = self.rank_paths()
        self.journals = JournalShipper(
            self.keeper, self.job.run_id, ranks, answer.get("journals") or {}, self.warn, self._rank_numbers()
        )
        self._log_bases, self._log_sizes = bases, sizes
        self.folders = LogFolders(
            self.job.work, self.job.watch_folders, self.logs, self.watcher, bases, sizes, self.warn, self.job.node
        )
        if self.job.launch is not None and self.job.launch.launcher == Launcher.MPI and self.job.node == 0:
            self.logs.add(self._stream(MPI_LOG, self.paths.mpi_log))
        self._journal_offsets = answer.get("journals") or {}
        self.folders.found = self._found_file
        self.logs.discover = self._discover_logs

    def add_rank_logs(self) -> None:
        """Ship what the ranks write from now on; called when it is known what their logs are called."""
        for rank in self.job.ranks:
            name = self.children.node_log_name(rank.log_name)
            if name:
                self.logs.add(self._stream(name, self.paths.rank(rank.rank).log))

    def _discover_logs(self) -> None:
        assert self.folders is not None
        self.folders.discover()
        if self.events is not None:
            self.events.ship()
        if self.children.is_on:
            self.watcher.add(self.children.folder)
            for _rank, name, path in self.children.logs():
                self.logs.add(self._stream(name, path))

    def _found_file(self, name: str, path: str) -> None:
        if ".tfevents." not in name:
            return
        from rookery.agent.event_files import EventFiles, is_event_file  # only for those that need it

        if is_event_file(name):
            if self.events is None:
                self.events = EventFiles(self.keeper, self._journal_offsets, self.warn)
            self.events.add(name, path)

    def ship_file(self, name: str, path: str) -> None:
        """Ship what a file holds by now as a log of the run; only before the threads are started."""
        self.logs.ship_now(self.logs.streams.get(name) or self._stream(name, path))

    def _stream(self, name: str, path: str) -> Stream:
        base = self._log_bases.get(name, 0)
        return Stream(name, path, base, max(0, self._log_sizes.get(name, 0) - base))

    def _listen(self) -> None:
        """Before agent.json is there: whoever reads it may connect at once."""
        from rookery.agent.relay import listen

        if self.job.socket and self.job.mode != "finish":
            self.socket = listen(self.job.socket)

    def _rank_numbers(self) -> dict[str, int]:
        """Whose journals are in which folder: where the command of a node starts the ranks itself, their names tell."""
        launch = self.job.launch
        if self.job.world_size == 1 or (launch is not None and launch.launcher == Launcher.PER_NODE):
            return {}
        return {self.paths.rank(rank.rank).root: rank.rank for rank in self.job.ranks}

    def rank_paths(self) -> list[RankPaths]:
        numbers = [rank.rank for rank in self.job.ranks] or [0]
        return [self.paths.rank(number) for number in numbers]

    def ship(self) -> None:
        """Start the threads that ship."""
        assert self.journals is not None
        self.add_rank_logs()
        self.logs.start()
        self.journals.start()

    # ---- while it runs

    def say(self, text: str) -> None:
        """A line in agent.log."""
        sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n")
        sys.stderr.flush()

    def warn(self, text: str) -> None:
        """Something the user should know; shown with the run."""
        self.say("warning: " + text)
        if len(self.warnings) < 100:
            self.warnings.append(text)

    def cancel(self, grace_s: Optional[float] = None) -> None:
        if self.cancel_grace_s is None:
            self.cancel_grace_s = self.job.cancel_grace_s if grace_s is None else grace_s
            self.wake.set()

    def pulse(self) -> None:
        """A beat from the main thread while the ranks have not started and there is no thread that beats. Hears of a cancel.

        Raises:
            Over: the attempt is over.
        """
        if time.monotonic() - self._pulsed < self.job.heartbeat_s:
            return
        self._pulsed = time.monotonic()
        path, body = self.keeper.base + "beat", {"samples": [], "state": "running", "doing": self.doing}
        try:
            answer = self.keeper.once(lambda client: client.request("POST", path, body=body))
        except ConflictError as error:
            raise Over(str(error)) from error
        except RookeryError:
            return  # it is away: we go on
        if answer.get("cancel"):
            self.cancel(answer.get("grace_s"))

    def set_over(self, why: str) -> None:
        self.over = why
        self.wake.set()

    def told(self, call: Any) -> Any:
        """A call whose refusal means that the attempt is over."""
        try:
            return call()
        except RookeryError as error:
            raise Over(str(error)) from error

    def sampled_pids(self) -> list[int]:
        return self.roots_now()

    def _command(self, command: dict[str, Any]) -> None:
        if command.get("command") == "cancel":
            grace_s = command.get("grace_s")
            self.cancel(float(grace_s) if grace_s is not None else None)
        elif command.get("command") == "preempt" and self.preempt is None:
            self.preempt = read_preempt(command, self.job.node)
            self.wake.set()

    # ---- what ranks ask (relay.Services)

    def drain(self, timeout_s: float) -> bool:
        return self.journals is not None and self.journals.drain(timeout_s)

    def finish(self, status: str, error: Optional[dict[str, Any]]) -> dict[str, Any]:
        """End an interactive run; answers when everything is shipped, or after a while that it still goes
        on."""
        if self.finish_asked is None:
            self.finish_asked = (status, error)
            self.wake.set()
        return {"state": "finished" if self.ended.wait(45.0) else "finalizing"}

    def identity(self) -> dict[str, Any]:
        job = self.job
        return {
            "run_id": job.run_id,
            "attempt": job.attempt,
            "node": job.node,
            "mode": job.mode,
            "pid": os.getpid(),
            "version": rookery.__version__,
            "protocol": PROTOCOL,
        }

    # ---- the end

    def end(self, outcome: dict[str, Any], write: bool = True) -> None:
        """Everything from the outcome on."""
        if write:
            write_json(self.paths.outcome, outcome, sync=True)
        self.heart.state = "finalizing"
        self.told(lambda: self.keeper.call("POST", "outcome", body=outcome))
        self.checkpoints.finish(outcome.get("result") != "completed")
        self.ship_rest()
        self.before_end()
        self.told(lambda: self.keeper.call("POST", "finished", body={"warnings": self.warnings}))
        self.heart.stop()
        self.listener.stop()
        self.ended.set()
        self.remove_work()
        if self.relay is not None:
            self.relay.settle()
        self.leave()

    def leave(self) -> None:
        """The last thing: on another machine nobody else clears up."""
        if "node" in self.job.extra:
            from rookery.agent.node_home import leave_node

            leave_node(self)

    def ship_rest(self) -> None:
        assert self.journals is not None
        assert self.folders is not None
        self.logs.finish()
        self.journals.finish()
        if self.events is not None:
            self.events.ship()
        self.folders.store_rewritten(self.keeper, self.job.run_id)
        if self.job.collect_outputs:
            folder = os.path.join(self.job.work, self.job.outputs)
            collect_folder(self.keeper, self.job.run_id, folder, self.job.outputs, self.warn)

    def remove_work(self) -> None:
        """Only what is ours: a watched process works in the user's own folder."""
        for clear in self.at_end:
            clear()
        for path in (self.paths.mpi, self.paths.mpi_hosts, self.paths.mpi_ends):
            if self.job.launch is not None and os.path.exists(path):
                os.unlink(path)
        inside = os.path.realpath(self.job.work).startswith(os.path.realpath(self.paths.root) + os.sep)
        if self.job.mode != "watch" and not self.job.keep_work and inside:
            shutil.rmtree(self.paths.work_parent, ignore_errors=True)
        if self.job.socket and os.path.exists(self.job.socket):
            os.unlink(self.job.socket)


def ignore_terminal_signals() -> None:
    """A detached program is not ended by a terminal that closes."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)


def take_user_umask() -> None:
    """What a script writes outside of the run is to have the rights it would have had without us, not the keeper's."""
    given = os.environ.pop("ROOKERY_UMASK", "")
    if given:
        os.umask(int(given, 8))
