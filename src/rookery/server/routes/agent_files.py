"""What agents fetch and leave that do not see the workspace's folder: their job, and what the run keeps for its next attempt."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from rookery.server.answers import JsonAnswer, answer, raw_answer
from rookery.server.checkpoints import CheckpointFolder
from rookery.server.services import Served, Services

__all__ = ["router"]

router = APIRouter(prefix="/agent/{run_id}/{attempt}/{node}", tags=["agent"])


@router.get("/job")
def job(run_id: str, attempt: int, node: int, services: Served) -> Response:
    """job.json as it was made for this node, with placeholders for what only the node knows."""
    return Response(services.controller.agent_job(run_id, attempt, node), media_type="application/json")


@router.get("/checkpoints")
def list_checkpoints(run_id: str, attempt: int, node: int, services: Served) -> JsonAnswer:
    _check(services, run_id, attempt, node)
    return answer({"files": _folder(services, run_id).list()})


@router.get("/checkpoints/{name:path}")
def get_checkpoint(run_id: str, attempt: int, node: int, name: str, services: Served) -> Response:
    _check(services, run_id, attempt, node)
    file, size = _folder(services, run_id).open(name)
    return raw_answer(lambda: file, size)


@router.put("/checkpoints/{name:path}", status_code=201)
async def put_checkpoint(
    run_id: str, attempt: int, node: int, name: str, request: Request, services: Served, mode: int = 0o644
) -> JsonAnswer:
    """A file of ROOKERY_RESUME_DIR, whole; replaces the one of that name."""
    await run_in_threadpool(_check, services, run_id, attempt, node)
    expected = request.headers.get("x-content-sha256")
    return answer({"size": await _folder(services, run_id).receive(name, mode, expected, request)}, 201)


@router.delete("/checkpoints/{name:path}")
def delete_checkpoint(run_id: str, attempt: int, node: int, name: str, services: Served) -> JsonAnswer:
    _check(services, run_id, attempt, node)
    _folder(services, run_id).remove(name)
    return answer({})


def _check(services: Services, run_id: str, attempt: int, node: int) -> None:
    """Only the attempt that is on: ConflictError from the controller otherwise."""
    services.controller.commands(run_id, attempt, node, 0)


def _folder(services: Services, run_id: str) -> CheckpointFolder:
    return CheckpointFolder(services.paths.checkpoints(run_id))
