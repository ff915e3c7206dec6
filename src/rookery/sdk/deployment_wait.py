"""Waiting for what was asked of a service: each step said once, a failure with its reason."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

from rookery.errors import ModelError

__all__ = ["wait_for_operation"]

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0


def wait_for_operation(service: Any, show_output: bool = False, timeout_sec: Optional[float] = None) -> None:
    """The work of `wait_for_deployment`."""
    deadline = None if timeout_sec is None else time.monotonic() + timeout_sec
    pause, said = _FIRST_PAUSE_S, ""
    while True:
        service.update_deployment_state()
        if service.state in ("Deleted", "deleted"):
            raise ModelError(f"Webservice '{service.name}' is gone: somebody has deleted it.")
        operation = service._data["operation"]
        if operation["state"] != "Running":
            break
        words = operation.get("words") or "Running"
        if show_output and words != said:
            said = words
            _tell(f"{words} ...")
        if deadline is not None and time.monotonic() >= deadline:
            raise ModelError(
                f"Webservice '{service.name}' was not ready within timeout_sec={timeout_sec:g}; it goes on. It is at: {words}."
            )
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
    if operation["state"] == "Failed":
        if show_output:
            _tell("Failed")
        raise ModelError(_failure(service.name, service.state, operation), details={"operation": operation})
    if show_output:
        what = "creation" if operation["kind"] == "create" else operation["kind"]
        _tell(f'Succeeded\n{service.compute_type} service {what} operation finished, operation "Succeeded"')


def _failure(name: str, state: str, operation: dict[str, Any]) -> str:
    error = operation.get("error") or {}
    lines = "\n".join(error.get("last_lines") or ())
    answers = " The version before it goes on answering." if state in ("Healthy", "running") else ""
    return (
        f"Service deployment polling reached non-successful terminal state, current service state: {state}\n"
        f"{operation['kind']} of webservice '{name}' failed: {error.get('summary') or 'no reason was told'}.{answers}\n"
        + (f"Last lines:\n{lines}\n" if lines else "")
        + "More information can be found using '.get_logs()'."
    )


def _tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
