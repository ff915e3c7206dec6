"""One action on many runs; each has a result of its own."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from rookery.errors import RookeryError, UserError
from rookery.record.run_table import ARCHIVED_TAG
from rookery.server.answers import JsonAnswer
from rookery.server.auth import Asking
from rookery.server.routes.reproduce import run_again
from rookery.server.schemas_views import ActionAsked
from rookery.server.services import Served, Services
from rookery.server.strict_json import strict_answer
from rookery.spec.status import RunStatus

__all__ = ["router"]

router = APIRouter(tags=["actions"])


@router.post("/actions/runs")
def act_on_runs(asked: ActionAsked, services: Served, asking: Asking) -> JsonAnswer:
    """One that fails stops no other."""
    if asked.action == "tag" and not asked.tags and not asked.remove_tags:
        raise UserError("Nothing to change. Give tags, remove_tags or both.")
    if asked.action != "tag" and (asked.tags or asked.remove_tags):
        raise UserError(f"tags and remove_tags belong to the action 'tag', not to '{asked.action}'.")
    results = [_result(services, run_id, asked, str(asking)) for run_id in dict.fromkeys(asked.run_ids)]
    return strict_answer({"results": results})


def _result(services: Services, run_id: str, asked: ActionAsked, asking: str) -> dict[str, Any]:
    told: dict[str, Any] = {"run_id": run_id, "ok": True, "status": None, "new_run_id": None, "error": None}
    try:
        told["new_run_id"] = _act(services, run_id, asked, asking)
        told["status"] = services.record.runs.get(run_id)["status"]
    except RookeryError as error:
        told.update(ok=False, error={"code": error.code, "message": error.message})
    return told


def _act(services: Services, run_id: str, asked: ActionAsked, asking: str) -> Any:
    record, action = services.record, asked.action
    run = record.runs.get(run_id)
    if action == "tag":
        record.runs.change(run_id, tags=asked.tags, remove=asked.remove_tags)
    elif action == "archive":
        record.runs.change(run_id, tags={ARCHIVED_TAG: "true"})
    elif action == "unarchive":
        record.runs.change(run_id, remove=[ARCHIVED_TAG])
    elif action == "cancel":
        if not RunStatus(run["status"]).is_terminal:
            services.controller.cancel(run_id)
    elif action in ("delete", "restore"):
        record.external.delete(run_id, restore=action == "restore")
    else:
        return run_again(services, run, asking)["id"]
    return None
