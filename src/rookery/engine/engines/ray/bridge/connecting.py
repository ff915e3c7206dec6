"""How the bridge gets into a cluster, and in words why not."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Callable
from typing import Any, Optional

CLIENT_PORT = 10001
PATIENCE_S = 10
RECONNECT_S = 5


class ConnectError(Exception):
    """kind: mismatch (then `ray` and `python` are the cluster's) | auth | unreachable, and two that may pass by themselves:
    stumbled (the head is there, and failed to start its part for us) | silent (it listens and does not answer)."""

    def __init__(self, kind: str, words: str, ray: str = "", python: str = "") -> None:
        super().__init__(words)
        self.kind, self.words, self.ray, self.python = kind, words, ray, python


def connect(address: str, namespace: str, give_up: Callable[[ConnectError], None]) -> dict[str, Any]:
    """Connect this process to the cluster: {"ray", "python", "mode": driver | client, "address"}.

    `ray://HOST:PORT` is a Ray Client server. HOST:PORT is the head as `ray start` prints it: where this machine is a node of
    that cluster we are a driver there, elsewhere the Ray Client server of the same host is used.

    `give_up` ends this process: where Ray Client's server has failed to start its part for us (`stumbled`), Ray would spend
    most of a minute on closing what never was.

    Raises:
        ConnectError: it could not.
    """
    import ray

    os.environ["RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL"] = "minor"
    os.environ["RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S"] = str(PATIENCE_S)
    os.environ["RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S"] = "5"
    # Ray would try for half a minute to find its way back to a head that may be gone; the next bridge finds everything again.
    os.environ["RAY_CLIENT_RECONNECT_GRACE_PERIOD"] = str(RECONNECT_S)
    client, driver = _ways(address)
    target = driver if driver and _is_node_of(driver) else client
    _knock(*_host_and_port(target), target, address)  # without this every failure waits half a minute in gRPC
    if target.startswith("ray://"):
        _fail_quickly(target, give_up)
    try:
        context = ray.init(target, namespace=namespace, log_to_driver=False, logging_level="ERROR", **_options(target))
    except Exception as error:
        raise _explained(error, target) from error
    mode = "client" if target.startswith("ray://") else "driver"
    return {
        "ray": ray.__version__,
        "python": ".".join(str(n) for n in sys.version_info[:3]),
        "mode": mode,
        "address": target,
        "dashboard": getattr(context, "dashboard_url", "") or "",
    }


def _fail_quickly(target: str, give_up: Callable[[ConnectError], None]) -> None:
    from ray.util.client.worker import Worker

    original = getattr(Worker, "_server_init", None)
    if original is None:
        return  # another Ray: it is only slower

    def begin(worker: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return original(worker, *arguments, **options)
        except ConnectionAbortedError as error:
            give_up(_explained(error, target))
            raise

    Worker._server_init = begin


def _options(target: str) -> dict[str, Any]:
    return {} if target.startswith("ray://") else {"configure_logging": False}


def _ways(address: str) -> tuple[str, str]:
    """(address for Ray Client, address for a driver or empty)."""
    if address.startswith("ray://"):
        return address, ""
    host, _ = _host_and_port(address)
    return f"ray://{host}:{CLIENT_PORT}", address


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.replace("ray://", "", 1).rpartition(":")
    return host.strip("[]"), int(port)


def _is_node_of(address: str) -> bool:
    """Whether one of the cluster's nodes is this machine: a driver needs a raylet beside it."""
    _knock(*_host_and_port(address), address, address)
    try:
        from ray._raylet import GcsClient

        nodes = GcsClient(address=address).get_all_node_info(timeout=PATIENCE_S)
        addresses = {n.node_manager_address for n in nodes.values() if n.state == 0}
    except Exception as error:
        if "nauthenticated" in str(error) or "uthentication" in type(error).__name__:
            raise _explained(error, address) from error
        return False
    return any(_is_ours(one) for one in addresses)


def _is_ours(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _knock(host: str, port: int, target: str, given: str) -> None:
    try:
        socket.create_connection((host, port), timeout=PATIENCE_S).close()
    except OSError as error:
        words = f"Nothing answers at {target} ({error.strerror or error})."
        if target.startswith("ray://") and target != given:
            words += (
                f" This machine is no node of the cluster {given}, so the Ray Client server of its head is needed: it is "
                "there when the head has `ray[client]` or `ray[default]` installed. Open the port, or give its own "
                "address as ray://HOST:PORT, or run the keeper on a node."
            )
        raise ConnectError("unreachable", words) from error


def _explained(error: Exception, target: str) -> ConnectError:
    text = str(error)
    theirs = _mismatch(text)
    if theirs is not None:
        ray, python = theirs
        words = f"The cluster at {target} has Ray {ray} and Python {python}, and the bridge must have the same."
        return ConnectError("mismatch", words, ray, python)
    if "uthentication" in type(error).__name__ or re.search(r"(?i)unauthenticated|invalid.*token|auth.*token", text):
        return ConnectError(
            "auth",
            f"The cluster at {target} does not take our token: {_first_line(text)} The token is read from the target's option "
            "token_path (else RAY_AUTH_TOKEN_PATH, else ~/.ray/auth_token) and must be the one that the cluster was started with.",
        )
    if isinstance(error, ConnectionError) and "timeout" in text:  # how Ray Client says that a token was not taken
        return ConnectError(
            "silent",
            f"The Ray Client server at {target} listens and does not answer: "
            + (
                "perhaps it does not take our token (the target's option token_path must name the cluster's own)."
                if os.environ.get("RAY_AUTH_MODE") == "token"
                else "does the cluster want a token (the target says auth=disabled)?"
            ),
        )
    if isinstance(
        error, ConnectionAbortedError
    ):  # the proxy on the head answers; what it forks for us dies now and then
        return ConnectError(
            "stumbled",
            f"The Ray Client server at {target} does not start its part for us: {_last_line(text)} Its log on the head "
            "(ray_client_server.err) says more. Where only some tries fail it is a race in gRPC's fork handlers "
            "(ray-project/ray#63202): start the head with GRPC_ENABLE_FORK_SUPPORT=0.",
        )
    return ConnectError("unreachable", f"The cluster at {target} could not be joined: {_last_line(text)}")


def _mismatch(text: str) -> Optional[tuple[str, str]]:
    """Ray's and Python's version of the cluster, from what Ray says when ours differ."""
    found = re.search(r"cluster was started with:\s*Ray:\s*(\S+)\s*Python:\s*(\S+)", text)
    return (found.group(1), found.group(2)) if found else None


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:400]


def _last_line(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1][:400]
