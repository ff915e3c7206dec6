"""Data on a machine: contents by key, and the trees that show manifests; shared by its runs, the longest unused go first."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from typing import IO, BinaryIO, Optional

from rookery.agent.disk import read_json, write_json

__all__ = ["DataCache"]

KEPT_S = 7 * 86400.0  # a tree that nobody has used for so long goes, whatever there is room for
UNFINISHED_S = 86400.0  # what was begun and is not worked at may be taken up again for so long
FRESH_S = 600.0  # a content that came just now is about to be in a tree
LOOK_S = 0.1


class DataCache:
    """Promises: a content is whole or absent; a tree that is marked complete is; nothing that a live agent holds goes.

    Args:
        limit_bytes: what `trim` lets contents take; 0 keeps them all.
    """

    def __init__(self, root: str, limit_bytes: int = 0) -> None:
        self.root, self._limit_bytes = root, limit_bytes
        self._trees = os.path.join(root, "trees")
        self._blobs = os.path.join(root, "blobs")
        self.symlinks = os.path.join(root, "symlinks")  # there: a tree shows some content through a symbolic link

    def tree(self, manifest_id: str) -> str:
        return os.path.join(self._trees, manifest_id)

    def blob(self, key: str) -> str:
        return os.path.join(self._blobs, key[:2], key)

    def has_tree(self, manifest_id: str) -> bool:
        return read_json(self._mark(manifest_id)) is not None

    def hold(self, manifest_id: str) -> IO[bytes]:
        """A file that keeps this tree from being removed until it is closed. Any number of agents may hold it."""
        os.makedirs(self._trees, mode=0o700, exist_ok=True)
        held = open(self._lock(manifest_id), "ab")  # noqa: SIM115
        fcntl.flock(held, fcntl.LOCK_SH)
        return held

    @contextlib.contextmanager
    def building(self, manifest_id: str, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Inside it nobody else builds this tree; `waiting` is called again and again while somebody does."""
        with open(os.path.join(self._trees, manifest_id + ".build"), "ab") as mine:
            _lock_alone(mine, waiting)
            yield

    @contextlib.contextmanager
    def incoming(
        self, key: str, go_on: bool, waiting: Callable[[], object] = lambda: None
    ) -> Iterator[Optional[BinaryIO]]:
        """The file in which a content grows, open at its end and for one agent at a time; None: it came in the meantime.

        Args:
            go_on: begin with what an agent that was killed has left. Only where the whole can be checked.
        """
        path = os.path.join(self.incoming_folder(), "." + key)
        while True:
            file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b")
            try:
                _lock_alone(file, waiting)
                if os.path.exists(self.blob(key)):
                    yield None
                    return
                if _is_at(file, path):  # else whoever had it took it away
                    if not go_on:
                        file.truncate(0)
                    file.seek(0, os.SEEK_END)
                    yield file
                    return
            finally:
                file.close()

    def drop(self, key: str) -> None:
        """Forgets what came of a content; to be called in `incoming`."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.incoming_folder(), "." + key))

    def keep(self, key: str, path: str = "") -> None:
        """Makes the whole content, at `path` or (in `incoming`) where it grew, one that others may use."""
        path, target = path or os.path.join(self.incoming_folder(), "." + key), self.blob(key)
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        os.chmod(path, 0o444)
        os.replace(path, target)

    def incoming_folder(self) -> str:
        folder = os.path.join(self.root, "incoming")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return folder

    def begin(self, manifest_id: str) -> str:
        """An empty folder for a tree in the making; to be called in `building`."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._mark(manifest_id))
        for path in (self.tree(manifest_id), self._making(manifest_id)):
            shutil.rmtree(path, ignore_errors=True)
        os.makedirs(self._making(manifest_id), mode=0o755)
        return self._making(manifest_id)

    def complete(self, manifest_id: str) -> None:
        """The tree is whole."""
        os.rename(self._making(manifest_id), self.tree(manifest_id))
        self.use(manifest_id)

    def use(self, manifest_id: str) -> None:
        write_json(self._mark(manifest_id), {"used": time.time()})

    def trim(self) -> int:
        """Removes what nobody has used for long; then, until contents fit, those that no tree shows, the longest unused first,
        and one tree after the other in the same order. Returns the bytes of contents that were freed."""
        if not os.path.isdir(self.root):
            return 0
        trees = sorted(self._marked(), key=lambda pair: pair[1])
        for manifest_id, used in trees:
            if time.time() - used > KEPT_S:
                self._remove(manifest_id)
        self._trim_unfinished()
        if not self._limit_bytes:
            return 0
        contents = sorted(self._contents())
        too_much = before = sum(size for _, size, _ in contents) - self._limit_bytes
        for manifest_id, _ in [("", 0.0), *trees]:
            if too_much <= 0:
                break
            if not manifest_id or self._remove(manifest_id):
                too_much -= self._trim_contents(contents, too_much)
        return before - too_much

    def _remove(self, manifest_id: str) -> bool:
        """Whether the tree is gone now."""
        with open(self._lock(manifest_id), "ab") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False  # somebody uses it
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._mark(manifest_id))
            for path in (self.tree(manifest_id), self._making(manifest_id)):
                shutil.rmtree(path, ignore_errors=True)
            return True

    def _trim_contents(self, contents: list[tuple[float, int, str]], too_much: int) -> int:
        """Takes those that went out of the list."""
        freed, left, shown = 0, [], self._shown_by_symlinks()
        for used, size, path in contents:
            is_wanted = freed >= too_much or time.time() - used < FRESH_S or os.path.realpath(path) in shown
            with contextlib.suppress(FileNotFoundError):
                if is_wanted or os.stat(path).st_nlink > 1:  # in a tree
                    left.append((used, size, path))
                    continue
                os.unlink(path)
            freed += size
        contents[:] = left
        return freed

    def _shown_by_symlinks(self) -> set[str]:
        """The contents that trees show where a file system has no hard links, or no more of them for one file."""
        found: set[str] = set()
        if os.path.exists(self.symlinks):
            for here, _, names in os.walk(self._trees):
                paths = (os.path.join(here, name) for name in names)
                found.update(os.path.realpath(path) for path in paths if os.path.islink(path))
        return found

    def _trim_unfinished(self) -> None:
        """What agents that were killed have begun: trees that nobody builds, contents that nobody fetches."""
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(self._trees):
                manifest_id, dot, end = name.rpartition(".")
                is_making = dot and end == "making" and not self.has_tree(manifest_id)
                if is_making and _is_old(os.path.join(self._trees, name)):
                    self._remove(manifest_id)
        for name in os.listdir(self.incoming_folder()):
            path = os.path.join(self.incoming_folder(), name)
            with contextlib.suppress(OSError), open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_old(path):
                    os.unlink(path)

    def _marked(self) -> Iterator[tuple[str, float]]:
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(self._trees):
                if name.endswith(".json"):
                    found = read_json(os.path.join(self._trees, name))
                    yield name[:-5], float((found or {}).get("used") or 0)

    def _contents(self) -> Iterator[tuple[float, int, str]]:
        for here, _, names in os.walk(self._blobs):
            for name in names:
                with contextlib.suppress(OSError):
                    about = os.stat(os.path.join(here, name))
                    yield about.st_mtime, about.st_size, os.path.join(here, name)

    def _lock(self, manifest_id: str) -> str:
        return os.path.join(self._trees, manifest_id + ".lock")

    def _mark(self, manifest_id: str) -> str:
        return os.path.join(self._trees, manifest_id + ".json")

    def _making(self, manifest_id: str) -> str:
        return os.path.join(self._trees, manifest_id + ".making")


def _lock_alone(file: IO[bytes], waiting: Callable[[], object]) -> None:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            waiting()
            time.sleep(LOOK_S)


def _is_at(file: IO[bytes], path: str) -> bool:
    """Whether the open file is still the one at `path`."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _is_old(path: str) -> bool:
    return time.time() - os.stat(path).st_mtime > UNFINISHED_S
