"""Datastores, and the files on them."""

from __future__ import annotations

from typing import Annotated, Optional

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from rookery.data import resolver_of
from rookery.data.packs import PackWriter
from rookery.errors import NotFoundError
from rookery.server.answers import JsonAnswer, answer, raw_answer
from rookery.server.auth import Asking
from rookery.server.schemas_data import DatastoreNew
from rookery.server.services import Served
from rookery.server.uploads import receive_into
from rookery.spec.data_definition import check_pattern
from rookery.spec.names import check_artifact_name
from rookery.stores import check_store_spec, open_store

__all__ = ["router"]

router = APIRouter(tags=["data"])


@router.get("/datastores")
def list_datastores(services: Served) -> JsonAnswer:
    """Without credentials, which nobody is ever shown."""
    return answer({"datastores": services.record.datastores.list()})


@router.post("/datastores", status_code=201)
def register_datastore(new: DatastoreNew, services: Served, asking: Asking) -> JsonAnswer:
    """It is looked at first, unless the body says otherwise."""
    body = new.model_dump()
    spec, credentials = check_store_spec(new.kind, body["spec"], body["credentials"])
    if new.check:
        open_store(new.name, new.kind, spec, credentials).check()
    return answer(services.record.datastores.register(body, str(asking)), 201)


@router.get("/datastores/{name}")
def get_datastore(name: str, services: Served) -> JsonAnswer:
    return answer(services.record.datastores.get(name))


@router.delete("/datastores/{name}")
def delete_datastore(name: str, services: Served) -> JsonAnswer:
    """Forgets it; its files stay."""
    services.record.datastores.delete(name)
    return answer({})


@router.post("/datastores/{name}/default")
def set_default_datastore(name: str, services: Served) -> JsonAnswer:
    return answer(services.record.datastores.set_default(name))


@router.get("/datastores/{name}/files")
def list_store_files(
    name: str,
    services: Served,
    path: str = "",
    first: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000_000)] = 100_000,
) -> JsonAnswer:
    """Every file at or below a path, sorted; `total` counts them all."""
    store = resolver_of(services.record).store(name)
    found = sorted(file for file in store.files(check_pattern(path)) if not file.is_folder)
    some = [{"path": f.path, "size": f.size, "etag": f.etag} for f in found[first : first + limit]]
    return answer({"files": some, "total": len(found)})


@router.post("/datastores/{name}/pack", status_code=201)
async def put_store_pack(
    name: str, request: Request, services: Served, path: str = "", overwrite: bool = False
) -> JsonAnswer:
    """Many files in one body (docs/inside/protocol.md): each appears whole."""

    def begin() -> PackWriter:
        return PackWriter(resolver_of(services.record).store(name), check_pattern(path), overwrite)

    return answer(await receive_into(request, begin), 201)


@router.get("/datastores/{name}/files/{path:path}")
def get_store_file(
    name: str, path: str, services: Served, range: Annotated[Optional[str], Header(alias="Range")] = None
) -> Response:
    store = resolver_of(services.record).store(name)
    found = store.find(check_artifact_name(path))
    if found is None:
        raise NotFoundError(f"There is no {store.shown(path)}.")
    headers = {"ETag": f'"{found.etag}"'} if found.etag.isprintable() and found.etag.isascii() else {}
    return raw_answer(lambda: store.open(found.path, found.etag, 0, found.size), found.size, range, headers)
