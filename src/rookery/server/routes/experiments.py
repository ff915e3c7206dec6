"""Experiments."""

from __future__ import annotations

from fastapi import APIRouter

from rookery.server.answers import JsonAnswer, answer
from rookery.server.schemas import ExperimentChange
from rookery.server.services import Served

__all__ = ["router"]

router = APIRouter(tags=["experiments"])


@router.get("/experiments")
def list_experiments(services: Served, view: str = "active") -> JsonAnswer:
    return answer({"experiments": services.record.experiments.list(view)})


@router.put("/experiments/{name}")
def ensure_experiment(name: str, services: Served) -> JsonAnswer:
    """Creates it if absent."""
    return answer(services.record.experiments.ensure(name))


@router.get("/experiments/{name}")
def get_experiment(name: str, services: Served) -> JsonAnswer:
    return answer(services.record.experiments.get(name))


@router.patch("/experiments/{name}")
def change_experiment(name: str, change: ExperimentChange, services: Served) -> JsonAnswer:
    changed = services.record.experiments.change(
        name, tags=change.tags, remove_tags=change.remove_tags, archived=change.archived, new_name=change.name
    )
    return answer(changed)


@router.delete("/experiments/{name}")
def delete_experiment(name: str, services: Served) -> JsonAnswer:
    services.record.experiments.delete(name)
    return answer({})
