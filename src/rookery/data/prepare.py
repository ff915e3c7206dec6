"""What a run's inputs come to, once, before any node is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rookery.data.resolve import resolver_of
from rookery.errors import DataError, RookeryError
from rookery.record import Record
from rookery.record.run_data import data_row
from rookery.spec.data import DataInput, DataMode
from rookery.spec.run import RunSpec

__all__ = ["Prepared", "prepare_inputs"]


@dataclass(frozen=True)
class Prepared:
    """One input, resolved."""

    name: str
    manifest_id: str  # empty in mode direct
    is_single: bool = False
    fingerprint: str = ""
    files: int = 0
    bytes: int = 0


def prepare_inputs(record: Record, spec: RunSpec) -> dict[str, Prepared]:
    """By name. What was resolved for the run before (a try before this one) stands: every attempt gets the same data.

    Raises:
        DataError: names the input and what is wrong with it.
    """
    known = {row["name"]: row for row in record.run_data.of_run(spec.run_id, "in")}
    found, rows = {}, []
    for given in spec.inputs:
        row = known.get(given.name)
        if row is None:
            row, warning = _resolve(record, given)
            rows.append(row)
            if warning:
                record.runs.warn(spec.run_id, warning)
        found[given.name] = Prepared(
            given.name, row["manifest_id"], bool(row["is_single"]), row["fingerprint"], row["files"], row["bytes"]
        )
    if rows:
        record.run_data.put(spec.run_id, rows)
    return found


def _resolve(record: Record, given: DataInput) -> tuple[dict[str, Any], str]:
    """(the row, a warning or nothing)."""
    manifest, warning = None, ""
    try:
        definition = record.datasets.definition(given.definition_id)
        if given.mode != DataMode.DIRECT:
            manifest = resolver_of(record).resolve(definition)
    except RookeryError as error:
        raise DataError(f"Input '{given.name}' cannot be had: {error.message}") from error
    if manifest is not None and given.data_name and given.data_version is not None:
        warning = _changed(record, given, manifest.fingerprint, manifest.files)
    row = data_row("in", given.name, given.mode, given.definition_id, manifest, given.data_name, given.data_version)
    return row, warning


def _changed(record: Record, given: DataInput, fingerprint: str, files: int) -> str:
    try:
        version = record.datasets.get(given.data_name, given.data_version)
    except RookeryError:
        return (
            f"Data set '{given.data_name}' version {given.data_version} is not registered any more; its files are used."
        )
    if not version["fingerprint"] or version["fingerprint"] == fingerprint:
        return ""
    return (
        f"The files of data set '{given.data_name}' version {given.data_version} have changed since it was registered: it had "
        f"{version['files']}, now there are {files}. The run uses what is there now; register a new version to say so."
    )
