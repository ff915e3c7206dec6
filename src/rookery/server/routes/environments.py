"""Environments: the registry, the curated ones beside it, and builds without a run."""

from __future__ import annotations

from typing import Optional

from fastapi import APIRouter
from starlette.responses import Response

from rookery.environments import prepared
from rookery.environments.specification.curated import check_own_name, curated_environments, find_curated
from rookery.errors import UserError
from rookery.record.secrets import check_values
from rookery.server.answers import JsonAnswer, answer
from rookery.server.auth import Asking
from rookery.server.build_events import build_stream
from rookery.server.routes.events import LastEventId
from rookery.server.schemas import EnvironmentLabels, EnvironmentText, WheelNew
from rookery.server.services import Served, Services
from rookery.server.uploads import Body, parse_object
from rookery.spec.plain import from_plain
from rookery.spec.run import EnvironmentSpec

__all__ = ["router"]

router = APIRouter(tags=["environments"])
MAX_PART = 8 * 1024 * 1024


@router.get("/environments")
def list_environments(services: Served, name: Optional[str] = None) -> JsonAnswer:
    """The latest of every name, registered ones and curated ones; or all versions of one."""
    if name is not None:
        found = find_curated(name, workspace_root=services.paths.root)
        return answer({"environments": [found.to_plain()] if found else services.record.environments.list(name)})
    curated = [one.to_plain() for one in curated_environments(services.paths.root)]
    return answer({"environments": [*services.record.environments.list(), *curated]})


@router.post("/environments", status_code=201)
def register_environment(body: Body, services: Served, asking: Asking) -> JsonAnswer:
    """A new version; the same content again returns the version that has it."""
    data = parse_object(body, "definition")
    _only(data, "definition", "secret_values")
    if isinstance(data["definition"], dict):
        check_own_name(str(data["definition"].get("name")))
    values = check_values(data.get("secret_values"))
    made, is_new = services.record.environments.register(data["definition"], values, str(asking))
    return answer(made, 201 if is_new else 200)


# -- builds; before /environments/{name}, which would take their place


@router.post("/environments/builds", status_code=202)
def start_build(body: Body, services: Served, asking: Asking) -> JsonAnswer:
    """Starts a build, or joins the one of the same specification that is under way. `fresh`: it is resolved anew."""
    spec = _spec(body, "fresh")
    if parse_object(body).get("fresh") and spec.conda is not None:
        from rookery.environments.building import builder

        builder.forget(spec, services.paths.root)
    return answer(_shown(services, services.builds.want(spec, str(asking))), 202)


@router.get("/environments/builds/{build_id}")
def get_build(build_id: str, services: Served) -> JsonAnswer:
    return answer(_shown(services, services.record.builds.get(build_id)))


@router.get("/environments/builds/{build_id}/log")
def read_build_log(build_id: str, services: Served, offset: int = 0) -> Response:
    """The log's bytes from `offset` on, as many as fit in one answer; `X-Log-Size` is how many there are."""
    if offset < 0:
        raise UserError(f"offset={offset} must not be negative.")
    services.record.builds.get(build_id)
    size = services.record.builds.log_size(build_id)
    data = services.record.builds.read_log(build_id, offset, MAX_PART)
    headers = {"X-Log-Size": str(size), "X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.get("/environments/builds/{build_id}/events")
def follow_build(build_id: str, services: Served, after: Optional[int] = None, last: LastEventId = None) -> Response:
    """The log as it grows, then the end. `after` is the offset to go on from."""
    services.record.builds.get(build_id)
    number = last if last is not None and last.isdecimal() else str(after or 0)
    return build_stream(services, build_id, max(0, int(number)))


@router.post("/environments/prepared")
def get_prepared(body: Body, services: Served) -> JsonAnswer:
    """Whether this specification is built already; starts nothing."""
    from rookery.engine.builds import plain_built

    built = prepared(_spec(body))
    return answer({"built": None if built is None else plain_built(built)})


@router.post("/environments/specifications")
def read_specification(given: EnvironmentText, services: Served) -> JsonAnswer:
    """The text of a conda file, requirements, a pyproject.toml or a lock file, as the conda data of an environment."""
    from rookery.environments.building.policy import Policy
    from rookery.environments.specification.wanted import parse_specification
    from rookery.environments.specification.wanted_plain import to_conda

    sources = Policy.read(services.paths.root).requirement_sources
    wanted = parse_specification(given.text, given.file, sources, given.folder)
    return answer({"conda": to_conda(wanted), "notes": [*wanted.deviations, *wanted.notes]})


@router.get("/environments/{name}")
def get_environment(
    name: str, services: Served, version: Optional[str] = None, label: Optional[str] = None
) -> JsonAnswer:
    """This version, the labelled one, or the latest."""
    if version is not None and label is not None:
        raise UserError(f"version={version!r:.40} and label={label!r:.40} were given; only one of them is allowed.")
    found = find_curated(name, version, label, services.paths.root)
    return answer(found.to_plain() if found else services.record.environments.get(name, version, label))


@router.post("/environments/{name}/labels")
def label_environment(name: str, labels: EnvironmentLabels, services: Served) -> JsonAnswer:
    """Lets labels point to a version."""
    check_own_name(name)
    return answer(services.record.environments.label(name, str(labels.version), labels.labels))


@router.post("/wheels", status_code=201)
def add_wheel(wheel: WheelNew, services: Served) -> JsonAnswer:
    """Names stored content as a wheel that pip requirements can point to."""
    return answer(services.record.wheels.add(wheel.name, wheel.sha256, wheel.exist_ok), 201)


def _spec(body: bytes, *others: str) -> EnvironmentSpec:
    data = parse_object(body, "spec")
    _only(data, "spec", *others)
    return from_plain(EnvironmentSpec, data["spec"])


def _only(data: dict[str, object], *known: str) -> None:
    unknown = sorted(set(data) - set(known))
    if unknown:
        raise UserError(f"The body has {unknown[0]!r:.60}, which is not known. Known: {', '.join(known)}.")


def _shown(services: Services, build: dict[str, object]) -> dict[str, object]:
    shown = {key: value for key, value in build.items() if key != "spec"}
    return {**shown, "log_size": services.record.builds.log_size(str(build["id"]))}
