"""Webhooks and their deliveries."""

from __future__ import annotations

from fastapi import APIRouter

from rookery.server.answers import JsonAnswer, answer
from rookery.server.auth import Asking
from rookery.server.schemas_people import WebhookNew
from rookery.server.services import Served

__all__ = ["router"]

router = APIRouter(tags=["webhooks"])


@router.get("/webhooks")
def list_webhooks(services: Served) -> JsonAnswer:
    return answer({"webhooks": services.record.webhooks.list()})


@router.post("/webhooks", status_code=201)
def add_webhook(new: WebhookNew, services: Served, asking: Asking) -> JsonAnswer:
    """Its secret is shown in this answer and never again."""
    made = services.record.webhooks.add(new.url, new.events, str(asking))
    services.webhooks.start()
    return answer(made, 201)


@router.get("/webhooks/{webhook_id}")
def get_webhook(webhook_id: str, services: Served) -> JsonAnswer:
    return answer(services.record.webhooks.get(webhook_id))


@router.delete("/webhooks/{webhook_id}")
def remove_webhook(webhook_id: str, services: Served) -> JsonAnswer:
    services.record.webhooks.remove(webhook_id)
    return answer({})


@router.post("/webhooks/{webhook_id}/ping", status_code=202)
def ping_webhook(webhook_id: str, services: Served) -> JsonAnswer:
    """Sends an event that tells of nothing."""
    return answer(services.record.webhooks.ping(webhook_id), 202)


@router.get("/webhooks/{webhook_id}/deliveries")
def list_deliveries(webhook_id: str, services: Served, limit: int = 100) -> JsonAnswer:
    """Newest first."""
    return answer({"deliveries": services.record.webhooks.deliveries(webhook_id, limit)})


@router.post("/webhooks/{webhook_id}/deliveries/{delivery}/again", status_code=202)
def send_again(webhook_id: str, delivery: int, services: Served) -> JsonAnswer:
    return answer(services.record.webhooks.again(webhook_id, delivery), 202)
