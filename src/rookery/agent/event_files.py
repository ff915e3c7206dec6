"""TensorBoard's event files below the watched folders: their scalars become metrics of the run while it goes.

Each file is shipped as a journal whose offsets are bytes of the file, so a value is stored once whoever is restarted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from rookery.agent.blocks import make_blocks
from rookery.agent.keeper import Keeper
from rookery.errors import ConflictError, RookeryError
from rookery.spec.tfevents import Scalar, masked_crc, read_event, split_record

__all__ = ["EventFiles", "is_event_file"]

PIECE = 4 * 1024 * 1024
CHECKED = 64 * 1024  # longer records hold pictures, and a checksum in Python takes its time
JOURNAL = "tensorboard:"


def is_event_file(name: str) -> bool:
    return ".tfevents." in name.rpartition("/")[2]


class EventFiles:
    """Files are added as they are found; `ship` sends what they have by now. Nothing is done where there are none."""

    def __init__(self, keeper: Keeper, offsets: dict[str, int], warn: Callable[[str], None]) -> None:
        self._keeper, self._offsets, self._warn = keeper, dict(offsets), warn
        self._files: dict[str, str] = {}
        self._given_up: set[str] = set()
        self._warned: set[str] = set()

    def add(self, name: str, path: str) -> None:
        """`name` is that of the log: `logs/train/events.out.tfevents.…`."""
        self._files.setdefault(name, path)

    def ship(self) -> None:
        for name, path in self._files.items():
            while name not in self._given_up and self._ship(name, path):
                pass

    def _ship(self, name: str, path: str) -> bool:
        """One helping of a file; whether there may be more."""
        journal = JOURNAL + name
        start = self._offsets.get(journal, 0)
        try:
            if os.path.getsize(path) <= start:
                return False
            with open(path, "rb") as f:
                f.seek(start)
                data = f.read(PIECE)
                scalars, end = self._read(name, data)
                if not end and len(data) == PIECE:  # one record that is larger than a helping
                    data += f.read()
                    scalars, end = self._read(name, data)
        except OSError:
            return False
        except ValueError as error:
            self._given_up.add(name)
            self._warn_once(f"{name} is damaged: {error}. What comes after byte {start} of it is not shown as metrics.")
            return False
        return bool(end) and self._post(journal, start, start + end, name, scalars)

    def _read(self, name: str, data: bytes) -> tuple[list[Scalar], int]:
        """(scalars, how many bytes the whole records take)."""
        found: list[Scalar] = []
        at = 0
        while True:
            record = split_record(data, at)
            if record is None:
                return found, at
            begin, end = record
            message = data[begin:end]
            small = len(message) <= CHECKED
            if small and masked_crc(message) != int.from_bytes(data[end : end + 4], "little"):
                if end + 4 == len(data):
                    return found, at  # it may be half written: its bytes come later
                self._warn_once(f"{name} has a damaged record, which was skipped.")
            else:
                try:
                    scalars, others = read_event(message)
                except (ValueError, TypeError):
                    scalars, others = [], 1
                found.extend(scalars)
                if others:
                    self._warn_once(
                        "TensorBoard's images, histograms and texts are not shown as metrics; the event files have them."
                    )
            at = end + 4

    def _post(self, journal: str, start: int, end: int, name: str, scalars: list[Scalar]) -> bool:
        prefix = _prefix(name)
        rows = [(prefix + s.tag, s.value, s.step, s.time) for s in scalars if s.tag]
        body: dict[str, Any] = {
            "journal": journal,
            "from": start,
            "to": end,
            "blocks": make_blocks(rows),
            "records": [],
        }
        try:
            self._offsets[journal] = int(self._keeper.call("POST", "journal", body=body)["ack"])
            return True
        except ConflictError as error:
            stored = error.details.get("offset")
            if isinstance(stored, int) and stored != start:
                self._offsets[journal] = stored
                return True
            reason: Exception = error
        except RookeryError as error:
            reason = error
        self._given_up.add(name)
        self._warn_once(f"{name} could not be stored as metrics: {reason}")
        return False

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._warn(text)


def _prefix(name: str) -> str:
    """`logs/train/events…` is the run `train` of TensorBoard: its tags are called `train/<tag>`."""
    folder = name.rpartition("/")[0].partition("/")[2]
    return folder + "/" if folder else ""
