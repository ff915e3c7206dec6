"""Waiting for a run, driven by its events: what `run.wait_for_completion` and `rookery logs -f` do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Optional

from rookery.errors import KeeperUnavailableError
from rookery.sdk.details import explain_error
from rookery.sdk.log_printer import LogPrinter, write_text
from rookery.worker.http import quote_path

__all__ = ["follow_run", "print_summary", "run_events"]

# Said even while the run's own output is being shown, because it explains what the reader sees (or no longer
# sees).
_ALWAYS_SAID = ("CancelRequested", "NotResponding")
# Over in a moment and of no use to anyone who waits.
_NEVER_SAID = ("NotStarted", "Starting", "Completed", "Failed", "Canceled")


def follow_run(client: Any, run_id: str, *, web_view: str = "", show_output: bool = True, out: Any = None) -> None:
    """Return when the run has ended and everything that belongs to it is stored.

    With `show_output`: the head, one line per phase and per reason while there is no log to show, and the log
    as it grows.
    """
    printer: Optional[LogPrinter] = None
    if show_output:
        printer = LogPrinter(client, run_id, out or sys.stdout)
        printer.line(f"RunId: {run_id}")
        printer.line(f"Web View: {web_view}")
    try:
        # What is not shown need not travel: a log may be gigabytes.
        for event in run_events(client, run_id, kinds="" if show_output else "status"):
            if printer is not None:
                _show(event, printer)
        if printer is not None:
            printer.finish()
    finally:
        if printer is not None:
            printer.end_build()


def _show(event: Any, printer: LogPrinter) -> None:
    if event.kind == "log":
        printer.take(event.data)
    elif event.kind == "status":
        if event.data["status"] not in ("Starting", "Preparing"):
            printer.end_build()
        printer.phase(_phase(event.data, printer.current is not None))
    elif event.kind == "warning":
        printer.line(f"Warning: {event.data['text']}")


def run_events(client: Any, run_id: str, after: Optional[int] = None, kinds: str = "") -> Iterator[Any]:
    """The events of a run (of some kinds: a comma list), from its beginning or after a sequence number, until it has
    ended and all of it was told.

    The client's stream survives the loss of the keeper. KeeperUnavailableError when it stays away too long.
    """
    query = {"until": "end", "kinds": kinds or None}
    with closing(client.stream(f"/runs/{quote_path(run_id)}/events", query=query, after=after)) as events:
        for event in events:
            if event.kind == "end":
                return
            yield event
    raise KeeperUnavailableError(f"The events of run '{run_id}' broke off before the run ended. Wait for it again.")


def _phase(status: dict[str, Any], log_is_shown: bool) -> str:
    name, reason = status["status"], status.get("reason") or ""
    if name in _NEVER_SAID or (log_is_shown and name not in _ALWAYS_SAID):
        return ""
    return f"{name}: {reason}" if reason else str(name)


def print_summary(data: dict[str, Any], web_view: str, out: Any = None) -> None:
    """v1's closing block: ids, then warnings and the error where there are any. `data` is the keeper's JSON
    of the run."""
    out = out or sys.stdout
    lines = ["", "Execution Summary", "=================", f"RunId: {data['id']}", f"Web View: {web_view}"]
    if data["status"] == "Canceled":
        lines += ["", "The run was canceled."]
    if data["warnings"]:
        lines += ["", "Warnings:", *data["warnings"]]
    if data["status"] == "Failed":
        lines += ["", "Error:", explain_error(data["error"])]
    write_text(out, "\n".join([*lines, "", ""]))
