"""The agents of a run meet before any rank starts: node 0 listens on the port that its rank 0 will bind, the others dial it.

So an address that cannot be reached is an error in seconds that names both nodes, and not a hang of half an hour in a
collective. When everybody has come node 0 closes the port, tells all what each has brought, and ranks start everywhere.
"""

from __future__ import annotations

import hmac
import json
import select
import socket
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional

from rookery.agent.launch_ports import ClaimedPort, claim_port, own_address
from rookery.errors import ConflictError, RookeryError

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["LaunchError", "Meeting", "is_stopped", "meet"]

LOOK_S = 1.0  # how often somebody who waits asks whether the run is still wanted
DIAL_S = 5.0  # in all; a refused dial is tried again, because a network may be a moment late
ONE_DIAL_S = 2.0
LINE = 65536


class LaunchError(Exception):
    """The processes of this node cannot be started; the text says why and what to do."""


@dataclass
class Meeting:
    """What the agents agreed on. `nodes` holds what each one brought, by node number."""

    address: str
    port: int
    nodes: list[dict[str, Any]] = field(default_factory=list)
    claim: Optional[ClaimedPort] = None


def meet(agent: Agent, mine: dict[str, Any]) -> Optional[Meeting]:
    """Meet the other agents; None when the run was stopped meanwhile.

    Raises:
        LaunchError: node 0 cannot be reached, or is gone.
    """
    job, launch = agent.job, agent.job.launch
    assert launch is not None
    if job.node != 0:
        return _dial(agent, mine)
    claim = claim_port(launch.port)
    meeting = Meeting(own_address(job), claim.number, [mine], claim)
    if launch.node_count == 1:
        return meeting
    return meeting if _gather(agent, meeting) else None


def _gather(agent: Agent, meeting: Meeting) -> bool:
    """Node 0: wait for all the others. False when the run was stopped."""
    launch = agent.job.launch
    assert launch is not None
    come: dict[int, tuple[socket.socket, dict[str, Any]]] = {}
    unknown: dict[socket.socket, bytes] = {}
    with _listen(meeting.address, meeting.port) as listener:
        body = {"address": meeting.address, "port": meeting.port}
        agent.told(lambda: agent.keeper.call("POST", "rendezvous", body=body))
        looked = time.monotonic()
        while len(come) < launch.node_count - 1:
            ready, _, _ = select.select([listener, *unknown], [], [], LOOK_S)
            for one in ready:
                if one is listener:
                    guest = listener.accept()[0]
                    guest.setblocking(False)
                    unknown[guest] = b""
                else:
                    _hear(agent, one, unknown, come)
            if time.monotonic() - looked >= LOOK_S:
                looked = time.monotonic()
                if is_stopped(agent):
                    return False
    meeting.nodes = [meeting.nodes[0], *(come[node][1] for node in sorted(come))]
    words = {"go": _proof(agent, "go"), "port": meeting.port, "address": meeting.address, "nodes": meeting.nodes}
    for guest, _mine in come.values():
        guest.settimeout(ONE_DIAL_S)
        try:
            guest.sendall(json.dumps(words).encode() + b"\n")
            guest.recv(1)  # they hang up first: whoever does keeps the port busy for a minute
        except OSError:
            pass  # it is gone; its end is seen by the keeper
        guest.close()
    for one in unknown:
        one.close()
    return True


def _hear(
    agent: Agent,
    guest: socket.socket,
    unknown: dict[socket.socket, bytes],
    come: dict[int, tuple[socket.socket, dict[str, Any]]],
) -> None:
    """One more piece of what a caller says; only agents of this attempt know the proof."""
    launch = agent.job.launch
    assert launch is not None
    try:
        piece = guest.recv(LINE)
    except OSError:
        piece = b""
    unknown[guest] += piece
    text = unknown[guest]
    if piece and b"\n" not in text and len(text) <= LINE:
        return
    del unknown[guest]
    try:
        said = json.loads(text.decode("utf-8"))
        node, proof, mine = said["node"], str(said["proof"]), said["mine"]
    except (ValueError, KeyError, TypeError):
        guest.close()
        return
    known = type(node) is int and 0 < node < launch.node_count and isinstance(mine, dict)
    if not known or not hmac.compare_digest(proof, _proof(agent, f"node {node}")):
        guest.close()
        return
    if node in come:
        come[node][0].close()
    come[node] = (guest, mine)


def _dial(agent: Agent, mine: dict[str, Any]) -> Optional[Meeting]:
    """The others: wait for node 0 to say where it is, call it, wait for all to have come."""
    while True:
        found = agent.told(lambda: agent.keeper.call("GET", "rendezvous"))
        if found.get("cancel"):
            agent.cancel()
            return None
        if agent.wake.terminated:
            return None
        if found.get("port"):
            break
    address, port = str(found["address"]), int(found["port"])
    with _connect(agent, address, port) as line:
        hello = {"node": agent.job.node, "proof": _proof(agent, f"node {agent.job.node}"), "mine": mine}
        text = b""
        try:
            line.sendall(json.dumps(hello).encode() + b"\n")
            while b"\n" not in text:
                if not select.select([line], [], [], LOOK_S)[0]:
                    if is_stopped(agent):
                        return None
                    continue
                piece = line.recv(LINE)
                if not piece:
                    break
                text += piece
        except OSError:
            pass
    try:
        said = json.loads(text.decode("utf-8"))
        if hmac.compare_digest(str(said["go"]), _proof(agent, "go")):
            return Meeting(str(said["address"]), int(said["port"]), list(said["nodes"]))
    except (ValueError, KeyError, TypeError):
        pass
    if is_stopped(agent):
        return None
    raise LaunchError(
        f"Node 0 at {address}:{port} hung up on {_me(agent)} before all nodes had met"
        + (", or another program answers there." if text else ".")
    )


def _connect(agent: Agent, address: str, port: int) -> socket.socket:
    deadline = time.monotonic() + DIAL_S
    while True:
        try:
            return socket.create_connection((address, port), timeout=ONE_DIAL_S)
        except OSError as error:
            why = error.strerror or str(error) or type(error).__name__
        if time.monotonic() >= deadline:
            raise LaunchError(
                f"{_me(agent, capital=True)} cannot reach node 0 at {address}:{port} ({why}; tried for {DIAL_S:.0f} s). "
                "All nodes of a run must be able to open TCP connections to each other: look at firewalls and at the "
                "address of node 0."
            )
        time.sleep(0.1)


def _listen(address: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise LaunchError(f"Node 0 cannot listen at {address}:{port}: {error.strerror or error}.") from error
    return listener


def is_stopped(agent: Agent) -> bool:
    """Whether the run was stopped meanwhile; a keeper that is away has not said so."""
    if agent.wake.terminated or agent.cancel_grace_s is not None:
        return True
    try:
        found = agent.keeper.once(lambda client: client.request("GET", agent.keeper.base + "rendezvous"))
    except ConflictError as error:
        agent.set_over(str(error))
        return True
    except RookeryError:
        agent.keeper.check_alive()
        return False
    if found.get("cancel"):
        agent.cancel()
    return bool(found.get("cancel"))


def _proof(agent: Agent, what: str) -> str:
    assert agent.job.launch is not None
    return hmac.new(agent.job.launch.secret.encode(), f"{agent.key} {what}".encode(), "sha256").hexdigest()


def _me(agent: Agent, capital: bool = False) -> str:
    return f"{'Node' if capital else 'node'} {agent.job.node} ({socket.gethostname()})"
