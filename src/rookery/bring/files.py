"""Artifacts, carried one by one: streamed, hashed on the way, never held in memory, and sent only where they are not stored."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from rookery.bring.base import File, LoggedModel, Run, Source
from rookery.errors import ArtifactNotFoundError, RookeryError, ServiceError
from rookery.worker.http import quote_path

__all__ = ["Carried", "carry_model_files", "carry_run_files"]

PIECE = 1024 * 1024


@dataclass
class Carried:
    there: int = 0
    here: int = 0
    bytes_there: int = 0
    bytes_here: int = 0


def carry_run_files(client: Any, source: Source, run: Run, problem: Callable[[str], None]) -> Carried:
    """The artifacts of a run. One that is here with the same name and size is not sent again."""
    route = f"/runs/{quote_path(run.id)}/artifacts"
    have = {file["name"]: file["size"] for file in client.request("GET", route)["artifacts"]}

    def store(file: File, sha256: str, content: BinaryIO) -> int:
        try:
            found = client.request("POST", route, body={"name": file.path, "sha256": sha256})
        except ArtifactNotFoundError:
            found = client.upload(f"{route}/{quote_path(file.path)}", content, {"X-Content-SHA256": sha256})
        return int(found["size"])

    return _carry(source, run, f"Run {run.id}", have, store, problem)


def carry_model_files(
    client: Any,
    source: Source,
    model: LoggedModel,
    body: dict[str, Any],
    have: dict[str, int],
    problem: Callable[[str], None],
) -> Carried:
    """Those of a model that a run has logged."""

    def store(file: File, sha256: str, content: BinaryIO) -> int:
        if client.request("POST", "/content/missing", body={"sha256": [sha256]})["missing"]:
            client.upload(f"/content/{sha256}", content)
        linked = client.request(
            "POST", "/past/logged-models", body={**body, "files": [{"path": file.path, "sha256": sha256}]}
        )
        return int(linked["sizes"][file.path])

    return _carry(source, model, f"Model {model.id}", have, store, problem)


def _carry(
    source: Source,
    of: Any,
    what: str,
    have: dict[str, int],
    store: Callable[[File, str, BinaryIO], int],
    problem: Callable[[str], None],
) -> Carried:
    carried = Carried()
    try:
        for file in source.files(of):
            carried.there += 1
            if file.path in have and file.size in (None, have[file.path]):
                size = have[file.path]
                carried.bytes_there += size
            else:
                carried.bytes_there += file.size or 0
                try:
                    with _hashed(source, file) as (sha256, content):
                        size = store(file, sha256, content)
                except ServiceError:
                    raise
                except (RookeryError, OSError) as error:
                    problem(f"{what}: the file {file.path} could not be carried: {error}")
                    continue
                if file.size is None:
                    carried.bytes_there += size
            carried.here += 1
            carried.bytes_here += size
    except ServiceError:
        raise
    except (RookeryError, OSError) as error:
        problem(f"{what}: its files cannot be read: {error}")
    return carried


@contextmanager
def _hashed(source: Source, file: File) -> Iterator[tuple[str, BinaryIO]]:
    """(SHA-256, the content from its beginning). What cannot be read twice is put on disk first."""
    digest = hashlib.sha256()
    with source.open(file) as stream:
        if stream.seekable():
            _copy(stream, digest.update)
            stream.seek(0)
            yield digest.hexdigest(), stream
            return
        with tempfile.TemporaryFile() as kept:

            def keep(data: bytes) -> None:
                digest.update(data)
                kept.write(data)

            _copy(stream, keep)
            kept.seek(0)
            yield digest.hexdigest(), kept


def _copy(stream: BinaryIO, take: Callable[[bytes], Any]) -> None:
    while True:
        data = stream.read(PIECE)
        if not data:
            return
        take(data)
