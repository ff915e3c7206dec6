"""What a node that shares no files needs of us: the code kit, the payload, tools, and the program that boots an agent there.

All of it is content of the workspace, named by hash: stored once, fetched once per machine. Zips are reproducible: the same files
give the same hash, whoever packs them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import threading
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

import rookery
from rookery import environments
from rookery.engine.engines.base import Place
from rookery.engine.payload import ensure_payload
from rookery.environments.python.uv_program import find_uv
from rookery.errors import RookeryError
from rookery.settings import get_setting
from rookery.spec.compute import Reach
from rookery.spec.job import NODE_HOME, KeeperAddress
from rookery.spec.paths import WorkspacePaths
from rookery.spec.plain import to_plain
from rookery.spec.run import EnvironmentSpec

__all__ = ["Kit"]

MODULES = ("__init__.py", "errors.py", "settings.py")
PACKAGES = ("spec", "worker", "agent", "environments")
_DATE = (1980, 1, 1, 0, 0, 0)
_PLACE = '"@ROOKERY_TICKETS@"'  # in agent/boot.py


class Kit:
    """Makes and stores what nodes fetch. Thread-safe; slow the first time (a second or two): not for the controller's thread
    until `is_ready`.

    Args:
        record: the workspace's; its content store holds everything, its tokens let agents in.
        get_payload: the payload's folder, as the workspace has it.
    """

    def __init__(self, record: Any, paths: WorkspacePaths, get_payload: Optional[Callable[[], str]] = None) -> None:
        self._record, self._paths = record, paths
        self._get_payload = get_payload or (lambda: ensure_payload(paths))
        self._lock = threading.Lock()
        self._code = self._payload = self._payload_name = ""
        self._tools: dict[str, str] = {}

    @property
    def is_ready(self) -> bool:
        return bool(self._code and self._payload)

    def prepare(self) -> None:
        """Pack and store code and payload."""
        with self._lock:
            stored = [h for h in (self._code, self._payload) if h]
            if stored and self._record.content.missing(stored):  # collected while no run needed it
                self._code = self._payload = ""
            if not self._code:
                self._code = self._store(pack(_code_files(), {"rookery/record/__init__.py": b""}))
                self._mirror(self._code)
            if not self._payload:
                folder = self._get_payload()
                self._payload_name = os.path.basename(folder)
                self._payload = self._store(pack(_files(folder, "")))

    def node_payload(self) -> str:
        """Where the payload lies on a node, for the variables of its ranks."""
        self.prepare()
        return os.path.join(NODE_HOME, "payload", self._payload_name)

    def make_boot(self, gang: Sequence[Place], keeper: KeeperAddress, reach: Reach) -> str:
        """The program that starts the agents of these places, one on each node. Holds their token: it goes to standard
        input, never into arguments or a file that others can read."""
        self.prepare()
        shared = bool(reach.shared_files)
        first = gang[0]
        common = {
            "run": first.run_id,
            "attempt": first.attempt,
            "token": self._record.tokens.make(first.run_id, "agent"),
            "keeper": {k: v for k, v in to_plain(keeper).items() if k in ("url", "urls", "certificate")},
            "node_home": reach.node_home,
            "shared": self._paths.root if shared else "",
            "kit": self._code,
            "payload": self._payload,
            "payload_name": self._payload_name,
            "cache_bytes": get_setting("node_cache_bytes", self._paths.root),
            "unused_s": get_setting("node_unused_days", self._paths.root) * 86400,
        }
        nodes = {str(place.node): {"root": place.root if shared else _node_root(place)} for place in gang}
        return boot_text({"common": common, "nodes": nodes})

    def resolve_environment(
        self, spec: EnvironmentSpec, log: Callable[[bytes], None], again: bool = False
    ) -> dict[str, Any]:
        """`Job.environment`: what a node builds, with everything it needs for it in the content store. May take long.

        Raises:
            UserError, EnvironmentBuildError: see environments.prepare.
        """
        data = environments.resolve_for_node(spec, log, again=again)
        for one in data.get("files", ()):
            path = one.pop("path")
            if not self._record.content.exists(one["sha256"]):
                with open(path, "rb") as f:
                    self._record.content.put(f, one["sha256"])
        if data["kind"] == "build":
            data["tools"] = {"machine": platform.machine(), "uv": self._tool("uv")}
            if data["lock"].get("conda"):
                data["tools"]["rattler"] = self._tool("rattler")
        return data

    def _tool(self, name: str) -> str:
        """The hash of a program (uv), or of a zip of a package (rattler)."""
        with self._lock:
            if name not in self._tools or not self._record.content.exists(self._tools[name]):
                self._tools[name] = self._store_uv() if name == "uv" else self._store_rattler()
            return self._tools[name]

    def _store_uv(self) -> str:
        with open(find_uv(), "rb") as f:
            return str(self._record.content.put(f)[0])

    def _store_rattler(self) -> str:
        from rookery.environments.conda.program import rattler_folder

        return self._store(pack(_files(rattler_folder(self._paths.root), "rattler/")))

    def _store(self, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        if not self._record.content.exists(sha256):
            self._record.content.put(io.BytesIO(data), sha256)
        return sha256

    def _mirror(self, sha256: str) -> None:
        """Beside the content where that is an object store: nodes with shared files and a spool only have no other way."""
        if self._record.content.local_path(sha256) is not None:
            return
        folder = os.path.join(self._paths.root, "kit")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, sha256 + ".zip")
        if not os.path.exists(path):
            with self._record.content.open(sha256) as f, open(path + ".new", "wb") as copy:
                copy.write(f.read())
            os.replace(path + ".new", path)


def boot_text(tickets: Mapping[str, Any]) -> str:
    """agent/boot.py with tickets in it."""
    with open(
        os.path.join(os.path.dirname(os.path.abspath(rookery.__file__)), "agent", "boot.py"), encoding="utf-8"
    ) as f:
        before, found, after = f.read().partition(_PLACE)
    if not found:
        raise RookeryError(
            "agent/boot.py has no place for tickets: the installation is damaged. Install Rookery again."
        )
    return before + ascii(json.dumps(tickets, sort_keys=True)) + after


def pack(files: Mapping[str, str], more: Optional[Mapping[str, bytes]] = None) -> bytes:
    """A zip of {name: file} and {name: bytes}; the same contents give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as zipped:
        for name in sorted({*files, *(more or {})}):
            if name in files:
                with open(files[name], "rb") as f:
                    data = f.read()
            else:
                data = (more or {})[name]
            about = zipfile.ZipInfo(name, _DATE)
            about.external_attr = 0o644 << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(about, data)
    return buffer.getvalue()


def _node_root(place: Place) -> str:
    return WorkspacePaths(NODE_HOME).attempt(place.run_id, place.attempt).node(place.node).root


def _code_files() -> dict[str, str]:
    package = os.path.dirname(os.path.abspath(rookery.__file__))
    found = {"rookery/" + name: os.path.join(package, name) for name in MODULES}
    for name in PACKAGES:
        found.update(_files(os.path.join(package, name), f"rookery/{name}/"))
    return found


def _files(folder: str, prefix: str) -> dict[str, str]:
    found = {}
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for file in files:
            if not file.endswith((".pyc", ".pyo")):
                full = os.path.join(here, file)
                found[prefix + os.path.relpath(full, folder).replace(os.sep, "/")] = full
    return found
