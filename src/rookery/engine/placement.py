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
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional

from rookery.engine.engines.base import Place
from rookery.engine.engines.registry import Engines
from rookery.engine.engines.visitors import VISITORS
from rookery.engine.ground import Ground, builds_on_nodes, far_ground, ground_here, is_remote, keeper_address
from rookery.engine.jobs import DataJob, JobLimits, make_job, mask_job, read_job
from rookery.engine.live import Live
from rookery.engine.runtime import agent_socket
from rookery.engine.variables import Surroundings
from rookery.environments import BuiltEnvironment
from rookery.errors import ComputeError, RookeryError
from rookery.record.clock import from_unix
from rookery.settings import get_setting
from rookery.spec.compute import ClusterSpec
from rookery.spec.data import input_job, output_job
from rookery.spec.engine_options import KUBERNETES
from rookery.spec.job import Job
from rookery.spec.paths import WorkspacePaths
from rookery.spec.run import RunKind, RunSpec

if TYPE_CHECKING:
    from rookery.engine.kit import Kit

__all__ = ["JobMaker"]


class JobMaker:
    """Makes jobs. `ensure_payload` returns the payload's folder and may take a moment the first time."""

    def __init__(
        self,
        record: Any,
        paths: WorkspacePaths,
        engines: Engines,
        ensure_payload: Callable[[WorkspacePaths], str],
        spec_of: Callable[[str], Optional[ClusterSpec]],
    ) -> None:
        self._record, self._paths, self._engines, self._ensure_payload = record, paths, engines, ensure_payload
        self.spec_of = spec_of
        self._kit: Optional[Kit] = None
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

    @property
    def kit(self) -> Kit:
        """What nodes on other machines fetch; its code is loaded when there is such a node."""
        with self._payload_lock:
            if self._kit is None:
                from rookery.engine.kit import Kit

                self._kit = Kit(self._record, self._paths, self.get_payload)
            return self._kit

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
        return Place(live.run_id, live.state.attempt, node, root, VISITORS if self.visits(live) else live.spec.compute)

    def visits(self, live: Live) -> bool:
        """Whether its agent is on the machine of whoever began it, and started there."""
        return live.spec.watched is not None and live.spec.watched.visits

    def place_here(self, live: Live, node: int) -> Place:
        """For an agent on this machine that looks after what a node on another one left in shared files."""
        return replace(self.place(live, node), target="")

    def is_far(self, live: Live) -> bool:
        """Whether its nodes are other machines."""
        return live.spec.kind == RunKind.SCRIPT and is_remote(self.spec_of(live.spec.compute))

    def shares_files(self, live: Live) -> bool:
        spec = self.spec_of(live.spec.compute)
        return spec is None or not is_remote(spec) or bool(spec.reach.shared_files)

    def builds_on_nodes(self, live: Live) -> bool:
        return live.spec.kind == RunKind.SCRIPT and builds_on_nodes(self.spec_of(live.spec.compute))

    def boot(self, gang: Sequence[Place]) -> str:
        """The program that starts the agents of a gang on their nodes."""
        spec = self.spec_of(gang[0].target)
        if spec is None:
            raise ComputeError(f"Compute target '{gang[0].target}' is gone.")
        return self.kit.make_boot(gang, keeper_address(self._paths, spec.reach), spec.reach)

    def make(self, live: Live, node: int, here: bool = False) -> Job:
        """What the agent of a node is to do. `here`: an agent on this machine does it, wherever the nodes are."""
        spec, state = live.spec, live.state
        ground = ground_here(self._paths) if here or not self.is_far(live) else self._far_ground(live, node)
        place = self.place(live, node)
        built = state.built or BuiltEnvironment(python=spec.environment.python)
        folder = self._watched_folder(live, place) if spec.kind == RunKind.INTERACTIVE else ""
        if self.visits(live):
            # Its folders are on another machine, where its client fills them in; an agent here has nothing to collect.
            folder, spec = "", replace(spec, collect_outputs=False, watch_folders=())
        if spec.kind == RunKind.SCRIPT:
            os.makedirs(self._paths.checkpoints(spec.run_id), exist_ok=True)
        return make_job(
            self._paths,
            spec,
            state.attempt,
            node,
            state.grants,
            built,
            replace(self._surroundings(spec, ground), launch_secret=self._launch_secret(spec.run_id, state.attempt)),
            self._record.tokens.make(spec.run_id, "agent"),
            ground.socket(place.root),
            self._limits,
            folder,
            ground,
            self._data(spec, ground),
        )

    def _data(self, spec: RunSpec, ground: Ground) -> Optional[DataJob]:
        """What it is given and gives, as it was resolved; None for nearly all runs."""
        if not spec.inputs and not spec.outputs:
            return None
        from rookery.data import output_folder

        known = {row["name"]: row for row in self._record.run_data.of_run(spec.run_id, "in")}
        inputs = [
            input_job(given, known[given.name]["manifest_id"], known[given.name]["is_single"]) for given in spec.inputs
        ]
        outputs = []
        for given in spec.outputs:
            name, folder = output_folder(self._record, given)
            outputs.append(output_job(given, spec.run_id, name, folder if ground.paths == self._paths else ""))
        limit = get_setting("data_cache_bytes" if ground.is_here else "node_cache_bytes", self._paths.root)
        return DataJob(tuple(inputs), tuple(outputs), limit)

    def _far_ground(self, live: Live, node: int) -> Ground:
        spec = self.spec_of(live.spec.compute)
        assert spec is not None
        return far_ground(self._paths, spec.reach, live.run_id, live.state.attempt, node)

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

    def _surroundings(self, spec: RunSpec, ground: Ground) -> Surroundings:
        capacity = self._engines.here.capacity()
        is_shared = ground.paths == self._paths
        checkpoints = ground.paths.checkpoints(spec.run_id) if spec.kind == RunKind.SCRIPT else ""
        return Surroundings(
            workspace=self._identity(),
            experiment_id=self._experiment_id(spec.experiment),
            keeper_url=self._keeper_url() if ground.is_here else ground.keeper.url,
            run_token=self._record.tokens.make(spec.run_id, "run"),
            token_expiry=from_unix(time.time() + self._token_hours * 3600),
            payload=self._payload if is_shared else self.kit.node_payload(),
            inherited=ground.inherited,
            has_gpus=ground.is_here and bool(capacity and capacity.gpus),
            node_gpus=not ground.is_here and self._has_gpus(spec.compute),
            node_address="127.0.0.1" if ground.is_here else "",
            one_machine=ground.is_here,
            checkpoints=checkpoints,
            secrets=self._record.secrets.of_run(spec.run_id) if spec.secrets else {},
        )

    def _has_gpus(self, compute: str) -> bool:
        """Of a target on other machines; where they are not known, by what its pods ask for."""
        cluster = self.spec_of(compute)
        asked = cluster.options.get("gpus") if cluster is not None and cluster.engine == KUBERNETES else 0
        return bool(asked) or any(n.gpus for n in self._engines.census(compute))

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
        if not found.get("port"):
            return "http://127.0.0.1"
        host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}.get(
            found.get("host") or "", found.get("host")
        )
        return f"{'https' if found.get('tls') else 'http'}://{host}:{found['port']}"

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
