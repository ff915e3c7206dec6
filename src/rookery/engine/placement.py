"""Gathers what a job needs from the record, the disk and the settings, and where each agent's folder is."""

from __future__ import annotations

import contextlib
import errno
import hmac
import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Optional

from rookery.engine.engines.base import Engine, Place
from rookery.engine.jobs import JobLimits, make_job, mask_job, read_job
from rookery.engine.live import Live
from rookery.engine.runtime import agent_socket
from rookery.engine.variables import Surroundings
from rookery.environments import BuiltEnvironment
from rookery.errors import RookeryError
from rookery.record.clock import from_unix
from rookery.settings import get_setting
from rookery.spec.job import Job
from rookery.spec.paths import WorkspacePaths
from rookery.spec.run import RunKind, RunSpec

__all__ = ["JobMaker"]


class JobMaker:
    """Makes jobs. `ensure_payload` returns the payload's folder and may take a moment the first time."""

    def __init__(
        self,
        record: Any,
        paths: WorkspacePaths,
        engine: Engine,
        ensure_payload: Callable[[WorkspacePaths], str],
    ) -> None:
        self._record, self._paths, self._engine, self._ensure_payload = record, paths, engine, ensure_payload
        self._payload = ""
        self._payload_lock = threading.Lock()
        self._workspace: Optional[dict[str, Any]] = None
        self._limits = JobLimits(
            cancel_grace_s=get_setting("cancel_grace_s", paths.root),
            heartbeat_s=get_setting("heartbeat_s", paths.root),
            keep_work=get_setting("keep_work_folder", paths.root),
            failure_grace_s=get_setting("failure_grace_s", paths.root),
            stall_timeout_s=get_setting("stall_timeout_s", paths.root),
        )
        self.preempt_grace_s: float = get_setting("preempt_grace_s", paths.root)
        self.preempted_s: float = get_setting("preempted_s", paths.root)
        self.elastic_wait_s: float = get_setting("elastic_wait_s", paths.root)
        self._token_hours = get_setting("run_token_hours", paths.root)

    def has_payload(self) -> bool:
        return bool(self._payload) and os.path.isdir(self._payload)

    def get_payload(self) -> str:
        """The payload's folder, made if it is not there. Slow the first time: not for the controller's
        thread."""
        with self._payload_lock:
            if not self.has_payload():
                self._payload = self._ensure_payload(self._paths)
            return self._payload

    def grace_s(self, spec: RunSpec) -> float:
        return self._limits.cancel_grace_s if spec.cancel_grace_s is None else spec.cancel_grace_s

    def stop_grace_s(self, live: Live) -> float:
        """How long an agent that is told to stop may take: short when it is only because another node has failed."""
        grace_s = self.grace_s(live.spec)
        failed = live.state.first_bad is not None and not live.state.cancel
        return min(grace_s, self._limits.failure_grace_s) if failed else grace_s

    def place(self, live: Live, node: int) -> Place:
        root = self._paths.attempt(live.run_id, live.state.attempt).node(node).root
        return Place(live.run_id, live.state.attempt, node, root)

    def make(self, live: Live, node: int) -> Job:
        """What the agent of a node is to do."""
        spec, state = live.spec, live.state
        place = self.place(live, node)
        built = state.built or BuiltEnvironment(python=spec.environment.python)
        folder = self._watched_folder(live, place) if spec.kind == RunKind.INTERACTIVE else ""
        if spec.kind == RunKind.SCRIPT:
            os.makedirs(self._paths.checkpoints(spec.run_id), exist_ok=True)
        return make_job(
            self._paths,
            spec,
            state.attempt,
            node,
            state.grants,
            built,
            replace(self._surroundings(spec), launch_secret=self._launch_secret(spec.run_id, state.attempt)),
            self._record.tokens.make(spec.run_id, "agent"),
            agent_socket(place.root),
            self._limits,
            folder,
        )

    def forget(self, live: Live) -> None:
        """Take away what a run that has ended leaves: sockets (an agent that was killed could not), and secret values in
        job files, and what was kept for another attempt."""
        if not self._limits.keep_work and live.spec.kind == RunKind.SCRIPT:
            remove_folder(self._paths.checkpoints(live.run_id))
        for node in range(len(live.state.nodes)):
            with contextlib.suppress(OSError, RookeryError):
                os.unlink(agent_socket(self.place(live, node).root))
            for attempt in range(1, live.state.attempt + 1) if live.spec.secrets else ():
                mask_job(self._paths.attempt(live.run_id, attempt).node(node), live.spec.secrets)

    def _surroundings(self, spec: RunSpec) -> Surroundings:
        capacity = self._engine.capacity()
        return Surroundings(
            workspace=self._identity(),
            experiment_id=self._experiment_id(spec.experiment),
            keeper_url=self._keeper_url(),
            run_token=self._record.tokens.make(spec.run_id, "run"),
            token_expiry=from_unix(time.time() + self._token_hours * 3600),
            payload=self._payload,
            inherited=os.environ,
            has_gpus=bool(capacity and capacity.gpus),
            checkpoints=self._paths.checkpoints(spec.run_id) if spec.kind == RunKind.SCRIPT else "",
            secrets=self._record.secrets.of_run(spec.run_id) if spec.secrets else {},
        )

    def _launch_secret(self, run_id: str, attempt: int) -> str:
        """The same for all agents of an attempt, whoever makes their jobs and when."""
        return hmac.new(self._record.secret(), f"launch/{run_id}/{attempt}".encode(), "sha256").hexdigest()

    def _identity(self) -> dict[str, Any]:
        if self._workspace is None:
            self._workspace = _read_json(self._paths.identity)
        return self._workspace

    def _experiment_id(self, name: str) -> str:
        try:
            return str(self._record.experiments.get(name)["id"])
        except RookeryError:
            return name

    def _keeper_url(self) -> str:
        found = _read_json(self._paths.endpoint)
        return f"http://{found.get('host', '127.0.0.1')}:{found['port']}" if found.get("port") else "http://127.0.0.1"

    def _watched_folder(self, live: Live, place: Place) -> str:
        """Where the user's process was when the run began; an agent that takes over goes by what the first
        one was told."""
        before = read_job(place.paths)
        if before is not None:
            return before.work
        pid = live.spec.watched.pid if live.spec.watched else 0
        try:
            return os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            return ""


def remove_folder(path: str) -> None:
    """Beside the caller where it may take a while: checkpoints can be large."""
    with contextlib.suppress(FileNotFoundError):
        try:
            os.rmdir(path)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return
            threading.Thread(target=shutil.rmtree, args=(path, True), name="rookery-checkpoints", daemon=True).start()


def _read_json(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
