"""Files and folders that outlived what they belonged to: logs and folders of runs that are gone, spool, payloads, uploads."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy import select

from rookery.record.database import Database
from rookery.record.schema import environment_builds, runs
from rookery.record.schema_serve import endpoints
from rookery.spec.paths import WorkspacePaths
from rookery.spec.status import ACTIVE

__all__ = ["Found", "Leftovers"]


@dataclass(frozen=True)
class Found:
    path: str
    bytes: int
    before: float  # it was last changed before this (unix seconds), or it is not removed


class Leftovers:
    """Promises: only what is older than the grace is named; links are removed, never followed."""

    def __init__(self, db: Database, paths: WorkspacePaths) -> None:
        self._db, self._paths = db, paths

    def find(self, before: float, keep: frozenset[str]) -> Iterator[tuple[str, Iterator[Found]]]:
        """(kind, what there is of it), for every kind."""
        with self._db.read() as conn:
            known = {row.id: row.status for row in conn.execute(select(runs.c.id, runs.c.status))}
            served = {name for (name,) in conn.execute(select(endpoints.c.name))}
            builds = {build for (build,) in conn.execute(select(environment_builds.c.id))}
        live = {run_id for run_id, status in known.items() if status in {s.value for s in ACTIVE}}
        paths = self._paths
        yield "logs_of_no_run", _old(paths.logs, before, lambda name: name not in known)
        yield "folders_of_no_run", _old(paths.runs, before, lambda name: name not in known)
        yield "spool", _old(paths.spool, before, lambda name: name.rsplit(".", 2)[0] not in live)
        # A run that is alive, and an endpoint, may use any of them.
        yield (
            "payloads",
            _old(
                paths.payloads,
                before,
                lambda name: not (live or served) and os.path.join(paths.payloads, name) not in keep,
            ),
        )
        yield "folders_of_no_endpoint", _old(paths.serve, before, lambda name: name not in served)
        yield "build_logs", _old(paths.build_logs, before, lambda name: name.rpartition(".")[0] not in builds)
        yield "uploads", _old(os.path.join(paths.content, "incoming"), before, lambda name: True)

    def remove(self, found: Found) -> bool:
        """Whether it is gone."""
        if _newest(found.path) >= found.before:
            return False
        if os.path.isdir(found.path) and not os.path.islink(found.path):
            shutil.rmtree(found.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(found.path)
        return not os.path.lexists(found.path)


def _old(folder: str, before: float, is_left: Callable[[str], bool]) -> Iterator[Found]:
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if is_left(name) and _newest(path) < before:
                yield Found(path, _size(path), before)


def _size(path: str) -> int:
    return sum(size for size, _ in _look(path))


def _newest(path: str) -> float:
    return max((when for _, when in _look(path)), default=0.0)


def _look(path: str) -> Iterator[tuple[int, float]]:
    """(size, time) of everything below, the folders too."""
    with contextlib.suppress(OSError):
        stat = os.lstat(path)
        yield stat.st_size, stat.st_mtime
        if os.path.isdir(path) and not os.path.islink(path):
            with os.scandir(path) as found:
                for entry in found:
                    yield from _look(entry.path)
