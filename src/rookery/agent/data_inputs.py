"""A run's inputs on its node before its ranks start: linked where their files are seen, else fetched once per machine."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from rookery.agent.data_cache import DataCache
from rookery.agent.data_progress import Progress
from rookery.errors import DataError, KeeperUnavailableError, RookeryError
from rookery.spec.container import Mount
from rookery.spec.data import DataMode, InputJob
from rookery.spec.job import Job
from rookery.spec.manifest import Entry, Manifest, manifest_from_plain
from rookery.spec.names import check_artifact_name
from rookery.worker.copying import copy_file
from rookery.worker.http import HttpClient

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["deliver_inputs", "with_variables"]

TOGETHER_BYTES = 16 * 1024 * 1024
TOGETHER_FILES = 2000
SMALL_BYTES = 1024 * 1024
TRIES = 5


def deliver_inputs(agent: Agent) -> dict[str, str]:
    """The variables that tell where inputs are.

    Raises:
        DataError: names the input, and what is wrong with it.
        DeliveryStopped: the run is to stop; nothing half is called complete.
    """
    variables: dict[str, str] = {}
    with Progress(agent) as progress:
        for given in agent.job.inputs:
            variables.update(dict.fromkeys(given.variables, _value(agent, given, progress)))
    if agent.job.inputs and agent.job.data_cache:
        with contextlib.suppress(OSError):
            DataCache(agent.job.data_cache, agent.job.data_cache_bytes).trim()
    return variables


def with_variables(job: Job, variables: dict[str, str]) -> Job:
    """The job, its ranks with these variables too."""
    ranks = tuple(replace(rank, variables={**rank.variables, **variables}) for rank in job.ranks)
    return replace(job, ranks=ranks)


def _value(agent: Agent, given: InputJob, progress: Progress) -> str:
    if given.mode == DataMode.DIRECT:
        return given.value
    try:
        return _deliver(agent, given, progress)
    except OSError as error:
        if isinstance(error, RookeryError):
            raise
        raise DataError(f"Input '{given.name}' cannot be brought to the node: {error.strerror or error}.") from error
    except RookeryError as error:
        raise DataError(f"Input '{given.name}' cannot be brought to the node: {error}") from error


def _deliver(agent: Agent, given: InputJob, progress: Progress) -> str:
    """The path that the script is given."""
    manifest = manifest_from_plain(agent.keeper.request("GET", f"/data/manifests/{given.manifest_id}"))
    progress.begin(given.name)
    tree = _Tree(agent, manifest, progress).ensure()
    private = os.path.dirname(agent.job.work)
    if agent.job.container and given.mode != DataMode.DOWNLOAD:
        agent.data_mounts += [Mount(folder, read_only=True) for folder in _linked_folders(manifest, tree)]
    if given.mode == DataMode.DOWNLOAD:
        target = _on_compute(agent, given) or os.path.join(private, "inputs", given.name)
        _copy(progress, manifest, tree, target)
    elif given.path_on_compute:
        target = _on_compute(agent, given)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _make_way(target, given)
        os.symlink(tree, target)
    else:
        target = tree
    if agent.job.container and given.path_on_compute and not _is_below(target, private):
        # A link of the machine's is nothing in a container: what it leads to is shown at its place.
        is_link = os.path.islink(target)
        agent.data_mounts.append(Mount(tree, read_only=True, target=target) if is_link else Mount(target))
    return os.path.join(target, manifest.entries[0].path) if given.is_single else target


def _linked_folders(manifest: Manifest, tree: str) -> list[str]:
    """Folders of datastores that the tree leads to by symbolic links (they lie on another disk): containers must see them too."""
    found = set()
    roots = [os.path.realpath(store.folder) if store.folder else "" for store in manifest.stores]
    for entry in manifest.entries:
        path = os.path.join(tree, *entry.path.rstrip("/").split("/"))
        if roots[entry.store] and os.path.islink(path):
            leads = os.readlink(path)
            # A store may follow links out of its folder, where it was told to.
            is_inside = _is_below(leads, roots[entry.store])
            found.add(roots[entry.store] if is_inside else os.path.dirname(leads))
    return sorted(found)


def _is_below(path: str, folder: str) -> bool:
    return os.path.abspath(path).startswith(os.path.abspath(folder) + os.sep)


def _on_compute(agent: Agent, given: InputJob) -> str:
    return os.path.normpath(os.path.join(agent.job.work, given.path_on_compute)) if given.path_on_compute else ""


def _make_way(target: str, given: InputJob) -> None:
    if os.path.islink(target):
        os.unlink(target)
    elif os.path.isdir(target) and not os.listdir(target):
        os.rmdir(target)
    elif os.path.lexists(target):
        raise DataError(f"path_on_compute '{given.path_on_compute}' is there already, and is not empty.")


def _copy(progress: Progress, manifest: Manifest, tree: str, target: str) -> None:
    """A copy that is the run's own: it may write to it."""
    os.makedirs(target, exist_ok=True)
    for entry in manifest.entries:
        path = os.path.join(target, *entry.path.rstrip("/").split("/"))
        if entry.is_folder:
            os.makedirs(path, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        copy_file(os.path.join(tree, *entry.path.split("/")), path)
        progress.check()


class _Tree:
    """The folder that shows a manifest, made once per machine."""

    def __init__(self, agent: Agent, manifest: Manifest, progress: Progress) -> None:
        self._agent, self._manifest, self._progress = agent, manifest, progress
        self._cache = DataCache(agent.job.data_cache)
        self._making = ""  # where the tree grows

    def ensure(self) -> str:
        manifest, cache = self._manifest, self._cache
        self._agent.claims.append(cache.hold(manifest.id))  # as long as this agent lives
        with cache.building(manifest.id, self._progress.check):
            if not cache.has_tree(manifest.id):
                self._build(cache.begin(manifest.id))
                cache.complete(manifest.id)
            elif not self._is_true():
                raise DataError("its files have changed since it was listed. Submit again: it is listed anew then.")
            else:
                cache.use(manifest.id)
        return cache.tree(manifest.id)

    def _is_true(self) -> bool:
        """Whether what was linked is still what the manifest means."""
        tree = self._cache.tree(self._manifest.id)
        for entry in self._manifest.entries:
            if not entry.is_folder and self._manifest.stores[entry.store].folder:
                try:
                    about = os.stat(os.path.join(tree, entry.path))
                except OSError:
                    return False
                if about.st_size != entry.size:
                    return False
        return True

    def _build(self, folder: str) -> None:
        self._making = folder
        waiting: list[tuple[int, Entry]] = []
        made = {folder}
        for index, entry in enumerate(self._manifest.entries):
            path = os.path.join(folder, check_artifact_name(entry.path.rstrip("/")))
            parent = path if entry.is_folder else os.path.dirname(path)
            if parent not in made:
                os.makedirs(parent, exist_ok=True)
                made.add(parent)
            if not entry.is_folder and not self._link(entry, path):
                waiting.append((index, entry))
            if not index % 1000:
                self._progress.check()
        self._fetch([item for item in waiting if not self._link_blob(item[1])])

    def _link(self, entry: Entry, path: str) -> bool:
        """Whether the file itself is seen here. One that is seen and is another by now is an error."""
        store = self._manifest.stores[entry.store]
        if not store.folder or not os.path.isdir(store.folder):
            return False
        source = os.path.join(store.folder, entry.place)
        try:
            about = os.stat(source)
        except OSError:
            return False
        if (about.st_size, str(about.st_mtime_ns)) != (entry.size, entry.etag):
            return False  # the keeper says what it is
        _link(source, path)
        return True

    def _link_blob(self, entry: Entry) -> bool:
        """Whether the content is here already. What is in a tree is not trimmed."""
        blob = self._cache.blob(entry.key)
        try:
            if os.path.getsize(blob) != entry.size:
                os.unlink(blob)  # the machine went down before it was on disk
                return False
            os.utime(blob)
        except FileNotFoundError:
            return False
        self._show(entry)
        return True

    def _fetch(self, missing: list[tuple[int, Entry]]) -> None:
        self._progress.expect(sum(e.size for _, e in missing))
        group: list[tuple[int, Entry]] = []
        for item in missing:
            is_next = not group or item[0] == group[-1][0] + 1
            size = sum(e.size for _, e in group)
            if group and (not is_next or size > TOGETHER_BYTES or len(group) >= TOGETHER_FILES):
                self._fetch_together(group)
                group = []
            if item[1].size > SMALL_BYTES:
                self._fetch_one(*item)
            else:
                group.append(item)
            self._progress.check()
        self._fetch_together(group)

    def _fetch_together(self, group: list[tuple[int, Entry]]) -> None:
        """Small neighbours in one answer; what of it did not come is asked for by itself, and then says why."""
        left = list(group)
        if len(left) > 1:
            query = {"first": left[0][0], "count": len(left)}
            with tempfile.TemporaryFile(dir=self._cache.incoming_folder()) as file:
                with contextlib.suppress(KeeperUnavailableError):
                    route = f"/data/manifests/{self._manifest.id}/bytes"
                    self._agent.keeper.once(lambda client: client.download(route, file, query))
                file.seek(0)
                while left:
                    entry = left[0][1]
                    data = file.read(entry.size)
                    if len(data) < entry.size or not self._is_right(entry, hashlib.sha256(data).hexdigest()):
                        break
                    self._keep(entry, data)
                    self._progress.add(entry.size)
                    left.pop(0)
        for index, entry in left:
            self._fetch_one(index, entry)

    def _fetch_one(self, index: int, entry: Entry) -> None:
        """Goes on with what an agent that was killed left of it; that is checked with the rest, and else begun anew."""
        route = f"/data/manifests/{self._manifest.id}/files/{index}"
        with self._cache.incoming(entry.key, self._manifest.hashed, self._progress.check) as file:
            if file is not None:
                found = min(file.tell(), entry.size)
                file.truncate(file.seek(found))
                self._progress.add(found)
                is_whole = self._download(route, file, entry)
                if not is_whole and found:
                    self._progress.add(-file.tell())
                    file.truncate(file.seek(0))
                    is_whole = self._download(route, file, entry)
                if not is_whole:
                    self._cache.drop(entry.key)
                    raise DataError(
                        f"'{entry.path}' came with other bytes than it has. It has changed since it was listed."
                    )
                file.flush()
                self._cache.keep(entry.key)
        self._show(entry)

    def _download(self, route: str, file: BinaryIO, entry: Entry) -> bool:
        """Whether it came as it should. Goes on where it was cut off; a store that breaks off again and again is an error, a
        keeper that is away is not."""
        tries, reason, watched = 0, "", self._progress.watched(file)

        def fetch(client: HttpClient) -> None:
            try:
                client.download_rest(route, watched, file.tell())
            except BaseException:
                client.close()  # what is left in the connection is nobody's answer
                raise

        while (file.tell() < entry.size or not entry.size) and tries < TRIES:
            start = file.tell()
            try:
                self._agent.keeper.once(fetch)
                break
            except KeeperUnavailableError as error:
                reason = str(error)
            self._agent.keeper.request("GET", f"/data/manifests/{self._manifest.id}", {"count": 0})  # waits for it
            tries = 0 if file.tell() > start else tries + 1
            self._agent.keeper.pause(0.1 * tries)
        if tries >= TRIES:
            raise DataError(
                f"'{entry.path}' breaks off after {file.tell()} of {entry.size} bytes ({reason}). Tried {TRIES} times."
            )
        return file.tell() == entry.size and self._is_right(entry, _sha256(file) if self._manifest.hashed else "")

    def _is_right(self, entry: Entry, digest: str) -> bool:
        return not self._manifest.hashed or digest == entry.key

    def _keep(self, entry: Entry, data: bytes) -> None:
        handle, partial = tempfile.mkstemp(dir=self._cache.incoming_folder(), prefix=".partial-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        self._cache.keep(entry.key, partial)
        self._show(entry)

    def _show(self, entry: Entry) -> None:
        """A content that is here becomes a file of the tree."""
        path = os.path.join(self._making, entry.path)
        if not _link(self._cache.blob(entry.key), path):
            with open(self._cache.symlinks, "ab"):
                pass


def _link(source: str, path: str) -> bool:
    """A hard link, which no later rename at its source changes; else a symbolic one. Whether it is a hard one."""
    try:
        os.link(source, path, follow_symlinks=True)
        return True
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        os.symlink(os.path.realpath(source), path)
        return False


def _sha256(file: BinaryIO) -> str:
    """Of all of it; afterwards it stands at its end."""
    digest = hashlib.sha256()
    file.seek(0)
    while True:
        data = file.read(1024 * 1024)
        if not data:
            return digest.hexdigest()
        digest.update(data)
