"""Content by hash, and snapshots made of it."""

from __future__ import annotations

from typing import Annotated, Optional

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from rookery.errors import NotFoundError, UserError
from rookery.server.answers import JsonAnswer, answer, raw_answer, stream_answer
from rookery.server.services import Served
from rookery.server.uploads import Body, parse_object, receive_content, receive_pack, receive_part
from rookery.server.zips import zip_chunks

__all__ = ["router"]

router = APIRouter(tags=["content"])


@router.post("/content/missing")
def missing(body: Body, services: Served) -> JsonAnswer:
    """Which of these hashes are not stored."""
    hashes = parse_object(body, "sha256")["sha256"]
    if not isinstance(hashes, list):
        raise UserError("sha256 must be a list of hashes.")
    return answer({"missing": services.record.content.missing(hashes)})


@router.post("/content/pack", status_code=201)
async def put_pack(request: Request, services: Served) -> JsonAnswer:
    """Many small files in one body."""
    return answer({"files": await receive_pack(request, services.record.content)}, 201)


@router.put("/content/{sha256}", status_code=201)
async def put_content(sha256: str, request: Request, services: Served) -> JsonAnswer:
    stored, size = await receive_content(request, services.record.content, sha256)
    return answer({"sha256": stored, "size": size}, 201)


@router.get("/content/{sha256}/upload")
def upload_state(sha256: str, services: Served) -> JsonAnswer:
    """How much of an upload has arrived: where PATCH goes on."""
    offset = services.record.partials.offset(sha256)
    return answer(
        {"stored": offset is None, "offset": services.record.content.size(sha256) if offset is None else offset}
    )


@router.patch("/content/{sha256}")
async def continue_upload(
    sha256: str,
    request: Request,
    services: Served,
    offset: Annotated[int, Header(alias="Upload-Offset", ge=0)],
    total: Annotated[int, Header(alias="Upload-Length", ge=0, le=2**53)],
) -> JsonAnswer:
    """Bytes of a file from an offset on; whatever arrives is kept, and the last of them makes the file."""
    return answer(await receive_part(request, services.record.partials, sha256, offset, total))


@router.get("/content/{sha256}")
def get_content(
    sha256: str, services: Served, range: Annotated[Optional[str], Header(alias="Range")] = None
) -> Response:
    content = services.record.content
    return raw_answer(lambda: content.open(sha256), content.size(sha256), range, {"ETag": f'"{sha256}"'})


@router.post("/snapshots", status_code=201)
def create_snapshot(body: Body, services: Served) -> JsonAnswer:
    return answer(services.record.snapshots.create(parse_object(body, "entries")["entries"]), 201)


@router.get("/snapshots/{snapshot_id}")
def get_snapshot(snapshot_id: str, services: Served) -> JsonAnswer:
    return answer({"id": snapshot_id, "entries": services.record.snapshots.entries(snapshot_id)})


@router.head("/snapshots/{snapshot_id}")
def has_snapshot(snapshot_id: str, services: Served) -> Response:
    """Whether it is there."""
    if not services.record.snapshots.exists(snapshot_id):
        raise NotFoundError(f"Snapshot '{snapshot_id:.80}' does not exist in this workspace.")
    return Response(status_code=200)


@router.get("/snapshots/{snapshot_id}/zip")
def get_snapshot_zip(snapshot_id: str, services: Served) -> Response:
    """All its files as they were."""
    entries = services.record.snapshots.entries(snapshot_id)
    headers = {"Content-Disposition": f'attachment; filename="{snapshot_id}.zip"'}
    return stream_answer(zip_chunks(services.record.content, entries), "application/zip", headers)
