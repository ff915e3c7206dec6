"""What happened elsewhere, brought here with its own ids, numbers and times: the owner's, for `rookery import`."""

from __future__ import annotations

from fastapi import APIRouter

from rookery.errors import UserError
from rookery.record.metric_values import chunk_from_block
from rookery.server.answers import JsonAnswer, answer
from rookery.server.services import Served
from rookery.server.uploads import Body, parse_object

__all__ = ["router"]

router = APIRouter(tags=["past"])


@router.post("/past/experiments")
def add_experiment(body: Body, services: Served) -> JsonAnswer:
    """One that is there only gets tags that it lacks."""
    return answer(services.record.past.add_experiment(parse_object(body, "name")))


@router.post("/past/runs")
def add_run(body: Body, services: Served) -> JsonAnswer:
    """A run as it was: status and times as given. What is there stays, what is missing is added; the answer counts."""
    return answer(services.record.past.add_run(parse_object(body, "run_id", "experiment", "status")))


@router.post("/past/runs/{run_id}/values")
def add_values(run_id: str, body: Body, services: Served) -> JsonAnswer:
    """Blocks of metrics, each with `at`: how many values the metric has before it. So a block is never added twice."""
    blocks = parse_object(body, "blocks")["blocks"]
    if not isinstance(blocks, list) or not all(isinstance(b, dict) and isinstance(b.get("at"), int) for b in blocks):
        raise UserError("blocks must be a list of blocks with name and at (a whole number).")
    named = [(str(block.get("name")), block["at"], chunk_from_block(block)) for block in blocks]
    return answer({"values": services.record.past.add_values(run_id, named)})


@router.post("/past/logged-models")
def add_logged_model(body: Body, services: Served) -> JsonAnswer:
    """A model that a run has logged; `files` name content that is stored already."""
    return answer(services.record.past_models.add_logged(parse_object(body, "id", "experiment", "status")))


@router.post("/past/models")
def add_registered_model(body: Body, services: Served) -> JsonAnswer:
    """A registered model with its versions under the numbers that they have, and its aliases."""
    return answer(services.record.past_models.add_registered(parse_object(body, "name")))
