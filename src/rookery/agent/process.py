"""Starting the ranks and noticing how they end. Everything here runs on the agent's main thread.

A rank has its own session, dies with the agent (PR_SET_PDEATHSIG, which follows the thread that forked:
hence the main thread), and writes straight into its log file: no pipe that could fill, nothing lost when the
agent is gone.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from rookery.agent.container import Enclosure
from rookery.agent.disk import write_json
from rookery.agent.proc import start_ticks
from rookery.agent.tree import STARTED_BY
from rookery.spec.job import RankJob
from rookery.spec.paths import RankPaths

if TYPE_CHECKING:
    from rookery.agent.launch_ranks import ForeignRanks

__all__ = ["RankEnd", "Ranks", "become_subreaper", "die_with_parent", "expand"]

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
_NAME = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
# Variables of our own processes that mean nothing, or harm, in the user's.
DROPPED = (
    "PYTHONDONTWRITEBYTECODE",
    STARTED_BY,
    "ROOKERY_AZUREML_SAID",
    # A keeper that was started from inside a rank has these of that rank.
    "ROOKERY_LAUNCHED_DIR",
    "ROOKERY_NODE_LOG",
    "ROOKERY_RANK_MAIN",
    "TORCHELASTIC_RUN_ID",
)


@dataclass(frozen=True)
class RankEnd:
    """How a rank ended. Exactly one of exit_code, signal and start_error is set."""

    rank: int
    pid: int = 0
    exit_code: Optional[int] = None
    signal: Optional[int] = None
    start_error: Optional[str] = None

    @property
    def ok(self) -> bool:
        return self.exit_code == 0


def become_subreaper() -> None:
    """Orphans of the ranks become children of the agent instead of disappearing to init."""
    _libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> Callable[[], None]:
    """For a child of the main thread that is not a rank: it does not outlive the agent."""
    return _in_child("", (), os.getpid())


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`$NAME` and `${NAME}` for the names that exist; others stay as they are."""
    return _NAME.sub(lambda m: variables.get(m.group(1) or m.group(2), m.group(0)), text)


class Ranks:
    """The ranks of this node; in containers where there is an enclosure."""

    def __init__(self, enclosure: Optional[Enclosure] = None) -> None:
        self._enclosure = enclosure
        self._alive: dict[int, tuple[int, subprocess.Popen[bytes]]] = {}
        self.ends: list[RankEnd] = []  # in the order in which they ended
        self.adopted: dict[
            int, int
        ] = {}  # pid → status of processes whose parents, a launcher perhaps, had gone before
        self.started: list[tuple[int, int]] = []  # (rank, pid)
        self.foreign: Optional[ForeignRanks] = None  # those that mpirun starts
        self.last_words: Callable[[], str] = lambda: ""  # of a launcher that failed
        self._background: set[int] = set()

    @property
    def pids(self) -> list[int]:
        """Those that are waited for."""
        if self.foreign is not None:
            return self.foreign.pids
        return sorted(pid for pid in self._alive if pid not in self._background)

    def start(self, job: RankJob, paths: RankPaths, work: str) -> None:
        """Start one rank. One that cannot be started has ended with a start_error."""
        for folder in (paths.root, paths.journal, paths.uploads, paths.errors):
            os.makedirs(folder, exist_ok=True)
        outer = {k: v for k, v in os.environ.items() if k not in DROPPED}
        variables = {**({} if self._enclosure else outer), **job.variables}  # an image has variables of its own
        variables.setdefault("PYTHONUNBUFFERED", "1")
        argv = ["/bin/sh", "-c", job.shell] if job.shell else [expand(a, variables) for a in job.argv]
        if self._enclosure:
            argv, variables = self._enclosure.command(job, argv), outer
        log = os.open(paths.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            process = subprocess.Popen(
                argv,
                cwd=work,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_in_child(paths.process, job.cpus, os.getpid()),
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.ends.append(RankEnd(job.rank, start_error=_start_error(argv, error)))
            return
        finally:
            os.close(log)
        self._alive[process.pid] = (job.rank, process)
        self.started.append((job.rank, process.pid))
        if job.background:
            self._background.add(process.pid)

    def start_launcher(
        self, name: str, argv: list[str], variables: Mapping[str, str], work: str, output: int, keep: int = -1
    ) -> None:
        """Start what starts ranks. `keep`: a descriptor that it inherits, so that its other end sees it go.

        Raises:
            OSError: it cannot be started.
        """
        assert self.foreign is not None
        process = subprocess.Popen(
            argv,
            cwd=work,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=() if keep < 0 else (keep,),
            preexec_fn=_in_child("", (), os.getpid()),
        )
        process.returncode = 0  # reap waits for it
        self.foreign.launchers[process.pid] = name

    def reap(self) -> list[RankEnd]:
        """Collect every dead child, adopted orphans too; returns the ranks among them."""
        ended: list[RankEnd] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if self.foreign is not None and pid in self.foreign.launchers:
                ended += self.foreign.launcher_died(pid, status, self.last_words())
            if pid not in self._alive:
                self.adopted[pid] = status
                continue
            rank, process = self._alive.pop(pid)
            if os.WIFSIGNALED(status):
                end = RankEnd(rank, pid, signal=os.WTERMSIG(status))
            else:
                end = RankEnd(rank, pid, exit_code=os.WEXITSTATUS(status))
            process.returncode = 0  # it has been waited for; Popen need not know how
            ended.append(self._enclosure.read_end(end) if self._enclosure else end)
        if self.foreign is not None:
            ended += self.foreign.read()
        self.ends += ended
        return ended


def _in_child(process_file: str, cpus: tuple[int, ...], agent: int) -> Callable[[], None]:
    prctl = _libc().prctl

    def prepare() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != agent:
            os._exit(70)  # the agent died before it could be said that we die with it
        if process_file:
            write_json(process_file, {"pid": os.getpid(), "start_ticks": start_ticks(os.getpid())})
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        if cpus:
            try:
                os.sched_setaffinity(0, cpus)
            except OSError:
                pass  # a core that this container may not use: unpinned is better than not at all

    return prepare


def _start_error(argv: list[str], error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"'{error.filename or argv[0]}' does not exist on this machine"
    if isinstance(error, PermissionError):
        return f"'{error.filename or argv[0]}' may not be executed ({error.strerror})"
    return f"{argv[0]}: {error}"


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
