"""What is found on disk of agents that nobody has watched: a new keeper begins here."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
from collections.abc import Iterator
from typing import Any, Optional

from rookery.engine.live import Live, LiveRuns
from rookery.engine.outcome import Outcome, read_outcome
from rookery.engine.run_state import RunState, load_state
from rookery.engine.verdict import placement_cause
from rookery.spec.paths import NodePaths
from rookery.spec.status import RunStatus

__all__ = ["find_live_runs", "last_words", "outcome_on_disk", "was_started", "without_collecting"]

log = logging.getLogger(__name__)
LAST_LINES = 20


def find_live_runs(record: Any, runs: LiveRuns) -> list[Live]:
    """Every run of the record that is not over. Those that hold nodes come first: the others wait for what
    these leave."""
    found = []
    states: dict[str, RunState] = {}  # of runs that wait they are mostly the same, and nobody changes them
    for row in record.runs.to_take_up():
        try:
            state = states.get(row.state or "")
            if state is None and row.state:
                state = states[row.state] = load_state(json.loads(row.state))
            found.append(runs.add_row(row, state))
        except Exception as error:
            log.exception("Run %s cannot be taken up again", row.id)
            words = f"The keeper was restarted and cannot read what it had noted about this run ({error})."
            record.runs.advance(row.id, status=RunStatus.FAILED, error=placement_cause(row.attempt, words))
    return sorted(found, key=lambda live: not live.state.holding)


@contextlib.contextmanager
def without_collecting() -> Iterator[None]:
    """While very many objects are made that all stay, looking for garbage among them again and again takes most of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def outcome_on_disk(paths: NodePaths) -> Optional[Outcome]:
    """How the ranks ended, if their agent lived to write it."""
    try:
        with open(paths.outcome, encoding="utf-8") as f:
            return read_outcome(json.load(f))
    except (OSError, ValueError):
        return None


def last_words(paths: NodePaths) -> tuple[str, ...]:
    """The last lines of an agent's own log; they tell why it ended by itself."""
    try:
        with open(paths.agent_log, "rb") as f:
            f.seek(max(0, os.path.getsize(paths.agent_log) - 4000))
            text = f.read().decode("utf-8", "replace")
    except OSError:
        return ()
    return tuple(text.splitlines()[-LAST_LINES:])


def was_started(paths: NodePaths) -> bool:
    """Whether an agent has been up in this folder: it notes itself before it starts anything."""
    return os.path.exists(paths.agent) or os.path.exists(paths.outcome)
