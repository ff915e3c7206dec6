"""Experiments."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from rookery.server.answers import JsonAnswer, answer
from rookery.server.schemas import ExperimentChange
from rookery.server.services import Served, Services

__all__ = ["router"]

router = APIRouter(tags=["experiments"])


@router.get("/experiments")
def list_experiments(services: Served, view: str = "active") -> JsonAnswer:
    return answer({"experiments": _counted(services, services.record.experiments.list(view))})


@router.put("/experiments/{name}")
def ensure_experiment(name: str, services: Served) -> JsonAnswer:
    """Creates it if absent."""
    return answer(services.record.experiments.ensure(name))


@router.get("/experiments/{name}")
def get_experiment(name: str, services: Served) -> JsonAnswer:
    return answer(_counted(services, [services.record.experiments.get(name)])[0])


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


def _counted(services: Services, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With how many runs the page of each shows (`shown_count`), and how many children of runs there are (`child_count`)."""
    counts = services.record.numbers.runs_by_experiment()
    for one in found:
        one["shown_count"], one["child_count"] = counts.get(one["id"], (0, 0))
    return found
