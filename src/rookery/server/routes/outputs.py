"""What a run left, to look at: folders, previews, pictures; the same of snapshots and models."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from rookery.errors import ArtifactNotFoundError, UserError
from rookery.server.answers import JsonAnswer, raw_answer, stream_answer
from rookery.server.preview import folder_of, picture_type, preview_file
from rookery.server.services import Served, Services
from rookery.server.strict_json import strict_answer
from rookery.server.zips import zip_chunks

__all__ = ["router"]

router = APIRouter(tags=["outputs"])

Limit = Annotated[int, Query(ge=1, le=5000)]
Rows = Annotated[int, Query(ge=1, le=1000)]
MAX_PICTURE = 64 * 1024 * 1024
# Whatever a browser takes the bytes for, it runs nothing of them and asks nobody for more.
SANDBOX = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; sandbox"


@router.get("/runs/{run_id}/tree")
def list_tree(run_id: str, services: Served, path: str = "", limit: Limit = 1000) -> JsonAnswer:
    """One folder of a run's files."""
    return strict_answer(folder_of(services.record.artifacts.list(run_id), path, limit))


@router.get("/runs/{run_id}/zip")
def get_outputs_zip(run_id: str, services: Served, path: str = "") -> Response:
    """All files of a run, or of one folder, in one archive."""
    folder = path.strip("/")
    files = services.record.artifacts.list(run_id, folder + "/" if folder else "")
    if not files:
        raise ArtifactNotFoundError(
            f"Run '{run_id}' has no files{f' below {folder!r:.200}' if folder else ''}. "
            f"`GET /runs/{run_id}/tree` says which there are."
        )
    # Stored by content: an artifact has no mode of its own.
    entries = [
        {"path": f["name"], "mode": 0o644, "link": None, "sha256": f["sha256"], "size": f["size"]} for f in files
    ]
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in f"{run_id}-{folder or 'files'}" if c.isascii())[
        :150
    ]
    headers = {"Content-Disposition": f'attachment; filename="{safe}.zip"', "X-Content-Type-Options": "nosniff"}
    return stream_answer(zip_chunks(services.record.content, entries), "application/zip", headers)


@router.get("/runs/{run_id}/preview/{name:path}")
def preview_artifact(run_id: str, name: str, services: Served, rows: Rows = 100) -> JsonAnswer:
    services.record.runs.check_exists(run_id)
    found = services.record.artifacts.get(run_id, name)
    return strict_answer(_preview(services, found["name"], found, rows))


@router.get("/runs/{run_id}/picture/{name:path}")
def get_picture(run_id: str, name: str, services: Served) -> Response:
    """A picture, shown where it is asked for; nothing else is."""
    services.record.runs.check_exists(run_id)
    return _picture(services, name, services.record.artifacts.get(run_id, name))


def _picture(services: Services, name: str, found: dict[str, Any]) -> Response:
    content = services.record.content
    with content.open(found["sha256"]) as file:
        kind = picture_type(file.read(64))
    if kind is None or found["size"] > MAX_PICTURE:
        raise UserError(
            f"'{name:.200}' is not a PNG, JPEG, GIF, WebP or BMP picture of at most {MAX_PICTURE >> 20} MiB. "
            "Download it, or look at its preview."
        )
    headers = {
        "Content-Type": kind,
        "Content-Disposition": "inline",
        "Content-Security-Policy": SANDBOX,
        "Cross-Origin-Resource-Policy": "same-origin",
        "ETag": f'"{found["sha256"]}"',
        "Cache-Control": "private, no-cache",
    }
    return raw_answer(lambda: content.open(found["sha256"]), found["size"], None, headers)


@router.get("/snapshots/{snapshot_id}/tree")
def list_snapshot(snapshot_id: str, services: Served, path: str = "", limit: Limit = 1000) -> JsonAnswer:
    """One folder of a snapshot."""
    return strict_answer(folder_of(_entries(services, snapshot_id), path, limit))


@router.get("/snapshots/{snapshot_id}/preview/{path:path}")
def preview_snapshot_file(snapshot_id: str, path: str, services: Served, rows: Rows = 100) -> JsonAnswer:
    found = _entry(services, snapshot_id, path)
    if found["link"] is not None:
        return strict_answer({"name": path, "size": 0, "kind": "none", "why": f"It is a link to {found['link']:.200}"})
    return strict_answer(_preview(services, path, found, rows))


@router.get("/snapshots/{snapshot_id}/picture/{path:path}")
def get_snapshot_picture(snapshot_id: str, path: str, services: Served) -> Response:
    """A picture of the source folder, as that of a run."""
    found = _entry(services, snapshot_id, path)
    if found["link"] is not None:
        raise UserError(f"'{path:.200}' is a link to {found['link']:.200}. Ask for what it leads to.")
    return _picture(services, path, found)


@router.get("/models/{name}/{version}/picture/{path:path}")
def get_model_picture(name: str, version: int, path: str, services: Served) -> Response:
    """A picture among a model's files, as that of a run."""
    return _picture(services, path, services.record.models.file(name, version, path))


@router.get("/models/{name}/{version}/preview/{path:path}")
def preview_model_file(name: str, version: int, path: str, services: Served, rows: Rows = 100) -> JsonAnswer:
    found = services.record.models.file(name, version, path)
    return strict_answer(_preview(services, path, found, rows))


def _preview(services: Services, name: str, found: dict[str, Any], rows: int) -> dict[str, Any]:
    return preview_file(name, found["size"], lambda: services.record.content.open(found["sha256"]), rows)


def _entry(services: Services, snapshot_id: str, path: str) -> dict[str, Any]:
    found = next((one for one in _entries(services, snapshot_id) if one["name"] == path), None)
    if found is None:
        raise ArtifactNotFoundError(f"The snapshot has no file '{path:.200}'.")
    return found


def _entries(services: Services, snapshot_id: str) -> list[dict[str, Any]]:
    return [{**one, "name": one["path"]} for one in services.record.snapshots.entries(snapshot_id)]
