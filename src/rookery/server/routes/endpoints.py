"""Endpoints: models behind an address."""

from __future__ import annotations

from typing import Annotated, Any, Optional

from fastapi import APIRouter, Query
from starlette.responses import Response

from rookery.errors import EndpointError
from rookery.serve import logs
from rookery.serve.views import latency
from rookery.server.answers import JsonAnswer, answer
from rookery.server.auth import Asking
from rookery.server.schemas_serve import EndpointChange, EndpointNew, KeyNew, PackageNew, ProfileNew, VersionPut
from rookery.server.services import Served

__all__ = ["router"]

router = APIRouter(tags=["endpoints"])


@router.get("/endpoints")
def list_endpoints(
    services: Served,
    kind: Optional[str] = None,
    model: Optional[str] = None,
    model_version: Optional[int] = None,
    tag: Annotated[list[str], Query()] = [],  # noqa: B006
) -> JsonAnswer:
    """By name; all conditions must hold."""
    found = services.serving.manager().list() if services.record.endpoints.count() else []
    return answer({"endpoints": [one for one in found if _fits(one, kind, model, model_version, tag)]})


@router.post("/endpoints", status_code=201)
def create_endpoint(new: EndpointNew, services: Served, asking: Asking) -> JsonAnswer:
    return answer(services.serving.manager().create(_plain(new.given()), str(asking)), 201)


@router.get("/endpoints/{name}")
def get_endpoint(name: str, services: Served) -> JsonAnswer:
    services.record.endpoints.get(name)  # nothing is loaded for a name that nobody has
    return answer(services.serving.manager().get(name))


@router.patch("/endpoints/{name}")
def change_endpoint(name: str, change: EndpointChange, services: Served) -> JsonAnswer:
    if not change.given():
        raise EndpointError(
            "Nothing to change. Give models, inference, config, tags, description, port or auth_enabled."
        )
    return answer(services.serving.manager().update(name, _plain(change.given())))


@router.post("/endpoints/{name}/reload", status_code=202)
def reload_endpoint(name: str, services: Served) -> JsonAnswer:
    return answer(services.serving.manager().reload(name), 202)


@router.delete("/endpoints/{name}")
def delete_endpoint(name: str, services: Served) -> JsonAnswer:
    """Answers when its address is closed and its processes are gone."""
    services.record.endpoints.get(name)
    services.serving.manager().delete(name)
    return answer({})


@router.put("/endpoints/{name}/versions/{version}")
def put_version(name: str, version: str, put: VersionPut, services: Served) -> JsonAnswer:
    return answer(services.serving.manager().put_version(name, version, _plain(put.given())))


@router.delete("/endpoints/{name}/versions/{version}")
def delete_version(name: str, version: str, services: Served) -> JsonAnswer:
    return answer(services.serving.manager().delete_version(name, version))


@router.get("/endpoints/{name}/keys")
def get_keys(name: str, services: Served) -> JsonAnswer:
    return answer(services.serving.manager().keys(name))


@router.post("/endpoints/{name}/keys")
def make_key(name: str, new: KeyNew, services: Served) -> JsonAnswer:
    return answer(services.serving.manager().new_key(name, new.key, new.value))


@router.post("/endpoints/{name}/token")
def make_token(name: str, services: Served) -> JsonAnswer:
    return answer(services.serving.manager().token(name))


@router.get("/endpoints/{name}/logs")
def get_logs(
    name: str,
    services: Served,
    version: Optional[str] = None,
    lines: Annotated[int, Query(ge=1, le=1_000_000)] = 5000,
) -> Response:
    """What its processes wrote last."""
    row = services.record.endpoints.get(name)
    text = logs.last_lines(services.paths.served(name), row, version, lines)
    return Response(text, media_type="text/plain; charset=utf-8", headers={"X-Content-Type-Options": "nosniff"})


@router.get("/endpoints/{name}/log")
def read_log(
    name: str,
    services: Served,
    version: Optional[str] = None,
    offset: Annotated[int, Query(ge=0)] = 0,
    length: Annotated[int, Query(ge=0, le=8 * 1024 * 1024)] = 1024 * 1024,
) -> Response:
    """The same from an offset on, for live views."""
    row = services.record.endpoints.get(name)
    data, size = logs.part(services.paths.served(name), row, version, offset, length)
    headers = {"X-Log-Size": str(size), "X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.get("/endpoints/{name}/latency")
def get_latency(
    name: str,
    services: Served,
    seconds: Annotated[int, Query(ge=1, le=7 * 86400)] = 3600,
    points: Annotated[int, Query(ge=1, le=2000)] = 120,
) -> JsonAnswer:
    return answer(latency(services.record, name, seconds, points))


@router.post("/model-profiles", status_code=201)
def profile_model(new: ProfileNew, services: Served, asking: Asking) -> JsonAnswer:
    from rookery.serve.profiles import begin_profile

    return answer(begin_profile(services.serving.manager(), services.record, _plain(new.given()), str(asking)), 201)


@router.get("/model-profiles")
def list_profiles(services: Served) -> JsonAnswer:
    from rookery.serve.profiles import show_profile

    return answer({"profiles": [show_profile(row) for row in services.record.endpoints.profiles()]})


@router.get("/model-profiles/{name}")
def get_profile(name: str, services: Served) -> JsonAnswer:
    from rookery.serve.profiles import show_profile

    return answer(show_profile(services.record.endpoints.profile(name)))


@router.post("/model-packages")
def package_model(new: PackageNew, services: Served) -> Response:
    """A folder that `docker build` makes an image of, as a zip."""
    from rookery.serve.packages import make_package

    data = make_package(services.record, services.paths, _plain(new.given()))
    headers = {"Content-Disposition": 'attachment; filename="package.zip"', "X-Content-Type-Options": "nosniff"}
    return Response(data, media_type="application/zip", headers=headers)


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    """`inference: null` says something, other nulls do not."""
    return {key: value for key, value in given.items() if value is not None or key == "inference"}


def _fits(
    one: dict[str, Any], kind: Optional[str], model: Optional[str], model_version: Optional[int], tags: list[str]
) -> bool:
    if kind is not None and one["kind"] != kind:
        return False
    used = [m for version in one["versions"] for m in version["models"]]
    if model is not None and not any(m["name"] == model and model_version in (None, m["version"]) for m in used):
        return False
    for text in tags:
        key, equals, value = text.partition("=")
        if key not in one["tags"] or (equals and one["tags"][key] != value):
            return False
    return True
