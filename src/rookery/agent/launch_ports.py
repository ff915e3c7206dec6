"""Which port and address the processes of a run meet at. Both are found on the machine that will use them."""

from __future__ import annotations

import socket
from typing import Optional
from urllib.parse import urlsplit

from rookery.spec.job import Job

__all__ = ["ClaimedPort", "claim_port", "is_free", "own_address"]

TRIED = 200  # ports after the wanted one, before the system is asked for any


class ClaimedPort:
    """A port that no other run of this machine takes as long as this object lives.

    A rank binds its port seconds after it was chosen for it, when its imports are done. Until then (and as long as the run lasts)
    the claim keeps other agents from choosing the same: an abstract socket, which ends with its process and is, like ports,
    a thing of the network namespace.
    """

    def __init__(self, number: int, guard: Optional[socket.socket]) -> None:
        self.number = number
        self._guard = guard

    def release(self) -> None:
        if self._guard is not None:
            self._guard.close()
            self._guard = None


def claim_port(wanted: int) -> ClaimedPort:
    """The wanted port if it can be bound here, else the next one that can."""
    for number in range(wanted, min(wanted + TRIED, 65536)):
        guard = _guard(number)
        if guard is None:
            continue
        if is_free(number):
            return ClaimedPort(number, guard)
        guard.close()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as any_port:
        any_port.bind(("", 0))
        return ClaimedPort(any_port.getsockname()[1], None)


def is_free(number: int) -> bool:
    """Whether a program that binds this port on all interfaces, as torch's store does, can have it."""
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        try:
            probe = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            continue  # no IPv6 here
        with probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, number))
            except OSError:
                if family == socket.AF_INET:
                    return False
                if not _has_ipv6():
                    continue
                return False
    return True


def own_address(job: Job) -> str:
    """Where other nodes reach this one: what the engine says, else the address from which the keeper is reached. Never a name."""
    assert job.launch is not None
    if job.launch.address:
        return job.launch.address
    host = urlsplit(job.keeper.url).hostname if job.keeper.url else None
    if host:
        for found in socket.getaddrinfo(host, 80, type=socket.SOCK_DGRAM):
            with socket.socket(found[0], socket.SOCK_DGRAM) as probe:
                try:
                    probe.connect(found[4])  # sends nothing: it asks the routing table
                    return str(probe.getsockname()[0])
                except OSError:
                    continue
    return "127.0.0.1"


def _guard(number: int) -> Optional[socket.socket]:
    guard = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        guard.bind(f"\0rookery/port/{number}")
        return guard
    except OSError:
        guard.close()
        return None


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False
