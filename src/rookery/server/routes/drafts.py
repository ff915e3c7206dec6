"""Drafts of pipelines."""

from __future__ import annotations

from fastapi import APIRouter

from rookery.server.answers import JsonAnswer
from rookery.server.auth import Asking
from rookery.server.schemas_pipeline import DraftNew, DraftSaved
from rookery.server.services import Served
from rookery.server.strict_json import strict_answer

__all__ = ["router"]

router = APIRouter(tags=["pipelines"])


@router.get("/pipelines/drafts")
def list_drafts(services: Served) -> JsonAnswer:
    """Without their graphs, the last changed first."""
    return strict_answer({"drafts": services.record.drafts.list()})


@router.post("/pipelines/drafts", status_code=201)
def create_draft(new: DraftNew, services: Served, asking: Asking) -> JsonAnswer:
    return strict_answer(services.record.drafts.create(new.graph, new.name, str(asking), new.facts), 201)


@router.get("/pipelines/drafts/{draft_id}")
def get_draft(draft_id: str, services: Served) -> JsonAnswer:
    return strict_answer(services.record.drafts.get(draft_id))


@router.put("/pipelines/drafts/{draft_id}")
def save_draft(draft_id: str, saved: DraftSaved, services: Served) -> JsonAnswer:
    """409 when somebody else has saved since the revision that is given."""
    record = services.record
    return strict_answer(
        record.drafts.save(draft_id, saved.revision, graph=saved.graph, name=saved.name, facts=saved.facts)
    )


@router.delete("/pipelines/drafts/{draft_id}")
def delete_draft(draft_id: str, services: Served) -> JsonAnswer:
    services.record.drafts.delete(draft_id)
    return strict_answer({})
