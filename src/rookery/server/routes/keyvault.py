"""Secrets of the workspace, by name: sealed in the record, for runs and those who submit them."""

from __future__ import annotations

from fastapi import APIRouter

from rookery.errors import NotFoundError, UserError
from rookery.server.answers import JsonAnswer, answer
from rookery.server.services import Served
from rookery.server.uploads import Body, parse_object

__all__ = ["router"]

router = APIRouter(tags=["data"])


@router.get("/keyvault")
def list_secrets(services: Served) -> JsonAnswer:
    """Names, never values."""
    return answer({"names": services.record.secrets.names("keyvault")})


@router.put("/keyvault/{name}")
def set_secret(name: str, body: Body, services: Served) -> JsonAnswer:
    value = parse_object(body, "value")["value"]
    if not isinstance(value, str) or len(value) > 100_000 or not name.isprintable() or len(name) > 255:
        raise UserError("A secret has a name of at most 255 characters and a text of at most 100000.")
    services.record.secrets.put("keyvault", name, value)
    return answer({})


@router.get("/keyvault/{name}")
def get_secret(name: str, services: Served) -> JsonAnswer:
    value = services.record.secrets.get("keyvault", name)
    if value is None:
        raise NotFoundError(f"There is no secret '{name:.80}' in this workspace.")
    return answer({"value": value})


@router.delete("/keyvault/{name}")
def delete_secret(name: str, services: Served) -> JsonAnswer:
    services.record.secrets.put("keyvault", name, None)
    return answer({})
