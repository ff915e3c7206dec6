"""A step before it is decided: its run, its key, and whether it was done before. Blocking, so beside the driver's thread."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.pipeline.catalog import Catalog
from rookery.pipeline.reuse import explain, shorten
from rookery.pipeline.sources import content_of, outputs_are_there
from rookery.pipeline.steps import Step, make_step
from rookery.record import Record
from rookery.spec.pipeline import NodeKind, node_map, sources_of

__all__ = ["Prepared", "prepare"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prepared:
    """`reusable` is the row of a step whose run did the same; `reuse` says in a sentence why it is, or is not, reused."""

    step: Optional[Step] = None
    problem: str = ""
    reusable: Optional[dict[str, Any]] = None
    reuse: str = ""
    regenerate: bool = False


def prepare(
    record: Record,
    run: dict[str, Any],
    graph: dict[str, Any],
    node: str,
    outputs: dict[str, dict[str, Any]],
    parameters: dict[str, Any],
    row: dict[str, Any],
    regenerate: bool,
) -> Prepared:
    """Never raises: what goes wrong is the step's problem."""
    try:
        nodes = node_map(graph)
        store = str(graph.get("default_datastore") or "")
        contents = {
            port: content_of(record, source, nodes, outputs, parameters, store)
            for port, source in sources_of(nodes[node]).items()
        }
        cards = Catalog(record).cards() if nodes[node].get("kind") == NodeKind.MODULE else {}
        step = make_step(record, run, graph, node, cards, contents, parameters)
        if regenerate:
            return Prepared(step, reuse="not reused: regenerate is set", regenerate=True)
        return _find(record, step, row, str((run["spec"].get("plan") or {}).get("draft_id") or ""))
    except RookeryError as error:
        return Prepared(problem=error.message)
    except Exception as error:
        log.exception("Step %s of pipeline %s could not be prepared", node, run["id"])
        return Prepared(problem=f"It could not be prepared: {error!r:.300}")


def _find(record: Record, step: Step, row: dict[str, Any], draft_id: str) -> Prepared:
    """The newest step with the same key whose outputs are still there."""
    why = ""
    for candidate in record.pipeline_steps.reusable(step.key):
        gone = outputs_are_there(record, candidate["outputs"] or {})
        if not gone:
            when = str(candidate["ended_utc"] or "")[:16].replace("T", " ")
            words = f"reused from run {candidate['run_id']} ({when}): the same code, parameters and inputs"
            return Prepared(step, reusable=candidate, reuse=words)
        why = why or f"not reused: run {candidate['run_id']} did the same, but {gone}"
    return Prepared(step, reuse=why or _compare(record, step, row, draft_id))


def _compare(record: Record, step: Step, row: dict[str, Any], draft_id: str) -> str:
    """Why nothing fits, in the words of what differs from the last time."""
    last = record.pipeline_steps.last_of(row["origin"], row["pipeline_id"]) or _of_draft(record, row, draft_id)
    if last is None or last["parts"] is None:
        return "not reused: it never ran before"
    phrases = explain(last["parts"], step.parts, record.snapshots.entries)
    if phrases:
        return "not reused: " + shorten(phrases)
    return f"not reused: run {last['run_id']} did the same, and did not complete"


def _of_draft(record: Record, row: dict[str, Any], draft_id: str) -> Optional[dict[str, Any]]:
    """The same step of the run before, where the draft was called something else then: of the draft's own, or of the one that it is
    a clone of. A name says which pipeline it is, but not the other way round."""
    for run_id in record.drafts.runs_before(draft_id, row["pipeline_id"]) if draft_id else ():
        found = record.pipeline_steps.of_run(run_id).get(row["node"])
        if found is not None and found["parts"] is not None:
            return found
    return None
