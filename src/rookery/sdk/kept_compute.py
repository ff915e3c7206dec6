"""What all compute targets that the keeper has share: looking at them, waiting for them, removing them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Optional

from rookery.errors import ComputeError, ComputeNotFoundError, ConflictError
from rookery.sdk.compute import KIND_TAG, ComputeTarget, compute_path, fetch_compute
from rookery.spec.status import ACTIVE

__all__ = ["KeptCompute", "differences", "tell", "wait_until"]

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0
_CHANGING = ("Creating", "Updating", "Deleting")


class KeptCompute(ComputeTarget):
    """Its attributes are those of the last look; `refresh_state` looks again."""

    workspace: Any
    name: str
    _data: dict[str, Any]

    def _load(self, workspace: Any, data: dict[str, Any]) -> None:
        spec = data["spec"]
        self.workspace = workspace
        self.name = self.id = data["name"]
        self.type = self._compute_type
        self.tags: dict[str, str] = {key: value for key, value in spec["tags"].items() if key != KIND_TAG}
        self.description: str = spec["description"]
        self.location: str = "local"
        self.provisioning_state: str = data["provisioning_state"]
        self.provisioning_errors: Optional[list[Any]] = None
        self.created_on: str = data["created_utc"]
        self.modified_on: str = data["modified_utc"]
        self._data = data

    def refresh_state(self) -> None:
        """Look again."""
        self._load(self.workspace, fetch_compute(self.workspace, self.name))

    def get(self) -> dict[str, Any]:
        """Everything the keeper tells of it, as data."""
        self.refresh_state()
        return dict(self._data)

    def get_active_runs(
        self, type: Optional[str] = None, tags: Any = None, properties: Any = None, status: Any = None
    ) -> Iterator[Any]:
        """Its runs that have not ended, newest first."""
        from rookery.sdk.run import Run

        wanted = status if status is not None else sorted(str(s) for s in ACTIVE)
        return Run.list_by_compute(self, type=type, tags=tags, properties=properties, status=wanted)

    def _nodes(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Every node as v1 describes one, with what the keeper tells of it."""
        nodes = self.workspace.client.request("GET", compute_path(self.name) + "/nodes")["nodes"]
        return [
            (
                {
                    "nodeId": node["id"],
                    "port": None,
                    "publicIpAddress": None,
                    "privateIpAddress": node["address"],
                    "nodeState": node["state"],
                    "runId": node["run_id"],
                },
                node,
            )
            for node in nodes
        ]

    def _change(self, changes: dict[str, Any]) -> None:
        self._load(self.workspace, self.workspace.client.request("PATCH", compute_path(self.name), body=changes))

    def _remove(self) -> None:
        try:
            self.workspace.client.request("DELETE", compute_path(self.name))
        except ConflictError as error:
            raise ComputeError(error.message, error, error.details) from error

    def _serialized(self, **properties: Any) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "tags": self.tags,
            "location": self.location,
            "properties": {
                "description": self.description,
                "computeType": self.type,
                "provisioningState": self.provisioning_state,
                "provisioningErrors": self.provisioning_errors,
                **properties,
            },
        }


def wait_until(
    target: KeptCompute,
    show_output: bool,
    timeout_in_minutes: float,
    gone_words: str,
    is_ready: Callable[[], bool] = lambda: True,
) -> str:
    """Look until a target can be used: "ready", "timeout", or "gone". Each new state is said once.

    Args:
        gone_words: what is said when it is gone; empty: that is not what is waited for, and raises.
        is_ready: of a target whose state does not change any more.
    """
    deadline = time.monotonic() + float(timeout_in_minutes) * 60
    pause, said = _FIRST_PAUSE_S, ""
    while True:
        try:
            target.refresh_state()
        except ComputeNotFoundError:
            if not gone_words:
                raise
            tell(show_output, gone_words)
            return "gone"
        if target.provisioning_state != said:
            said = target.provisioning_state
            tell(show_output, said)
        if not gone_words and said not in _CHANGING and is_ready():
            return "ready"
        if time.monotonic() >= deadline:
            return "timeout"
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)


def differences(there: Mapping[str, Any], wanted: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """What a target that is there has and another one was to have, in words."""
    return [
        f"{name} {there.get(name)!r} (asked for {wanted[name]!r})" for name in names if there.get(name) != wanted[name]
    ]


def tell(show_output: bool, text: str) -> None:
    if show_output:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
