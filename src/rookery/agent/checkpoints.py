"""ROOKERY_RESUME_DIR on a node that does not see the workspace's folder: fetched before the ranks start, shipped while they run.

Only files that changed and have settled are sent, the oldest first, so that a file that points to others comes after them. At a
preemption or a failure what is left is sent before the end is told. A run that completes needs none of it any more.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Optional

from rookery.agent.disk import read_json, write_json
from rookery.agent.keeper import Gone
from rookery.agent.node import node_facts
from rookery.errors import ConflictError, NotFoundError, RookeryError
from rookery.spec.job import Job
from rookery.spec.names import check_artifact_name
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["Checkpoints", "with_own_folder"]

LOOK_S = 2.0
SETTLED_S = 1.0  # unchanged for so long: whoever wrote it has gone on
_VARIABLE = "ROOKERY_RESUME_DIR"


def with_own_folder(job: Job, root: str) -> Job:
    """The job with a folder for checkpoints in the node's own share, where the workspace's is not seen."""
    facts = node_facts(job)
    if facts is None or facts.shared or not any(rank.variables.get(_VARIABLE) for rank in job.ranks):
        return job
    folder = os.path.join(root, "checkpoints")
    ranks = (
        replace(rank, variables={**rank.variables, _VARIABLE: folder}) if rank.variables.get(_VARIABLE) else rank
        for rank in job.ranks
    )
    return replace(job, ranks=tuple(ranks), extra={**job.extra, "checkpoints": folder})


@dataclass(frozen=True)
class _Seen:
    size: int
    modified_ns: int
    when: float  # first seen like this


class Checkpoints:
    """One thread. Does nothing where the folder is the workspace's own."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._folder = str(agent.job.extra.get("checkpoints") or "")
        self._seen: dict[str, _Seen] = {}
        self._sent: dict[str, tuple[int, int, str]] = {}  # path → size, time, hash as the keeper has it
        self._sent_file = os.path.join(agent.paths.root, "checkpoints.json")
        self._refused: set[str] = set()
        self._ending = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def fetch(self) -> None:
        """Bring what the attempts before have left.

        Raises:
            OSError: the disk is full.
            RookeryError: the keeper refuses.
        """
        if not self._folder:
            return
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        for one in self._agent.told(lambda: self._agent.keeper.call("GET", "checkpoints"))["files"]:
            self._agent.pulse()
            path = check_artifact_name(str(one["path"]))
            target = os.path.join(self._folder, *path.split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            try:
                self._agent.keeper.download(self._route(path), target + ".rookery-new")
            except NotFoundError:
                continue  # replaced or removed since it was listed
            os.chmod(target + ".rookery-new", int(one.get("mode") or 0o644) | 0o600)
            os.replace(target + ".rookery-new", target)
            about = os.stat(target)
            self._sent[path] = (about.st_size, about.st_mtime_ns, "")
        self._note()

    def start(self) -> None:
        if self._folder:
            self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)
            self._thread.start()

    def finish(self, is_wanted: bool) -> None:
        """Send the rest, unless nobody will want it. The ranks have ended: everything has settled."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
        if self._agent.job.mode == "finish":
            # What the agent before us had sent or been given is not sent again: another node may have a newer one.
            self._sent = {path: (s, m, h) for path, (s, m, h) in (read_json(self._sent_file) or {}).items()}
        if self._folder and is_wanted and os.path.isdir(self._folder):
            with contextlib.suppress(Gone, ConflictError):
                self._ship(settled_s=0.0)

    def _run(self) -> None:
        with contextlib.suppress(Gone, ConflictError):  # the attempt is over: others notice too
            while not self._ending.wait(LOOK_S):
                self._ship(SETTLED_S)

    def _ship(self, settled_s: float) -> None:
        now = time.monotonic()
        here: dict[str, tuple[int, int]] = {}
        for folder, _, names in os.walk(self._folder):
            for name in names:
                full = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    about = os.stat(full)
                    if not os.path.islink(full) and os.path.isfile(full):
                        here[os.path.relpath(full, self._folder).replace(os.sep, "/")] = (
                            about.st_size,
                            about.st_mtime_ns,
                        )
        for path, (size, modified_ns) in sorted(here.items(), key=lambda item: item[1][1]):
            seen = self._seen.get(path)
            if seen is None or (seen.size, seen.modified_ns) != (size, modified_ns):
                seen = self._seen[path] = _Seen(size, modified_ns, now)
            if now - seen.when >= settled_s and self._sent.get(path, (0, 0, ""))[:2] != (size, modified_ns):
                self._send(path, size, modified_ns)
            if self._ending.is_set() and settled_s:
                return  # the end sends the rest
        for path in [p for p in self._sent if p not in here]:
            del self._sent[path]
            self._seen.pop(path, None)
            with contextlib.suppress(NotFoundError):
                self._agent.keeper.request("DELETE", self._route(path))

    def _send(self, path: str, size: int, modified_ns: int) -> None:
        file = os.path.join(self._folder, *path.split("/"))
        try:
            check_artifact_name(path)
            digest = _sha256(file)
            if self._sent.get(path, (0, 0, ""))[2] != digest:
                self._agent.keeper.upload(f"{self._route(path)}?mode={os.stat(file).st_mode & 0o777}", file, digest)
            self._sent[path] = (size, modified_ns, digest)
            self._note()
        except FileNotFoundError:
            return
        except ConflictError:
            raise
        except (OSError, RookeryError) as error:
            # It may have changed on the way: then it is sent again when it has settled. Said once.
            if path not in self._refused:
                self._refused.add(path)
                self._agent.say(f"the checkpoint {path} was not stored: {error}")

    def _note(self) -> None:
        write_json(self._sent_file, self._sent)

    def _route(self, path: str) -> str:
        return f"{self._agent.keeper.base}checkpoints/{quote_path(path)}"


def _sha256(file: str) -> str:
    digest = hashlib.sha256()
    with open(file, "rb") as f:
        while True:
            data = f.read(1024 * 1024)
            if not data:
                return digest.hexdigest()
            digest.update(data)
