"""A run's files: logs and artifacts."""

from __future__ import annotations

import io
import os
from typing import Annotated, BinaryIO, Optional, Union

from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from rookery.errors import UserError
from rookery.server.answers import JsonAnswer, answer, raw_answer
from rookery.server.schemas import ArtifactLink, ArtifactLinks
from rookery.server.services import Served, Services
from rookery.server.uploads import receive_content
from rookery.spec.logs import canonical_log_name
from rookery.spec.names import check_artifact_name

__all__ = ["router"]

router = APIRouter(tags=["files"])

RangeHeader = Annotated[Optional[str], Header(alias="Range")]
HashHeader = Annotated[Optional[str], Header(alias="X-Content-SHA256")]


@router.get("/runs/{run_id}/logs")
def list_logs(run_id: str, services: Served) -> JsonAnswer:
    services.record.runs.check_exists(run_id)
    return answer({"logs": [{"name": name, "size": size} for name, size in services.record.logs.sizes(run_id).items()]})


@router.get("/runs/{run_id}/logs/{name:path}")
def read_log(run_id: str, name: str, services: Served, offset: int = 0, length: Optional[int] = None) -> Response:
    """Bytes of a log, under either runtime's name for it."""
    if offset < 0 or (length is not None and length < 0):
        raise UserError(f"offset={offset} and length={length} must not be negative.")
    services.record.runs.check_exists(run_id)
    size = services.record.logs.find(run_id, name)
    if size is None:
        services.record.logs.read(run_id, name)  # raises, and says which there are
        size = 0
    end = size if length is None else min(size, offset + length)
    part = (min(offset, size), max(end, min(offset, size)))
    return raw_answer(
        lambda: _LogPart(services, run_id, name, part[0]),
        part[1] - part[0],
        headers={"X-Log-Size": str(size)},
    )


@router.get("/runs/{run_id}/artifacts")
def list_artifacts(run_id: str, services: Served, prefix: str = "") -> JsonAnswer:
    return answer({"artifacts": services.record.artifacts.list(run_id, prefix)})


@router.post("/runs/{run_id}/artifacts", status_code=201)
def link_artifact(run_id: str, link: Union[ArtifactLinks, ArtifactLink], services: Served) -> JsonAnswer:
    """Names content that is stored already: one, or all of a list."""
    if isinstance(link, ArtifactLinks):
        links = [(one.name, one.sha256) for one in link.artifacts]
        return answer({"artifacts": services.record.artifacts.link_many(run_id, links)}, 201)
    return answer(services.record.artifacts.link(run_id, link.name, link.sha256), 201)


@router.put("/runs/{run_id}/artifacts/{name:path}", status_code=201)
async def put_artifact(
    run_id: str, name: str, request: Request, services: Served, sha256: HashHeader = None
) -> JsonAnswer:
    """Stores the body under this name."""
    checked = check_artifact_name(name)
    await run_in_threadpool(services.record.runs.check_exists, run_id)
    stored, _ = await receive_content(request, services.record.content, sha256)
    return answer(await run_in_threadpool(services.record.artifacts.link, run_id, checked, stored), 201)


@router.get("/runs/{run_id}/artifacts/{name:path}")
def get_artifact(run_id: str, name: str, services: Served, range: RangeHeader = None) -> Response:
    """The bytes of an artifact, or of the log of that name."""
    services.record.runs.check_exists(run_id)
    found = services.record.artifacts.find(run_id, name)
    if found is not None:
        content = services.record.content
        return raw_answer(lambda: content.open(found["sha256"]), found["size"], range, {"ETag": f'"{found["sha256"]}"'})
    size = services.record.logs.find(run_id, name)
    if size is not None:
        return raw_answer(lambda: _LogPart(services, run_id, name, 0), size, range, {"X-Log-Size": str(size)})
    return answer(services.record.artifacts.get(run_id, name))  # raises, and says which there are


def _LogPart(services: Services, run_id: str, name: str, start: int) -> BinaryIO:
    """A log's file, whose position 0 is at `start`."""
    path = services.paths.log(run_id, canonical_log_name(check_artifact_name(name)))
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")
    except FileNotFoundError:
        return io.BytesIO()
    return _Shifted(file, start)  # type: ignore[return-value]


class _Shifted:
    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file, self._start = file, start

    def seek(self, offset: int) -> int:
        return self._file.seek(self._start + offset) - self._start

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def __enter__(self) -> _Shifted:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()
