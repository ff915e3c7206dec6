"""The first words on a new connection: is this a keeper, and does it speak our protocol?"""

from __future__ import annotations

import http.client
import json
from typing import Any

from rookery import __version__
from rookery.errors import ServiceError, VersionMismatchError
from rookery.spec.protocol import PREFIX, PROTOCOL

__all__ = ["ask", "check_protocol", "is_older", "is_without_work", "say_hello"]


def say_hello(connection: http.client.HTTPConnection, prefix: str = "") -> dict[str, Any]:
    """What the other side says of itself. `prefix` is the path before /api/v1 of a server behind a proxy.

    Raises:
        ServiceError: it is no keeper.
        OSError, http.client.HTTPException: it does not answer.
    """
    status, hello = ask(connection, "GET", "/hello", prefix)
    if (
        status != 200
        or not isinstance(hello, dict)
        or hello.get("service") != "rookery"
        or not isinstance(hello.get("protocol"), int)
    ):
        raise ServiceError(
            f"What answers at this address is not a Rookery keeper (status {status}). Check the address in config.json."
        )
    return hello


def check_protocol(hello: dict[str, Any]) -> None:
    """Raises VersionMismatchError, with both versions, if the keeper speaks another protocol than we do."""
    if hello["protocol"] == PROTOCOL:
        return
    side = "the keeper's" if is_older(hello) else "this one"
    raise VersionMismatchError(
        f"The keeper (pid {hello.get('pid')}) is Rookery {hello.get('version')} with "
        f"protocol {hello['protocol']}; "
        f"this is Rookery {__version__} with protocol {PROTOCOL}. Upgrade {side}, or, when "
        "its runs are done, stop it with "
        "`rookery keeper stop`: the next command starts the right one."
    )


def is_older(hello: dict[str, Any]) -> bool:
    return bool(hello["protocol"] < PROTOCOL)


def is_without_work(connection: http.client.HTTPConnection) -> bool:
    """Whether a keeper of another protocol surely has nothing to do. What it does not tell counts as work."""
    status, keeper = ask(connection, "GET", "/keeper")
    if status != 200 or not isinstance(keeper, dict):
        return False
    return all(keeper.get(count) == 0 for count in ("live_runs", "queued_runs", "open_streams"))


def ask(connection: http.client.HTTPConnection, method: str, path: str, prefix: str = "") -> tuple[int, Any]:
    """One exchange without any retrying: status, and the JSON of the answer or None."""
    connection.request(method, prefix + PREFIX + path)
    response = connection.getresponse()
    text = response.read()
    try:
        return response.status, json.loads(text.decode("utf-8"))
    except ValueError:
        return response.status, None
