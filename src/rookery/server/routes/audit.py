"""The audit log."""

from __future__ import annotations

from typing import Optional

from fastapi import APIRouter

from rookery.server.answers import JsonAnswer, answer
from rookery.server.services import Served

__all__ = ["router"]

router = APIRouter(tags=["audit"])


@router.get("/audit")
def list_audit(
    services: Served, limit: int = 100, before: Optional[int] = None, who: Optional[str] = None
) -> JsonAnswer:
    """Who changed what, newest first. `before` is the `cursor` of the page before."""
    rows = services.record.audit.page(limit, before, who)
    return answer({"entries": rows, "cursor": rows[-1]["seq"] if rows and len(rows) >= min(limit, 1000) else None})
