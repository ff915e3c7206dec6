"""What agents say. An answer is a promise: what it acknowledges is stored."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from rookery.errors import UserError, VersionMismatchError
from rookery.server.answers import JsonAnswer, answer
from rookery.server.services import Served, Waiter
from rookery.server.uploads import Body, parse_object
from rookery.spec.protocol import PROTOCOL

__all__ = ["router"]

router = APIRouter(prefix="/agent/{run_id}/{attempt}/{node}", tags=["agent"])

POLL_S = 25.0
LIFE_S = 2.0  # an agent that waits in a long poll is heard of this often


@router.post("/hello")
def hello(run_id: str, attempt: int, node: int, body: Body, services: Served) -> JsonAnswer:
    """An agent is there (again), and learns where to go on from."""
    given = parse_object(body)
    if given.get("protocol", PROTOCOL) != PROTOCOL:
        raise VersionMismatchError(f"The agent speaks protocol {given['protocol']!r:.20}, this keeper {PROTOCOL}.")
    told = services.controller.agent_hello(run_id, attempt, node, given)
    journals = services.record.journals.offsets(run_id, attempt, node)
    return answer({"journals": journals, "logs": services.record.logs.sizes(run_id), **told})


@router.post("/running")
def running(run_id: str, attempt: int, node: int, body: Body, services: Served) -> JsonAnswer:
    services.controller.agent_running(run_id, attempt, node, parse_object(body))
    return answer({})


@router.post("/rendezvous")
def open_rendezvous(run_id: str, attempt: int, node: int, body: Body, services: Served) -> JsonAnswer:
    """Node 0 waits at this address for the others to dial it."""
    services.controller.agent_open_rendezvous(run_id, attempt, node, parse_object(body, "address", "port"))
    return answer({})


@router.get("/rendezvous")
async def rendezvous(run_id: str, attempt: int, node: int, services: Served) -> JsonAnswer:
    """Where node 0 waits; waits up to 25 s for it to say so, or for the attempt to be stopped."""
    loop = asyncio.get_running_loop()
    end = loop.time() + POLL_S
    with Waiter(services, [f"rendezvous/{run_id}/{attempt}", f"commands/{run_id}/{attempt}/{node}"]) as waiter:
        while True:
            waiter.clear()
            found = await run_in_threadpool(services.controller.agent_rendezvous, run_id, attempt, node)
            left = end - loop.time()
            if found["port"] or found["cancel"] or left <= 0 or services.leaving:
                return answer(found)
            await waiter.wait(min(left, LIFE_S))


@router.post("/beat")
def beat(run_id: str, attempt: int, node: int, body: Body, services: Served) -> JsonAnswer:
    given = parse_object(body)
    told = services.controller.agent_beat(run_id, attempt, node, given)
    services.record.samples.add(run_id, node, given.get("samples") or [])
    return answer(told)


@router.post("/journal")
def journal(run_id: str, attempt: int, node: int, body: Body, services: Served) -> JsonAnswer:
    """A part of a journal, taken over exactly once."""
    given = parse_object(body, "journal", "from", "to")
    start, end = given["from"], given["to"]
    blocks, records = given.get("blocks") or [], given.get("records") or []
    if type(start) is not int or type(end) is not int or not isinstance(blocks, list) or not isinstance(records, list):
        raise UserError("A journal's part has whole numbers `from` and `to`, and lists `blocks` and `records`.")
    rank = given.get("rank")
    if rank is not None and type(rank) is not int:
        raise UserError(f"A journal's `rank` is a whole number or left out, not {rank!r:.40}.")
    stored = services.record.journals.apply(
        run_id, attempt, node, given["journal"], start, end, blocks, records, rank=rank
    )
    return answer({"ack": stored})


@router.post("/log")
def log(run_id: str, attempt: int, node: int, name: str, offset: int, body: Body, services: Served) -> JsonAnswer:
    """Bytes of a log; those that are stored already are dropped."""
    return answer({"ack": services.record.logs.append(run_id, name, offset, body)})


@router.get("/commands")
async def commands(run_id: str, attempt: int, node: int, services: Served, after: int = 0) -> JsonAnswer:
    """What the agent is to do next; waits up to 25 s for something."""
    loop = asyncio.get_running_loop()
    end = loop.time() + POLL_S
    with Waiter(services, [f"commands/{run_id}/{attempt}/{node}"]) as waiter:
        while True:
            waiter.clear()
            found = await run_in_threadpool(services.controller.commands, run_id, attempt, node, after)
            left = end - loop.time()
            if found or left <= 0 or services.leaving:
                return answer({"commands": found})
            await waiter.wait(left)


@router.post("/outcome")
def outcome(run_id: str, attempt: int, node: int, body: Body, services: Served) -> JsonAnswer:
    services.controller.agent_outcome(run_id, attempt, node, parse_object(body))
    return answer({})


@router.post("/finished")
def finished(run_id: str, attempt: int, node: int, body: Body, services: Served) -> JsonAnswer:
    services.controller.agent_finished(run_id, attempt, node, parse_object(body))
    return answer({})
