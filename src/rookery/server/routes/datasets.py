"""Data sets by name: versions, previews, which runs used them, uploads."""

from __future__ import annotations

import os
import tempfile
from typing import Annotated, Any, Literal, Optional

from fastapi import APIRouter, Header, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from rookery.data import read_entry, resolver_of
from rookery.data.archive import ArchiveLimits, unpack
from rookery.data.files import find_entry
from rookery.data.packs import PackWriter
from rookery.data.preview import list_folder, picture_type, preview_table
from rookery.data.uploads import Upload
from rookery.errors import DataError
from rookery.server.answers import JsonAnswer, answer, raw_answer
from rookery.server.auth import Asking, check_parent
from rookery.server.routes.data import check_sources
from rookery.server.schemas_data import DatasetChange, DatasetNew
from rookery.server.services import Served, Services
from rookery.server.uploads import receive_into, receive_to_file
from rookery.settings import get_setting
from rookery.spec.data_definition import TABULAR, check_definition
from rookery.spec.manifest import Manifest

__all__ = ["router"]

router = APIRouter(tags=["data"])
_Index = Annotated[int, Query(ge=0)]


@router.get("/datasets")
def list_datasets(services: Served, tag: Annotated[list[str], Query()] = []) -> JsonAnswer:  # noqa: B006
    """The latest version of every name, the newest first."""
    return answer({"datasets": services.record.datasets.list(tags=tag)})


@router.post("/datasets", status_code=201)
def register_dataset(new: DatasetNew, services: Served, asking: Asking) -> JsonAnswer:
    """Resolves the definition and gives it a name and a version number."""
    check_parent(services, asking, new.run_id)
    body = new.model_dump()
    record = services.record
    if new.definition is not None:
        check_sources(check_definition(new.definition), asking)
        body["definition_id"] = record.datasets.save(new.definition, str(asking))["id"]
    manifest = resolver_of(record).resolve(record.datasets.definition(str(body["definition_id"])))
    return answer(record.datasets.register(body, manifest, str(asking), new.run_id), 201)


@router.get("/datasets/{name}")
def get_dataset(name: str, services: Served, version: Optional[int] = None) -> JsonAnswer:
    """This version, or the latest."""
    return answer(services.record.datasets.get(name, version))


@router.get("/datasets/{name}/versions")
def list_dataset_versions(name: str, services: Served) -> JsonAnswer:
    return answer({"datasets": services.record.datasets.list(name)})


@router.patch("/datasets/{name}/{version}")
def change_dataset(name: str, version: int, change: DatasetChange, services: Served) -> JsonAnswer:
    return answer(services.record.datasets.change(name, version, change.given()))


@router.delete("/datasets/{name}")
def delete_dataset(name: str, services: Served, version: Optional[int] = None) -> JsonAnswer:
    """Forgets all versions, or one; files stay."""
    services.record.datasets.delete(name, version)
    return answer({})


@router.get("/datasets/{name}/{version}/runs")
def list_dataset_runs(name: str, version: int, services: Served) -> JsonAnswer:
    """The runs that used or made it, and those that had the same content under another name."""
    found = services.record.datasets.get(name, version)
    return answer({"runs": services.record.run_data.runs_of(name, version, found["fingerprint"])})


@router.get("/datasets/{name}/{version}/folder")
def list_dataset_folder(
    name: str,
    version: int,
    services: Served,
    path: str = "",
    first: _Index = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 200,
) -> JsonAnswer:
    """What lies right below a folder of it."""
    return answer(list_folder(_manifest(services, name, version), path, limit, first))


@router.get("/datasets/{name}/{version}/table")
def preview_dataset_table(
    name: str, version: int, services: Served, rows: Annotated[int, Query(ge=1, le=1000)] = 50
) -> JsonAnswer:
    """Its first rows."""
    definition = services.record.datasets.get(name, version)["definition"]
    if definition["kind"] != TABULAR:
        raise DataError(f"Data set '{name}' is one of files, not a table. GET …/folder lists them.")
    return answer(preview_table(services.record, _manifest(services, name, version), definition, rows))


@router.get("/datasets/{name}/{version}/files/{path:path}")
def get_dataset_file(
    name: str,
    version: int,
    path: str,
    services: Served,
    inline: bool = False,
    range: Annotated[Optional[str], Header(alias="Range")] = None,
) -> Response:
    """One file. With `inline` a picture is answered as one, so that a page can show it."""
    manifest = _manifest(services, name, version)
    index = find_entry(manifest, path)
    entry, file = read_entry(services.record, manifest, index)
    headers = {"ETag": f'"{entry.key}"'}
    kind = None
    try:
        if inline:
            kind = picture_type(file.read(16))
            file.seek(0)
        response = raw_answer(lambda: file, entry.size, range, headers)
    except BaseException:
        file.close()  # a range that is none, a store that breaks off
        raise
    if kind is not None:
        response.headers["Content-Type"] = kind
        response.headers["Content-Disposition"] = "inline"
        response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
        response.headers["Cache-Control"] = "private, max-age=3600"
    return response


@router.post("/datasets/{name}/uploads", status_code=201)
async def upload_dataset(
    name: str,
    request: Request,
    services: Served,
    asking: Asking,
    format: Literal["zip", "pack"] = "pack",
    datastore: str = "",
    description: str = "",
) -> JsonAnswer:
    """A zip, or a pack of files, becomes the next version: all of it, or nothing."""
    upload = await run_in_threadpool(Upload, services.record, name, datastore)
    try:
        if format == "zip":
            await _receive_zip(request, services, upload)
        else:
            limit = get_setting("upload_max_files", services.paths.root)
            await receive_into(request, lambda: PackWriter(upload.store, upload.prefix, check=_Counter(limit)))
        return answer(await run_in_threadpool(upload.register, str(asking), description), 201)
    except BaseException:
        await run_in_threadpool(upload.discard)
        raise


class _Counter:
    def __init__(self, limit: int) -> None:
        self._left, self._limit = limit, limit

    def __call__(self, path: str) -> None:
        self._left -= 1
        if self._left < 0:
            raise DataError(f"The upload holds more than {self._limit} files (upload_max_files).")


async def _receive_zip(request: Request, services: Services, upload: Upload) -> None:
    root = services.paths.root
    limits = ArchiveLimits(get_setting("upload_max_files", root), get_setting("upload_max_bytes", root))
    os.makedirs(services.paths.data_uploads, mode=0o700, exist_ok=True)
    with tempfile.TemporaryFile(dir=services.paths.data_uploads) as file:
        size = await receive_to_file(request, file, limits.max_bytes)
        await run_in_threadpool(unpack, file, size, upload.store, upload.prefix, limits)


def _manifest(services: Services, name: str, version: int) -> Manifest:
    """What the version came to when it was registered."""
    found: dict[str, Any] = services.record.datasets.get(name, version)
    return services.record.manifests.get(found["manifest_id"] or "")
