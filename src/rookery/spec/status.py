"""The one status enum of a run."""

from __future__ import annotations

import enum

__all__ = ["ACTIVE", "TERMINAL", "RunStatus"]


class RunStatus(str, enum.Enum):
    """Where a run is. Each state says in a sentence what is true in it."""

    NOT_STARTED = "NotStarted"  # the record has it, the controller has not looked at it yet
    STARTING = "Starting"  # the controller has accepted it and checks what it needs
    PREPARING = "Preparing"  # its environment is being built, or fetched from the cache
    QUEUED = "Queued"  # it waits for nodes; `reason` says for which and who holds them
    PROVISIONING = "Provisioning"  # nodes are being brought up for it (the article's "Scaling")
    RUNNING = "Running"  # an agent has started its ranks
    FINALIZING = "Finalizing"  # the ranks are gone, outputs are being collected
    CANCEL_REQUESTED = "CancelRequested"  # somebody asked to stop it; the ranks are being stopped
    NOT_RESPONDING = "NotResponding"  # its agent is there but has not been heard of for a while
    COMPLETED = "Completed"  # every rank ended with 0
    FAILED = "Failed"  # `error` says why
    CANCELED = "Canceled"  # it was stopped because somebody asked

    def __str__(self) -> str:
        return self.value

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL


TERMINAL = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELED})
ACTIVE = frozenset(RunStatus) - TERMINAL
