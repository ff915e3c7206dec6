"""What happened elsewhere, brought here with its own ids, numbers and times: the owner's, for `rookery import`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from rookery.errors import UserError
from rookery.record.metric_values import chunk_from_block
from rookery.server.answers import JsonAnswer, answer
from rookery.server.services import Served
from rookery.server.uploads import Body, parse_as

__all__ = ["router"]

router = APIRouter(tags=["past"])


@router.post("/past/experiments")
def add_experiment(body: Body, services: Served) -> JsonAnswer:
    """One that is there only gets tags that it lacks."""
    return answer(services.record.past.add_experiment(_checked("PastExperiment", body)))


@router.post("/past/runs")
def add_run(body: Body, services: Served) -> JsonAnswer:
    """A run as it was: status and times as given. What is there stays, what is missing is added; the answer counts."""
    return answer(services.record.past.add_run(_checked("PastRun", body)))


@router.post("/past/runs/{run_id}/values")
def add_values(run_id: str, body: Body, services: Served) -> JsonAnswer:
    """Blocks of metrics, each with `at`: how many values the metric has before it. So a block is never added twice."""
    blocks = _checked("PastValues", body)["blocks"]
    if any(type(block["at"]) is not int for block in blocks):
        raise UserError("`at` of a block must be a whole number: how many values its metric has before it.")
    named = [(block["name"], block["at"], chunk_from_block(block)) for block in blocks]
    return answer({"values": services.record.past.add_values(run_id, named)})


@router.post("/past/logged-models")
def add_logged_model(body: Body, services: Served) -> JsonAnswer:
    """A model that a run has logged; `files` name content that is stored already."""
    return answer(services.record.past_models.add_logged(_checked("PastLoggedModel", body)))


@router.post("/past/models")
def add_registered_model(body: Body, services: Served) -> JsonAnswer:
    """A registered model with its versions under the numbers that they have, and its aliases."""
    return answer(services.record.past_models.add_registered(_checked("PastModel", body)))


def _checked(form: str, body: bytes) -> dict[str, Any]:
    from rookery.server import schemas_past  # loaded when first needed: a keeper's start does not pay for it

    return parse_as(getattr(schemas_past, form), body)
