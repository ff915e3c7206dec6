"""Collecting what nothing refers to any more. Safe beside uploads: what was seen within the grace stays, rows go before
files, and a file is removed only while nobody stores it again. Killed half way, the next time does the rest."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, exists, func, or_, select, update

from rookery.record.clock import from_unix, milliseconds
from rookery.record.collect_data import unused_definitions, unused_manifests
from rookery.record.collect_pipelines import snapshots_of_pipelines
from rookery.record.content import Content
from rookery.record.database import Database, Tx
from rookery.record.endpoints import served_snapshots
from rookery.record.leftovers import Found, Leftovers
from rookery.record.schema import (
    artifacts,
    content,
    events,
    logs,
    metadata,
    metric_blocks,
    metrics,
    model_files,
    models,
    runs,
    secrets,
    snapshots,
)
from rookery.record.schema_tracking import logged_models, loose_files
from rookery.record.secrets import run_owner
from rookery.record.snapshots import Snapshots
from rookery.spec.run import RunKind
from rookery.spec.status import ACTIVE

__all__ = ["Collected", "Collector"]

BATCH = 500
TOUCHED_S = 2 * 3600.0  # how much later than its use content may have been marked as seen
_DAY_S = 86400.0


@dataclass
class Collected:
    """What was found of one kind; `removed` of them are gone."""

    kind: str
    items: int = 0
    bytes: int = 0
    removed: int = 0

    def add(self, size: int, removed: bool) -> None:
        self.items += 1
        self.bytes += size
        self.removed += removed


class Collector:
    """
    Args:
        deleted_run_days: after so many days a deleted run is removed for good.
    """

    def __init__(
        self, db: Database, store: Content, known: Snapshots, leftovers: Leftovers, deleted_run_days: float
    ) -> None:
        self._db, self._store, self._snapshots, self._leftovers = db, store, known, leftovers
        self._deleted_run_days = deleted_run_days

    def collect(self, dry_run: bool, grace_s: float, keep: Iterable[str] = ()) -> list[Collected]:
        """Finds, and unless it is a dry run removes; one entry per kind. `keep` are folders that are in use."""
        now = time.time()
        before = min(now - grace_s, self._oldest_live() - TOUCHED_S)
        found = [self._runs(dry_run, from_unix(max(0.0, now - self._deleted_run_days * _DAY_S)))]
        found.append(self._unused_snapshots(dry_run, from_unix(before), now - max(grace_s, 60.0)))
        found.append(self._content(dry_run, from_unix(before), now))
        for kind, collect in (("manifests", unused_manifests), ("definitions", unused_definitions)):
            found.append(Collected(kind))
            collect(self._db, dry_run, from_unix(before), found[-1].add)
        found.append(self._files_without_row(dry_run, before))
        for kind, things in self._leftovers.find(before, frozenset(keep)):
            found.append(self._remove_all(kind, things, dry_run))
        return found

    def _oldest_live(self) -> float:
        """When the oldest run that is not over was made (unix seconds): its nodes may still fetch what was stored for it and
        nothing names, such as the code of their agent."""
        live = runs.c.status.in_([s.value for s in ACTIVE]) & (runs.c.kind != RunKind.EXTERNAL)
        with self._db.read() as conn:
            first = conn.execute(select(func.min(runs.c.created_utc)).where(live)).scalar()
        return milliseconds(first) / 1000 if first else time.time()

    def _runs(self, dry_run: bool, before: str) -> Collected:
        """Runs that were deleted long ago, the youngest first: a child goes before its parent, which waits for it."""
        done = Collected("deleted_runs")
        query = select(runs.c.id).where(runs.c.deleted_utc < before).order_by(runs.c.seq.desc())
        with self._db.read() as conn:
            ids = [run_id for (run_id,) in conn.execute(query)]
            sizes = (
                dict(conn.execute(select(logs.c.run_id, func.sum(logs.c.size)).group_by(logs.c.run_id)).all())
                if ids
                else {}
            )
        for run_id in ids:
            gone = False
            if not dry_run:
                with self._db.write() as tx:
                    still = select(runs.c.seq).where(runs.c.id == run_id, runs.c.deleted_utc < before)
                    children = select(runs.c.seq).where(runs.c.parent_id == run_id).limit(1)
                    if tx.conn.execute(still).first() and not tx.conn.execute(children).first():
                        remove_run(tx, run_id)
                        gone = True
            done.add(int(sizes.get(run_id, 0)), gone)
        return done

    def _unused_snapshots(self, dry_run: bool, before: str, asked_before: float) -> Collected:
        done = Collected("snapshots")
        unused = select(snapshots.c.id, func.length(snapshots.c.entries)).where(
            snapshots.c.created_utc < before, ~exists(select(runs.c.seq).where(runs.c.snapshot_id == snapshots.c.id))
        )
        with self._db.read() as conn:
            found = conn.execute(unused).all()
            of_models = (
                {facts.get("snapshot_id") for (facts,) in conn.execute(select(models.c.facts)) if facts}
                if found
                else set()
            ) | served_snapshots(conn)
            of_models |= snapshots_of_pipelines(conn) if found else set()
        for snapshot_id, size in found:
            if snapshot_id in of_models or self._snapshots.was_asked_for(snapshot_id, asked_before):
                continue
            gone = 0
            if not dry_run:
                with self._db.write() as tx:
                    used = exists(select(runs.c.seq).where(runs.c.snapshot_id == snapshot_id))
                    if snapshot_id in served_snapshots(tx.conn):
                        continue  # deployed in this very moment
                    gone = tx.conn.execute(delete(snapshots).where(snapshots.c.id == snapshot_id, ~used)).rowcount
            done.add(int(size or 0), bool(gone))
        return done

    def _content(self, dry_run: bool, before: str, now: float) -> Collected:
        """Blobs that no artifact, model, file or snapshot names, and that nobody has asked for of late."""
        done = Collected("content")
        with self._db.read() as conn:
            old = or_(content.c.seen_utc.is_(None), content.c.seen_utc < before)
            unnamed = select(content.c.sha256, content.c.size).where(old, *_UNNAMED)
            sizes = {row.sha256: row.size for row in conn.execute(unnamed)}
            for sha in _in_snapshots(conn, ""):
                sizes.pop(sha, None)
            scanned = from_unix(now - 1.0)
        hashes = sorted(sizes)
        for i in range(0, len(hashes), BATCH):
            some = hashes[i : i + BATCH]
            gone = [] if dry_run else self._remove_rows(some, before, scanned)
            for sha in some:
                done.add(sizes[sha], sha in gone)
        return done

    def _remove_rows(self, hashes: list[str], before: str, scanned: str) -> set[str]:
        """In one transaction: looks again, because what was unused a moment ago may be in use now."""
        with self._db.write() as tx:
            old = or_(content.c.seen_utc.is_(None), content.c.seen_utc < before)
            query = select(content.c.sha256).where(content.c.sha256.in_(hashes), old, *_UNNAMED)
            gone = {sha for (sha,) in tx.conn.execute(query)} - set(_in_snapshots(tx.conn, scanned))
            if gone:
                tx.conn.execute(delete(content).where(content.c.sha256.in_(sorted(gone))))
        for sha in gone:
            # Killed here: the file has no row, and is found as such the next time.
            self._store.remove_file(sha)
        return gone

    def _files_without_row(self, dry_run: bool, before: float) -> Collected:
        done = Collected("files_without_row")
        batch: list[tuple[str, int, float]] = []
        for one in self._store.files():
            if one[2] < before:
                batch.append(one)
            if len(batch) >= BATCH:
                self._look_at_files(batch, done, dry_run, before)
                batch = []
        self._look_at_files(batch, done, dry_run, before)
        return done

    def _look_at_files(
        self, batch: list[tuple[str, int, float]], done: Collected, dry_run: bool, before: float
    ) -> None:
        with self._db.read() as conn:
            some = [sha for sha, _, _ in batch]
            known = {sha for (sha,) in conn.execute(select(content.c.sha256).where(content.c.sha256.in_(some)))}
        for sha, size, _ in batch:
            if sha not in known:
                done.add(size, not dry_run and self._store.remove_file(sha, before))

    def _remove_all(self, kind: str, things: Iterator[Found], dry_run: bool) -> Collected:
        done = Collected(kind)
        for thing in things:
            done.add(thing.bytes, not dry_run and self._leftovers.remove(thing))
        return done


def remove_run(tx: Tx, run_id: str) -> None:
    """Everything that the record has of a run. What was registered from it stays, without its name."""
    of_run = select(metrics.c.id).where(metrics.c.run_id == run_id)
    tx.conn.execute(delete(metric_blocks).where(metric_blocks.c.metric_id.in_(of_run)))
    for table in (models, logged_models):
        tx.conn.execute(update(table).where(table.c.run_id == run_id).values(run_id=None))
    tx.conn.execute(delete(secrets).where(secrets.c.owner == run_owner(run_id)))
    tx.conn.execute(delete(events).where(events.c.run_id == run_id))
    for table in reversed(metadata.sorted_tables):
        for column in table.c:
            if table not in (runs, models, logged_models) and any(k.column is runs.c.id for k in column.foreign_keys):
                tx.conn.execute(delete(table).where(column == run_id))
    tx.conn.execute(delete(runs).where(runs.c.id == run_id))
    tx.memory.forget(run_id)


_UNNAMED = tuple(
    ~exists(select(table.c.sha256).where(table.c.sha256 == content.c.sha256))
    for table in (artifacts, model_files, loose_files)
)


def _in_snapshots(conn: Any, since: str) -> Iterator[str]:
    """The hashes that snapshots name, of those made since then."""
    query = select(snapshots.c.entries).where(snapshots.c.created_utc >= since)
    for (entries,) in conn.execute(query, execution_options={"yield_per": 10}):
        yield from (entry["sha256"] for entry in json.loads(zlib.decompress(entries)) if entry.get("sha256"))
