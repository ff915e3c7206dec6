"""What a check of a target on other machines has found, line by line: `compute attach`, `compute check`, `doctor --compute`."""

from __future__ import annotations

from typing import Any

from rookery.cli import session
from rookery.cli.terminal import clean, paint, say
from rookery.worker.http import quote_path

__all__ = ["check_target", "print_checks"]


def check_target(name: str) -> list[dict[str, Any]]:
    """Have the keeper try a target from one of its nodes."""
    from rookery.sdk.attached_compute import ATTACH_TIMEOUT_S

    path = "/compute/" + quote_path(name).replace("/", "%2F") + "/check"
    answer = session.client().request("POST", path, body={}, timeout_s=ATTACH_TIMEOUT_S)
    checks: list[dict[str, Any]] = answer["checks"]
    return checks


def print_checks(checks: list[dict[str, Any]]) -> bool:
    """One line each, with what to do below it; whether all is well."""
    for check in checks:
        mark = paint("ok     ", "green") if check["ok"] else paint("broken ", "red")
        say(f"{mark} {check['check']:<10}{clean(check['words'])}")
        if check.get("advice"):
            say(" " * 8 + paint("do: ", "dim") + clean(check["advice"]))
    return all(check["ok"] for check in checks)
