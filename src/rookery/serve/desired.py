"""desired.json: everything a front has to know, and nothing that it must not."""

from __future__ import annotations

import socket
from typing import Any, Optional

from rookery.errors import EndpointError
from rookery.serve.asked import DEFAULTS, autoscale_of
from rookery.serve.fronts import FrontHandle
from rookery.serve.keys import digest

__all__ = ["address_of", "free_port", "make_desired"]

LOOPBACK = "127.0.0.1"


def make_desired(
    row: dict[str, Any], keys: dict[str, str], front: FrontHandle, address: dict[str, Any]
) -> dict[str, Any]:
    """Of a row of the record, as `front/service.py` reads it."""
    settings = row["settings"]
    versions = [_version(one) for one in row["versions"]]
    default = next((one for one in row["versions"] if one["is_default"]), row["versions"][0])
    config = {**DEFAULTS, **_newest(default)["config"]}
    return {
        "name": row["name"],
        "control": front.control,
        "sockets": front.sockets,
        "listen": {**address_of(row["kind"], address), "port": settings["port"]},
        "max_body_mb": config["max_body_mb"],
        "auth": {
            "enabled": settings["auth_enabled"],
            "token_enabled": settings["token_auth_enabled"],
            "keys": [digest(keys["primary"]), digest(keys["secondary"])],
            "secret": keys["signing"],
            "relay": digest(keys["relay"]),
        },
        "versions": versions,
    }


def address_of(kind: str, address: dict[str, Any]) -> dict[str, Any]:
    """Where an endpoint of this kind listens: v1's local ones were nobody else's business, and have no keys."""
    return {"host": LOOPBACK, "tls_cert": "", "tls_key": ""} if kind == "local" else address


def free_port(host: str, port: Optional[int] = None) -> int:
    """The port that was asked for, if it can be opened now; else any that is free.

    Raises:
        EndpointError: it is somebody else's.
    """
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port or 0))
        except OSError as error:
            raise EndpointError(
                f"port {port} cannot be opened on {host}: {error.strerror}. Give another, or none."
            ) from error
        return int(sock.getsockname()[1])


def _version(version: dict[str, Any]) -> dict[str, Any]:
    some = [version["serving"], version["wanted"]]
    revisions = [_revision(one) for one in some if one and one["launch"] and not one.get("failed")]
    config = {**DEFAULTS, **_newest(version)["config"]}
    used = ("max_queue", "scoring_timeout_ms", "max_request_wait_ms")
    return {
        "name": version["name"],
        "traffic": version["traffic"],
        "is_default": bool(version["is_default"]),
        "config": {key: config[key] for key in used},
        "revisions": revisions,
    }


def _revision(one: dict[str, Any]) -> dict[str, Any]:
    config = {**DEFAULTS, **one["config"]}
    return {
        "revision": one["revision"],
        "launch": {key: one["launch"][key] for key in ("argv", "env", "cwd", "log")},
        "num_replicas": int(config["num_replicas"]),
        "autoscale": autoscale_of(config),
        "memory_gb": config.get("memory_gb_limit") or config["memory_gb"],
        "max_batch": int(config["max_batch_size"]),
        "startup_timeout_s": config["startup_timeout_s"],
        "no_code": one["what"]["no_code"],
    }


def _newest(version: dict[str, Any]) -> dict[str, Any]:
    return version["wanted"] or version["serving"]
