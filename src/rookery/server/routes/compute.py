"""Compute targets; all of it is the controller's to say."""

from __future__ import annotations

from fastapi import APIRouter

from rookery.errors import UserError
from rookery.server.answers import JsonAnswer, answer
from rookery.server.schemas import ComputeChange, ComputeNew, ComputePreempt
from rookery.server.services import Served
from rookery.spec.compute import ClusterSpec, check_cluster_spec
from rookery.spec.names import check_compute_name
from rookery.spec.plain import from_plain

__all__ = ["router"]

router = APIRouter(tags=["compute"])


@router.get("/compute")
def list_compute(services: Served) -> JsonAnswer:
    return answer({"compute": services.controller.computes()})


@router.post("/compute", status_code=201)
def create_compute(new: ComputeNew, services: Served) -> JsonAnswer:
    """Creates a cluster of this machine, or attaches one of others: the latter may take minutes."""
    spec = check_cluster_spec(from_plain(ClusterSpec, new.spec))
    made = services.controller.create_compute(
        check_compute_name(new.name), spec, listener=services.agents.ensure, check=new.check
    )
    return answer(made, 201)


@router.get("/compute/{name}")
def get_compute(name: str, services: Served) -> JsonAnswer:
    return answer(services.controller.compute(name))


@router.patch("/compute/{name}")
def change_compute(name: str, change: ComputeChange, services: Served) -> JsonAnswer:
    changes = {key: value for key, value in change.given().items() if value is not None}
    if not changes:
        raise UserError(
            "Nothing to change. Give min_nodes, max_nodes, idle_seconds_before_scaledown, tags or description."
        )
    return answer(services.controller.update_compute(name, changes))


@router.delete("/compute/{name}")
def delete_compute(name: str, services: Served) -> JsonAnswer:
    services.controller.delete_compute(name)
    return answer({})


@router.post("/compute/{name}/preempt", status_code=202)
def preempt(name: str, given: ComputePreempt, services: Served) -> JsonAnswer:
    """Takes a node away, as a cloud does with a low-priority one; what ran on it is tried again."""
    taken = services.controller.preempt(name, given.node, grace_s=given.grace_s, away_s=given.away_s, force=given.force)
    return answer(taken, 202)


@router.post("/compute/{name}/check")
def check_compute(name: str, services: Served) -> JsonAnswer:
    """Looks at a target from end to end: its engine, a node of it, the way back from there."""
    return answer({"checks": services.controller.check_compute(name, services.agents.ensure)})


@router.get("/compute/{name}/nodes")
def list_nodes(name: str, services: Served) -> JsonAnswer:
    return answer({"nodes": services.controller.nodes(name)})
