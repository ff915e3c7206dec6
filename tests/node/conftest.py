"""The real API over TCP, and nodes that see nothing of the workspace."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

import pytest
import uvicorn

from rookery.engine.engines.base import Place
from rookery.engine.jobs import write_job
from rookery.engine.kit import Kit
from rookery.record import Record
from rookery.server import create_app
from rookery.server.listening import listen_tcp
from rookery.spec.compute import Reach
from rookery.spec.job import NODE_HOME, NODE_PATH, NODE_RUNTIME, Job, KeeperAddress, RankJob
from rookery.spec.logs import DRIVER_LOG
from rookery.spec.paths import WorkspacePaths
from rookery.spec.run import EnvironmentSpec, RunSpec
from rookery.testing.fake_controller import FakeController
from rookery.testing.hidden_node import HiddenNode, wait_gone

IDENTITY = {"id": "1-2", "name": "coop", "subscription_id": "s", "resource_group": "g", "location": "here", "format": 1}
ON_NODE = WorkspacePaths(NODE_HOME)
RUN, SECOND = (
    f"birds_{os.getpid()}_one",
    f"birds_{os.getpid()}_two",
)  # of this process: agents stop what carries their own


@dataclass
class Coop:
    """A workspace with its keeper, and the jobs of one run at a time."""

    paths: WorkspacePaths
    record: Record
    controller: FakeController
    kit: Kit
    url: str
    folder: Path
    nodes: list[HiddenNode] = field(default_factory=list)
    server: Any = None

    def node(self, name: str = "n0", **options: Any) -> HiddenNode:
        """A machine; everything below the workspace's parent folder is hidden from it, except its own home."""
        home = self.folder / "machines" / name
        node = HiddenNode(str(home), [self.paths.root, str(self.folder / "home")], **options)
        self.nodes.append(node)
        return node

    def run(self, script: str, run_id: str = RUN, more: Optional[dict[str, bytes]] = None, **fields: Any) -> Job:
        """A run in the record and its job for node 0, as it is for another machine. `more`: files of the snapshot."""
        entries = []
        for path, data in {"train.py": script.encode(), **(more or {})}.items():
            sha256, size = self.record.content.put(io.BytesIO(data))
            entries.append({"path": path, "sha256": sha256, "size": size, "mode": 0o644})
        snapshot = self.record.snapshots.create(entries)["id"]
        if run_id not in {run["id"] for run, _ in self.record.runs.live()}:
            env = EnvironmentSpec(python="python3")
            spec = RunSpec(run_id, "birds", environment=env, script="train.py", snapshot_id=snapshot)
            self.record.runs.create(spec, "owner")
            self.controller.submitted(run_id)
        return self.job(run_id, snapshot, **fields)

    def job(self, run_id: str, snapshot: str, attempt: int = 1, node: int = 0, **fields: Any) -> Job:
        here = ON_NODE.attempt(run_id, attempt).node(node)
        rank, socket = here.rank(0), f"{NODE_RUNTIME}/a-{run_id}-{attempt}-{node}.sock"
        payload = self.kit.node_payload()
        variables = {
            "PATH": NODE_PATH,
            "PYTHONPATH": f"{payload}/first",
            "ROOKERY_RUN_ID": run_id,
            "ROOKERY_EXPERIMENT": "birds",
            "ROOKERY_WORKSPACE": "coop",
            "ROOKERY_ATTEMPT": str(attempt),
            "ROOKERY_NODE": str(node),
            "ROOKERY_RANK": "0",
            "ROOKERY_WORLD_SIZE": "1",
            "ROOKERY_AGENT_SOCKET": socket,
            "ROOKERY_JOURNAL_DIR": rank.journal,
            "ROOKERY_UPLOADS_DIR": rank.uploads,
            "ROOKERY_ERRORS_DIR": rank.errors,
            "ROOKERY_STOP_FILE": rank.stop,
            "ROOKERY_RESUME_DIR": ON_NODE.checkpoints(run_id),
            "ROOKERY_RUN_TOKEN": self.record.tokens.make(run_id, "run"),
            "ROOKERY_PAYLOAD": payload,
            "ROOKERY_ATTEMPT_KEY": f"{run_id}/{attempt}",
        }
        job = Job(
            run_id=run_id,
            attempt=attempt,
            node=node,
            mode="run",
            token=self.record.tokens.make(run_id, "agent"),
            keeper=KeeperAddress(url=self.url),
            ranks=(RankJob(0, 0, ("python3", "train.py"), variables=variables, log_name=DRIVER_LOG),),
            snapshot_id=snapshot,
            content_root=ON_NODE.content,
            payload_root=payload,
            work=here.work(run_id),
            cancel_grace_s=1.0,
            heartbeat_s=0.2,
            socket=socket,
        )
        return replace(job, **fields)

    def boot_text(self, job: Job, **reach: Any) -> str:
        """Write job.json where the keeper has it; the program that starts its agent."""
        place = self.place(job)
        write_job(place.paths, job)
        return self.kit.make_boot([place], KeeperAddress(url=self.url), Reach(shared_files=False, **reach))

    def place(self, job: Job) -> Place:
        root = self.paths.attempt(job.run_id, job.attempt).node(job.node).root
        return Place(job.run_id, job.attempt, job.node, root)

    def log(self, run_id: str = RUN, name: str = DRIVER_LOG) -> str:
        try:
            with open(self.paths.log(run_id, name), encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def get(self, run_id: str = RUN) -> dict[str, Any]:
        return self.record.runs.get(run_id)

    def wait(self, condition: Callable[[], Any], timeout_s: float = 90.0) -> Any:
        until = time.monotonic() + timeout_s
        while not (found := condition()):
            assert time.monotonic() < until, "the condition did not come true"
            time.sleep(0.01)
        return found


@pytest.fixture
def coop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Coop]:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    root = tmp_path / "a work's space"
    root.mkdir()
    (root / "workspace.json").write_text(json.dumps(IDENTITY))
    paths = WorkspacePaths(str(root))
    record = Record(paths)
    controller = FakeController(record)
    app = create_app(record, controller, IDENTITY)
    short = tempfile.mkdtemp(prefix="rk-", dir="/tmp")
    tcp = listen_tcp("127.0.0.1", 0, os.path.join(short, "port"))
    config = uvicorn.Config(app, lifespan="off", ws="none", log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[tcp])), daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{tcp.getsockname()[1]}"
    coop = Coop(paths, record, controller, Kit(record, paths), url, tmp_path, server=server)
    yield coop
    for node in coop.nodes:
        node.close()
    app.state.services.leave()
    server.should_exit = True
    thread.join(60)
    record.close()
    shutil.rmtree(short)
    wait_gone(f"{RUN}/1")  # what was killed just now may not have been scheduled yet
