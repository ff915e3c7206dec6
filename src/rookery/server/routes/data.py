"""What delivery works with: definitions, manifests and the bytes of their files."""

from __future__ import annotations

import json
from typing import Annotated, Optional

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from rookery.data import read_entries, read_entry, receive_output, resolver_of
from rookery.data.files import entry_at
from rookery.data.packs import PackWriter
from rookery.server.answers import JsonAnswer, answer, raw_answer, stream_answer
from rookery.server.auth import Asking, Principal
from rookery.server.errors import ForbiddenError
from rookery.server.services import Served
from rookery.server.uploads import Body, parse_object, receive_into
from rookery.spec.data_definition import check_definition, needs_owner

__all__ = ["check_sources", "router"]

router = APIRouter(tags=["data"])


@router.post("/data/definitions", status_code=201)
def save_definition(body: Body, services: Served, asking: Asking) -> JsonAnswer:
    """Keeps a definition; the same one again is the same."""
    definition = parse_object(body, "definition")["definition"]
    check_sources(check_definition(definition), asking)
    return answer(services.record.datasets.save(definition, str(asking)), 201)


@router.get("/data/definitions/{definition_id}")
def get_definition(definition_id: str, services: Served) -> JsonAnswer:
    return answer({"id": definition_id, "definition": services.record.datasets.definition(definition_id)})


@router.post("/data/definitions/{definition_id}/resolve")
def resolve_definition(definition_id: str, services: Served) -> JsonAnswer:
    """What it comes to now: a manifest, without its entries."""
    definition = services.record.datasets.definition(definition_id)
    return answer(resolver_of(services.record).resolve(definition).head())


@router.get("/data/manifests/{manifest_id}")
def get_manifest(
    manifest_id: str,
    services: Served,
    first: Annotated[int, Query(ge=0)] = 0,
    count: Annotated[int, Query(ge=0)] = 10_000_000,
) -> JsonAnswer:
    """With its entries, or some of them."""
    manifest = services.record.manifests.get(manifest_id)
    return answer({**manifest.head(), "entries": manifest.entries[first : first + count]})


@router.get("/data/manifests/{manifest_id}/files/{index}")
def get_manifest_file(
    manifest_id: str,
    index: int,
    services: Served,
    range: Annotated[Optional[str], Header(alias="Range")] = None,
) -> Response:
    manifest = services.record.manifests.get(manifest_id)
    entry = entry_at(manifest, index)
    # Opened only once the range is known to be one: an answer of 416 leaves nothing open.
    headers = {"ETag": f'"{entry.key}"'}
    return raw_answer(lambda: read_entry(services.record, manifest, index)[1], entry.size, range, headers)


@router.get("/data/manifests/{manifest_id}/bytes")
def get_manifest_bytes(
    manifest_id: str,
    services: Served,
    first: Annotated[int, Query(ge=0)] = 0,
    count: Annotated[int, Query(ge=1, le=100_000)] = 1000,
) -> Response:
    """The bytes of some files one after the other; the connection is cut where one cannot be given."""
    manifest = services.record.manifests.get(manifest_id)
    total = sum(entry.size for entry in manifest.entries[first : first + count] if not entry.is_folder)
    return stream_answer(
        read_entries(services.record, manifest, first, count),
        "application/octet-stream",
        {"Content-Length": str(total), "X-Content-Type-Options": "nosniff"},
    )


@router.get("/runs/{run_id}/data")
def get_run_data(run_id: str, services: Served) -> JsonAnswer:
    """What the run was given and what it made."""
    services.record.runs.check_exists(run_id)
    return answer({"data": services.record.run_data.of_run(run_id)})


@router.post("/agent/{run_id}/{attempt}/{node}/outputs/{name}", status_code=201)
async def put_output(run_id: str, attempt: int, node: int, name: str, request: Request, services: Served) -> JsonAnswer:
    """Files of an output that a node brings back, as a pack."""
    return answer(await receive_into(request, lambda: receive_output(services.record, run_id, name)), 201)


@router.put("/agent/{run_id}/{attempt}/{node}/outputs/{name}/files/{path:path}", status_code=201)
async def put_output_file(
    run_id: str,
    attempt: int,
    node: int,
    name: str,
    path: str,
    request: Request,
    services: Served,
    length: Annotated[int, Header(alias="Content-Length", ge=0)],
) -> JsonAnswer:
    """One large file of an output."""

    def begin() -> PackWriter:
        writer = receive_output(services.record, run_id, name)
        writer.feed(json.dumps({"path": path, "size": length}).encode("ascii") + b"\n")
        return writer

    return answer(await receive_into(request, begin), 201)


def check_sources(definition: dict[str, object], asking: Principal) -> None:
    """Whether whoever asks may have the keeper read there."""
    if needs_owner(definition) and not asking.is_owner:
        raise ForbiddenError(
            "Only an owner may name places of the keeper's own machine or rights (file:, s3:, gs:, az:). Use a datastore."
        )
