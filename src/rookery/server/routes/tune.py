"""A tuning: its trials, the best one, and why some were stopped. It is made by POST /runs, with the kind `tune`."""

from __future__ import annotations

from fastapi import APIRouter

from rookery.server.answers import JsonAnswer
from rookery.server.services import Served
from rookery.server.strict_json import strict_answer

__all__ = ["router"]

router = APIRouter(tags=["tune"])


@router.get("/runs/{run_id}/tune")
def get_tuning(run_id: str, services: Served) -> JsonAnswer:
    from rookery.tune.view import show_tuning

    return strict_answer(show_tuning(services.record, run_id))
