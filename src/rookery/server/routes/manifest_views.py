"""What a step of a pipeline has made, to look at: data that has no name, by its manifest. Folders, previews, pictures."""

from __future__ import annotations

from typing import Annotated, BinaryIO

from fastapi import APIRouter, Query
from starlette.responses import Response

from rookery.data import read_entry
from rookery.data.files import entry_at, find_entry
from rookery.data.preview import list_folder
from rookery.errors import UserError
from rookery.server.answers import JsonAnswer, raw_answer
from rookery.server.preview import picture_type, preview_file
from rookery.server.routes.outputs import MAX_PICTURE, SANDBOX
from rookery.server.services import Served
from rookery.server.strict_json import strict_answer

__all__ = ["router"]

router = APIRouter(tags=["data"])


@router.get("/data/manifests/{manifest_id}/folder")
def list_manifest_folder(
    manifest_id: str,
    services: Served,
    path: str = "",
    first: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 200,
) -> JsonAnswer:
    """What lies right below a folder of it."""
    return strict_answer(list_folder(services.record.manifests.get(manifest_id), path, limit, first))


@router.get("/data/manifests/{manifest_id}/preview/{path:path}")
def preview_manifest_file(
    manifest_id: str, path: str, services: Served, rows: Annotated[int, Query(ge=1, le=1000)] = 100
) -> JsonAnswer:
    """One file as what it is, as that of a run."""
    manifest = services.record.manifests.get(manifest_id)
    index = find_entry(manifest, path)

    def opened() -> BinaryIO:
        return read_entry(services.record, manifest, index)[1]

    return strict_answer(preview_file(path, entry_at(manifest, index).size, opened, rows))


@router.get("/data/manifests/{manifest_id}/picture/{path:path}")
def get_manifest_picture(manifest_id: str, path: str, services: Served) -> Response:
    """A picture, shown where it is asked for; nothing else is."""
    manifest = services.record.manifests.get(manifest_id)
    index = find_entry(manifest, path)
    entry = entry_at(manifest, index)
    with read_entry(services.record, manifest, index)[1] as file:
        kind = picture_type(file.read(64))
    if kind is None or entry.size > MAX_PICTURE:
        raise UserError(
            f"'{path:.200}' is not a PNG, JPEG, GIF, WebP or BMP picture of at most {MAX_PICTURE >> 20} MiB. "
            "Download it, or look at its preview."
        )
    headers = {
        "Content-Type": kind,
        "Content-Disposition": "inline",
        "Content-Security-Policy": SANDBOX,
        "Cross-Origin-Resource-Policy": "same-origin",
        "ETag": f'"{entry.key}"',
        "Cache-Control": "private, max-age=3600",
    }
    return raw_answer(lambda: read_entry(services.record, manifest, index)[1], entry.size, None, headers)
