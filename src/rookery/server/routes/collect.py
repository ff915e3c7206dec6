"""Collecting what nothing refers to any more."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from rookery.server.answers import JsonAnswer, answer
from rookery.server.services import Served

__all__ = ["router"]

router = APIRouter(tags=["keeper"])


class Wish(BaseModel):
    dry_run: bool = False
    older_than_h: Annotated[float, Field(ge=0, le=1_000_000)] = 24.0


@router.post("/gc")
def collect(wish: Wish, services: Served) -> JsonAnswer:
    """Finds what nothing refers to and, unless it is a dry run, removes it. What is younger than `older_than_h` stays."""
    from rookery.engine.payload import ensure_payload

    found = services.record.collector.collect(
        wish.dry_run, wish.older_than_h * 3600.0, [ensure_payload(services.paths)]
    )
    return answer({"dry_run": wish.dry_run, "older_than_h": wish.older_than_h, "kinds": [asdict(one) for one in found]})
