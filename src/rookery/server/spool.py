"""The keeper's side of the spool (spec/spool.py): requests that lie in files are carried out like any others.

A thread of its own looks for them, because folders on network file systems answer slowly; the event loop carries them
out through the same app, as requests of the agents' listener.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Optional, cast
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from rookery.errors import KeeperUnavailableError, RookeryError, RunNotFoundError
from rookery.server.agents import mark_as_agents
from rookery.server.answers import JsonAnswer
from rookery.server.errors import plain_error
from rookery.server.lease import is_network_file_system
from rookery.server.spool_exchange import Exchange, Files
from rookery.spec.protocol import PREFIX
from rookery.spec.repeat import is_repeatable
from rookery.spec.spool import INLINE_BYTES, MAX_HEAD_BYTES, AnswerHead, RequestHead, pack, unpack
from rookery.spec.status import RunStatus
from rookery.worker.doorbell import Doorbell

if TYPE_CHECKING:
    from rookery.server.services import Services

__all__ = ["Spool"]

log = logging.getLogger(__name__)

FIRST_PAUSE_S, LAST_PAUSE_S = 0.01, 0.5
LAST_LOCAL_PAUSE_S = 5.0  # where inotify tells of everything
TOUCH_S = 5.0
SWEEP_S = 30.0
QUIET_S = 120.0  # so long nothing must have happened in a folder that is removed; above the agents' patience
MAX_UNDER_WAY = 64  # of one folder


class Spool:
    """`services.spool`.

    Promises: a request is carried out once; one that a killed keeper had begun with is carried out again by the next one
    where that changes nothing (spec.repeat), and is answered with `keeper_unavailable` where it would. Folders of attempts
    that are over go when they have been quiet for a while.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._root = services.paths.spool
        self._lock = threading.Lock()
        self._bell: Optional[Doorbell] = None
        self._thread: Optional[threading.Thread] = None
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._app: Optional[ASGIApp] = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way: dict[tuple[str, str], Exchange] = {}
        self._watched: dict[int, Files] = {}  # by the doorbell's number

    def attach(self, app: ASGIApp, tasks: Optional[set[asyncio.Task[None]]] = None) -> None:
        """In the event loop, once the server runs. `tasks`: what it waits for before it leaves."""
        self._loop, self._app = asyncio.get_running_loop(), mark_as_agents(app)
        self._tasks = self._tasks if tasks is None else tasks
        if os.path.isdir(self._root):
            self.ensure()
        self._services.record.bell.subscribe("compute", self._notice)
        self._start_if_wanted()

    def ensure(self) -> str:
        """Requests are looked for from now on; the folder below which (`WorkspacePaths.spool_of`). From any thread."""
        with self._lock:
            if self._loop is None:
                raise KeeperUnavailableError("The keeper is starting. Try again.")
            os.makedirs(self._root, mode=0o700, exist_ok=True)
            if self._thread is None:
                self._bell = Doorbell()
                self._thread = threading.Thread(target=self._run, name="spool", daemon=True)
                self._thread.start()
        return self._root

    def _notice(self) -> None:
        """A target has changed: perhaps its nodes talk this way now. Called in any thread; must be quick."""
        if self._thread is None and self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._loop.run_in_executor, None, self._start_if_wanted)

    def _start_if_wanted(self) -> None:
        if self._thread is not None or self._services.leaving:
            return
        if any(map(_uses_spool, self._services.record.compute.list())):
            self.ensure()

    def leave(self) -> None:
        """Begin with nothing new. What is under way is answered, as far as the server waits for it."""
        if self._bell is not None:
            self._bell.wake()

    # -- the thread ------------------------------------------------------------------------------------------

    def _run(self) -> None:
        assert self._bell is not None
        root = self._bell.add(self._root, files=False)
        is_told = root >= 0 and not is_network_file_system(self._root)  # whether everything that happens here rings
        last_pause = LAST_LOCAL_PAUSE_S if is_told else LAST_PAUSE_S
        pause, touched, swept, looked = FIRST_PAUSE_S, time.monotonic(), 0.0, 0.0
        rang: set[int] = set()
        complaint = ""
        self._recover()
        while not self._services.leaving:
            try:
                if not rang or rang & {root, -1} or time.monotonic() - looked >= last_pause:
                    looked = time.monotonic()
                    self._watch_all()
                    found = self._look(self._watched, nudge=not is_told)
                else:
                    found = self._look(rang & set(self._watched))
                if time.monotonic() - touched >= TOUCH_S:
                    touched = time.monotonic()
                    self._touch()
                if time.monotonic() - swept >= SWEEP_S:
                    swept = time.monotonic()
                    self._sweep()
            except Exception as error:  # this thread is all that agents there have
                found = False
                if str(error) != complaint:
                    complaint = str(error)
                    log.warning("The spool %s cannot be looked at: %s", self._root, error, exc_info=True)
            pause = FIRST_PAUSE_S if found else min(pause * 1.5, last_pause)
            rang = self._bell.wait(min(pause, TOUCH_S) if self._under_way else pause)

    def _watch_all(self) -> None:
        """Which folders there are now. One that cannot be watched has a number of its own below zero."""
        assert self._bell is not None
        known = {files.folder: number for number, files in self._watched.items()}
        found: dict[int, Files] = {}
        for files in _folders(self._root):
            number = known.get(files.folder, -1)
            if number < 0 or not files.is_same(self._watched[number]):
                number = self._bell.add(files.folder)
            found[number if number >= 0 else -2 - len(found)] = files
        self._watched = found

    def _look(self, numbers: Iterable[int], nudge: bool = False) -> bool:
        """Take what lies in these folders; whether there was anything."""
        found = False
        for files in [self._watched[number] for number in numbers]:
            if nudge:
                files.nudge()
            names = files.names()
            for request in names.get("stop", ()):
                self._stop(files, request)
            room = MAX_UNDER_WAY - sum(1 for folder, _ in list(self._under_way) if folder == files.folder)
            waiting = names.get("req", [])
            for request in waiting[: max(0, room)]:
                self._begin(files, request)
            found = found or bool(waiting or names.get("stop"))
        return found

    def _begin(self, files: Files, request: str) -> None:
        """Take a request and hand it to the event loop."""
        assert self._loop is not None
        assert self._app is not None
        try:
            os.rename(files.path(request, "req"), files.path(request, "run"))
            with open(files.path(request, "run"), "rb") as f:
                head, inline = unpack(RequestHead, f.read(MAX_HEAD_BYTES + INLINE_BYTES))
        except FileNotFoundError:
            return  # taken back meanwhile
        except ValueError as error:
            _answer(files, request, RookeryError(f"The request in the spool cannot be read: {error}."), 400)
            return
        exchange = Exchange(files, request, cast(RequestHead, head), inline, self._app)
        self._under_way[(files.folder, request)] = exchange
        try:
            self._loop.call_soon_threadsafe(self._start, exchange)
        except RuntimeError:  # the loop is closed
            os.rename(files.path(request, "run"), files.path(request, "req"))

    def _stop(self, files: Files, request: str) -> None:
        exchange = self._under_way.get((files.folder, request))
        if exchange is not None and self._loop is not None and exchange.is_under_way:
            self._loop.call_soon_threadsafe(exchange.stop)  # it removes its files itself
        else:
            files.remove(request)

    def _touch(self) -> None:
        """Say that what is under way is under way."""
        for folder, request in list(self._under_way):
            try:
                os.utime(Files(folder).path(request, "run"))
            except OSError:
                pass

    def _sweep(self) -> None:
        """Remove the folders of attempts that are over."""
        for files in _folders(self._root):
            run_id, attempt = _whose(files.folder)
            is_busy = any(folder == files.folder for folder, _ in list(self._under_way))
            if is_busy or files.quiet_s() < QUIET_S or not self._is_over(run_id, attempt):
                continue
            shutil.rmtree(files.folder, ignore_errors=True)

    def _is_over(self, run_id: str, attempt: int) -> bool:
        try:
            run = self._services.record.runs.get(run_id)
        except RunNotFoundError:
            return True
        return bool(run["attempt"] > attempt or RunStatus(run["status"]).is_terminal)

    def _recover(self) -> None:
        """What a keeper that was killed had begun with."""
        for files in _folders(self._root):
            names = files.names()
            for request in names.get("run", ()):
                try:
                    self._recover_one(files, request, request in names.get("ans", ()))
                except (OSError, ValueError) as error:
                    log.warning("A request in the spool cannot be taken up again: %s", error)

    def _recover_one(self, files: Files, request: str, is_answered: bool) -> None:
        if is_answered:
            with open(files.path(request, "ans"), "rb") as f:
                head, _ = unpack(AnswerHead, f.read())
            if cast(AnswerHead, head).stream:
                files.place(request, "end", b"")  # whoever reads it asks again, from where it was
            files.unlink(request, "run", "body")
            return
        try:
            with open(files.path(request, "run"), "rb") as f:
                given = cast(RequestHead, unpack(RequestHead, f.read(MAX_HEAD_BYTES + INLINE_BYTES))[0])
        except ValueError:
            files.remove(request)
            return
        path = urlsplit(given.target).path
        if is_repeatable(given.method, path[len(PREFIX) :] if path.startswith(PREFIX) else path):
            files.unlink(request, "out")
            os.rename(files.path(request, "run"), files.path(request, "req"))
        else:
            words = (
                f"The keeper was restarted in the middle of {given.method} {path[:200]}: it is not known whether that was "
                "done. Look before you ask again."
            )
            _answer(files, request, KeeperUnavailableError(words), 503)

    # -- in the event loop -----------------------------------------------------------------------------------

    def _start(self, exchange: Exchange) -> None:
        task = exchange.start()
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self._under_way.pop((exchange.files.folder, exchange.request), None))


def _answer(files: Files, request: str, error: RookeryError, status: int) -> None:
    """An answer that needs no app."""
    body = JsonAnswer(plain_error(error)).body
    headers = (("content-type", "application/json"), ("content-length", str(len(body))))
    files.place(request, "ans", pack(AnswerHead(status, "", headers, len(body)), bytes(body)))
    files.unlink(request, "run", "body")


def _folders(root: str) -> Iterator[Files]:
    """Those that are ours and nobody else's: who could write there could ask in an agent's name."""
    for entry in sorted(os.listdir(root)):
        folder = os.path.join(root, entry)
        try:
            found = os.lstat(folder)
        except OSError:
            continue
        is_private = found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077
        if stat.S_ISDIR(found.st_mode) and is_private and _whose(folder)[0]:
            yield Files(folder, found.st_ino)


def _whose(folder: str) -> tuple[str, int]:
    """Run and attempt of `<run>.<attempt>.<node>`; an empty run where it is something else."""
    parts = os.path.basename(folder).rsplit(".", 2)
    if len(parts) != 3 or not parts[1].isdigit() or not parts[2].isdigit():
        return "", 0
    return parts[0], int(parts[1])


def _uses_spool(row: dict[str, Any]) -> bool:
    return (row["spec"].get("reach") or {}).get("transport") == "spool"
