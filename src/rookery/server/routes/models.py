"""The model registry."""

from __future__ import annotations

from typing import Annotated, Optional

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from rookery.server.answers import JsonAnswer, answer, raw_answer
from rookery.server.auth import Asking, check_parent
from rookery.server.schemas import ModelChange, ModelNew
from rookery.server.services import Served

__all__ = ["router"]

router = APIRouter(tags=["models"])


@router.post("/models", status_code=201)
def register_model(new: ModelNew, services: Served, asking: Asking) -> JsonAnswer:
    """From a run's artifacts, or from uploaded content; linked, never copied."""
    check_parent(services, asking, new.run_id)
    return answer(services.record.models.register(new.model_dump(), str(asking)), 201)


@router.get("/models")
def list_models(
    services: Served,
    name: Optional[str] = None,
    tag: Annotated[list[str], Query()] = [],  # noqa: B006
    property: Annotated[list[str], Query()] = [],  # noqa: B006
    run_id: Optional[str] = None,
    framework: Optional[str] = None,
    latest: bool = False,
) -> JsonAnswer:
    """Newest first."""
    found = services.record.models.list(
        name=name,
        tags=tuple(tag),
        properties=tuple(property),
        run_id=run_id,
        framework=framework,
        latest=latest,
    )
    return answer({"models": found})


@router.get("/models/{name}")
def get_model(name: str, services: Served, version: Optional[int] = None) -> JsonAnswer:
    """This version, or the latest."""
    return answer(services.record.models.get(name, version))


@router.get("/models/{name}/{version}/files/{path:path}")
def get_model_file(
    name: str,
    version: int,
    path: str,
    services: Served,
    range: Annotated[Optional[str], Header(alias="Range")] = None,
) -> Response:
    file = services.record.models.file(name, version, path)
    return raw_answer(
        lambda: services.record.content.open(file["sha256"]),
        file["size"],
        range,
        {"ETag": f'"{file["sha256"]}"'},
    )


@router.patch("/models/{name}/{version}")
def change_model(name: str, version: int, change: ModelChange, services: Served) -> JsonAnswer:
    return answer(services.record.models.change(name, version, change.given()))


@router.delete("/models/{name}/{version}")
def delete_model(name: str, version: int, services: Served) -> JsonAnswer:
    services.record.models.delete(name, version)
    return answer({})
