"""Shipping journals: read, pack, send, exactly once. Uploads are sent where they stand in the journal."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Optional

from rookery.agent.blocks import Batch, make_batches
from rookery.agent.folders import store_file
from rookery.agent.keeper import Gone, Keeper
from rookery.errors import ConflictError, RookeryError
from rookery.spec.paths import RankPaths
from rookery.worker.journal import scan_journal

__all__ = ["JournalShipper"]

# Looking at the sizes of a few files costs microseconds; being told of every write would cost the training
# thread.
LOOK_S = 0.15
LOOK_IDLE_S = 0.6
IDLE_AFTER_S = 5.0
_RANK = re.compile(r"-r([0-9]{1,9})\.jnl\Z")  # of a rank that a launcher started (worker/journal.py)


class JournalShipper:
    """One thread that ships the journals of all ranks of this node.

    Promises: every record that was accepted is sent in order, once; what the keeper refuses (4xx) is a
    warning and is left behind; `drain` returns when what was on disk at its call is acknowledged.
    """

    def __init__(
        self,
        keeper: Keeper,
        run_id: str,
        ranks: list[RankPaths],
        offsets: dict[str, int],
        warn: Callable[[str], None],
        numbers: Optional[Mapping[str, int]] = None,
    ) -> None:
        """numbers: {root of a RankPaths: rank}, where a run has several ranks and this one is known to be one."""
        self._keeper, self._run_id, self._ranks, self._warn = keeper, run_id, ranks, warn
        self._numbers = numbers or {}
        self._acked: dict[str, int] = dict(offsets)
        self._changed = threading.Condition()
        self._hurry = threading.Event()
        self._ending = False
        self._dead = False
        self._thread = threading.Thread(target=self._run, name="journals", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def drain(self, timeout_s: float) -> bool:
        """Wait until everything accepted so far is acknowledged; False after the timeout."""
        wanted = {name: size for name, (_, _, size) in self._files().items()}
        deadline = time.monotonic() + timeout_s
        self._hurry.set()
        with self._changed:
            while not self._dead and any(self._acked.get(name, 0) < size for name, size in wanted.items()):
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(min(left, 0.5))
                self._hurry.set()
        return not self._dead

    def finish(self) -> None:
        """Ship everything that is there; returns when it is acknowledged. The writers are gone by now."""
        self._ending = True
        self._hurry.set()
        self._thread.join()
        for name, (_, _, size) in self._files().items():
            left = size - self._acked.get(name, 0)
            if left > 0 and not self._dead:
                self._warn(f"The journal {name} ends in the middle of a record; its last {left} bytes are lost.")

    def _run(self) -> None:
        last = time.monotonic()
        try:
            while not self._ending:
                if self._ship_all():
                    last = time.monotonic()
                idle = time.monotonic() - last > IDLE_AFTER_S
                self._hurry.wait(LOOK_IDLE_S if idle else LOOK_S)
                self._hurry.clear()
            while self._ship_all():
                pass
        except Gone:
            pass
        finally:
            with self._changed:
                self._dead = not self._ending
                self._changed.notify_all()

    def _files(self) -> dict[str, tuple[RankPaths, str, int]]:
        """{journal: (rank, path, size)}."""
        found = {}
        for rank in self._ranks:
            try:
                names = sorted(n for n in os.listdir(rank.journal) if n.endswith(".jnl"))
            except OSError:
                continue
            for name in names:
                path = os.path.join(rank.journal, name)
                try:
                    found[name] = (rank, path, os.path.getsize(path))
                except OSError:
                    continue
        return found

    def _ship_all(self) -> bool:
        moved = False
        for name, (rank, path, size) in self._files().items():
            if self._acked.get(name, 0) < size:
                moved |= self._ship(name, rank, path)
        return moved

    def _ship(self, name: str, rank: RankPaths, path: str) -> bool:
        """One helping of a journal; whether it got further."""
        start = self._acked.get(name, 0)
        try:
            rows, end = scan_journal(path, start)
        except OSError as error:
            self._warn(f"The journal {name} cannot be read: {error}.")
            return False
        if end == start:
            return False
        batches = make_batches(rows)
        if batches:
            batches[-1].end = end
        else:
            batches = [Batch(end)]
        for batch in batches:
            if batch.damaged:
                self._warn(f"{batch.damaged} damaged records in the journal {name} were skipped.")
            if batch.upload:
                self._upload(rank, batch.upload)
            if not self._post(name, batch, self._number(name, rank)):
                break  # the keeper told us where to go on from
        return self._acked.get(name, 0) > start

    def _upload(self, rank: RankPaths, record: list[Any]) -> None:
        _, run, artifact, token = record[:4]
        file = os.path.join(rank.uploads, os.path.basename(str(token)))
        store_file(self._keeper, run or self._run_id, artifact, file, self._warn)

    def _number(self, name: str, rank: RankPaths) -> Optional[int]:
        """Whose values these are; None where the run has one rank only."""
        told = _RANK.search(name)
        return int(told.group(1)) if told else self._numbers.get(rank.root)

    def _post(self, name: str, batch: Batch, rank: Optional[int]) -> bool:
        start = self._acked.get(name, 0)
        body: dict[str, Any] = {
            "journal": name,
            "from": start,
            "to": batch.end,
            "blocks": batch.blocks,
            "records": batch.records,
        }
        if rank is not None:
            body["rank"] = rank
        try:
            ack = int(self._keeper.call("POST", "journal", body=body)["ack"])
        except ConflictError as error:
            stored = error.details.get("offset")
            if not isinstance(stored, int) or stored == start:
                self._warn(f"Part of the journal {name} was refused: {error}")
                return self._advance(name, batch.end)
            self._advance(name, stored)
            return False
        except RookeryError as error:
            # Told once, never again and again: the rest of the journal still counts.
            self._warn(f"Part of the journal {name} was refused: {error}")
            return self._skip(name, start, batch)
        self._advance(name, ack)
        if batch.upload:
            self._remove_upload(batch.upload)
        return ack >= batch.end

    def _skip(self, name: str, start: int, batch: Batch) -> bool:
        """Move the keeper's offset past a batch that it does not want."""
        body = {"journal": name, "from": start, "to": batch.end, "blocks": [], "records": []}
        try:
            self._keeper.call("POST", "journal", body=body)
        except RookeryError:
            pass
        return self._advance(name, batch.end)

    def _advance(self, name: str, offset: int) -> bool:
        with self._changed:
            self._acked[name] = offset
            self._changed.notify_all()
        return True

    def _remove_upload(self, record: list[Any]) -> None:
        for rank in self._ranks:
            try:
                os.unlink(os.path.join(rank.uploads, os.path.basename(str(record[3]))))
            except OSError:
                pass
